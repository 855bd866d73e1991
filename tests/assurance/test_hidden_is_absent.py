"""A hidden id answers like an absent one, byte for byte, through every door."""

import re
from typing import Any

import pytest

from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.rows import Rows, random_rows
from graphroute.testing.whole_path import PATIENT, outputs, store_of, text_of
from graphroute.types.graph import Direction, HopPattern, PathPattern
from graphroute.types.reader import Reader

SECRET = "board"
DOORS = {
    "look-up": "Show CHG-{id}",
    "neighbours": "What does svc:{id} depend on?",
    "path": "Which team owns the services that CHG-{id} touched?",
    "relation between two": "Did co:{id} acquire co:visible?",
    "aggregate": "How many services does team:{id} own?",
    "attribute": "What is the risk of CHG-{id}?",
    "similar": "What do the notes say about the word{id}?",
    "date": "When did CHG-{id} touch svc:{id}?",
    "russian": "Кто владеет svc:{id}?",
}


def hidden_rows(count: int) -> tuple[Rows, list[str]]:
    """Random rows with `count` things that only the board may see."""
    rows = random_rows(7)
    numbers = [str(90_000_000 + 2 * number) for number in range(count)]
    documents, edges, entities = list(rows.documents), list(rows.edges), list(rows.entities)
    for number in numbers:
        documents.append(
            {
                "doc_id": f"hidden{number}",
                "kind": "change",
                "title": f"CHG-{number}",
                "text": f"change: {number}\nheadline: word{number}\nrisk: high",
                "labels": [SECRET],
                "node": f"chg:{number}",
            }
        )
        ends = [
            ("chg", "TOUCHES", "svc"),
            ("svc", "OWNED_BY", "team"),
            ("svc", "DEPENDS_ON", "svc"),
            ("co", "ACQUIRED", "co"),
        ]
        for left, predicate, right in ends:
            target = f"{right}:visible" if left == right else f"{right}:{number}"
            edges.append(
                {
                    "edge_id": f"h{number}{predicate}",
                    "s": f"{left}:{number}",
                    "r": predicate,
                    "o": target,
                    "supports": [[f"hidden{number}"]],
                }
            )
        entities.append({"id": f"svc:{number}", "type": "service", "names": [f"word{number}"]})
    return Rows(documents=tuple(documents), edges=tuple(edges), entities=tuple(entities)), numbers


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory, scale: Any) -> Any:
    """Without vectors: an embedding hangs on the letters of the question, so two ids would differ for that alone."""
    rows, numbers = hidden_rows(scale(12, 60))
    store = store_of(rows, tmp_path_factory.mktemp("hidden"), vectors=False)
    with GraphRoute.open(store, routes=PATIENT) as router:
        yield router, numbers, store


def said_of(router: GraphRoute, door: str, number: str, reader: Reader) -> str:
    """All that is answered, without the number asked for and without sizes and sums of texts that repeat it."""
    found, _ = outputs(router, DOORS[door].format(id=number), reader=reader)
    kept = {name: text for name, text in found.items() if name in ("bundle", "trace", "error", "sources")}
    return text_of(kept).replace(number, "####")


def next_to(number: str) -> str:
    """An id of the same length that names nothing."""
    return str(int(number) + 1)


@pytest.mark.parametrize("door", DOORS)
def test_hidden_and_absent_answer_alike(door: str, secrets: Any, readers: Any) -> None:
    router, numbers, _ = secrets
    for reader in readers:
        for number in numbers if reader.id in ("one", "all") else numbers[:2]:
            hidden, absent = (said_of(router, door, asked, reader) for asked in (number, next_to(number)))
            assert hidden == absent, (door, reader.id, number)


def test_whoever_may_see_it_gets_another_answer(secrets: Any) -> None:
    router, numbers, _ = secrets
    board = Reader("chair", [SECRET])
    for door in DOORS:
        assert said_of(router, door, numbers[0], board) != said_of(router, door, next_to(numbers[0]), board), door


def test_the_command_line_answers_alike(secrets: Any, run: Any) -> None:
    _, numbers, store = secrets
    for question in DOORS.values():
        said = []
        for asked in (numbers[3], next_to(numbers[3])):
            ended = run("explain", question.format(id=asked), "--store", store, "--reader", "r", "--label", "red")
            text = re.sub(r" +[0-9.]+ ms", "", ended.out.replace(asked, "####").partition("Times")[0])
            lines = [
                line
                for line in text.splitlines()
                if "sha" not in line and "tokens" not in line and "checksum" not in line
            ]
            said.append((ended.code, lines, ended.err))
        assert said[0] == said[1], question


def test_ports_leave_out_hidden_and_absent_alike(secrets: Any) -> None:
    router, numbers, _ = secrets
    backends = router._parts.backends
    view = backends.catalog.view(reader=Reader("r", ["red"]))
    for number in numbers:
        said = []
        for asked in (number, next_to(number)):
            ids = [f"svc:{asked}", f"chg:{asked}", f"team:{asked}"]
            pattern = PathPattern(tuple(ids), (HopPattern((), Direction.FORWARD),), 10)
            catalog, graph = backends.catalog, backends.graph
            said.append(
                text_of(
                    [
                        catalog.sources([f"hidden{asked}"], view=view),
                        catalog.passages([f"hidden{asked}#0"], view=view),
                        catalog.passages_of([f"hidden{asked}"], view=view),
                        catalog.aliases([asked, f"word{asked}", f"chg {asked}"], view=view),
                        catalog.entities(ids, view=view),
                        catalog.attributes(ids, view=view),
                        catalog.supports([f"h{asked}OWNED_BY"], view=view),
                        catalog.facts_of_sources([f"hidden{asked}"], view=view),
                        catalog.source_ids_of(ids, view=view),
                        graph.facts(ids, view=view),
                        graph.paths(pattern, view=view),
                        graph.reach(pattern, view=view),
                        backends.lexical.search(f"word{asked}", view=view, k=5),
                        backends.lexical.document_frequencies([f"word{asked}"], view=view),
                    ]
                )
            )
        assert said[0] == said[1]
