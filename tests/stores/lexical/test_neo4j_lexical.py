from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from graphroute.errors import BackendUnavailableError
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.lexical import neo4j as neo4j_module
from graphroute.stores.lexical.base import LexicalStore
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.lexical.neo4j import Neo4jLexical
from graphroute.stores.neo4j.connection import Query
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.documents import EVERYONE, Document, ViewOf, documents, random_corpus, write_documents
from graphroute.testing.lexical_store import QUESTIONS, READERS, LexicalStoreTests, ids
from neo4j_search import VERSIONS, Lease, SearchServers, search_servers


@pytest.fixture(scope="module")
def servers(neo4j_lease: Lease) -> Iterator[SearchServers]:
    with search_servers(neo4j_lease) as found:
        yield found


class TestNeo4jLexical(LexicalStoreTests):
    """A server holds one store, so a second build of one test goes to the other release."""

    @pytest.fixture(autouse=True)
    def _servers(self, servers: SearchServers) -> None:
        self.servers = servers

    def build(self, directory: Path, corpus: Sequence[Document]) -> tuple[LexicalStore, ViewOf]:
        database, view_of = write_documents(directory / "store.db", corpus)
        version = "2026" if directory.name.startswith("own") else "5.26"
        return Neo4jLexical(self.servers.copy(database, version)), view_of


HOSTILE = [
    "who is owner/approver of CHG-482?",
    "urgent! (pump) [v2] {x} : ^ ~ * ? \\",
    "/",
    '"',
    "AND",
    "relay OR",
    "NOT pump",
    'words_english:"pump" OR *:*',
    "_s1 _s2",
    "pump) OR (_s2",
    '"pump" +_s3 //',
    "насос\\ AND (клапан",
    "泵 && 阀门 || !",
    "\x00pump\u202e",
    "a" * 5000,
    "no such of",
    "ΑΒΓ pump",
]


@pytest.mark.parametrize("version", VERSIONS)
def test_no_text_of_a_question_is_a_query(servers: SearchServers, tmp_path: Path, version: str) -> None:
    corpus = [
        *random_corpus(7),
        Document(id="x1", text="relay CHG-482 owner approver urgent v2 no such and or not"),
        Document(id="x2", text="αβγ pump", labels=frozenset({"red"})),
        Document(id="x3", text="АБВ: не только насос, 𠀀𠀁 とても カタカナ", labels=frozenset({"public"})),
    ]
    database, view_of = write_documents(tmp_path / "s.db", corpus)
    embedded = InvertedIndex(database)
    questions = [*HOSTILE, *QUESTIONS, "только", "𠀀𠀁", "カタカナ とても", "such", "no"]
    connection = servers.copy(database, version)
    store = Neo4jLexical(connection)
    count = Query("count", "CYPHER 5 MATCH (n) RETURN count(n)")
    before = connection.read(count)
    for reader in READERS:
        for question in questions:
            found = list(store.search(question, view=view_of(reader), k=100))
            assert found == list(embedded.search(question, view=view_of(reader), k=100)), question
    assert connection.read(count) == before
    assert any(embedded.search(question, view=view_of(EVERYONE), k=1) for question in HOSTILE)


def test_common_terms_are_settled_by_the_bound_or_by_lucene(
    servers: SearchServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With small limits, the ways a large store goes: rare terms whole, the bound, Lucene's best."""
    corpus = random_corpus(8, size=200)
    database, view_of = write_documents(tmp_path / "s.db", corpus)
    embedded = InvertedIndex(database)
    monkeypatch.setattr(neo4j_module, "_WHOLE", 20)
    asked: list[int] = []
    connection = servers.copy(database)

    class Counting(Neo4jLexical):
        def _candidates(self, *given: object) -> dict[str, float]:  # type: ignore[override]
            asked.append(int(str(given[5])))
            return super()._candidates(*given)  # type: ignore[arg-type]

    store = Counting(connection)
    for reader in READERS:
        for question in ("pump relay ledger", "CHG-482 monday", "насос secret", "阀门 负责人 узел pump"):
            found = store.search(question, view=view_of(reader), k=5)
            assert list(found) == list(embedded.search(question, view=view_of(reader), k=5))
    assert neo4j_module._BEST in asked, "Lucene's best were needed"
    assert neo4j_module._ALL in asked, "rare terms were fetched whole"


def test_many_scopes(servers: SearchServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphroute.stores.neo4j import search_fields

    monkeypatch.setattr(search_fields, "MAX_SCOPE_TOKENS", 1)
    corpus = random_corpus(9)
    database, view_of = write_documents(tmp_path / "s.db", corpus)
    embedded = InvertedIndex(database)
    store = Neo4jLexical(servers.copy(database))
    for reader in READERS:
        for question in QUESTIONS:
            assert list(store.search(question, view=view_of(reader), k=9)) == list(
                embedded.search(question, view=view_of(reader), k=9)
            )


def test_a_copy_older_than_the_view_is_refused(servers: SearchServers, tmp_path: Path) -> None:
    database, view_of = write_documents(tmp_path / "s.db", documents("pump", "valve"))
    connection = servers.connection()
    connection.write(Query("empty", "CYPHER 5 MATCH (n) WHERE NOT n:GraphrouteMigration DETACH DELETE n"))
    with pytest.raises(BackendUnavailableError, match="not copied"):
        Neo4jLexical(connection).search("pump", view=view_of(EVERYONE), k=1)
    servers.copy(database)
    before = view_of(EVERYONE)
    store = Neo4jLexical(connection)
    assert ids(store.search("pump", view=before, k=1)) == ["d0"]
    writer = SnapshotWriter(database)
    writer.begin()
    writer.remove_source("d0")
    writer.publish()
    after = SqliteCatalog(database).view(reader=EVERYONE)
    with pytest.raises(BackendUnavailableError, match="older"):
        store.search("pump", view=after, k=1)
    servers.copy(database)
    assert ids(store.search("pump", view=after, k=1)) == []
    assert ids(Neo4jLexical(connection).search("pump", view=before, k=1)) == ["d0"]
