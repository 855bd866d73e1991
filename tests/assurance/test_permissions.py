"""Permissions through the whole path against a brute force over the raw rows: nothing too much, nothing too little."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from graphroute.retrieval.contract import Contract, Node, Step, run_contract
from graphroute.stores.lexical.base import NO_FILTER
from graphroute.testing.rows import AS_OF, described_by, token_of
from graphroute.types.time import instant_of

NOW = instant_of(datetime.fromisoformat(AS_OF).replace(tzinfo=UTC))
ENDS = {
    "OWNED_BY": ("service", "team"),
    "MEMBER_OF": ("person", "team"),
    "MANAGED_BY": ("person", "person"),
    "DEPENDS_ON": ("service", "service"),
    "TOUCHES": ("change", "service"),
    "APPROVED_BY": ("change", "person"),
    "ACQUIRED": ("company", "company"),
    "PARTNER_OF": ("company", "company"),
    "RUNS_AT": ("service", "site"),
}
EVENTS = {"TOUCHES", "APPROVED_BY", "ACQUIRED"}


def in_force(row: dict[str, Any]) -> bool:
    """Dates of the rows are written alike, so they compare as text."""
    return row.get("valid_from", "") <= AS_OF < row.get("valid_to", "9")


def what_may_be_named(corpus: Any, reader: Any) -> tuple[set[str], dict[str, set[str]], set[tuple[str, str, str]]]:
    """Ids of entities, the names of each, and facts that the reader may know of."""
    rows = corpus.seen(reader)
    entities = {end for edge in rows.edges for end in (edge["s"], edge["o"])}
    names: dict[str, set[str]] = defaultdict(set)
    for row in rows.entities:
        names[row["id"]].update(row["names"])
    alone: dict[str, set[str]] = defaultdict(set)
    for edge in rows.edges:
        for group in edge["supports"]:
            for member in group:
                alone[member["source"] if isinstance(member, dict) else member].add(edge["s"])
    for document in rows.documents:
        about = {described_by(document)} - {None} or alone[document["doc_id"]]
        entities |= about - {None}
        for line in document["text"].split("\n"):
            key, _, value = line.partition(": ")
            if key in ("headline", "name"):
                for entity in about:
                    names[entity].add(value)
    return entities, names, {(edge["s"], edge["r"], edge["o"]) for edge in rows.edges}


def test_no_output_holds_what_the_reader_may_not_read(seed: int, corpus_of: Any, readers: Any) -> None:
    corpus = corpus_of(seed)
    ids = {edge["edge_id"] for edge in corpus.rows.edges if "edge_id" in edge}
    for reader in readers:
        held = corpus.held(reader)
        entities, names, facts = what_may_be_named(corpus, reader)
        visible_ids = {edge["edge_id"] for edge in corpus.seen(reader).edges if "edge_id" in edge}
        for question, as_of in corpus.asked(reader):
            trace = corpus.full.explain(question, reader=reader, as_of=as_of)
            bundle, where = trace.bundle, f"{reader.id}: {question}"
            assert set(bundle.sources) | set(bundle.source_titles) <= held, where
            assert {one.span.source_id for part in bundle.supports.values() for one in part} <= held, where
            assert set(bundle.edges) & ids <= visible_ids, where
            hops = [hop.fact for unit in bundle.units if unit.path for hop in unit.path.hops]
            hits = [hit for attempt in trace.attempts for result in attempt.results for hit in result.hits]
            hops += [hop.fact for hit in hits if hit.path for hop in hit.path.hops]
            assert {(fact.subject, fact.predicate, fact.object) for fact in hops} <= facts, where
            assert {hit.passage.source_id for hit in hits if hit.passage} <= held, where
            reports = [unit.report for unit in bundle.units if unit.report] + [hit.report for hit in hits if hit.report]
            for report in reports:
                assert set(report.source_ids) <= held, where
                assert set(report.entity_ids) <= entities, where
            mentions = [c for m in (*trace.query.identifiers, *trace.query.mentions) for c in m.candidates]
            named = {one.entity_id for one in mentions} | set(bundle.entities) | set(bundle.anchors)
            named |= {one.id for one in bundle.answers if one.id is not None}
            assert named <= entities, where
            for entity in bundle.entities.values():
                assert set(entity.names) <= names[entity.id], where
            if not held:
                assert not any((bundle.units, bundle.answers, bundle.entities, mentions)), where


def test_every_readable_fact_is_found_by_a_contract(seed: int, corpus_of: Any, readers: Any) -> None:
    corpus = corpus_of(seed)
    typed = {row["id"] for row in corpus.rows.entities}
    for reader in readers:
        backends = corpus.full._parts.backends
        view = backends.catalog.view(reader=reader)
        wanted: dict[tuple[str, str], set[str]] = defaultdict(set)
        for edge in corpus.seen(reader).edges:
            if (edge["r"] in EVENTS or in_force(edge)) and edge["s"] != edge["o"]:
                wanted[edge["s"], edge["r"]].add(edge["o"])
        for subject, predicate in sorted({(edge["s"], edge["r"]) for edge in corpus.rows.edges}):
            start, end = ENDS[predicate]
            if ":" not in subject and subject not in typed:
                continue
            contract = Contract(
                name="one_hop",
                description="One hop.",
                parameters={"id": None},
                start=Node(type=start, name="s", where={"id": "$id"}),
                path=[Step(relation=predicate, to=Node(type=end, name="o"))],
                limit=10_000,
            )
            found = run_contract(contract, {"id": subject}, backends=backends, view=view, instant=NOW)
            assert {row.ids["o"] for row in found.rows} == wanted[subject, predicate], (reader.id, subject, predicate)


def test_every_readable_document_is_found_by_its_words_and_vector(seed: int, corpus_of: Any, readers: Any) -> None:
    corpus = corpus_of(seed)
    backends = corpus.full._parts.backends
    assert backends.vectors is not None
    assert backends.embedder is not None
    for reader in readers:
        view, held = backends.catalog.view(reader=reader), corpus.held(reader)
        near = backends.vectors.search(backends.embedder.embed_query("ledger"), view=view, k=1_000, where=NO_FILTER)
        assert {one.passage_id.partition("#")[0] for one in near} == held
        for document in corpus.rows.documents:
            token = token_of(seed, document["doc_id"])
            found = backends.lexical.search(token, view=view, k=1_000)
            sources = [
                one.source_id for one in backends.catalog.passages([f.passage_id for f in found], view=view).values()
            ]
            assert sources == ([document["doc_id"]] if document["doc_id"] in held else [])
            bundle = corpus.full.retrieve(f"What is known of {token}?", reader=reader)
            assert (document["doc_id"] in bundle.sources) == (document["doc_id"] in held and in_force(document)), token


def test_every_readable_record_is_found_by_its_identifier(seed: int, corpus_of: Any, readers: Any) -> None:
    corpus = corpus_of(seed)
    for reader in readers:
        held = corpus.held(reader)
        for document in corpus.rows.documents:
            if document["kind"] == "change":
                bundle = corpus.full.retrieve(f"Show {document['title']}", reader=reader)
                assert (document["doc_id"] in bundle.sources) == (document["doc_id"] in held), (reader.id, document)
