"""Local-graph retrieval for every question that has a reading, against hand-written SQL joins for the same pattern over the same file.

The bare SQL knows no reader, no time and no trails: it joins the adjacency table hop by hop, then reads names and assertion ids of
what it shows. Readings, limits and the order of questions are the same; parsing is not measured.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

from common import arguments, folder_of, in_turn, questions_of, readers_of, show, store_of

from graphroute.config.load import load_routes
from graphroute.evaluation.dataset import load_dataset
from graphroute.parsing.parser import Parser
from graphroute.pipeline.engine import parse_as_of
from graphroute.retrieval.base import Backends
from graphroute.retrieval.local_graph import LocalGraph
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.graph.sqlite import SqliteGraph
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.types.graph import AttributeFilter, Direction
from graphroute.types.query import Branch, Operation, Reading

LIMIT_MS = 20.0
OPERATORS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class BareSql:
    """Readings as joins."""

    def __init__(self, store: Path, limit: int) -> None:
        self._connection = sqlite3.connect(store, cached_statements=512)
        self._limit = limit

    def answer(self, reading: Reading) -> int:
        """The number of ids found and shown."""
        if reading.event is not None:
            self._connection.execute(
                "SELECT low FROM json_each(?) j CROSS JOIN adjacency a ON a.node = j.value "
                f"WHERE a.predicate IN ({self._list(reading.event.predicates)}) ORDER BY low",
                (json.dumps(reading.event.anchors), *reading.event.predicates),
            ).fetchone()
        ends: set[str] | None = None
        rows: list[tuple[str, ...]] = []
        for branch in reading.branches:
            found = self._branch(branch, reading)
            reached = {row[-1] for row in found}
            ends = reached if ends is None else ends & reached if reading.combine == "all" else ends | reached
            rows.extend(found)
        ends = ends or set()
        if reading.attribute is not None:
            return len(
                self._connection.execute(
                    "SELECT t.value, t.source FROM json_each(?) j CROSS JOIN attribute t ON t.entity = j.value WHERE t.key = ?",
                    (json.dumps(sorted(ends)), reading.attribute),
                ).fetchall()
            )
        if reading.operation in (Operation.MOST, Operation.LEAST):
            counts: dict[str, set[str]] = {}
            for row in rows:
                counts.setdefault(row[-1], set()).add(row[-4])
            if counts:
                most = max(map(len, counts.values()))
                ends = {end for end, before in counts.items() if len(before) == most}
        self._show([row for row in rows if row[-1] in ends][: self._limit], sorted(ends))
        return len(ends)

    @staticmethod
    def _list(values: tuple[str, ...]) -> str:
        return ",".join("?" * len(values))

    def _branch(self, branch: Branch, reading: Reading) -> list[tuple[str, ...]]:
        """Rows of entity, predicate, direction, entity, ... along the hops."""
        parameters: list[object] = []
        if branch.anchors:
            source, start = "json_each(?) j", "j.value"
            parameters.append(json.dumps(branch.anchors))
        else:
            source, start = (
                f"(SELECT DISTINCT entity FROM entity_type WHERE type IN ({self._list(branch.start_types)})) j",
                "j.entity",
            )
            parameters.extend(branch.start_types)
        columns = [start]
        conditions: list[str] = []
        values: list[object] = []
        node = start
        for place, hop in enumerate(branch.hops):
            source += (
                f" CROSS JOIN adjacency a{place} ON a{place}.node = {node} AND a{place}.predicate = ? "
                f"AND a{place}.direction = {int(hop.direction is Direction.BACKWARD)}"
            )
            parameters.append(hop.predicate)
            node = f"a{place}.other"
            columns += [f"a{place}.predicate", f"a{place}.direction", node]
            self._tests(hop.filters, node, conditions, values)
        self._tests(branch.start_filters, start, conditions, values)
        self._tests(reading.filters, node, conditions, values)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = f"SELECT DISTINCT {', '.join(columns)} FROM {source}{where}"
        return self._connection.execute(sql, [*parameters, *values]).fetchall()

    @staticmethod
    def _tests(filters: tuple[AttributeFilter, ...], node: str, conditions: list[str], values: list[object]) -> None:
        for test in filters:
            column = "t.folded" if test.operator in ("eq", "ne") else "t.number"
            if test.operator == "in_range":
                continue
            conditions.append(
                f"EXISTS (SELECT 1 FROM attribute t WHERE t.entity = {node} AND t.key = ? AND {column} {OPERATORS[test.operator]} ?)"
            )
            values += [test.key, test.value.casefold() if column == "t.folded" else float(test.value)]

    def _show(self, rows: list[tuple[str, ...]], ends: list[str]) -> None:
        """Assertion ids of the facts shown, once each, and names of the ends."""
        facts = {
            (row[at + 3], row[at + 1], row[at]) if row[at + 2] else (row[at], row[at + 1], row[at + 3])
            for row in rows
            for at in range(0, len(row) - 1, 3)
        }
        for fact in sorted(facts):
            self._connection.execute(
                "SELECT id FROM assertion WHERE subject = ? AND predicate = ? AND object = ?", fact
            ).fetchall()
        self._connection.execute(
            "SELECT e.id, e.names FROM json_each(?) j CROSS JOIN entity e ON e.id = j.value", (json.dumps(ends),)
        ).fetchall()


def measure(folder: Path, work: Path, rounds: int, limit: int | None, bound: float | None) -> int:
    """One data set."""
    dataset, questions = load_dataset(folder), questions_of(folder, limit)
    store = store_of(folder, work)
    # The readings that gave answers are found through connections of their own, so that nothing is warm.
    with Database(store, read_only=True) as database, Database(store, read_only=True) as other:
        catalog, lexical, routes = SqliteCatalog(database), InvertedIndex(database), load_routes()
        ontology = catalog.ontology()
        parser, router = Parser(ontology, catalog, lexical), routes.router()
        graph = SqliteGraph(database)
        retriever = LocalGraph(Backends(catalog=catalog, graph=graph, lexical=lexical, ontology=ontology))
        rehearsal = LocalGraph(
            Backends(catalog=SqliteCatalog(other), graph=SqliteGraph(other), lexical=lexical, ontology=ontology)
        )
        cases, readings = [], []
        for question in questions:
            view = catalog.view(reader=dataset.reader(question))
            query = parser.parse(question.text, view=view, instant=parse_as_of(dataset.day(question) or "2026-01-01"))
            limits = router.route(query, limits=routes.bounds()).limits
            if query.readings:
                cases.append((query, view, limits))
                result = rehearsal.retrieve(query, view=view, limits=limits)
                readings.append(result.reading or query.readings[0])
        if not cases:
            print(f"{folder.name}: skipped, no question has a reading")
            return 0
        bare = BareSql(store, routes.bounds().max_paths)

        def ours(number: int) -> None:
            query, view, limits = cases[number]
            retriever.retrieve(query, view=view, limits=limits)

        times = in_turn(len(cases), ours, lambda number: bare.answer(readings[number]), rounds=rounds)
    return show(
        f"local graph: the {len(cases)} with a reading of {readers_of(dataset, questions)}, against bare joins",
        times.lines(most=bound),
    )


def main() -> int:
    """e_k8s_org under its limit, the bundled corpus for information."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", default="meridian,e_k8s_org", help="names, separated by commas")
    parser.add_argument("--questions", type=int, help="at most so many of each set, evenly spread")
    given = parser.parse_args()
    failed = 0
    for name in given.sets.split(","):
        folder = folder_of(name, given.data)
        if folder is not None:
            bound = LIMIT_MS if name == "e_k8s_org" else None
            failed |= measure(folder, given.work, given.rounds, given.questions, bound)
    return failed


if __name__ == "__main__":
    sys.exit(main())
