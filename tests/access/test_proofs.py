from __future__ import annotations

from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.testing.world import INSIDER, NOBODY, PUBLIC, STRANGER


def test_one_proof_each_way(small_store: Database) -> None:
    catalog, graph = SqliteCatalog(small_store), SqliteGraph(small_store)
    proven = {
        reader.id: {i for fact in graph.all_facts(view=catalog.view(reader=reader)) for i in fact.assertion_ids}
        for reader in (PUBLIC, INSIDER, NOBODY, STRANGER)
    }
    assert proven["ben"] - proven["ann"] == {"e5", "e8"}
    assert proven["ann"] == {"e1", "e2", "e3", "e4", "e6", "e7"}
    # "public " and "*" are labels like any other, and nobody's.
    assert proven["eve"] == proven["sam"] == set()


def test_evidence_holds_the_readable_half_only(small_store: Database) -> None:
    catalog = SqliteCatalog(small_store)
    ann, ben = catalog.view(reader=PUBLIC), catalog.view(reader=INSIDER)
    assert catalog.supports(["e5", "e8"], view=ann) == {}
    shown = catalog.supports(["e2", "e5"], view=ben)
    assert [support.span.source_id for support in shown["e2"]] == ["wiki:checkout", "catalogue:checkout@2"]
    assert sorted(support.span.source_id for support in shown["e5"]) == ["catalogue:checkout@2", "plan:nightjar"]
    assert catalog.entities(["db:eu-9", "chg:900"], view=ann) == {}
    assert catalog.aliases(["eu 9", "chg 900"], view=ann) == {}
    assert catalog.entities(["chg:900"], view=ben)["chg:900"].name == "CHG-900"
    assert ann.token != ben.token
