"""Parse and route every question of a data set, against a bare loop that does the same look-ups in SQLite and a dict.

The bare loop splits the question, looks up all its word n-grams as aliases and as attribute values in the same store file, and its
stems as phrases of the ontology in a dict; for everybody, without dates, identifiers, readings or spans.
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
from graphroute.parsing.vocabulary import phrase_stems
from graphroute.pipeline.engine import parse_as_of
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.text import stem, words
from graphroute.types.ontology import Ontology

LIMIT_MS = 10.0
NAME_WORDS = 16
PHRASE_WORDS = 5


class BareLoop:
    """The look-ups alone."""

    def __init__(self, store: Path, ontology: Ontology) -> None:
        self._connection = sqlite3.connect(store)
        self._keys = json.dumps([row[0] for row in self._connection.execute("SELECT DISTINCT key FROM attribute")])
        self._phrases: dict[tuple[str, ...], str] = {}
        for name, relation in ontology.relations.items():
            for phrase in (*relation.forward, *relation.inverse, *relation.object_nouns, *relation.subject_nouns):
                self._phrases[phrase_stems(phrase)] = name
        for name, kind in ontology.types.items():
            for noun in kind.nouns:
                self._phrases[phrase_stems(noun)] = name

    def look_up(self, text: str) -> int:
        """How many aliases, values and phrases are in the question."""
        keys = [word.key for word in words(text)]
        count = len(keys)
        grams = {" ".join(keys[a:b]) for a in range(count) for b in range(a + 1, min(count, a + NAME_WORDS) + 1)}
        wanted = json.dumps(sorted(grams))
        names = self._connection.execute(
            "SELECT a.key, a.entity, a.via FROM json_each(?) j CROSS JOIN alias a ON a.key = j.value", (wanted,)
        ).fetchall()
        values = self._connection.execute(
            "SELECT DISTINCT t.folded, t.key FROM json_each(?) k CROSS JOIN json_each(?) j "
            "CROSS JOIN attribute t ON t.key = k.value AND t.folded = j.value",
            (self._keys, wanted),
        ).fetchall()
        stems = [stem(key) for key in keys]
        found = [
            self._phrases[gram]
            for a in range(count)
            for b in range(a + 1, min(count, a + PHRASE_WORDS) + 1)
            if (gram := tuple(stems[a:b])) in self._phrases
        ]
        return len(names) + len(values) + len(found)


def measure(folder: Path, work: Path, rounds: int, limit: int | None, bound: float | None) -> int:
    """One data set."""
    dataset, questions = load_dataset(folder), questions_of(folder, limit)
    store = store_of(folder, work)
    with Database(store, read_only=True) as database:
        catalog, lexical, routes = SqliteCatalog(database), InvertedIndex(database), load_routes()
        parser, router, limits = Parser(catalog.ontology(), catalog, lexical), routes.router(), routes.bounds()
        bare = BareLoop(store, catalog.ontology())
        asked = []
        for question in questions:
            view = catalog.view(reader=dataset.reader(question))
            lexical.prepare(view=view)
            asked.append((question.text, view, parse_as_of(dataset.day(question) or "2026-01-01")))
        # The first question of a process and of a reader fills tables that all later ones use.
        for number, view in {view.scopes: (number, view) for number, (_, view, _) in enumerate(asked)}.values():
            parser.parse("Who owns it?", view=view, instant=asked[number][2])

        def ours(number: int) -> None:
            text, view, instant = asked[number]
            router.route(parser.parse(text, view=view, instant=instant), limits=limits)

        times = in_turn(len(asked), ours, lambda number: bare.look_up(asked[number][0]), rounds=rounds)
    title = f"parse + route: {readers_of(dataset, questions)}, against the bare look-ups"
    return show(
        title,
        times.lines(most=bound),
    )


def main() -> int:
    """The bundled corpus under its limit; others for information."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", default="meridian", help="names, separated by commas")
    parser.add_argument("--questions", type=int, help="at most so many of each set, evenly spread")
    given = parser.parse_args()
    failed = 0
    for name in given.sets.split(","):
        folder = folder_of(name, given.data)
        if folder is not None:
            bound = LIMIT_MS if name == "meridian" else None
            failed |= measure(folder, given.work, given.rounds, given.questions, bound)
    return failed


if __name__ == "__main__":
    sys.exit(main())
