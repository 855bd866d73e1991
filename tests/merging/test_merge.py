from dataclasses import replace

import pytest

from graphroute.merging.merge import merge
from graphroute.merging.params import MergeParams
from graphroute.ontology.load import load_ontology
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.testing.world import ASSERTIONS, INSIDER, ONTOLOGY, PUBLIC, SOURCES, day, passage_of, visible_to, write
from graphroute.types.evidence import Degradation
from graphroute.types.graph import Assertion, Direction, Fact, Hop, Path
from graphroute.types.query import (
    Branch,
    Cue,
    CueKind,
    DateConstraint,
    DateMode,
    HopReading,
    Operation,
    ParsedQuery,
    Reading,
)
from graphroute.types.retrieval import Binding, CommunityReport, Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits, RouteDecision, Sufficiency
from graphroute.types.source import SourceSpan
from graphroute.types.time import Interval, TimeFilter, TimeMode
from graphroute.types.trace import Attempt

DECISION = RouteDecision(route="graph", retrievers=("local_graph", "lexical"))
BY_ID = {one.id: one for one in ASSERTIONS}
TEXT = {one.id: one for one in SOURCES}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "world.db"
    write(path)
    with Database(path, read_only=True) as database:
        yield database


def fact(*ids, known=BY_ID):
    first = known[ids[0]]
    return Fact(
        subject=first.subject,
        predicate=first.predicate,
        object=first.object,
        validity=first.validity,
        assertion_ids=tuple(ids),
    )


def path(*ids, binding=None, known=BY_ID):
    hops = []
    for id in ids:
        at = hops[-1].end if hops else None
        one = fact(id, known=known)
        hops.append(Hop(one, Direction.BACKWARD if at is not None and one.subject != at else Direction.FORWARD))
    return Hit(score=1.0, kind=ScoreKind.PATH, path=Path(tuple(hops)), binding=binding)


def passage(source_id, kind=ScoreKind.BM25, score=1.0):
    return Hit(score=score, kind=kind, passage=passage_of(TEXT[source_id]))


def answered(*hits, bindings=None, **more):
    if bindings is None:
        bindings = tuple(Binding(id=hit.path.end, display=hit.path.end) for hit in hits)
    return RetrievalResult(retriever="local_graph", verdict=Verdict.ANSWERED, hits=hits, bindings=bindings, **more)


def found(*hits, retriever="lexical", **more):
    return RetrievalResult(retriever=retriever, verdict=Verdict.EVIDENCE, hits=hits, **more)


def merged(
    store,
    *results,
    reader=INSIDER,
    at="2026-06-01",
    decision=DECISION,
    params=None,
    attempts=(),
    degraded=(),
    ontology=ONTOLOGY,
    **query,
):
    catalog = SqliteCatalog(store)
    asked = ParsedQuery(text="q", language="en", instant=day(at), **query)
    return merge(
        asked,
        decision,
        results,
        attempts=attempts,
        view=catalog.view(reader=reader),
        catalog=catalog,
        graph=SqliteGraph(store),
        ontology=load_ontology(ontology),
        params=params or MergeParams(),
        degraded=degraded,
        instant=day(at),
    )


def names(bundle):
    return [
        unit.passage.source_id if unit.passage else unit.path.end if unit.path else unit.report.id
        for unit in bundle.units
    ]


def reasons(bundle):
    return [one.reason for one in bundle.omissions]


def test_paths_come_first_then_exact_hits_then_fused_passages(store):
    bundle = merged(
        store,
        found(passage("wiki:checkout"), passage("crm:acme")),
        answered(path("e4"), bindings=(Binding(id="db:eu-1", display="eu-1"),)),
        found(passage("CHG-482", ScoreKind.EXACT), retriever="identifier"),
        found(passage("crm:acme", ScoreKind.COSINE), retriever="vector"),
    )
    assert names(bundle) == ["db:eu-1", "CHG-482", "crm:acme", "wiki:checkout"]
    assert [unit.id for unit in bundle.units] == ["U1", "U2", "U3", "U4"]
    assert [unit.score_kind for unit in bundle.units] == ["path", "exact", "rrf", "rrf"]
    assert bundle.units[2].retrievers == ("lexical", "vector")
    assert bundle.answers == (Binding(id="db:eu-1", display="eu-1"),)
    assert bundle.paths_returned == 1
    assert bundle.entities["svc:checkout"].name == "checkout"
    assert bundle.source_titles["CHG-482"] == "CHG-482"
    assert bundle.edges == ("e4",)
    assert bundle.sources == ("catalogue:checkout@2", "CHG-482", "crm:acme", "wiki:checkout")
    assert not bundle.abstained
    assert bundle.snapshot


def test_one_support_of_each_assertion_is_shown(store):
    bundle = merged(store, answered(path("e2")))
    assert [one.span.source_id for one in bundle.supports["e2"]] == ["wiki:checkout"]
    joint = merged(store, answered(path("e5")))
    assert [one.span.source_id for one in joint.supports["e5"]] == ["catalogue:checkout@2", "plan:nightjar"]


def owned_since(**more):
    hop = HopReading(
        predicate="OWNED_BY",
        direction=Direction.FORWARD,
        types=("team",),
        time=TimeFilter(TimeMode.STARTS_IN, Interval(day("2026-05-01"), day("2026-06-01"))),
    )
    branch = Branch(anchors=("svc:checkout",), start_types=("service",), hops=(hop,))
    return Reading(operation=Operation.LIST, target_types=("team",), branches=(branch,), **more)


def test_for_a_start_the_earliest_statement_is_shown(store):
    bundle = merged(store, answered(path("e2"), reading=owned_since()))
    assert [one.span.source_id for one in bundle.supports["e2"]] == ["catalogue:checkout@2"]


def test_what_the_reader_may_not_see_is_left_out(store):
    bundle = merged(store, answered(path("e5"), path("e4")), found(passage("plan:nightjar")), reader=PUBLIC)
    assert names(bundle) == ["db:eu-1"]
    assert "nightjar" not in repr(bundle).lower()
    assert "eu-9" not in repr(bundle)
    assert merged(store, found(passage("plan:nightjar"))).units, "the control: its reader gets it"


def test_a_report_needs_all_its_sources(store):
    def report(*sources):
        made = CommunityReport(id="c", title="t", text="x", entity_ids=(), source_ids=sources)
        return found(Hit(score=1.0, kind=ScoreKind.REPORT, report=made), retriever="global_community")

    assert merged(store, report("crm:acme"), reader=PUBLIC).units
    assert not merged(store, report("crm:acme", "plan:nightjar"), reader=PUBLIC).units
    assert merged(store, report("crm:acme", "plan:nightjar"), reader=INSIDER).units


def test_a_contradiction_is_settled_by_precedence(store):
    bundle = merged(store, answered(path("e3"), path("e2")))
    assert names(bundle) == ["team:ledger"]
    assert bundle.answers == (Binding(id="team:ledger", display="team:ledger"),)
    assert "superseded by precedence" in reasons(bundle)
    assert bundle.units[0].conflict
    assert "team:rogue" in bundle.units[0].note
    assert "conflict" in bundle.flags


def test_a_fact_nobody_retrieved_still_contradicts(store):
    bundle = merged(store, answered(path("e3")))
    assert bundle.units == ()
    assert bundle.answers == ()
    assert "superseded by precedence" in reasons(bundle)


def test_without_precedence_the_newer_source_leads_and_both_are_flagged(store):
    bundle = merged(
        store, answered(path("e2"), path("e3")), ontology=ONTOLOGY.replace(", precedence: [catalogue, wiki]", "")
    )
    assert names(bundle) == ["team:rogue", "team:ledger"]
    assert all(unit.conflict for unit in bundle.units)
    assert len(bundle.answers) == 2


def test_facts_that_follow_each_other_do_not_contradict(store):
    bundle = merged(store, answered(path("e1")), at="2026-04-01")
    assert names(bundle) == ["team:payments"]
    assert bundle.flags == ()


def test_a_path_on_old_sources_is_rejected_and_counted(store):
    fresh = merged(store, answered(path("e4"), stale_paths=2), at="2027-05-01")
    assert fresh.paths_rejected_as_stale == 2
    old = merged(store, answered(path("e4"), stale_paths=2), at="2028-05-01")
    assert old.units == ()
    assert old.paths_rejected_as_stale == 3
    assert any("stale" in reason for reason in reasons(old))


def test_a_source_not_in_force_is_left_out_with_the_reason(store):
    hits = found(passage("catalogue:checkout@1"), passage("catalogue:checkout@2"))
    assert names(merged(store, hits)) == ["catalogue:checkout@2"]
    assert any("expired" in reason for reason in reasons(merged(store, hits)))
    assert names(merged(store, hits, at="2026-03-01")) == ["catalogue:checkout@1"]
    cue = Cue(kind=CueKind.DATE, value="2026", start=0, end=0, rule="test")
    year = DateConstraint(cue=cue, mode=DateMode.DURING, interval=Interval(day("2026-01-01"), day("2027-01-01")))
    assert len(merged(store, hits, dates=(year,)).units) == 2


def test_an_answer_at_another_instant_moves_the_sources_with_it(store):
    moved = answered(path("e1"), instant=day("2026-04-01"))
    bundle = merged(store, moved, found(passage("catalogue:checkout@2"), passage("ru:checkout")))
    assert bundle.as_of == day("2026-04-01")
    assert names(bundle) == ["team:payments", "ru:checkout"]


def test_identical_text_is_kept_once_and_the_others_named(tmp_path):
    copies = [replace(TEXT["ru:checkout"], id=f"copy:{number}") for number in range(3)]
    write(tmp_path / "s.db", [*SOURCES, *copies], ASSERTIONS)
    hits = [Hit(score=1.0, kind=ScoreKind.BM25, passage=passage_of(one)) for one in copies]
    with Database(tmp_path / "s.db", read_only=True) as store:
        bundle = merged(store, found(*hits, passage("wiki:checkout")))
    assert names(bundle) == ["copy:0", "wiki:checkout"]
    assert [one.what for one in bundle.omissions] == ["passage copy:1#0 of copy:1", "passage copy:2#0 of copy:2"]
    assert set(reasons(bundle)) == {"duplicate of copy:0#0"}


@pytest.mark.parametrize("verdict", [Verdict.ABSENT, Verdict.UNRESOLVED])
def test_context_does_not_turn_an_abstention_into_an_answer(store, verdict):
    first = RetrievalResult(retriever="local_graph", verdict=verdict, reason="said so")
    later = answered(path("e2"))
    attempts = (
        Attempt(decision=DECISION, results=(first,), sufficiency=Sufficiency(score=0.0)),
        Attempt(decision=DECISION, results=(later,), sufficiency=Sufficiency(score=1.0)),
    )
    bundle = merged(store, first, later, found(passage("wiki:checkout")), attempts=attempts)
    assert bundle.abstained
    assert bundle.reason == "said so"
    assert bundle.answers == ()
    assert bundle.units
    assert bundle.fallback


def test_a_fallback_may_answer_what_the_first_route_did_not_decide(store):
    first, later = RetrievalResult(retriever="identifier", verdict=Verdict.EMPTY), answered(path("e2"))
    attempts = (
        Attempt(decision=DECISION, results=(first,), sufficiency=Sufficiency(score=0.0)),
        Attempt(decision=DECISION, results=(later,), sufficiency=Sufficiency(score=1.0)),
    )
    bundle = merged(store, first, later, attempts=attempts)
    assert not bundle.abstained
    assert bundle.answers


def test_nothing_found_is_said_only_if_every_stage_completed(store):
    empty = RetrievalResult(retriever="lexical", verdict=Verdict.EMPTY)
    failed = RetrievalResult(retriever="vector", verdict=Verdict.FAILED, reason="the endpoint is down")
    nothing = merged(store, empty)
    assert nothing.abstained
    assert "no readable evidence" in nothing.reason
    broken = merged(store, empty, failed)
    assert broken.abstained
    assert "not complete" in broken.reason
    assert broken.degraded == (Degradation(stage="vector", reason="the endpoint is down"),)
    said = Degradation(stage="vector", reason="down")
    assert merged(store, empty, failed, degraded=(said,)).degraded == (said,)


def test_limits_mean_what_they_say(store):
    paths = answered(path("e4"), path("e2"), path("e6", "e4"))
    two = merged(store, paths, decision=replace(DECISION, limits=Limits(max_paths=2)))
    assert two.paths_returned == 2
    assert "truncated by max_paths" in reasons(two)
    assert two.evidence_truncated
    assert len(two.answers) == 3, "bindings are complete whatever was cut"
    spans = merged(
        store, paths, found(passage("ru:checkout")), decision=replace(DECISION, limits=Limits(max_source_spans=2))
    )
    shown = {one.span for supports in spans.supports.values() for one in supports}
    assert len(shown) + sum(1 for unit in spans.units if unit.passage) <= 2
    assert "truncated by max_source_spans" in reasons(spans)
    cut = merged(store, replace(paths, truncated_by="max_paths"))
    assert cut.truncated


def test_no_source_fills_more_than_its_share(tmp_path):
    long = replace(TEXT["ru:checkout"], id="long", text="слово " * 100)
    write(tmp_path / "s.db", [*SOURCES, long], ASSERTIONS)
    with Database(tmp_path / "s.db", read_only=True) as store:
        hits = [
            Hit(score=1.0, kind=ScoreKind.BM25, passage=passage_of(long)),
            passage("wiki:checkout"),
            passage("crm:acme"),
        ]
        bundle = merged(store, found(*hits), decision=replace(DECISION, limits=Limits(max_source_spans=2)))
    assert names(bundle) == ["long", "wiki:checkout"]


def test_an_instant_outside_the_data_is_flagged(store):
    assert "as_of_out_of_range" in merged(store, found(passage("ru:checkout")), at="1990-01-01").flags
    assert "as_of_out_of_range" not in merged(store, found(passage("ru:checkout"))).flags


def test_trusted_facts_lead_against_any_number_of_poisoned_sources(tmp_path):
    trusted, poison, sources = [], [], list(SOURCES)
    for number in range(20):
        service = f"svc:s{number}"
        good, bad = f"cat:{number}", [f"post:{number}:{copy}" for copy in range(1 + number % 5)]
        sources.append(replace(TEXT["catalogue:checkout@2"], id=good, node=None))
        sources += [replace(TEXT["chat:checkout"], id=id) for id in bad]
        since = Interval(day("2026-05-01"), None)
        spans = tuple((SourceSpan(id),) for id in bad)
        trusted.append(
            Assertion(
                id=f"t{number}",
                subject=service,
                predicate="OWNED_BY",
                object="team:ledger",
                validity=since,
                supports=((SourceSpan(good),),),
            )
        )
        poison.append(
            Assertion(
                id=f"x{number}",
                subject=service,
                predicate="OWNED_BY",
                object="team:aaa",
                validity=since,
                supports=spans,
            )
        )
    write(tmp_path / "s.db", sources, [*ASSERTIONS, *trusted, *poison])
    known = {one.id: one for one in (*trusted, *poison)}
    with Database(tmp_path / "s.db", read_only=True) as store:
        for number in range(20):
            hits = [path(f"x{number}", known=known), path(f"t{number}", known=known)]
            bundle = merged(store, answered(*hits))
            assert bundle.units[0].path.end == "team:ledger"
            assert bundle.units[0].conflict
            assert "conflict" in bundle.flags


def test_a_hidden_source_changes_nothing(store, tmp_path):
    sources, assertions = visible_to(PUBLIC)
    write(tmp_path / "s.db", sources, assertions)
    known = {one.id: one for one in assertions}
    hits = answered(path("e2", known=known), path("e4", known=known), path("e3", known=known))
    with Database(tmp_path / "s.db", read_only=True) as less:
        assert merged(less, hits, found(passage("ru:checkout")), reader=PUBLIC) == merged(
            store, hits, found(passage("ru:checkout")), reader=PUBLIC
        )


def test_equal_inputs_give_equal_bytes(store):
    results = (answered(path("e2"), path("e4")), found(passage("wiki:checkout"), passage("crm:acme")))
    assert repr(merged(store, *results)) == repr(merged(store, *results))
