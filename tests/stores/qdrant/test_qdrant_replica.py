from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphroute.errors import BackendUnavailableError, DataError, ModelMismatchError, UsageError
from graphroute.stores.catalog.sqlite import SqliteCatalog
from graphroute.stores.database import Database
from graphroute.stores.lexical.inverted import InvertedIndex
from graphroute.stores.lexical.qdrant import QdrantLexical
from graphroute.stores.qdrant import replica as replica_module
from graphroute.stores.qdrant.collection import STATE_POINT
from graphroute.stores.qdrant.connection import MEMORY, QdrantConnection, QdrantSettings
from graphroute.stores.qdrant.replica import QdrantReplica
from graphroute.stores.vector.exact import ExactVectors
from graphroute.stores.vector.qdrant import QdrantVectors
from graphroute.stores.writer import SnapshotWriter
from graphroute.testing.documents import EVERYONE, documents, random_corpus, write_documents
from graphroute.testing.vector_store import MODEL, SIZE, vectors_of
from graphroute.types.source import Passage, Source
from graphroute.types.view import View

Vectors = Mapping[str, NDArray[np.float32]]


@pytest.fixture
def connection() -> Iterator[QdrantConnection]:
    opened = QdrantConnection(QdrantSettings(url=MEMORY))
    yield opened
    opened.close()


def points_of(connection: QdrantConnection, kind: str) -> dict[int, dict[str, Any]]:
    """Payloads of the rows in the collection in use, by key."""
    found, _ = connection.call(
        "scroll", collection_name=f"graphroute_{kind}", limit=10_000, with_payload=True, with_vectors=True
    )
    return {
        int(point.id): {"payload": point.payload, "vector": point.vector} for point in found if point.id != STATE_POINT
    }


def names(connection: QdrantConnection) -> list[str]:
    return sorted(one.name for one in connection.call("get_collections").collections)


def change(
    database: Database,
    *,
    put: Mapping[str, str] = MappingProxyType({}),
    remove: tuple[str, ...] = (),
    vectors: Vectors = MappingProxyType({}),
) -> None:
    writer = SnapshotWriter(database)
    writer.begin()
    for name, text in put.items():
        writer.put_source(Source(id=name, text=text, labels=frozenset({"public"})))
        writer.put_passages([Passage(id=name, source_id=name, start=0, end=len(text), text=text)])
    for name in remove:
        writer.remove_source(name)
    if vectors:
        writer.put_vectors(MODEL, sorted(vectors.items()))
    writer.publish()


def check_agreement(connection: QdrantConnection, database: Database, view: View) -> None:
    lexical, embedded = QdrantLexical(connection), InvertedIndex(database)
    for question in ("pump", "насос 泵", "relay monday CHG-482"):
        assert list(lexical.search(question, view=view, k=5)) == list(embedded.search(question, view=view, k=5))
    vectors, exact = QdrantVectors(connection, MODEL), ExactVectors(database, MODEL)
    for place in range(3):
        question_vector = np.eye(SIZE, dtype=np.float32)[place] + 0.1
        assert list(vectors.search(question_vector, view=view, k=5)) == list(
            exact.search(question_vector, view=view, k=5)
        )


def test_copies_follow_the_record(tmp_path: Path, connection: QdrantConnection) -> None:
    corpus = random_corpus(1)
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus), identity=MODEL)
    replica = QdrantReplica(connection, database)
    first = replica.copy()
    assert (first[0].kind, first[0].rows) == ("lexical", len(corpus))
    before = view_of(EVERYONE)
    check_agreement(connection, database, before)
    kept = {"lexical": points_of(connection, "lexical"), "vectors": points_of(connection, "vectors")}

    again = replica.copy()
    assert [one.rows for one in again] == [0, 0], "nothing changed"
    assert points_of(connection, "lexical") == kept["lexical"]
    assert points_of(connection, "vectors") == kept["vectors"]

    new = np.eye(SIZE, dtype=np.float32)[0]
    gone = next(document.id for document in corpus if "public" in document.labels and "pump" in document.text)
    change(database, put={"new": "pump насос новый термин"}, remove=(gone,), vectors={"new": new})
    after = SqliteCatalog(database).view(reader=EVERYONE)
    with pytest.raises(BackendUnavailableError, match="older"):
        QdrantLexical(connection).search("pump", view=after, k=1)
    assert [one.rows for one in replica.copy()] == [2, 2], "one born, one ended"
    check_agreement(connection, database, after)
    assert "new" in {hit.passage_id for hit in QdrantLexical(connection).search("новый", view=after, k=3)}
    check_agreement(connection, database, before)
    assert gone in {hit.passage_id for hit in QdrantLexical(connection).search("pump", view=before, k=99)}

    SnapshotWriter(database).forget()
    assert [one.removed for one in replica.copy()] == [1, 1]
    check_agreement(connection, database, SqliteCatalog(database).view(reader=EVERYONE))


def test_a_copy_that_was_cut_off_goes_on(
    tmp_path: Path, connection: QdrantConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_module, "BATCH", 4)
    monkeypatch.setattr(replica_module, "_JOURNAL_EVERY", 2)
    corpus = random_corpus(2)
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus), identity=MODEL)
    view = view_of(EVERYONE)
    seen: list[int] = []

    def stop(kind: str, done: int, total: int) -> None:
        seen.append(done)
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        QdrantReplica(connection, database).copy(progress=stop)
    with pytest.raises(BackendUnavailableError, match="not copied"):
        QdrantLexical(connection).search("pump", view=view, k=1)
    done = QdrantReplica(connection, database).copy()
    assert done[0].rows == len(corpus) - 16, "the journal names the sixteenth row"
    check_agreement(connection, database, view)
    other = QdrantConnection(QdrantSettings(url=MEMORY))
    QdrantReplica(other, database).copy()
    for kind in ("lexical", "vectors"):
        assert points_of(connection, kind) == points_of(other, kind)
    other.close()


def test_a_purge_hides_at_once_and_a_rebuild_leaves_nothing(tmp_path: Path, connection: QdrantConnection) -> None:
    corpus = documents("pump one", "pump two", "valve")
    eye = np.eye(SIZE, dtype=np.float32)
    database, view_of = write_documents(
        tmp_path / "s.db", corpus, vectors={document.id: eye[n] for n, document in enumerate(corpus)}, identity=MODEL
    )
    replica = QdrantReplica(connection, database)
    replica.copy()
    view = view_of(EVERYONE)
    lexical, vectors = QdrantLexical(connection), QdrantVectors(connection, MODEL)
    assert len(lexical.search("pump", view=view, k=9)) == 2
    with pytest.raises(UsageError):
        replica.purge([])
    assert len(points_of(connection, "lexical")) == 3
    replica.purge(["d0"])
    assert [hit.passage_id for hit in lexical.search("pump", view=view, k=9)] == ["d1"]
    assert [hit.passage_id for hit in vectors.search(eye[0], view=view, k=9)] == ["d1", "d2"]

    change(database, remove=("d0",))
    SnapshotWriter(database).forget()
    held = names(connection)
    done = replica.rebuild()
    assert not set(names(connection)) & set(held), "new collections, the old ones deleted"
    assert [one.rows for one in done] == [2, 2]
    after = SqliteCatalog(database).view(reader=EVERYONE)
    assert [hit.passage_id for hit in lexical.search("pump", view=after, k=9)] == ["d1"], (
        "an open store finds the new one"
    )
    assert replica.rebuild()[0].collection in held


def test_rows_lost_on_the_server_come_back(tmp_path: Path, connection: QdrantConnection) -> None:
    corpus = random_corpus(3)
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus), identity=MODEL)
    replica = QdrantReplica(connection, database)
    replica.copy()
    whole = points_of(connection, "lexical")
    replica.purge([corpus[0].id, corpus[5].id])
    assert len(points_of(connection, "lexical")) == len(corpus) - 2
    replica.copy()
    assert points_of(connection, "lexical") == whole
    check_agreement(connection, database, view_of(EVERYONE))


def test_changed_vectors_of_old_passages_are_copied(tmp_path: Path, connection: QdrantConnection) -> None:
    corpus = documents("pump", "valve")
    eye = np.eye(SIZE, dtype=np.float32)
    database, _ = write_documents(tmp_path / "s.db", corpus, vectors={"d0": eye[0]}, identity=MODEL)
    replica = QdrantReplica(connection, database)
    replica.copy()
    change(database, vectors={"d0": eye[3], "d1": eye[4]})
    replica.copy()
    check_agreement(connection, database, SqliteCatalog(database).view(reader=EVERYONE))
    view = SqliteCatalog(database).view(reader=EVERYONE)
    assert QdrantVectors(connection, MODEL).search(eye[4], view=view, k=1)[0].passage_id == "d1"


def test_another_embedder_gets_a_collection_of_its_own(tmp_path: Path, connection: QdrantConnection) -> None:
    corpus = documents("pump", "valve")
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus), identity=MODEL)
    replica = QdrantReplica(connection, database)
    first = replica.copy()[1].collection
    opened = QdrantVectors(connection, MODEL)
    view = view_of(EVERYONE)
    assert len(opened.search(np.ones(SIZE, dtype=np.float32), view=view, k=9)) == 2
    other = f"mini-b@1/{SIZE}"
    writer = SnapshotWriter(database)
    writer.begin()
    writer.put_setting("embedder", other)
    writer.put_vectors(other, sorted(vectors_of(corpus, 9).items()))
    writer.publish()
    second = replica.copy()[1].collection
    assert second != first
    assert first not in names(connection)
    for asked in (view, SqliteCatalog(database).view(reader=EVERYONE)):
        with pytest.raises(ModelMismatchError, match="mini-b"):
            opened.search(np.ones(SIZE, dtype=np.float32), view=asked, k=9)
    assert QdrantVectors(connection, other).model == other


def test_another_store_is_refused(tmp_path: Path, connection: QdrantConnection) -> None:
    one, _ = write_documents(tmp_path / "a.db", documents("pump"))
    two, _ = write_documents(tmp_path / "b.db", documents("valve"))
    QdrantReplica(connection, one, store="one").copy()
    with pytest.raises(DataError, match="another store"):
        QdrantReplica(connection, two, store="two").copy()


def test_a_damaged_vector_is_not_copied(tmp_path: Path, connection: QdrantConnection) -> None:
    corpus = documents("pump")
    for damage in ("x'0000'", f"zeroblob({4 * SIZE})", f"x'{'0000c07f' * SIZE}'"):
        path = tmp_path / f"{len(damage)}.db"
        database, _ = write_documents(path, corpus, vectors={"d0": np.eye(SIZE, dtype=np.float32)[0]}, identity=MODEL)
        database.connection.execute(f"UPDATE vector SET vector = {damage}")
        with pytest.raises(DataError):
            QdrantReplica(connection, database).copy()
        assert points_of_if_any(connection) == {}


def points_of_if_any(connection: QdrantConnection) -> dict[int, dict[str, Any]]:
    aliases = {one.alias_name for one in connection.call("get_aliases").aliases}
    return points_of(connection, "vectors") if "graphroute_vectors" in aliases else {}


def test_a_store_without_vectors(tmp_path: Path, connection: QdrantConnection) -> None:
    database, _ = write_documents(tmp_path / "s.db", documents("pump"))
    assert [one.kind for one in QdrantReplica(connection, database).copy()] == ["lexical"]
    assert QdrantVectors(connection, MODEL).model is None


def test_dropping_leaves_other_stores(tmp_path: Path, connection: QdrantConnection) -> None:
    database, _ = write_documents(tmp_path / "s.db", documents("pump"))
    replica = QdrantReplica(connection, database)
    replica.copy()
    others = [
        "graphroute_lexical_lexical_bm25_1",
        "other_lexical_bm25_1",
    ]  # the first has the prefix graphroute_lexical
    for name in others:
        connection.call("create_collection", collection_name=name, vectors_config={})
    replica.drop()
    assert names(connection) == others


def test_a_staged_snapshot_is_copied_before_it_is_published(tmp_path: Path, connection: QdrantConnection) -> None:
    corpus = random_corpus(4)
    database, view_of = write_documents(tmp_path / "s.db", corpus, vectors=vectors_of(corpus), identity=MODEL)
    replica = QdrantReplica(connection, database)
    replica.copy()
    before = view_of(EVERYONE)
    seen: list[int] = []

    def stage() -> None:
        seen.extend(one.rows for one in replica.copy())
        assert SqliteCatalog(database).view(reader=EVERYONE).sequence == before.sequence

    writer = SnapshotWriter(database)
    writer.begin()
    writer.put_source(Source(id="new", text="pump", labels=frozenset({"public"})))
    writer.put_passages([Passage(id="new", source_id="new", start=0, end=4, text="pump")])
    writer.put_vectors(MODEL, [("new", np.eye(SIZE, dtype=np.float32)[2])])
    writer.publish(stage)
    assert seen == [1, 1]
    check_agreement(connection, database, before)
    check_agreement(connection, database, SqliteCatalog(database).view(reader=EVERYONE))
    assert [one.rows for one in replica.copy()] == [0, 0]
