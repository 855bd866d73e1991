from dataclasses import replace

import pytest

from graphroute.errors import ModelMismatchError
from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.retrieval import global_community, identifier, lexical, vector
from graphroute.testing.retriever import opened, question, shown_sources
from graphroute.testing.world import ASSERTIONS, INSIDER, PUBLIC, SOURCES, day, write
from graphroute.types.graph import Direction, Fact, Hop, Path
from graphroute.types.query import Cue, CueKind, DateConstraint, DateMode
from graphroute.types.retrieval import Binding, Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Limits
from graphroute.types.time import Interval

EMBEDDER = HashingEmbedder()


@pytest.fixture(scope="module")
def backends(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "world.db"
    write(path, embedder=EMBEDDER)
    with opened(path, embedder=EMBEDDER) as held:
        yield held


def run(backends, part, query, *, reader=PUBLIC, prior=(), **params):
    module = {"Lexical": lexical, "Vector": vector, "Identifier": identifier, "GlobalCommunity": global_community}
    retriever = part(backends, module[part.__name__].Params(**params))
    return retriever.retrieve(query, view=backends.catalog.view(reader=reader), limits=Limits(), prior=prior)


def graph_result(*ids, anchors=("cust:acme",), bindings=(), instant=None):
    known = {one.id: one for one in ASSERTIONS}
    hops = []
    for id in ids:
        one = known[id]
        fact = Fact(
            subject=one.subject, predicate=one.predicate, object=one.object, validity=one.validity, assertion_ids=(id,)
        )
        hops.append(Hop(fact, Direction.FORWARD))
    hits = (Hit(score=1.0, kind=ScoreKind.PATH, path=Path(tuple(hops))),) if hops else ()
    return RetrievalResult(
        retriever="local_graph",
        verdict=Verdict.ANSWERED,
        hits=hits,
        anchors=anchors,
        bindings=bindings,
        instant=instant,
    )


def test_lexical_finds_the_version_in_force(backends):
    now = run(backends, lexical.Lexical, question("owner of checkout"))
    assert "catalogue:checkout@2" in shown_sources(now)
    assert "catalogue:checkout@1" not in shown_sources(now)
    then = run(backends, lexical.Lexical, question("owner of checkout", at="2026-03-05"))
    assert "catalogue:checkout@1" in shown_sources(then)
    assert "catalogue:checkout@2" not in shown_sources(then)
    assert now.hits[0].kind is ScoreKind.BM25


def test_a_range_takes_every_version_inside(backends):
    cue = Cue(kind=CueKind.DATE, value="2026", start=0, end=0, rule="test")
    year = DateConstraint(cue=cue, mode=DateMode.DURING, interval=Interval(day("2026-01-01"), day("2027-01-01")))
    found = run(backends, lexical.Lexical, replace(question("owner of checkout"), dates=(year,)))
    assert {"catalogue:checkout@1", "catalogue:checkout@2"} <= set(shown_sources(found))


@pytest.mark.parametrize(
    ("text", "source"),
    [("ошибки E-77", "ru:checkout"), ("кластеров", "ru:checkout"), ("数据库", "zh:checkout"), ("CHG-482", "CHG-482")],
)
def test_lexical_in_three_languages(backends, text, source):
    assert shown_sources(run(backends, lexical.Lexical, question(text)))[0] == source


def test_no_word_in_common(backends):
    found = run(backends, lexical.Lexical, question("zebra"))
    assert found.verdict is Verdict.EMPTY
    assert found.reason


def test_vector_needs_vectors_of_its_model(backends):
    found = run(backends, vector.Vector, question("who owns checkout"), k=3)
    assert len(found.hits) == 3
    assert all(hit.kind is ScoreKind.COSINE for hit in found.hits)
    without = run(replace(backends, vectors=None), vector.Vector, question("who owns checkout"))
    assert without.verdict is Verdict.NOT_APPLICABLE

    class Other(HashingEmbedder):
        @property
        def identity(self):
            return "other@1/8"

    with pytest.raises(ModelMismatchError, match="other@1/8"):
        run(replace(backends, embedder=Other()), vector.Vector, question("who owns checkout"))


@pytest.mark.parametrize("part", [lexical.Lexical, vector.Vector])
def test_only_passages_attached_to_survivors(backends, part):
    free = run(backends, part, question("cluster checkout"), k=20)
    assert "CHG-482" in shown_sources(free)
    prior = graph_result("e6")
    bound = run(backends, part, question("cluster checkout"), prior=[prior], k=20, attached_to="survivors")
    assert set(shown_sources(bound)) == {"catalogue:checkout@2", "wiki:checkout", "chat:checkout", "crm:acme"} & set(
        shown_sources(bound)
    )
    assert "wiki:checkout" in shown_sources(bound)
    assert "CHG-482" not in shown_sources(bound)
    none = run(backends, part, question("cluster checkout"), prior=[], attached_to="survivors")
    assert none.verdict is Verdict.EMPTY
    assert "survived" in none.reason


def test_bindings_survive_too(backends):
    prior = graph_result(bindings=(Binding(id="cust:acme", display="acme"),), anchors=())
    found = run(backends, lexical.Lexical, question("plan"), prior=[prior], attached_to="survivors")
    assert shown_sources(found) == ["crm:acme"]


def test_an_answer_at_another_instant_moves_the_search(backends):
    prior = graph_result("e6", instant=day("2026-03-01"))
    found = run(backends, lexical.Lexical, question("owner of checkout"), prior=[prior])
    assert found.instant == day("2026-03-01")
    assert "catalogue:checkout@1" in shown_sources(found)
    assert "catalogue:checkout@2" not in shown_sources(found)


def test_identifier_gives_the_record_of_the_entity(backends):
    query = question("What did CHG-482 change?", identifiers=[("CHG-482", ["chg:482"], "pattern")])
    found = run(backends, identifier.Identifier, query)
    assert found.verdict is Verdict.EVIDENCE
    assert shown_sources(found) == ["CHG-482"]
    assert found.hits[0].kind is ScoreKind.EXACT
    assert found.anchors == ("chg:482",)


def test_own_records_that_fit_the_question_lead(backends):
    query = question("Which team looks after checkout?", identifiers=[("checkout", ["svc:checkout"], "local")])
    found = run(backends, identifier.Identifier, query)
    assert shown_sources(found)[0] == "wiki:checkout"
    assert set(shown_sources(found)) == {"wiki:checkout", "catalogue:checkout@2"}
    insider = run(backends, identifier.Identifier, query, reader=INSIDER)
    assert "plan:nightjar" in shown_sources(insider)


def test_a_fragment_is_a_candidate_and_no_exact_id(backends):
    found = run(backends, identifier.Identifier, question("Show 482", identifiers=[("482", ["chg:482"], "local")]))
    assert shown_sources(found) == ["CHG-482"]
    assert found.hits[0].kind is not ScoreKind.EXACT
    assert found.hits[0].note == "fragment"
    assert found.anchors == ()


def test_an_identifier_in_a_text_is_found_by_its_words(backends):
    found = run(backends, identifier.Identifier, question("Что такое E-77?", identifiers=[("E-77", [], "pattern")]))
    assert shown_sources(found) == ["ru:checkout"]
    assert found.hits[0].kind is ScoreKind.EXACT
    source = run(backends, identifier.Identifier, question("crm:acme?", identifiers=[("crm:acme", [], "id")]))
    assert shown_sources(source)[0] == "crm:acme"


def test_an_identifier_of_nothing_is_unresolved(backends):
    query = question("What is CHG-901?", identifiers=[("CHG-901", [], "pattern")])
    found = run(backends, identifier.Identifier, query)
    assert found.verdict is Verdict.UNRESOLVED
    assert "CHG-901" in found.reason
    assert run(backends, identifier.Identifier, question("no id")).verdict is Verdict.NOT_APPLICABLE


def test_reports_carry_their_sources_and_only_readable_ones(backends):
    public = run(backends, global_community.GlobalCommunity, question("What are the main themes?"))
    insider = run(backends, global_community.GlobalCommunity, question("What are the main themes?"), reader=INSIDER)
    assert public.hits
    assert all(hit.report.source_ids for hit in public.hits)
    assert "plan:nightjar" not in shown_sources(public)
    assert "eu-9" not in repr(public)
    assert "plan:nightjar" in shown_sources(insider)
    assert "catalogue:checkout@1" not in shown_sources(public), "not in force any more"


def test_reports_are_kept_for_a_view(backends):
    retriever = global_community.GlobalCommunity(backends)
    calls = []

    class Counted:
        def __getattr__(self, name):
            if name == "all_facts":
                calls.append(name)
            return getattr(backends.graph, name)

    retriever._backends = replace(backends, graph=Counted())
    view = backends.catalog.view(reader=PUBLIC)
    first = retriever.retrieve(question("themes"), view=view, limits=Limits())
    again = retriever.retrieve(question("themes"), view=view, limits=Limits())
    assert replace(first, seconds=0) == replace(again, seconds=0)
    assert len(calls) == 1
    retriever.retrieve(question("themes"), view=backends.catalog.view(reader=INSIDER), limits=Limits())
    assert len(calls) == 2


def test_without_facts_there_is_nothing_to_report(tmp_path):
    write(tmp_path / "s.db", SOURCES, ())
    with opened(tmp_path / "s.db") as held:
        found = run(held, global_community.GlobalCommunity, question("themes"))
    assert found.verdict is Verdict.EMPTY


def test_an_approximate_search_is_flagged(backends):
    exact = run(backends, vector.Vector, question("who owns checkout"), k=3)
    assert exact.hits
    assert exact.flags == ()

    class Approximate:
        model = backends.vectors.model
        search = backends.vectors.search

        def is_exact(self, *, view, deadline=None):
            return False

    found = run(replace(backends, vectors=Approximate()), vector.Vector, question("who owns checkout"), k=3)
    assert found.flags == ("approximate_vectors",)
    assert found.hits == exact.hits
