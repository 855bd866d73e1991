import json
import os
import random
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from graphroute.retrieval.communities import detect, inner_facts, report
from graphroute.types.graph import Entity, Fact
from graphroute.types.source import Passage


def fact(subject, target, predicate="LINKS"):
    return Fact(subject=subject, predicate=predicate, object=target, assertion_ids=(f"{subject}>{target}",))


RING = [fact(f"n{i:02}", f"n{(i + 1) % 12:02}") for i in range(12)]
CLIQUES = [fact(f"{group}{i}", f"{group}{j}") for group in "abc" for i in range(6) for j in range(i + 1, 6)] + [
    fact("a0", "b0"),
    fact("b1", "c1"),
]


def test_one_partition_over_shuffles():
    for facts in (RING, CLIQUES):
        known = detect(facts)
        assert len(known) > 1
        for seed in range(20):
            shuffled = list(facts)
            random.Random(seed).shuffle(shuffled)
            turned = [
                Fact(subject=one.object, predicate=one.predicate, object=one.subject, assertion_ids=one.assertion_ids)
                if seed % 2
                else one
                for one in shuffled
            ]
            assert detect(turned) == known


def test_one_partition_over_hash_seeds():
    code = (
        "from graphroute.retrieval.communities import detect\n"
        "from graphroute.types.graph import Fact\n"
        "import json\n"
        "facts=[Fact(subject=f'n{i:02}',predicate='L',object=f'n{(i+1)%12:02}',assertion_ids=('e',)) for i in range(12)]\n"
        "print(json.dumps([(one.id, one.members) for one in detect(facts)]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop()) == [[one.id, list(one.members)] for one in detect(RING)]


def test_communities_are_the_dense_parts():
    found = [set(one.members) for one in detect(CLIQUES) if one.leaf]
    assert sorted(map(sorted, found)) == [[f"{group}{i}" for i in range(6)] for group in "abc"]


def test_a_large_community_is_divided():
    facts = [fact(f"n{i}", f"n{j}") for i in range(40) for j in (i + 1, i + 2) if j < 40]
    found = detect(facts, max_size=8)
    leaves = [one for one in found if one.leaf]
    assert all(len(one.members) <= 20 for one in leaves)
    members = sorted(member for one in leaves for member in one.members)
    assert members == sorted({f"n{i}" for i in range(40)})


def test_nothing_to_divide():
    assert detect([]) == ()
    assert detect([fact("a", "a")]) == ()


def test_the_id_depends_on_members_alone():
    extra = [*CLIQUES, *(fact(f"z{i}", f"z{j}") for i in range(6) for j in range(i + 1, 6))]
    before = {one.members: one.id for one in detect(CLIQUES)}
    after = {one.members: one.id for one in detect(extra)}
    shared = before.keys() & after.keys()
    assert len(shared) >= 3
    assert all(before[members] == after[members] for members in shared)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=60))
def test_leaves_part_the_graph(pairs):
    facts = [fact(f"n{low}", f"n{high}") for low, high in pairs]
    leaves = [member for one in detect(facts, max_size=4) if one.leaf for member in one.members]
    linked = {end for one in facts if one.subject != one.object for end in (one.subject, one.object)}
    assert sorted(leaves) == sorted(linked)


def test_a_report_is_made_of_its_sources():
    community = next(one for one in detect(CLIQUES) if "a0" in one.members)
    touching = {}
    for one in CLIQUES:
        touching.setdefault(one.subject, []).append(one)
        touching.setdefault(one.object, []).append(one)
    inner = inner_facts(community, touching)
    assert len(inner) == 15
    entities = {id: Entity(id=id, types=("service",), name=f"Service {id}") for id in community.members}
    passages = [
        Passage(id="p1", source_id="s1", start=0, end=1, text="Billing talks to checkout. It was slow last winter."),
        Passage(id="p2", source_id="s2", start=0, end=1, text="Checkout and billing share a database cluster."),
        Passage(id="p3", source_id="s3", start=0, end=1, text="支付服务依赖数据库集群。"),
    ]
    made = report(community, inner, entities, passages, ("s9",), focus=("cluster",), sentences=3)
    assert made.source_ids[-1] == "s9"
    assert set(made.source_ids) <= {"s1", "s2", "s3", "s9"}
    assert made.text.splitlines()[0] == "6 entities, 15 facts."
    assert "LINKS 15" in made.text
    assert "share a database cluster. (s2)" in made.text.splitlines()[3]
    for source in ("s1", "s2", "s3"):
        assert (f"({source})" in made.text) == (source in made.source_ids)
    again = report(community, inner, entities, passages, ("s9",), focus=("cluster",), sentences=3)
    assert again == made
