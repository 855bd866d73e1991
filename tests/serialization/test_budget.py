import dataclasses
import hashlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphroute.access import access_mark
from graphroute.errors import ConfigurationError, UsageError
from graphroute.models.tokenizers import load_tokenizer
from graphroute.models.tokenizers.characters import CharacterEstimate
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.orderings import Hints, ordering
from graphroute.serialization.records import PassageRecord, PathRecord, Profile, records_of
from graphroute.serialization.serialize import serialize
from graphroute.types.evidence import Degradation, EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Direction, Entity, Fact, Hop, Path, Support
from graphroute.types.retrieval import Binding, ScoreKind
from graphroute.types.source import Passage, SourceSpan

TOKENIZER = CharacterEstimate()
O200K = load_tokenizer("o200k_base")
each_format = pytest.mark.parametrize("name", list(FORMATS))


def path_unit(rank, hops):
    chain = tuple(
        Hop(
            Fact(
                subject=f"n{rank}.{i}", predicate="LINKS", object=f"n{rank}.{i + 1}", assertion_ids=(f"e:{rank}.{i}",)
            ),
            Direction.FORWARD,
        )
        for i in range(hops)
    )
    return EvidenceUnit(
        id=f"U{rank}", rank=rank, retrievers=("local_graph",), score=1.0, score_kind=ScoreKind.PATH, path=Path(chain)
    )


def passage_unit(rank, length):
    passage = Passage(id=f"p{rank}", source_id=f"s{rank}", start=0, end=length, text="word " * (length // 5), title="T")
    return EvidenceUnit(
        id=f"U{rank}", rank=rank, retrievers=("lexical",), score=0.1, score_kind=ScoreKind.RRF, passage=passage
    )


def bundle(units, **more):
    ids = {id for unit in units if unit.path for hop in unit.path.hops for id in hop.fact.assertion_ids}
    nodes = {node for unit in units if unit.path for node in unit.path.nodes}
    return EvidenceBundle(
        question="q",
        reader="r",
        route="graph",
        retrievers=("local_graph", "lexical"),
        snapshot="snap",
        as_of=0,
        units=tuple(units),
        supports={id: (Support(assertion_id=id, span=SourceSpan(f"doc:{id}", 0, 9)),) for id in sorted(ids)},
        entities={id: Entity(id=id, types=("node",), name=id.upper()) for id in sorted(nodes)},
        **more,
    )


units = st.lists(st.tuples(st.booleans(), st.integers(1, 4)), max_size=12).map(
    lambda shapes: [
        path_unit(rank, size) if is_path else passage_unit(rank, size * 60)
        for rank, (is_path, size) in enumerate(shapes, start=1)
    ]
)


@each_format
@settings(max_examples=30, deadline=None)
@given(held=units, budget=st.integers(1, 900))
def test_a_text_keeps_to_its_budget_and_units_stay_whole(name, held, budget):
    found = serialize(bundle(held), format=name, budget=budget, tokenizer=TOKENIZER)
    assert found.tokens == TOKENIZER.count(found.text) <= budget
    assert found.sha256 == hashlib.sha256(found.text.encode()).hexdigest()
    assert sorted([*found.included, *found.omitted]) == sorted(unit.id for unit in held)
    if not found.text:
        return
    records = FORMATS.load(name)().loads(found.text)
    assert tuple(unit.id for unit in records.units) == found.included
    assert records.left_out == len(found.omitted)
    by_id = {unit.id: unit for unit in held}
    for record in records.units:
        if isinstance(record, PathRecord):
            walked = [records.facts[index].assertions[0].id for index, _ in record.hops]
            assert walked == [hop.fact.assertion_ids[0] for hop in by_id[record.id].path.hops]
            assert all(records.facts[index].assertions[0].supports for index, _ in record.hops)
        else:
            assert isinstance(record, PassageRecord)
            assert record.text == by_id[record.id].passage.text


@each_format
def test_paths_are_packed_before_passages(name):
    held = [passage_unit(1, 1500), path_unit(2, 3), passage_unit(3, 40)]
    whole = serialize(bundle(held), format=name, budget=100_000, tokenizer=TOKENIZER)
    assert whole.included == ("U1", "U2", "U3")
    tight = serialize(bundle(held), format=name, budget=whole.tokens - 200, tokenizer=TOKENIZER)
    assert tight.included == ("U2", "U3")
    assert tight.omitted == ("U1",)


@each_format
def test_degradation_and_abstention_are_in_the_text(name):
    held = bundle(
        [passage_unit(1, 50)],
        degraded=(Degradation(stage="vector", reason="the endpoint is down"),),
        abstained=True,
        reason="no such fact holds",
        omissions=(Omission(what="passage p9", stage="merging", reason="expired"),),
    )
    text = serialize(held, format=name, budget=1000, tokenizer=TOKENIZER).text
    for said in ("the endpoint is down", "no such fact holds", "expired", "abstained"):
        assert said in text


@each_format
def test_answers_never_crowd_out_the_evidence(name):
    answers = tuple(Binding(id=f"n{i}", display=f"Node {i}") for i in range(2000))
    held = bundle([path_unit(1, 2), passage_unit(2, 50)], answers=answers)
    found = serialize(held, format=name, budget=2000, tokenizer=TOKENIZER)
    records = FORMATS.load(name)().loads(found.text)
    assert found.included == ("U1", "U2")
    assert 0 < len(records.answers) < 2000
    assert records.total_answers == 2000


def test_facts_and_sources_are_declared_once():
    held = [path_unit(1, 2), path_unit(1, 3)]
    held[1] = EvidenceUnit(
        id="U2", rank=2, retrievers=(), score=0.0, score_kind=ScoreKind.PATH, path=held[1].path, conflict=True
    )
    text = serialize(bundle(held), format="edge_list", budget=5000, tokenizer=TOKENIZER).text
    assert text.count("LINKS") == 3
    assert text.count("doc:e:1.0") == 1
    assert "U2 path F1> F2> F3> conflict" in text


def test_a_budget_below_one_is_refused():
    with pytest.raises(UsageError):
        serialize(bundle([]), format="edge_list", budget=0, tokenizer=TOKENIZER)


def test_packing_takes_time_in_proportion_to_the_bundle():
    def seconds(count):
        held = bundle([path_unit(rank, 2) for rank in range(1, count + 1)])
        best = float("inf")
        for _ in range(3):
            began = time.perf_counter()
            serialize(held, format="edge_list", budget=10**7, tokenizer=TOKENIZER)
            best = min(best, time.perf_counter() - began)
        return best

    seconds(20)
    assert seconds(800) / seconds(100) < 30


@each_format
@pytest.mark.parametrize("profile", list(Profile))
def test_as_many_paths_as_fit_are_found_with_few_texts(name, profile):
    """No other prefix of paths, one longer, would have fitted; and the search does not write the bundle again and again."""
    held = bundle([path_unit(rank, 2) for rank in range(1, 301)])
    found = serialize(held, format=name, profile=profile, budget=1500, tokenizer=O200K)
    form = FORMATS.load(name)()
    taken = len(found.included)
    assert found.included == tuple(f"U{rank}" for rank in range(1, taken + 1))
    more = ordering(form.ordering)(records_of(held, units=held.units[: taken + 1], omissions=()), Hints())
    assert found.tokens <= 1500 < O200K.count(form.dumps(more, profile)) + 8


def test_local_ids_of_a_lean_text_lead_back():
    found = serialize(
        bundle([path_unit(1, 2), passage_unit(2, 50)]), format="adjacency", profile="lean", budget=900, tokenizer=O200K
    )
    assert found.references == {
        "N1": "n1.0",
        "N2": "n1.1",
        "N3": "n1.2",
        "S1": "doc:e:1.0",
        "S2": "doc:e:1.1",
        "S3": "s2",
    }
    assert (found.nodes, found.facts, found.profile) == (3, 2, "lean")
    assert "n1.0" not in found.text


def test_unknown_profiles_and_orderings_are_refused():
    for wrong in ({"profile": "short"}, {"ordering": "random"}):
        with pytest.raises(ConfigurationError):
            serialize(bundle([]), format="edge_list", budget=100, tokenizer=TOKENIZER, **wrong)


def test_the_access_mark_names_no_label():
    assert access_mark(["staff", "hr"]) == access_mark(["hr", "staff", "hr"])
    assert access_mark(["staff"]) != access_mark(["staff", "hr"]) != access_mark([])
    held = dataclasses.replace(bundle([path_unit(1, 1)]), access=access_mark(["payroll-secret"]))
    for name in FORMATS:
        full = serialize(held, format=name, budget=2000, tokenizer=O200K).text
        assert held.access in full
        assert "payroll" not in full
        assert held.access not in serialize(held, format=name, profile="lean", budget=2000, tokenizer=O200K).text


def test_alternative_support_sets_stay_apart():
    unit = path_unit(1, 1)
    (id,) = unit.path.hops[0].fact.assertion_ids
    supports = tuple(
        Support(assertion_id=id, span=SourceSpan(source, 0, 4), group=group)
        for source, group in (("a", 0), ("b", 0), ("c", 1))
    )
    held = dataclasses.replace(bundle([unit]), supports={id: supports})
    for name in FORMATS:
        text = serialize(held, format=name, budget=2000, tokenizer=O200K).text
        (assertion,) = FORMATS.load(name)().loads(text).facts[0].assertions
        assert [[span.source_id for span in one] for one in assertion.supports] == [["a", "b"], ["c"]]


def test_a_fact_and_its_denial_are_two():
    fact = path_unit(1, 1).path.hops[0].fact
    denied = dataclasses.replace(fact, negated=True)
    assert fact.key != denied.key
    units = [
        dataclasses.replace(path_unit(rank, 1), path=Path((Hop(one, Direction.FORWARD),)))
        for rank, one in enumerate((fact, denied), start=1)
    ]
    held = dataclasses.replace(bundle([path_unit(1, 1)]), units=tuple(units))
    for name in FORMATS:
        text = serialize(held, format=name, budget=2000, tokenizer=O200K).text
        assert [one.negated for one in FORMATS.load(name)().loads(text).facts] == [False, True]
