"""What every LexicalStore must pass: right statistics for each reader, no lost hit, no arbitrary one."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from graphroute.errors import DeadlineError, UsageError
from graphroute.stores.lexical.base import NO_FILTER, LexicalStore, PassageFilter, Scored
from graphroute.testing.documents import EVERYONE, Document, ViewOf, documents, random_corpus, readable
from graphroute.text import query_terms, terms
from graphroute.types.reader import Reader
from graphroute.types.time import Interval, TimeFilter, TimeMode

QUESTIONS = (
    "pump",
    "who owns the relay CHG-482?",
    "chg 482 monday",
    "насос узла",
    "阀门负责人",
    "secret pump",
    "ledger",
)
READERS = (EVERYONE, Reader("red", ("red",)), Reader("both", ("public", "blue")), Reader("nobody", ()))


def bm25(corpus: Sequence[Document], query: str) -> dict[str, float]:
    """BM25 by the book over a corpus: k1 1.5, b 0.75, idf ln(1 + (N - n + 0.5) / (n + 0.5)); ids with a score."""
    bags = {document.id: Counter(terms(f"{document.title}\n{document.text}")) for document in corpus}
    average = sum(bag.total() for bag in bags.values()) / len(bags) if bags else 0.0
    scores: dict[str, float] = {}
    for term in query_terms(query):
        frequency = sum(term in bag for bag in bags.values())
        idf = math.log(1 + (len(bags) - frequency + 0.5) / (frequency + 0.5))
        for document_id, bag in bags.items():
            if bag[term]:
                norm = 1.5 * (1 - 0.75 + 0.75 * bag.total() / average)
                scores[document_id] = scores.get(document_id, 0.0) + idf * bag[term] * 2.5 / (bag[term] + norm)
    return scores


def ids(found: Sequence[Scored]) -> list[str]:
    """Passage ids, best first."""
    return [hit.passage_id for hit in found]


def _is_one_of(allowed: frozenset[str], document: Document) -> bool:
    return document.id in allowed


class LexicalStoreTests(ABC):
    """Subclass it in a test module and say how a store is built."""

    @abstractmethod
    def build(self, directory: Path, corpus: Sequence[Document]) -> tuple[LexicalStore, ViewOf]:
        """A store that holds the documents, made in an empty directory, and its views."""

    def search(self, directory: Path, texts: Sequence[str], query: str, k: int = 10) -> Sequence[Scored]:
        """Hits of a question among public documents d0, d1, ..."""
        store, view_of = self.build(directory, documents(*texts))
        return store.search(query, view=view_of(EVERYONE), k=k)

    # Degenerate corpora ------------------------------------------------------------------------------------------------

    def test_a_match_in_two_documents_has_a_score(self, tmp_path: Path) -> None:
        found = self.search(tmp_path, ["relay chg-482 approved", "ledger frozen monday"], "chg-482")
        assert ids(found) == ["d0"]
        assert found[0].score > 0

    def test_one_document(self, tmp_path: Path) -> None:
        found = self.search(tmp_path, ["relay chg-482 approved"], "relay")
        assert ids(found) == ["d0"]
        assert found[0].score > 0

    def test_a_term_of_every_document(self, tmp_path: Path) -> None:
        found = self.search(tmp_path, ["pump", "pump", "pump"], "pump")
        assert ids(found) == ["d0", "d1", "d2"]
        assert all(hit.score > 0 for hit in found)

    @pytest.mark.parametrize("texts", [[], ["   ", "\n"]], ids=["none", "blank"])
    def test_nothing_to_search(self, tmp_path: Path, texts: list[str]) -> None:
        assert list(self.search(tmp_path, texts, "pump")) == []

    def test_stop_words_find_nothing(self, tmp_path: Path) -> None:
        texts = ["who is it of the", "кто это", "是谁的"]
        store, view_of = self.build(tmp_path, documents(*texts))
        for question in ("who is it of the", "кто это", "是谁", "?", ""):
            assert list(store.search(question, view=view_of(EVERYONE), k=10)) == []

    # Text --------------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("CHG-482", "d0"),
            ("chg 482", "d0"),
            ("ＣＨＧ－４８２", "d0"),
            ("482", "d0"),
            ("CHG-4820", "d1"),
            ("INC_2024/77", "d3"),
            ("INC_2024/7", "d4"),
            ("node.js", "d5"),
        ],
    )
    def test_an_identifier_is_found_whole_first(self, tmp_path: Path, query: str, first: str) -> None:
        texts = ["CHG-482", "CHG-4820", "CHG-48 and 2 more", "INC_2024/77", "INC_2024/7", "node.js 18"]
        found = self.search(tmp_path, texts, query)
        assert found[0].passage_id == first
        assert len(found) == 1 or found[0].score > found[1].score

    @pytest.mark.parametrize(
        ("query", "hits"),
        [
            ("Zoe\u0308", ["d0"]),
            ("Федор Ким", ["d1"]),
            ("Андрей", ["d2"]),
            ("кассового", ["d3"]),
            ("负责人", ["d4"]),
            ("approvals", ["d5"]),
        ],
    )
    def test_spellings_meet_and_letters_do_not(self, tmp_path: Path, query: str, hits: list[str]) -> None:
        texts = ["Zoë Brandt", "Фёдор Ким", "Андрей", "кассовый узел", "张三是负责人", "the approval came"]
        assert ids(self.search(tmp_path, texts, query)) == hits

    def test_a_form_comes_before_its_inflections(self, tmp_path: Path) -> None:
        found = self.search(tmp_path, ["Андреи", "Андрей", "Андрею"], "Андрей")
        assert found[0].passage_id == "d1"
        assert found[0].score > found[1].score

    # Scores and order --------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("seed", range(4))
    def test_scores_are_those_of_the_readers_own_corpus(self, tmp_path: Path, seed: int) -> None:
        corpus = random_corpus(seed)
        store, view_of = self.build(tmp_path, corpus)
        for reader in READERS:
            own = readable(corpus, reader)
            for question in QUESTIONS:
                expected = bm25(own, question)
                found = store.search(question, view=view_of(reader), k=len(corpus))
                assert {hit.passage_id: pytest.approx(hit.score, rel=1e-9) for hit in found} == expected
                assert list(found) == sorted(found, key=lambda hit: (-hit.score, hit.passage_id))
                assert list(store.search(question, view=view_of(reader), k=3)) == list(found)[:3]
            for term in ("pump", "насос", "chg-482", "secret"):
                expected_count = sum(term in terms(document.text) for document in own)
                assert list(store.document_frequencies([term], view=view_of(reader))) == [expected_count]

    def test_equal_scores_are_ordered_by_id(self, tmp_path: Path) -> None:
        corpus = [Document(id=name, text="pump") for name in ("b", "é", "a", "B", "10", "9")]
        store, view_of = self.build(tmp_path, corpus)
        found = store.search("pump", view=view_of(EVERYONE), k=6)
        assert ids(found) == sorted(document.id for document in corpus)
        assert ids(store.search("pump", view=view_of(EVERYONE), k=4)) == ids(found)[:4]

    @pytest.mark.parametrize("k", [0, -1])
    def test_no_hits_asked_for_is_an_error(self, tmp_path: Path, k: int) -> None:
        with pytest.raises(UsageError):
            self.search(tmp_path, ["pump"], "pump", k=k)

    def test_more_hits_asked_for_than_there_are(self, tmp_path: Path) -> None:
        assert ids(self.search(tmp_path, ["pump"], "pump", k=10**9)) == ["d0"]

    def test_a_deadline_in_the_past(self, tmp_path: Path) -> None:
        store, view_of = self.build(tmp_path, documents("pump"))
        with pytest.raises(DeadlineError):
            store.search("pump", view=view_of(EVERYONE), k=1, deadline=time.monotonic() - 1)

    # Filters -----------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("seed", range(3))
    def test_a_filter_narrows_and_changes_no_score(self, tmp_path: Path, seed: int) -> None:
        corpus = random_corpus(seed)
        store, view_of = self.build(tmp_path, corpus)
        view = view_of(EVERYONE)
        by_id = {document.id: document for document in corpus}
        some = tuple(document.id for document in corpus[::2])
        window = Interval(20, 35)
        cases: list[tuple[PassageFilter, Callable[[Document], bool]]] = [
            (NO_FILTER, lambda _: True),
            (PassageFilter(source_ids=some), lambda d: d.id in some),
            (PassageFilter(source_ids=()), lambda _: False),
            (PassageFilter(source_ids=("unknown",)), lambda _: False),
            (PassageFilter(kinds=("note",)), lambda d: d.kind == "note"),
            (PassageFilter(nodes=("kep:1", "kep:2")), lambda d: d.node is not None),
            (PassageFilter(kinds=("note",), nodes=("kep:1",)), lambda d: (d.kind, d.node) == ("note", "kep:1")),
        ]
        for mode in TimeMode:
            time_filter = TimeFilter(mode, window)
            inside = frozenset(document.id for document in corpus if time_filter.accepts(document.validity))
            cases.append((PassageFilter(time=time_filter), partial(_is_one_of, inside)))
        every = list(store.search("pump насос 泵", view=view, k=100))
        assert every
        for where, accepts in cases:
            expected = [hit for hit in every if accepts(by_id[hit.passage_id])]
            assert list(store.search("pump насос 泵", view=view, k=100, where=where)) == expected
            assert list(store.search("pump насос 泵", view=view, k=2, where=where)) == expected[:2]

    def test_an_open_end_is_not_an_end_inside(self, tmp_path: Path) -> None:
        corpus = [
            Document(id="open", text="pump", validity=Interval(None, None)),
            Document(id="shut", text="pump", validity=Interval(5, 8)),
        ]
        store, view_of = self.build(tmp_path, corpus)
        for mode in (TimeMode.STARTS_IN, TimeMode.ENDS_IN):
            where = PassageFilter(time=TimeFilter(mode, Interval(None, None)))
            assert ids(store.search("pump", view=view_of(EVERYONE), k=5, where=where)) == ["shut"]

    # Access ------------------------------------------------------------------------------------------------------------

    def check_no_interference(self, directory: Path, corpus: Sequence[Document]) -> None:
        """Each reader gets the same hits and scores, to the bit, as from a corpus without what is hidden."""
        full, full_views = self.build(directory / "full", corpus)
        for number, reader in enumerate(READERS):
            own, own_views = self.build(directory / f"own{number}", readable(corpus, reader))
            for question in QUESTIONS:
                for k in (2, 100):
                    assert list(full.search(question, view=full_views(reader), k=k)) == list(
                        own.search(question, view=own_views(reader), k=k)
                    )

    @pytest.mark.parametrize("seed", range(3))
    def test_hidden_documents_change_nothing(self, tmp_path: Path, seed: int) -> None:
        self.check_no_interference(tmp_path, random_corpus(100 + seed))

    def test_a_reader_without_labels_gets_nothing(self, tmp_path: Path) -> None:
        store, view_of = self.build(tmp_path, documents("pump"))
        nobody = view_of(Reader("nobody", ()))
        assert list(store.search("pump", view=nobody, k=5)) == []
        assert list(store.document_frequencies(["pump"], view=nobody)) == [0]
