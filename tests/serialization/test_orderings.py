from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from graphroute.errors import ConfigurationError
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.orderings import ORDERINGS, Hints, interleaved, ordering
from graphroute.serialization.records import FactRecord, NodeRecord, PathRecord, Profile, Records, check, project
from graphroute.testing.format import records, sample
from graphroute.types.graph import Direction

each_ordering = pytest.mark.parametrize("name", list(ORDERINGS))


def walked(held):
    return [
        [(held.facts[index], way) for index, way in unit.hops] for unit in held.units if isinstance(unit, PathRecord)
    ]


@each_ordering
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(held=records())
def test_an_ordering_changes_nothing_but_the_order(name, held):
    found = check(ordering(name)(held, Hints(anchors=tuple(node.id for node in held.nodes[:1]), seed=3)))
    assert Counter(found.facts) == Counter(held.facts)
    assert Counter(found.nodes) == Counter(held.nodes)
    assert walked(found) == walked(held)
    assert replace(found, nodes=(), facts=(), units=()) == replace(held, nodes=(), facts=(), units=())
    lean = ordering(name)(project(held, Profile.LEAN), Hints(seed=3))
    assert check(replace(lean)) == lean


@each_ordering
@pytest.mark.parametrize("form", list(FORMATS))
def test_every_format_carries_every_ordering(name, form):
    held = ordering(name)(sample(), Hints(anchors=("org_vector",)))
    for profile in Profile:
        assert FORMATS.load(form)().loads(FORMATS.load(form)().dumps(held, profile)) == project(held, profile)


def chain():
    names = ["Анна", "Боб", "李", "Дом", "Emma"]
    return Records(
        nodes=tuple(NodeRecord(id=f"n{i}", name=name) for i, name in enumerate(names)),
        facts=tuple(
            FactRecord(subject=f"n{a}", predicate="R", object=f"n{b}") for a, b in ((3, 4), (2, 3), (1, 2), (0, 1))
        ),
        units=(PathRecord(id="U1", hops=((2, Direction.BACKWARD),)),),
    )


def order(name, **hints):
    return [f"{fact.subject[1]}{fact.object[1]}" for fact in ordering(name)(chain(), Hints(**hints)).facts]


def test_the_orders_are_what_their_names_say():
    assert order("given") == ["34", "23", "12", "01"]
    assert order("canonical") == ["01", "12", "23", "34"]
    assert order("breadth_first", anchors=("n2",)) == ["12", "23", "01", "34"]
    assert order("relevant_first", anchors=("n4",)) == ["12", "34", "01", "23"]
    assert order("shuffled", seed=1) != order("shuffled", seed=2)
    assert order("shuffled", seed=1) == order("shuffled", seed=1)
    assert order("grouped") == ["01", "12", "23", "34"]


def test_a_shuffle_does_not_depend_on_the_order_before():
    turned = ordering("canonical")(chain(), Hints())
    assert ordering("shuffled")(turned, Hints(seed=5)) == ordering("shuffled")(chain(), Hints(seed=5))


def test_interleaved_nodes_stand_before_their_facts():
    kinds = [kind for kind, _ in interleaved(ordering("interleaved")(chain(), Hints()))]
    assert kinds == ["node", "node", "fact", "node", "fact", "node", "fact", "node", "fact"]
    assert [kind for kind, _ in interleaved(chain())] == ["node"] * 5 + ["fact"] * 4


def test_an_unknown_ordering_is_refused():
    with pytest.raises(ConfigurationError, match="breadth_first"):
        ordering("depth_first")
