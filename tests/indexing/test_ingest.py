"""Ingest end to end: same content whatever the order, repetition or interruption; nothing half-written."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import DataError, UsageError
from graphroute.indexing.embedding import VectorCache
from graphroute.indexing.ingest import IngestReport, ingest
from graphroute.ontology.load import parse_ontology
from graphroute.types.ontology import Ontology

HERE = Path(__file__).parent
ONTOLOGY = """
types:
  account: {prefix: acct}
  person: {prefix: p, agent: true}
  article: {prefix: art}
relations:
  HELD_BY: {from: account, to: person}
  CITES: {from: article, to: article}
records:
  - {kind: account, attributes: {opened: opening date, balance: balance}, date_order: DMY}
  - {kind: user, type: person, id_field: user_id, names: [name], attributes: {"*": "*"}}
titles_are_names: true
"""
DOCS: list[dict[str, Any]] = [
    {"doc_id": "r1", "kind": "record", "table": "account", "text": "account: 1\nopened: 05/11/2024\nbalance: $5.00"},
    {"doc_id": "r2", "kind": "account", "text": "account: 2\nopened: 25/12/2024", "labels": ["staff"]},
    {
        "doc_id": "u1",
        "kind": "user",
        "text": "user_id: anna\nname: Анна Ким\nage: 40",
        "labels": ["user:anna", "staff"],
    },
    {"doc_id": "art:1", "title": "Правила возврата", "text": "Возврат возможен. " * 200, "lang": "ru"},
    {"doc_id": "art:2", "title": "退款规则", "text": "退款须在三十天内提出。" * 200, "lang": "zh"},
    {"doc_id": "n1", "title": "Note", "text": "About Anna", "node": "p:anna", "valid_from": "2024-01-01"},
]
EDGES: list[dict[str, Any]] = [
    {"edge_id": "e1", "s": "acct:1", "r": "HELD_BY", "o": "p:anna", "source_id": "r1", "valid_from": "2024-11-05"},
    {
        "edge_id": "e2",
        "s": "acct:2",
        "r": "HELD_BY",
        "o": "p:anna",
        "supports": [["r2", {"source": "u1", "span": [9, 13]}]],
    },
    {"edge_id": "e3", "s": "art:1", "r": "CITES", "o": "art:2", "src": ["art:1", "n1"], "span": [0, 5]},
    {"s": "art:2", "r": "CITES", "o": "art:1", "source_id": "art:2", "source_span": [0, 3], "weight": 2},
]
ENTITIES: list[dict[str, Any]] = [
    {"id": "p:anna", "type": "person", "names": ["Anna Kim", "A. Kim"]},
    {"id": "acct:1", "names": ["Main account"]},
]
META = "name: bank\nlicence: MIT\ndefault_labels: [public]\nas_of: '2025-01-01'\nreaders: {agent: [public, staff]}\n"


HashEmbedder: Any = None
content: Any = None


@pytest.fixture(autouse=True)
def _use_helpers(embedder_class: type, content_of: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "HashEmbedder", embedder_class)
    monkeypatch.setitem(globals(), "content", content_of)


def dataset(root: Path, docs=DOCS, edges=EDGES, entities=ENTITIES, meta: str = META) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, rows in (("docs", docs), ("edges", edges), ("entities", entities)):
        lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
        (root / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (root / "dataset.yaml").write_text(meta, encoding="utf-8")
    return root


def ontology(text: str = ONTOLOGY) -> Ontology:
    return parse_ontology(text, "test")


def load(directory: Path, store: Path, **options: Any) -> IngestReport:
    options.setdefault("ontology", ontology())
    options.setdefault("vectors", False)
    return ingest(directory, store, **options)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "out" / "s.sqlite"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return dataset(tmp_path / "data")


def test_what_is_stored(data: Path, store: Path) -> None:
    report = load(data, store)
    found = content(store)
    assert (report.documents, report.assertions, report.entities, report.records) == (6, 4, 5, 3)
    assert report.changed
    assert report.rows == 12
    assert {row[0]: row[3] for row in found["source"]}["r1"] == '["public"]'
    assert [(row[0], row[1]) for row in found["entity"]] == [
        ("acct:1", '["account"]'),
        ("acct:2", '["account"]'),
        ("art:1", '["article"]'),
        ("art:2", '["article"]'),
        ("p:anna", '["person"]'),
    ]
    texts = {row[0]: row[2] for row in found["source"]}
    attributes = {(row[0], row[1]): row for row in found["attribute"]}
    assert set(attributes) == {
        ("acct:1", "opening date"),
        ("acct:1", "balance"),
        ("acct:2", "opening date"),
        ("p:anna", "user_id"),
        ("p:anna", "name"),
        ("p:anna", "age"),
    }
    assert attributes["acct:1", "balance"][3] == 5.0
    for row in found["attribute"]:
        assert texts[row[7]][row[8] : row[9]] == row[2]
    assert [row[:3] for row in found["name"]] == [
        ("art:1", "Правила возврата", "art:1"),
        ("art:2", "退款规则", "art:2"),
        ("p:anna", "Анна Ким", "u1"),
    ]
    assert {(row[0], row[1]) for row in found["entity_source"]} == {
        ("acct:1", "r1"),
        ("acct:2", "r2"),
        ("art:1", "art:1"),
        ("art:2", "art:2"),
        ("p:anna", "n1"),
        ("p:anna", "u1"),
    }
    for source_id in ("art:1", "art:2"):
        pieces = sorted((row[3], row[6]) for row in found["passage"] if row[1] == source_id)
        assert len(pieces) > 1
        assert "".join(text for _, text in pieces) == texts[source_id]
    settings = dict(found["setting"])
    assert settings["dataset"] == "bank"
    assert settings["as_of"] == "2025-01-01"
    assert json.loads(settings["readers"]) == {"agent": ["public", "staff"]}
    assert json.loads(settings["default_labels"]) == ["public"]


def test_again_changes_nothing(data: Path, store: Path, tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    embedder = HashEmbedder()
    first = load(data, store, vectors=True, embedder=embedder, cache=cache)
    before = content(store)
    assert len(before["vector"]) == first.passages == first.embedded + first.reused
    again = HashEmbedder()
    second = load(data, store, vectors=True, embedder=again, cache=cache)
    assert (second.changed, second.documents_changed, second.embedded) == (False, 0, 0)
    assert second.sequence == first.sequence
    assert again.texts == []
    assert content(store) == before
    # Another cache is filled from the store, and another store from the cache.
    third = load(data, store, vectors=True, embedder=again, cache=VectorCache(tmp_path / "w.sqlite"))
    fourth = load(data, tmp_path / "t.sqlite", vectors=True, embedder=again, cache=cache)
    assert again.texts == []
    assert (third.changed, fourth.changed) == (False, True)
    assert content(tmp_path / "t.sqlite") == before


def test_vectors_may_follow_later(data: Path, store: Path, tmp_path: Path) -> None:
    load(data, store)
    assert content(store)["vector"] == []
    cache = VectorCache(tmp_path / "v.sqlite")
    assert load(data, store, vectors=True, embedder=HashEmbedder(), cache=cache).changed
    direct = tmp_path / "direct.sqlite"
    load(data, direct, vectors=True, embedder=HashEmbedder(), cache=cache)
    assert content(store) == content(direct)
    assert dict(content(store)["setting"])["embedder"] == "hash@1/8"


@pytest.mark.parametrize("seed", range(6))
def test_order_and_repetition_are_without_effect(tmp_path: Path, data: Path, store: Path, seed: int) -> None:
    load(data, store)
    chance = random.Random(seed)
    shuffled = [chance.sample(rows + rows[:2], len(rows) + 2) for rows in (DOCS, EDGES, ENTITIES)]
    load(dataset(tmp_path / "other", *shuffled), tmp_path / "other.sqlite")
    assert content(tmp_path / "other.sqlite") == content(store)


def test_order_of_arrival_is_no_order_of_events(tmp_path: Path) -> None:
    sources = [
        {"doc_id": f"s{number}", "text": "t", "source_timestamp": day}
        for number, day in enumerate(("2025-06-01", "2024-01-10", "2025-07-01"))
    ]
    facts = [
        {"edge_id": f"e{number}", "s": s, "r": "SUPERVISED_BY", "o": o, "source_id": f"s{number}", "valid_from": day}
        for number, (s, o, day) in enumerate(
            (("P-7", "Omar", "2025-06-01"), ("P-7", "Lena", "2024-01-10"), ("P-9", "Lena", "2025-07-01"))
        )
    ]
    results = []
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        for together in (True, False):
            path = tmp_path / f"{order}{together}.sqlite"
            steps = [order] if together else [order[:1], order[:2], order]
            for step in steps:
                chosen = [sources[n] for n in step], [facts[n] for n in step]
                load(dataset(tmp_path / "d", *chosen, []), path, ontology=None)
            results.append(content(path))
    assert all(result == results[0] for result in results)
    assert len(results[0]["support"]) == 3


KILL = """
import os, signal, sys
sys.path.insert(0, {here!r})
from conftest import HashEmbedder
from graphroute.indexing.embedding import VectorCache
from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import parse_ontology

class Progress:
    left = {after}
    def step(self):
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    def start(self, stage, total): self.step()
    def advance(self, amount=1): self.step()
    def finish(self): self.step()

ingest({data!r}, {store!r}, ontology=parse_ontology({ontology!r}, "t"), vectors=True, embedder=HashEmbedder(),
       cache=VectorCache({cache!r}), progress=Progress())
"""


class Steps:
    """Counts the calls of a run's progress."""

    def __init__(self) -> None:
        self.count = 0

    def start(self, stage: str, total: int | None) -> None:
        self.count += 1

    def advance(self, amount: int = 1) -> None:
        self.count += 1

    def finish(self) -> None:
        self.count += 1


@pytest.mark.parametrize("part", [0.1, 0.4, 0.5, 0.6, 0.8, 0.95, 1.0])
def test_a_killed_run_is_taken_up(tmp_path: Path, data: Path, store: Path, part: float) -> None:
    """Killed while checking, embedding, writing and just after publishing: the next run gives the same store."""
    plain, steps = tmp_path / "plain.sqlite", Steps()
    own = VectorCache(tmp_path / "w.sqlite")
    load(data, plain, vectors=True, embedder=HashEmbedder(), cache=own, progress=steps)
    cache = tmp_path / "v.sqlite"
    after = round(part * (steps.count - 1))
    script = KILL.format(
        here=str(HERE), data=str(data), store=str(store), ontology=ONTOLOGY, cache=str(cache), after=after
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert content(store)["source"] == (content(plain)["source"] if part == 1.0 else [])
    report = load(data, store, vectors=True, embedder=HashEmbedder(), cache=VectorCache(cache))
    assert report.changed is (part < 1.0)
    assert content(store) == content(plain)


def test_the_directory_is_only_read(data: Path, store: Path) -> None:
    def state() -> list[tuple[str, int, bytes]]:
        return [(path.name, path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(data.iterdir())]

    before = state()
    data.chmod(0o555)
    try:
        load(data, store)
    finally:
        data.chmod(0o755)
    assert state() == before


@pytest.mark.parametrize(
    ("edge", "says"),
    [
        ({"s": "a", "r": "CITES", "o": "b", "source_id": "absent"}, "names source 'absent', which is no document"),
        (
            {"s": "a", "r": "CITES", "o": "b", "source_id": "n1", "source_span": [0, 11]},
            "allowed: a span in its 10 char",
        ),
        ({**EDGES[0], "o": "p:li"}, "edge_id 'e1' is given twice with different content"),
    ],
)
def test_edges_that_do_not_fit(tmp_path: Path, store: Path, edge: dict[str, Any], says: str) -> None:
    data = dataset(tmp_path / "data", edges=[*EDGES, edge])
    with pytest.raises(DataError, match=r"edges\.jsonl:5: ") as caught:
        load(data, store)
    assert says in str(caught.value)
    assert content(store)["source"] == []
    report = load(data, store, skip_bad=True)
    assert report.bad_rows == (2 if "twice" in says else 1)
    assert report.assertions == (3 if "twice" in says else 4)
    lines = [json.loads(line) for line in Path(str(report.quarantine)).read_text(encoding="utf-8").splitlines()]
    assert {line["line"] for line in lines} == ({1, 5} if "twice" in says else {5})
    assert all(line["file"].endswith("edges.jsonl") for line in lines)


def test_a_span_counts_code_points(tmp_path: Path, store: Path) -> None:
    docs = [{"doc_id": "d", "text": "👩🏽Я漢"}]
    good = {"s": "a", "r": "CITES", "o": "b", "source_id": "d", "source_span": [2, 4]}
    report = load(dataset(tmp_path / "a", docs, [good], []), store)
    assert report.assertions == 1
    with pytest.raises(DataError, match="in its 4 characters"):
        load(dataset(tmp_path / "b", docs, [good | {"source_span": [2, 5]}], []), store)


def test_two_documents_of_one_id(tmp_path: Path, store: Path) -> None:
    docs = [*DOCS, {"doc_id": "n1", "text": "another"}]
    with pytest.raises(DataError, match=r"docs\.jsonl:7: doc_id 'n1' is given twice .*docs\.jsonl:6"):
        load(dataset(tmp_path / "a", docs), store)
    reports = []
    for number, order in enumerate((docs, docs[::-1])):
        path = tmp_path / f"{number}.sqlite"
        reports.append(load(dataset(tmp_path / "b", order), path, skip_bad=True))
        # Neither of the two is taken, and so is no edge that rests on them.
        assert [row[0] for row in content(path)["source"]] == ["art:1", "art:2", "r1", "r2", "u1"]
    assert [report.bad_rows for report in reports] == [3, 3]
    assert content(tmp_path / "0.sqlite") == content(tmp_path / "1.sqlite")


def test_broken_rows_are_quarantined(tmp_path: Path, store: Path) -> None:
    data = dataset(tmp_path / "data", docs=[*DOCS, '{"doc_id": "x", "text": "\\ud800"}', "{"])
    with pytest.raises(DataError, match="2 bad rows"):
        load(data, store)
    assert not Path(f"{store}.quarantine.jsonl").exists()
    report = load(data, store, skip_bad=True)
    assert report.bad_rows == 2
    rows = [json.loads(line) for line in Path(str(report.quarantine)).read_text(encoding="utf-8").splitlines()]
    assert [(row["line"], row["row"]) for row in rows] == [(7, '{"doc_id": "x", "text": "\\ud800"}\n'), (8, "{")]
    load(dataset(tmp_path / "good"), tmp_path / "good.sqlite")
    assert content(store) == content(tmp_path / "good.sqlite")


def test_documents_without_labels_are_hidden_and_counted(tmp_path: Path, store: Path) -> None:
    docs = [{"doc_id": "a", "text": "t"}, {"doc_id": "b", "text": "t", "labels": None}, {"doc_id": "c", "text": "t"}]
    data = dataset(tmp_path / "data", docs, [], [], meta="name: x\n")
    report = load(data, store)
    assert sum(report.hidden.values()) == 3
    assert report.hidden == {
        "labels is null, not a list of strings": 1,
        "no labels, and the dataset has no default labels": 2,
    }
    assert {row[4] for row in content(store)["source"]} == {"[[]]"}
    report = load(data, store, default_labels=["public"])
    assert sum(report.hidden.values()) == 1
    assert {row[0]: row[4] for row in content(store)["source"]} == {
        "a": '[["public"]]',
        "b": "[[]]",
        "c": '[["public"]]',
    }


def test_a_changed_document_replaces_the_old(tmp_path: Path, data: Path, store: Path) -> None:
    load(data, store)
    docs = [{**row, "text": "account: 1\nopened: 06/11/2024"} if row["doc_id"] == "r1" else row for row in DOCS]
    changed = dataset(tmp_path / "new", docs)
    report = load(changed, store)
    assert report.documents_changed == 1
    load(changed, tmp_path / "fresh.sqlite")
    assert content(store) == content(tmp_path / "fresh.sqlite")


def test_what_left_the_directory_stays_unless_pruned(tmp_path: Path, data: Path, store: Path) -> None:
    load(data, store)
    before = content(store)
    less = dataset(tmp_path / "less", DOCS[:3], EDGES[:2], ENTITIES)
    assert load(less, store).documents_removed == 0
    assert len(content(store)["source"]) == len(before["source"])
    assert len(content(store)["support"]) == len(before["support"])
    report = load(less, store, prune=True)
    assert report.documents_removed == 3
    load(less, tmp_path / "fresh.sqlite")
    left, fresh = content(store), content(tmp_path / "fresh.sqlite")
    for table in ("source", "passage", "support", "adjacency", "attribute", "name", "entity_source", "entity_scope"):
        assert left[table] == fresh[table], table
    assert not load(less, store, prune=True).changed


def test_prune_takes_single_facts_out(tmp_path: Path, data: Path, store: Path) -> None:
    load(data, store)
    load(dataset(tmp_path / "less", edges=EDGES[:3]), store, prune=True)
    assert [row[0] for row in content(store)["support"]] == ["e1", "e2", "e3", "e3"]


def test_two_datasets_in_one_store(tmp_path: Path, data: Path, store: Path) -> None:
    """The second one adds to the first, may cite its documents, and cannot be pruned against it."""
    load(data, store)
    more = dataset(
        tmp_path / "more",
        [{"doc_id": "m1", "text": "t"}],
        [{"edge_id": "m", "s": "art:1", "r": "CITES", "o": "art:9", "source_id": "r1"}],
        [],
        meta="name: more\ndefault_labels: [public]\n",
    )
    load(more, store)
    found = content(store)
    assert len(found["source"]) == len(DOCS) + 1
    assert ("p:anna", '["person"]', '["Anna Kim","A. Kim"]') in found["entity"]
    assert {row[0] for row in found["support"]} >= {"e1", "m"}
    with pytest.raises(UsageError, match="the store holds other datasets too: bank"):
        load(more, store, prune=True)
    assert not load(more, store).changed


def test_another_ontology_reads_the_records_anew(tmp_path: Path, data: Path, store: Path) -> None:
    load(data, store)
    other = ontology(
        ONTOLOGY.replace("opened: opening date, ", "")
        .replace("CITES", "MENTIONS")
        .replace("names: [name]", "names: []")
    )
    report = load(data, store, ontology=other)
    assert report.unmapped == {"CITES": 2}
    load(data, tmp_path / "fresh.sqlite", ontology=other)
    assert content(store) == content(tmp_path / "fresh.sqlite")
    load(data, store)
    load(data, tmp_path / "first.sqlite")
    assert content(store) == content(tmp_path / "first.sqlite")


def test_a_written_ontology_is_kept(data: Path, store: Path) -> None:
    load(data, store)
    report = load(data, store, ontology=None)
    assert not report.changed
    assert not report.ontology_inferred
    assert any("the written one in the store is kept" in warning for warning in report.warnings)


def test_without_ontology_one_is_inferred_and_kept(data: Path, store: Path) -> None:
    report = load(data, store, ontology=None)
    assert report.ontology_inferred
    kept = ontology(dict(content(store)["setting"])["_ontology_text"])
    assert kept.inferred
    assert {"HELD_BY", "CITES"} <= set(kept.relations)
    assert not load(data, store, ontology=None).changed


def test_inferred_ontologies_of_two_datasets_are_united(tmp_path: Path, data: Path, store: Path) -> None:
    more = dataset(
        tmp_path / "more",
        [{"doc_id": "m1", "text": "t"}],
        [{"s": "srv:1", "r": "RUNS_ON", "o": "host:1", "source_id": "m1"}],
        [],
        meta="name: more\ndefault_labels: [public]\n",
    )
    load(data, store, ontology=None)
    assert load(more, store, ontology=None).unmapped == {}
    kept = ontology(dict(content(store)["setting"])["_ontology_text"])
    assert {"HELD_BY", "CITES", "RUNS_ON"} <= set(kept.relations)
    assert load(data, store, ontology=None).unmapped == {}
    assert not load(more, store, ontology=None).changed
    other = tmp_path / "other.sqlite"
    for directory in (more, data, more):
        load(directory, other, ontology=None)
    assert content(other) == content(store)
    settings = dict(content(store)["setting"])
    assert (settings["dataset"], settings["as_of"]) == ("bank, more", "2025-01-01")


def test_vectors_need_an_embedder(data: Path, store: Path) -> None:
    with pytest.raises(UsageError, match="no embedder"):
        load(data, store, vectors=True)
    assert not store.exists()


REAL = Path(os.environ.get("GRAPHROUTE_REALDATA") or HERE.parents[1].parent / "shared" / "data")


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "documents", "edges"), [("e_tau2_banking", 1462, 2530), ("r_cmrc_zh", 848, 0)])
def test_real_datasets(tmp_path: Path, name: str, documents: int, edges: int) -> None:
    if not (REAL / name).is_dir():
        pytest.skip(f"no data in {REAL}")
    report = load(REAL / name, tmp_path / "s.sqlite", ontology=None)
    assert (report.documents, report.assertions, report.unmapped, report.warnings) == (documents, edges, {}, ())
    assert not load(REAL / name, tmp_path / "s.sqlite", ontology=None).changed
