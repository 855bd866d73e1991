"""A trace with names, addresses and evidence text in every place that can hold them."""

import pytest

from graphroute.types.answer import Answer, Citation, Usage
from graphroute.types.evidence import Degradation, EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Direction, Entity, Fact, Hop, Path, Support
from graphroute.types.prompt import SerializedEvidence
from graphroute.types.query import Candidate, Cue, CueKind, Mention, ParsedQuery
from graphroute.types.reader import Reader
from graphroute.types.retrieval import Binding, Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import RouteDecision, Sufficiency
from graphroute.types.source import Passage, SourceSpan
from graphroute.types.trace import Attempt, Trace

QUESTION = "may Jonas Beispiel (jonas@example.org, 0151 555 0101) read INC_2024/77?"


@pytest.fixture
def trace() -> Trace:
    name = Cue(kind=CueKind.MENTION, value="jonas beispiel", start=4, end=18, rule="alias", text="Jonas Beispiel")
    record = Cue(kind=CueKind.IDENTIFIER, value="INC_2024/77", start=60, end=71, rule="pattern", text="INC_2024/77")
    query = ParsedQuery(
        text=QUESTION,
        language="en",
        instant=1_700_000_000_000_000,
        mentions=(
            Mention(
                cue=name,
                candidates=(
                    Candidate(entity_id="person:jonas.beispiel", types=("person",), name="Jonas Beispiel", via="name"),
                ),
            ),
        ),
        identifiers=(Mention(cue=record, candidates=()),),
    )
    fact = Fact(subject="person:jonas.beispiel", predicate="MAY_READ", object="inc:77", assertion_ids=("edge-1",))
    path = Path((Hop(fact, Direction.FORWARD),))
    passage = Passage(id="p1", source_id="doc-1", start=0, end=9, text="Evidence about Jonas", title="Beispiel file")
    bundle = EvidenceBundle(
        question=QUESTION,
        reader="r-17",
        route="facts",
        retrievers=("local_graph",),
        snapshot="snap-1",
        as_of=1_700_000_000_000_000,
        units=(
            EvidenceUnit(id="u1", rank=1, retrievers=("local_graph",), score=1, score_kind=ScoreKind.PATH, path=path),
            EvidenceUnit(id="u2", rank=2, retrievers=("lexical",), score=3, score_kind=ScoreKind.BM25, passage=passage),
        ),
        answers=(Binding(id="inc:77", display="Incident of Jonas"),),
        anchors=("person:jonas.beispiel",),
        entities={
            "person:jonas.beispiel": Entity(id="person:jonas.beispiel", types=("person",), name="Jonas Beispiel")
        },
        supports={"edge-1": (Support(assertion_id="edge-1", span=SourceSpan("mail of jonas@example.org")),)},
        source_titles={"doc-1": "Beispiel file"},
        omissions=(Omission(what="Jonas Beispiel", stage="merge", reason="Jonas Beispiel is over budget"),),
        degraded=(
            Degradation(stage="vector", reason='timed out for "Jonas Beispiel" <jonas@example.org> 0151 555 0101'),
        ),
        reason="no readable fact says that Jonas Beispiel may read INC_2024/77",
    )
    result = RetrievalResult(
        retriever="local_graph",
        verdict=Verdict.ABSENT,
        hits=(Hit(score=1, kind=ScoreKind.PATH, path=path),),
        reason="Beispiel was not found as 'Jonas'",
        plan=("(person:jonas.beispiel)-[MAY_READ]->(incident)",),
        cypher="MATCH (p {id: 'person:jonas.beispiel'}) RETURN p",
        stale_paths=3,
    )
    decision = RouteDecision(
        route="facts",
        retrievers=("local_graph",),
        reason="has_reading",
        rejected=(("record", "has_exact_id is false"),),
    )
    return Trace(
        run_id="run-1",
        reader=Reader("r-17", ["jonas@example.org"]),
        query=query,
        attempts=(Attempt(decision=decision, results=(result,), sufficiency=Sufficiency(score=0.0, threshold=0.62)),),
        bundle=bundle,
        serialized=SerializedEvidence(
            format="pretty_json",
            format_version="1",
            text="Evidence about Jonas",
            tokens=5,
            tokenizer="t",
            budget=4000,
            included=("u1",),
            omitted=("u2",),
            sha256="ab",
        ),
        answer=Answer(
            text="Jonas may.",
            prompt="Evidence about Jonas",
            generated=True,
            abstained=False,
            citations=(Citation(unit_id="u1", valid=True), Citation(unit_id="u9", valid=False)),
            model="m",
            usage=Usage(prompt_tokens=10, completion_tokens=2),
        ),
        seconds={"parse": 0.00123456789},
        config_hash="c0ffee",
        operator={"hidden_paths": 2, "note": "Jonas"},
    )
