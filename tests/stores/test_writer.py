from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphroute.errors import BackendUnavailableError, DataError, SnapshotError, UsageError
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.kept import local_part
from graphroute.stores.schema import FORMAT_VERSION, unpack_terms
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import READERS, World, differing, put_world, random_world, readout, seeded
from graphroute.text import terms
from graphroute.types.graph import Assertion, Attribute
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import Interval

RED = Reader("r", ("red",))
BLUE = Reader("b", ("blue",))


def everything(db: Database, world: World, sequence: int | None = None) -> list[tuple[str, str]]:
    """What all kinds of readers get from a store."""
    catalog, graph = SqliteCatalog(db), SqliteGraph(db)
    found: list[tuple[str, str]] = []
    for reader in READERS:
        view = catalog.view(reader=reader, sequence=sequence)
        found += [(f"{reader.id} {name}", text) for name, text in readout(catalog, graph, view=view, world=world)]
    return found


def source(id: str, label: str = "red", text: str = "text", **fields: Any) -> Source:
    return Source(id=id, text=text, labels=frozenset({label} if label else ()), **fields)


def said(id: str, s: str, p: str, o: str, *supports: str, **fields: Any) -> Assertion:
    return Assertion(
        id=id, subject=s, predicate=p, object=o, supports=tuple((SourceSpan(x),) for x in supports), **fields
    )


@pytest.fixture
def db(tmp_path: Path) -> Any:
    with Database(tmp_path / "store.db") as found:
        yield found


# Order and repetition -----------------------------------------------------------------------------------------------------


def test_any_order_in_any_number_of_sessions_gives_the_same_store(tmp_path: Path) -> None:
    world = random_world(11)
    with Database(tmp_path / "plain.db") as plain:
        put_world(world, SnapshotWriter(plain))
        expected = everything(plain, world)
    assert len({text for _, text in expected}) > 50
    for number in range(20):
        with Database(tmp_path / f"{number}.db") as shuffled:
            put_world(world, SnapshotWriter(shuffled), order=seeded(number), sessions=1 + number % 4)
            assert differing(expected, everything(shuffled, world)) == [], f"order {number}"


_HASH_SEED_CHILD = """
import hashlib, random, sys
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import READERS, put_world, random_world, readout
world = random_world(5)
with Database(sys.argv[1]) as db:
    put_world(world, SnapshotWriter(db), order=random.Random(int(sys.argv[2])))
    catalog, graph = SqliteCatalog(db), SqliteGraph(db)
    texts = [readout(catalog, graph, view=catalog.view(reader=reader), world=world) for reader in READERS]
    print(hashlib.sha256(repr(texts).encode()).hexdigest())
"""


def test_hash_seed_changes_nothing(tmp_path: Path) -> None:
    digests = set()
    for seed in ("0", "1", "77"):
        done = subprocess.run(
            [sys.executable, "-c", _HASH_SEED_CHILD, str(tmp_path / f"{seed}.db"), seed],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_putting_the_same_again_publishes_no_snapshot(db: Database) -> None:
    world, writer = random_world(2), SnapshotWriter(db)
    first = put_world(world, writer)
    before = everything(db, world)
    for number in range(3):
        assert put_world(world, writer, order=seeded(number)) == first
    assert db.connection.execute("SELECT count(*) FROM snapshot").fetchone()[0] == 2
    writer.begin()
    for item in world.sources:
        assert writer.put_source(item) is False
        writer.refresh(item.id)
    writer.put_passages(world.passages)
    for name in world.names:
        writer.put_name(*name)
    for attribute in world.attributes:
        writer.put_attribute(attribute)
    for record in world.records:
        writer.put_entity_source(*record)
    assert writer.publish() == first
    assert differing(before, everything(db, world)) == []


def test_refresh_ends_what_is_not_put_again(db: Database) -> None:
    writer = SnapshotWriter(db)
    one = source("S1", node="e:1")

    def put(names: list[str], parts: int) -> None:
        writer.begin()
        writer.put_source(one)
        writer.refresh("S1")
        writer.put_passages([Passage(id=f"S1#{n}", source_id="S1", start=n, end=n + 1, text="t") for n in range(parts)])
        for name in names:
            writer.put_name("e:1", name, SourceSpan("S1"))
        writer.publish()

    put(["Ann", "Bo"], 3)
    put(["Bo"], 2)
    catalog = SqliteCatalog(db)
    view = catalog.view(reader=RED)
    assert catalog.entities(["e:1"], view=view)["e:1"].names == ("Bo",)
    assert catalog.aliases(["ann", "bo"], view=view).keys() == {"bo"}
    assert [passage.id for passage in catalog.passages_of(["S1"], view=view)] == ["S1#0", "S1#1"]


def test_older_news_loaded_later_closes_nothing(tmp_path: Path) -> None:
    s1, s2, s3 = (
        (source("S1"), said("a1", "P-7", "SUPERVISED_BY", "Lena", "S1", validity=Interval(1, 5))),
        (source("S2"), said("a2", "P-7", "SUPERVISED_BY", "Omar", "S2", validity=Interval(5, None))),
        (source("S3"), said("a3", "P-9", "SUPERVISED_BY", "Lena", "S3", validity=Interval(7, None))),
    )
    seen = set()
    for number, order in enumerate(itertools.permutations((s1, s2, s3))):
        with Database(tmp_path / f"{number}.db") as db:
            writer = SnapshotWriter(db)
            for one, assertion in order:
                writer.begin()
                writer.put_source(one)
                writer.put_assertion(assertion)
                writer.publish()
            catalog = SqliteCatalog(db)
            view = catalog.view(reader=RED)
            facts = SqliteGraph(db).all_facts(view=view)
            seen.add((tuple(facts), view.token))
    assert len(seen) == 1
    assert [(f.subject, f.object) for f in facts] == [("P-7", "Lena"), ("P-7", "Omar"), ("P-9", "Lena")]
    assert [f.validity for f in facts] == [Interval(1, 5), Interval(5, None), Interval(7, None)]


def test_a_source_that_comes_late_makes_its_facts_readable(db: Database) -> None:
    writer, catalog, graph = SnapshotWriter(db), SqliteCatalog(db), SqliteGraph(db)
    writer.begin()
    writer.put_assertion(said("a1", "x", "r", "y", "S1"))
    writer.put_name("x", "Ex", SourceSpan("S1"))
    writer.publish()
    before = catalog.view(reader=RED)
    assert graph.all_facts(view=before) == []
    writer.begin()
    writer.put_source(source("S1"))
    writer.publish()
    after = catalog.view(reader=RED)
    assert [fact.assertion_ids for fact in graph.all_facts(view=after)] == [("a1",)]
    assert catalog.aliases(["ex"], view=after)["ex"][0].entity_id == "x"
    assert graph.all_facts(view=before) == []


# Generations, removal, snapshots --------------------------------------------------------------------------------------------


def test_a_changed_source_is_a_new_generation_and_its_old_facts_end(db: Database) -> None:
    writer, catalog, graph = SnapshotWriter(db), SqliteCatalog(db), SqliteGraph(db)
    writer.begin()
    writer.put_source(source("S1", node="x"))
    writer.put_source(source("S2"))
    writer.put_passages([Passage(id="S1#0", source_id="S1", start=0, end=4, text="text")])
    writer.put_attribute(Attribute(entity_id="x", key="k", value="v", span=SourceSpan("S1")))
    writer.put_assertion(said("a1", "x", "r", "y", "S1"))
    writer.put_assertion(said("a2", "x", "r", "z", "S1", "S2"))
    writer.put_assertion(said("a3", "x", "r", "w", "S1"))
    writer.publish()
    old = catalog.view(reader=RED)
    writer.begin()
    assert writer.put_source(source("S1", text="new text", node="x")) is True
    writer.put_assertion(said("a3", "x", "r", "w", "S1"))
    writer.publish()
    new = catalog.view(reader=RED)
    assert [fact.object for fact in graph.all_facts(view=old)] == ["w", "y", "z"]
    assert [fact.object for fact in graph.all_facts(view=new)] == ["w", "z"]
    assert [support.span.source_id for support in catalog.supports(["a2"], view=new)["a2"]] == ["S2"]
    assert catalog.passages_of(["S1"], view=new) == []
    assert len(catalog.passages_of(["S1"], view=old)) == 1
    assert catalog.attributes(["x"], view=new) == []
    assert catalog.sources(["S1"], view=old)["S1"].text == "text"
    assert catalog.sources(["S1"], view=new)["S1"].text == "new text"
    assert db.connection.execute("SELECT max(generation) FROM source WHERE id = 'S1'").fetchone()[0] == 2


def test_a_source_that_changes_its_labels_changes_who_reads_its_facts(db: Database) -> None:
    writer, catalog, graph = SnapshotWriter(db), SqliteCatalog(db), SqliteGraph(db)
    for label in ("red", "blue"):
        writer.begin()
        writer.put_source(source("S1", label))
        writer.put_source(source("S2", "blue"))
        writer.put_assertion(
            Assertion(id="a", subject="x", predicate="r", object="y", supports=((SourceSpan("S1"), SourceSpan("S2")),))
        )
        writer.publish()
        assert (graph.all_facts(view=catalog.view(reader=BLUE)) != []) == (label == "blue")
    assert graph.all_facts(view=catalog.view(reader=RED)) == []


def test_removal_hides_at_once_equals_never_seen_and_numbers_on(tmp_path: Path) -> None:
    world = random_world(8)
    gone = {item.id for item in world.sources[:3]}
    with Database(tmp_path / "a.db") as removed, Database(tmp_path / "b.db") as never:
        writer = SnapshotWriter(removed)
        put_world(world, writer)
        writer.begin()
        assert [writer.remove_source(id) for id in sorted(gone)] == [True] * 3
        assert writer.remove_source("no such") is False
        writer.publish()
        without = World(
            sources=tuple(s for s in world.sources if s.id not in gone),
            passages=tuple(p for p in world.passages if p.source_id not in gone),
            entities=world.entities,
            names=tuple(n for n in world.names if n[2].source_id not in gone),
            attributes=tuple(a for a in world.attributes if a.span.source_id not in gone),
            records=tuple(r for r in world.records if r[1] not in gone),
            assertions=world.assertions,
            ontology=world.ontology,
        )
        put_world(without, SnapshotWriter(never))
        assert differing(everything(removed, world), everything(never, world)) == []
        one = world.sources[0]
        writer.begin()
        assert writer.put_source(one) is True
        writer.publish()
        generations = removed.connection.execute(
            "SELECT max(generation) FROM source WHERE id = ?", (one.id,)
        ).fetchone()
        assert generations[0] == 2


def test_forget_drops_old_snapshots_and_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Database(path) as db:
        writer, catalog = SnapshotWriter(db), SqliteCatalog(db)
        writer.begin()
        writer.put_source(source("S1", text="canary-4711 text"))
        writer.put_passages([Passage(id="S1#0", source_id="S1", start=0, end=11, text="canary-4711")])
        writer.put_assertion(said("a", "x", "r", "y", "S1"))
        first = writer.publish()
        writer.begin()
        writer.remove_source("S1")
        second = writer.publish()
        assert catalog.sources(["S1"], view=catalog.view(reader=RED, sequence=first)) != {}
        assert b"canary-4711" in path.read_bytes()
        writer.forget()
        with pytest.raises(SnapshotError):
            catalog.view(reader=RED, sequence=first)
        assert catalog.view(reader=RED, sequence=second).token == catalog.view(reader=RED).token
        for sequence in (99, -1):
            with pytest.raises(SnapshotError):
                catalog.view(reader=RED, sequence=sequence)
    assert b"canary-4711 text" not in path.read_bytes()


def test_an_erasure_reads_no_table_of_rows_whole(db: Database) -> None:
    world = random_world(4, size=5)
    writer = SnapshotWriter(db)
    put_world(world, writer)
    texts: list[str] = []
    writer.begin()
    assert writer._connection is not None
    writer._connection.set_trace_callback(texts.append)
    assert writer.remove_source(world.sources[0].id)
    writer.publish()
    writer.forget()
    writer._connection.set_trace_callback(None)
    asked = [text for text in texts if text.startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))]
    assert sum(text.startswith("DELETE") for text in asked) > 10

    def scanned(text: str) -> list[str]:
        assert writer._connection is not None
        plan = writer._connection.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()
        return [step.removeprefix("SCAN ") for *_, step in plan if step.startswith("SCAN")]

    # `t` and `d` are temporary: what this erasure touches. Scopes and their digests are few.
    small = {"pointer", "scope", "scope_digest", "t", "d", "temp.touched", "temp.dirty_fact"}
    assert {table for text in asked for table in scanned(text)} <= small
    assert scanned("DELETE FROM adjacency WHERE died <= 5") == ["adjacency"], "a scan is noticed"


def test_token_names_the_readable_part(db: Database) -> None:
    writer, catalog = SnapshotWriter(db), SqliteCatalog(db)

    def publish(*items: Source | Assertion) -> tuple[str, str, int]:
        writer.begin()
        for item in items:
            if isinstance(item, Source):
                writer.put_source(item)
            else:
                writer.put_assertion(item)
        sequence = writer.publish()
        return catalog.view(reader=RED).token, catalog.view(reader=BLUE).token, sequence

    empty = publish()
    first = publish(source("S1", "red"), said("a1", "x", "r", "y", "S1"))
    assert (first[0] != empty[0], first[1] == empty[1]) == (True, True)
    second = publish(source("S2", "blue"), said("a1", "x", "r", "y", "S1", "S2"))
    assert (second[0] == first[0], second[1] != first[1], second[2]) == (True, True, 2)
    joint = Assertion(id="a2", subject="x", predicate="r", object="z", supports=((SourceSpan("S1"), SourceSpan("S2")),))
    third = publish(joint)
    assert third[:2] == second[:2]
    writer.begin()
    writer.remove_source("S2")
    writer.publish()
    assert catalog.view(reader=RED).token == first[0]
    assert catalog.view(reader=BLUE).token == empty[1]
    assert str(third[2]) not in catalog.view(reader=Reader("n", ())).token or len(third[0]) == 16


@pytest.mark.parametrize("seed", range(8))
def test_a_store_brought_up_to_date_equals_one_built_anew(tmp_path: Path, seed: int) -> None:
    rng = seeded(seed)
    world = random_world(seed)
    with Database(tmp_path / "old.db") as kept, Database(tmp_path / "new.db") as fresh:
        writer = SnapshotWriter(kept)
        put_world(world, writer)
        pinned, first = kept.sequence(), everything(kept, world)
        for step in range(3):
            other = random_world(100 + seed * 10 + step)
            keep = [source for source in world.sources if rng.random() < 0.8]
            changed = {s.id: s for s in other.sources if rng.random() < 0.3}
            attributes = rng.sample(world.attributes + other.attributes, 8)
            world = World(
                sources=tuple(changed.pop(source.id, source) for source in keep)
                + tuple(changed[id] for id in sorted(changed) if id not in {source.id for source in keep}),
                entities=tuple(
                    (id, types[:1] if rng.random() < 0.3 else types, names) for id, types, names in world.entities
                ),
                names=tuple(rng.sample(world.names + other.names, 4)),
                attributes=tuple(a for a in attributes if a.span.source_id in {source.id for source in keep}),
                records=tuple(rng.sample(world.records + other.records, 2)),
                assertions=tuple({a.id: a for a in rng.sample(world.assertions + other.assertions, 30)}.values()),
                ontology=world.ontology,
            )
            texts = {source.id: source for source in world.sources}
            passages = tuple(
                Passage(id=f"{id}#{part}", source_id=id, start=part, end=part + 3, text=texts[id].text[part : part + 3])
                for id in sorted(texts)
                for part in range(rng.choice((1, 2)))
            )
            writer.begin()
            for id in sorted(writer.source_ids() - texts.keys()):
                writer.remove_source(id)
            for id in sorted(writer.assertion_ids() - {assertion.id for assertion in world.assertions}):
                writer.remove_assertion(id)
            # Also of sources that are not there: what was said of them before is not said any more.
            for id in [*(f"doc{number}" for number in range(12)), "doc-unknown"]:
                writer.refresh(id)
            puts: list[Callable[[], object]] = [partial(writer.put_source, one) for one in world.sources]
            puts += [partial(writer.put_entity, *entity) for entity in world.entities]
            puts += [partial(writer.put_name, *name) for name in world.names]
            puts += [partial(writer.put_attribute, attribute) for attribute in world.attributes]
            puts += [partial(writer.put_entity_source, *record) for record in world.records]
            puts += [partial(writer.put_assertion, assertion) for assertion in world.assertions]
            rng.shuffle(puts)
            for put in puts:
                put()
            writer.put_passages(passages)
            writer.publish()
        final = World(**{name: getattr(world, name) for name in World.__slots__} | {"passages": passages})
        put_world(final, SnapshotWriter(fresh))
        assert differing(everything(kept, final), everything(fresh, final)) == []
        assert differing(first, everything(kept, random_world(seed), pinned)) == []
        writer.forget()
        assert differing(everything(kept, final), everything(fresh, final)) == []


@pytest.mark.parametrize("seed", range(4))
def test_another_ontology_tells_the_types_that_a_new_store_would_have(seed: int, tmp_path: Path) -> None:
    world = random_world(seed)
    other = replace(world, ontology=random_world(seed + 1).ontology)
    assert other.ontology != world.ontology
    with Database(tmp_path / "kept.db") as kept, Database(tmp_path / "new.db") as new:
        put_world(world, SnapshotWriter(kept))
        writer = SnapshotWriter(kept)
        writer.begin()
        writer.put_ontology("", other.ontology)
        writer.publish()
        put_world(other, SnapshotWriter(new))
        assert differing(everything(kept, other), everything(new, other)) == []
        assert differing(everything(kept, other, 1), everything(kept, other)) != []


# Crashes, processes, threads ------------------------------------------------------------------------------------------------

_CRASH_CHILD = """
import os, random, signal, sys
from graphroute.stores.database import Database
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.strategies import put_world, random_world

class Counting:
    '''The writer's connection, which kills the process at its n-th statement.'''
    def __init__(self, connection, left):
        self.connection, self.left = connection, left
    def _count(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    def execute(self, *a):
        self._count()
        return self.connection.execute(*a)
    def executemany(self, *a):
        self._count()
        return self.connection.executemany(*a)

db = Database(sys.argv[1])
writer = SnapshotWriter(db)
counting = writer._connection = Counting(db.writing_connection(), int(sys.argv[2]))
put_world(random_world(21), writer, order=random.Random(3))
print(int(sys.argv[2]) - counting.left)
"""


def _run_child(path: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _CRASH_CHILD, str(path), str(kill_at)], capture_output=True, text=True, check=False
    )


def test_killed_at_any_statement_the_old_snapshot_stands_and_a_rerun_ends_the_same(tmp_path: Path) -> None:
    before, after = random_world(20), random_world(21)
    with Database(tmp_path / "whole.db") as whole:
        put_world(before, SnapshotWriter(whole))
        old = everything(whole, after)
    done = _run_child(tmp_path / "whole.db", 10**9)
    statements = int(done.stdout)
    with Database(tmp_path / "whole.db") as whole:
        expected = everything(whole, after)
    assert differing(old, expected) != []
    points = sorted({2, statements, statements - 1, *(seeded(1).sample(range(2, statements), 5))})
    for point in points:
        path = tmp_path / f"{point}.db"
        with Database(path) as db:
            put_world(before, SnapshotWriter(db))
        assert _run_child(path, point).returncode == -9
        with Database(path) as db:
            published = db.sequence()
            assert published in (1, 2)
            assert differing(old if published == 1 else expected, everything(db, after)) == []
            put_world(after, SnapshotWriter(db))
            assert differing(expected, everything(db, after)) == []
            assert db.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_second_writer_is_refused_and_a_rollback_leaves_nothing(db: Database) -> None:
    first = SnapshotWriter(db)
    first.begin()
    first.put_source(source("S1"))
    with Database(db.path) as other_db:
        other = SnapshotWriter(other_db)
        other._connection = other_db.writing_connection()
        other._connection.execute("PRAGMA busy_timeout = 50")
        with pytest.raises(BackendUnavailableError, match="written by another"):
            other.begin()
        first.rollback()
        other.begin()
        other.put_source(source("S2"))
        other.publish()
    catalog = SqliteCatalog(db)
    assert sorted(catalog.sources(["S1", "S2"], view=catalog.view(reader=RED))) == ["S2"]


def test_readers_in_threads_see_whole_snapshots_while_a_writer_publishes(db: Database) -> None:
    writer, catalog, graph = SnapshotWriter(db), SqliteCatalog(db), SqliteGraph(db)
    rounds, failures, seen = 40, [], set()
    finished = threading.Event()

    def publish(number: int) -> None:
        writer.begin()
        for part in range(4):
            writer.put_source(source(f"S{part}", text=f"{number}", title=f"{number}"))
            writer.put_passages([Passage(id=f"S{part}#0", source_id=f"S{part}", start=0, end=1, text=f"{number}")])
            writer.put_assertion(said(f"a{part}", f"e{part}", "r", f"n{number}", f"S{part}"))
        writer.publish()

    publish(0)

    def read() -> None:
        while not finished.is_set():
            view = catalog.view(reader=RED)
            sources = catalog.sources([f"S{part}" for part in range(4)], view=view)
            passages = catalog.passages_of(sources, view=view)
            facts = graph.all_facts(view=view)
            versions = {s.text for s in sources.values()} | {p.text for p in passages} | {f.object[1:] for f in facts}
            seen.update(versions)
            if len(versions) != 1 or len(facts) != 4 or len(sources) != 4:
                failures.append(versions)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, rounds):
        publish(number)
    finished.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(seen) > 5


def test_connections_of_ended_threads_are_closed(db: Database) -> None:
    for _ in range(30):
        thread = threading.Thread(target=db.sequence)
        thread.start()
        thread.join()
    assert len(db._connections) <= 3
    assert db.sequence() == 0


# Doors ---------------------------------------------------------------------------------------------------------------------


def test_bad_input_is_refused_and_says_what(db: Database) -> None:
    writer = SnapshotWriter(db)
    for put in (
        lambda: writer.put_source(source("S1")),
        lambda: writer.put_entity("x", (), ()),
        lambda: writer.put_assertion(said("a", "x", "r", "y")),
        writer.publish,
    ):
        with pytest.raises(UsageError, match="no session"):
            put()
    writer.begin()
    writer.put_source(source("S1"))
    with pytest.raises(DataError, match="twice with different content"):
        writer.put_source(source("S1", text="other"))
    with pytest.raises(DataError, match="'S9' is not known"):
        writer.put_passages([Passage(id="p", source_id="S9", start=0, end=1, text="x")])
    with pytest.raises(DataError, match="ends before it starts"):
        writer.put_assertion(said("a", "x", "r", "y", "S1", validity=Interval(5, 4)))
    with pytest.raises(DataError, match="lacks an id"):
        writer.put_assertion(said("a", "", "r", "y", "S1"))
    with pytest.raises(DataError, match="empty name"):
        writer.put_name("x", " ", SourceSpan("S1"))
    writer.put_assertion(said("a", "x", "r", "y", "S1"))
    with pytest.raises(DataError, match="twice with different content"):
        writer.put_assertion(said("a", "x", "r", "z", "S1"))
    with pytest.raises(UsageError, match="session is open"):
        writer.begin()
    writer.rollback()


def test_an_assertion_without_supports_or_with_an_empty_set_is_visible_to_nobody(db: Database) -> None:
    writer, catalog = SnapshotWriter(db), SqliteCatalog(db)
    writer.begin()
    writer.put_assertion(Assertion(id="a", subject="x", predicate="r", object="y", supports=()))
    writer.put_assertion(Assertion(id="b", subject="x", predicate="r", object="z", supports=((),)))
    writer.publish()
    assert db.connection.execute("SELECT count(*) FROM assertion").fetchone()[0] == 2
    view = catalog.view(reader=Reader("all", ("red", "blue", "public", "")))
    assert SqliteGraph(db).all_facts(view=view) == []


def test_vectors_and_terms_are_kept_by_passage(db: Database) -> None:
    writer = SnapshotWriter(db)
    writer.begin()
    writer.put_source(source("S1"))
    passage = Passage(id="S1#0", source_id="S1", start=0, end=9, text="Relay CHG-482 relay", title="服务")
    writer.put_passages([passage])
    vector = np.array([0.6, 0.8], dtype=np.float32)
    writer.put_vectors("m@1/2", [("S1#0", vector)])
    for bad in (np.zeros(2), np.array([np.nan, 1.0]), np.ones(3)):
        with pytest.raises(DataError, match="not finite"):
            writer.put_vectors("m@1/2", [("S1#0", bad.astype(np.float32))])
    first = writer.publish()
    row = db.connection.execute(
        "SELECT v.vector, t.terms FROM vector v JOIN passage_terms t USING (passage)"
    ).fetchone()
    assert np.frombuffer(row[0], dtype="<f4").tolist() == vector.tolist()
    names = dict(db.connection.execute("SELECT id, term FROM term"))
    ids, counts = unpack_terms(row[1])
    held = {names[int(term)]: int(count) for term, count in zip(ids, counts, strict=True)}
    expected = terms(f"{passage.title}\n{passage.text}")
    assert held == {term: expected.count(term) for term in expected}
    writer.begin()
    writer.put_source(source("S1"))
    writer.put_passages([passage])
    writer.put_vectors("m@1/2", [("S1#0", vector)])
    assert writer.publish() == first
    kinds = {row[0] for row in db.connection.execute("SELECT kind FROM lineage WHERE source = 'S1'")}
    assert kinds == {"passage", "posting", "vector"}


def test_settings_and_ontology_come_back(db: Database) -> None:
    world, writer, catalog = random_world(1), SnapshotWriter(db), SqliteCatalog(db)
    writer.begin()
    writer.put_setting("dataset", "small")
    writer.put_ontology("types: {}\n", world.ontology)
    writer.publish()
    assert catalog.settings() == {"dataset": "small"}
    assert catalog.ontology() == world.ontology
    assert catalog.ontology_text() == "types: {}\n"


def test_only_a_store_of_this_format_is_opened(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailableError, match="does not exist"):
        Database(tmp_path / "none.db", read_only=True)
    (tmp_path / "text.db").write_text("this is not a database" * 100)
    with pytest.raises(DataError, match="not a store"):
        Database(tmp_path / "text.db")
    for version in (1, 99):
        other = sqlite3.connect(tmp_path / "other.db")
        other.execute("CREATE TABLE IF NOT EXISTS t (x)")
        other.execute(f"PRAGMA user_version = {version:d}")
        other.close()
        with pytest.raises(
            DataError, match=f"format {version}; allowed: format {FORMAT_VERSION}.*ingest the data again"
        ):
            Database(tmp_path / "other.db")
    Database(tmp_path / "new.db").close()
    with Database(tmp_path / "new.db", read_only=True) as db:
        assert db.sequence() == 0
        with pytest.raises(UsageError, match="read-only"):
            SnapshotWriter(db).begin()
    with pytest.raises(BackendUnavailableError, match="closed"):
        db.sequence()


@pytest.mark.parametrize(
    ("entity_id", "local"),
    [
        ("kep:4818", "4818"),
        ("g:sig-network", "sig-network"),
        ("org/repo/name", "name"),
        ("plain", "plain"),
        ("a:b:c", "b:c"),
        (":x", ":x"),
        ("x:", "x:"),
        ("https://host/page", "page"),
        ("服务:结账", "结账"),
    ],
)
def test_local_part(entity_id: str, local: str) -> None:
    assert local_part(entity_id) == local


def test_a_staged_snapshot_is_published_only_when_the_other_stores_have_it(db: Database) -> None:
    writer = SnapshotWriter(db)
    reader = Reader("ann", ["public"])
    catalog = SqliteCatalog(db)

    def put(text: str) -> None:
        writer.begin()
        writer.put_source(Source(id="s", text=text, labels=frozenset({"public"})))

    def seen() -> str:
        return catalog.sources(["s"], view=catalog.view(reader=reader))["s"].text

    put("one")
    writer.publish()
    staged: list[tuple[int, str]] = []
    put("two")
    assert writer.publish(lambda: staged.append((db.staged(), seen()))) == 2
    assert staged == [(2, "one")]
    assert seen() == "two"

    def fails() -> None:
        raise BackendUnavailableError("no server")

    put("three")
    with pytest.raises(BackendUnavailableError):
        writer.publish(fails)
    assert (db.staged(), db.sequence(), seen()) == (3, 2, "two")
    put("three")
    assert writer.publish(lambda: staged.append((db.staged(), seen()))) == 3
    assert staged[-1] == (3, "two")
    assert seen() == "three"


def test_the_next_session_takes_an_unpublished_snapshot_with_it(db: Database) -> None:
    writer = SnapshotWriter(db)
    catalog = SqliteCatalog(db)

    def fails() -> None:
        raise BackendUnavailableError("no server")

    for number in (1, 2):
        writer.begin()
        writer.put_source(Source(id=f"s{number}", text="text", labels=frozenset({"public"})))
        if number == 1:
            with pytest.raises(BackendUnavailableError):
                writer.publish(fails)
        else:
            assert writer.publish() == 2
    view = catalog.view(reader=Reader("ann", ["public"]))
    assert sorted(catalog.sources(["s1", "s2"], view=view)) == ["s1", "s2"]


def test_a_source_put_and_removed_in_one_first_session_leaves_nothing(tmp_path: Path) -> None:
    with Database(tmp_path / "store.db") as db:
        writer = SnapshotWriter(db)
        writer.begin()
        writer.put_source(Source(id="s", text="x", labels=frozenset({"public"})))
        writer.put_passages([Passage(id="s#0", source_id="s", start=0, end=1, text="x")])
        writer.remove_source("s")
        writer.publish()
        for table in ("source", "passage", "passage_terms"):
            assert db.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_file_of_an_older_version_gets_the_indexes_it_lacks(tmp_path: Path) -> None:
    file = tmp_path / "store.db"

    def indexes(database: Database) -> set[str]:
        return {row[0] for row in database.connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}

    with Database(file) as database:
        made = indexes(database)
        database.connection.execute("DROP INDEX source_born")
        database.connection.execute("DROP INDEX attribute_by_value")
    with Database(file, read_only=True) as database:
        assert made - indexes(database) == {"source_born", "attribute_by_value"}
    with Database(file) as database:
        assert indexes(database) == made
