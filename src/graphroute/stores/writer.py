"""SnapshotWriter: stages sources, passages and assertions, and publishes them as one snapshot."""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphroute.access import scope_form
from graphroute.errors import BackendUnavailableError, DataError, UsageError
from graphroute.stores.database import Database
from graphroute.stores.kept import dump_ontology
from graphroute.stores.schema import LIVE, pack_terms
from graphroute.stores.scope_digests import add_up, write_digests
from graphroute.stores.settling import Labels, settle_adjacency, settle_entities, settle_sources, settle_supports
from graphroute.stores.staging import COLUMNS, PutAssertion, Staging, digest, members_of, to_json
from graphroute.text import fold, terms
from graphroute.types.graph import Assertion, Attribute
from graphroute.types.ontology import Ontology
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import ALWAYS, Interval


class SnapshotWriter:
    """All writes of a store. `begin`, any number of `put_*`, then `publish` or `rollback`.

    One writer at a time; readers are never blocked and see nothing until `publish`. Everything between is one
    transaction, so a process killed at any point leaves the published snapshot as it was, and running the same
    puts again gives the same store. Putting unchanged content again changes nothing. The order of puts inside a
    session does not matter, except that a source is put before its passages.

    A changed source is a new generation: its passages, names, attributes and the support sets it takes part in end with the
    old one unless they are put again in the same session.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._connection: sqlite3.Connection | None = None
        self._staging: Staging | None = None

    # Session ----------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start a session. Raises BackendUnavailableError while another writer has one open."""
        if self._staging is not None:
            raise UsageError("a session is open", hint="publish or roll back first")
        if self._db.read_only:
            raise UsageError("the store was opened read-only")
        if self._connection is None:
            self._connection = self._db.writing_connection()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise BackendUnavailableError(
                f"the store is being written by another process: {error}", where=str(self._db.path)
            ) from error
        self._staging = Staging(self._connection)

    def rollback(self) -> None:
        """Drop everything since `begin`."""
        if self._staging is not None:
            self._staging.sql.execute("ROLLBACK")
            self._staging = None

    def _session(self) -> Staging:
        if self._staging is None:
            raise UsageError("no session is open", hint="call begin() first")
        return self._staging

    # Sources and what is made of them -----------------------------------------------------------------------------------

    def put_source(self, source: Source) -> bool:
        """Stage a source. False if the published one is the same; then nothing of it needs to be put again.

        Raises DataError if the session already holds the id with other content.
        """
        staging = self._session()
        if not source.id:
            raise DataError("a source has an empty id")
        _check_interval(source.validity, f"source {source.id!r}")
        labels = sorted(source.labels)
        content = digest(
            "source", source.id, source.title, source.text, labels, source.parent, source.kind, source.node, source.lang,
            source.validity.low, source.validity.high, source.timestamp, source.origin, sorted(source.extra.items()),
        )  # fmt: skip
        before = staging.put_sources.get(source.id)
        if before is not None:
            if before[0] != content:
                raise DataError(f"source {source.id!r} is given twice with different content")
            return before[1]
        row = staging.sql.execute(
            "SELECT key, hash FROM source WHERE id = ? AND died = ?", (source.id, LIVE)
        ).fetchone()
        if row is not None and bytes(row[1]) == content:
            staging.put_sources[source.id] = (content, False)
            staging.source_keys[source.id] = row[0]
            return False
        if row is not None:
            staging.end_rows("source", (row[0],))
            staging.changed.add(source.id)
            self.refresh(source.id)
        elif source.id not in staging.changed:
            staging.new.add(source.id)
        generation = 1 + max(
            int(staging.first_value("SELECT coalesce(max(generation), 0) FROM source WHERE id = ?", (source.id,))),
            int(
                staging.first_value("SELECT generation FROM tombstone WHERE hash = ?", (digest("id", source.id),)) or 0
            ),
        )
        key = staging.key("source")
        staging.sql.execute(
            f"INSERT INTO source ({COLUMNS['source']}) VALUES ({','.join('?' * 19)})",
            (
                key, source.id, generation, content, to_json(labels), staging.scope(scope_form([labels])), source.parent,
                source.kind, source.node, source.lang, source.validity.low, source.validity.high, source.timestamp,
                source.origin, to_json(dict(sorted(source.extra.items()))), staging.next, LIVE, source.title, source.text,
            ),
        )  # fmt: skip
        staging.put_sources[source.id] = (content, True)
        staging.source_keys[source.id] = key
        if source.node:
            self.put_entity_source(source.node, source.id)
        return True

    def refresh(self, source_id: str) -> None:
        """Everything made of the source will be put again: its passages, names, attributes and entity links.

        What is not put again before the publish ends. Implied for a changed source; to be called for an unchanged one
        after the chunker or the record mappings changed.
        """
        staging = self._session()
        staging.refreshed.add(source_id)

    def remove_source(self, source_id: str) -> bool:
        """Stage the removal of a source and everything only it proves. False if there is no such source.

        The id is marked, so that a source of the same id put later is a new generation.
        """
        staging = self._session()
        row = staging.sql.execute(
            "SELECT key, generation FROM source WHERE id = ? AND died = ?", (source_id, LIVE)
        ).fetchone()
        if row is None:
            return False
        staging.sql.execute(
            "INSERT INTO tombstone VALUES (?, ?, ?) "
            "ON CONFLICT (hash) DO UPDATE SET generation = excluded.generation, sequence = excluded.sequence",
            (digest("id", source_id), row[1], staging.next),
        )
        staging.changed.add(source_id)
        self.refresh(source_id)
        staging.flush()
        staging.end_rows("source", (row[0],))
        own = {
            key
            for (key,) in staging.sql.execute("SELECT key FROM passage WHERE source = ? AND died = ?", (row[0], LIVE))
        }
        staging.put_sources.pop(source_id, None)
        staging.source_keys.pop(source_id, None)
        staging.new.discard(source_id)
        staging.put_passages = {
            passage: (content, key) for passage, (content, key) in staging.put_passages.items()
            if key not in own
        }  # fmt: skip
        staging.names = {item for item in staging.names if item[2][0] != source_id}
        staging.entity_sources = {item for item in staging.entity_sources if item[1] != source_id}
        staging.attributes = {item for item in staging.attributes if item[9] != source_id}
        return True

    def put_passages(self, passages: Sequence[Passage]) -> None:
        """Stage passages of sources already put, and their search terms.

        Raises DataError for an unknown source, or an id given twice with different content.
        """
        staging = self._session()
        for passage in passages:
            source_key = self._source_key(passage.source_id)
            content = digest(
                "passage", passage.id, passage.source_id, passage.start, passage.end, passage.text, passage.title,
                passage.validity.low, passage.validity.high, passage.timestamp, passage.kind, passage.node,
            )  # fmt: skip
            before = staging.put_passages.get(passage.id)
            if before is not None:
                if before[0] != content:
                    raise DataError(f"passage {passage.id!r} is given twice with different content")
                continue
            if staging.first_key["passage"]:
                row = staging.sql.execute(
                    "SELECT key, hash, source FROM passage WHERE id = ? AND died = ? AND born < ?",
                    (passage.id, LIVE, staging.next),
                ).fetchone()
                if row is not None and bytes(row[1]) == content and row[2] == source_key:
                    staging.put_passages[passage.id] = (content, row[0])
                    continue
                if row is not None:
                    staging.end_rows("passage", (row[0],))
            key = staging.key("passage")
            scope = staging.first_value("SELECT scope FROM source WHERE key = ?", (source_key,))
            staging.add(
                "passage",
                (
                    key, passage.id, source_key, scope, passage.kind, passage.node, passage.validity.low,
                    passage.validity.high, passage.timestamp, passage.start, passage.end, staging.next, LIVE, content,
                    passage.title, passage.text,
                ),
            )  # fmt: skip
            staging.put_passages[passage.id] = (content, key)
            self._add_terms(key, terms(f"{passage.title}\n{passage.text}"))

    def _add_terms(self, key: int, analysed: Iterable[str]) -> None:
        staging = self._session()
        if staging.terms is None:
            staging.flush()
            staging.terms = dict(staging.sql.execute("SELECT term, id FROM term"))
        ids: list[int] = []
        for term in analysed:
            number = staging.terms.get(term)
            if number is None:
                number = staging.terms[term] = staging.key("term")
                staging.add("term", (number, term))
            ids.append(number)
        staging.add("passage_terms", (key, pack_terms(ids)))

    def put_vectors(self, identity: str, items: Sequence[tuple[str, NDArray[np.float32]]]) -> None:
        """Stage unit vectors of shape (size,) for passages. `identity` is `name@revision/size`.

        Raises DataError for a vector that is not finite, is zero, or has another size than `identity` states.
        """
        staging = self._session()
        size = identity.rpartition("/")[2]
        staging.flush()
        for passage_id, vector in items:
            array = np.ascontiguousarray(vector, dtype="<f4")
            if array.ndim != 1 or str(array.size) != size or not np.isfinite(array).all() or not array.any():
                raise DataError(
                    f"vector of passage {passage_id!r} of shape {array.shape} is zero, not finite or of another size",
                    allowed=f"finite, non-zero, shape ({size},)",
                )
            key, blob = self._passage_key(passage_id), array.tobytes()
            if (
                staging.first_value("SELECT vector FROM vector WHERE passage = ? AND identity = ?", (key, identity))
                != blob
            ):
                staging.sql.execute("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", (key, identity, blob))
                staging.other_changes = True

    def _source_key(self, source_id: str) -> int:
        staging = self._session()
        key = staging.source_keys.get(source_id)
        if key is None:
            key = staging.first_value("SELECT key FROM source WHERE id = ? AND died = ?", (source_id, LIVE))
            if key is None:
                raise DataError(f"source {source_id!r} is not known", hint="put the source before its passages")
            staging.source_keys[source_id] = key
        return key

    def _passage_key(self, passage_id: str) -> int:
        staging = self._session()
        before = staging.put_passages.get(passage_id)
        if before is not None:
            return before[1]
        key = staging.first_value("SELECT key FROM passage WHERE id = ? AND died = ?", (passage_id, LIVE))
        if key is None:
            raise DataError(f"passage {passage_id!r} is not known", hint="put the passage first")
        return int(key)

    # Entities and facts -------------------------------------------------------------------------------------------------

    def put_entity(self, entity_id: str, types: Sequence[str], names: Sequence[str]) -> None:
        """Stage what an entities file says. The names are readable wherever one fact of the entity is.

        Types given here hold for all who see the entity. Without any, each reader gets those that readable records about it
        tell, else those of the places it takes in readable facts by the ontology, else `UNTYPED` if that is declared.
        """
        staging = self._session()
        if not entity_id:
            raise DataError("an entity has an empty id")
        known = staging.entities.setdefault(entity_id, ({}, {}))
        known[0].update(dict.fromkeys(types))
        known[1].update(dict.fromkeys(name for name in names if name.strip()))

    def put_entity_source(self, entity_id: str, source_id: str, type_: str | None = None) -> None:
        """Stage that a source is a record of, or prose about, an entity, of the type it tells. `Source.node` does it as well."""
        staging = self._session()
        staging.entity_sources.add((entity_id, source_id, type_))

    def put_name(self, entity_id: str, name: str, span: SourceSpan) -> None:
        """Stage a name of an entity that a source states."""
        staging = self._session()
        if not name.strip():
            raise DataError(f"entity {entity_id!r} has an empty name", where=span.source_id)
        staging.names.add((entity_id, name, (span.source_id, span.start, span.end)))

    def put_attribute(self, attribute: Attribute) -> None:
        """Stage an attribute of an entity that a source states. Validity `ALWAYS` means that of the source."""
        staging = self._session()
        _check_interval(attribute.validity, f"attribute {attribute.key!r} of {attribute.entity_id!r}")
        span = attribute.span
        staging.attributes.add(
            (
                attribute.entity_id, attribute.key, attribute.value, fold(attribute.value), attribute.number,
                attribute.instant, attribute.validity.low, attribute.validity.high, attribute.validity == ALWAYS,
                span.source_id, span.start, span.end,
            )
        )  # fmt: skip

    def put_assertion(self, assertion: Assertion) -> None:
        """Stage an assertion with its support sets. Sources need not be known yet: it becomes readable with them.

        Its support sets replace those of the published one. Put twice in a session, the sets are united; DataError
        if anything else differs, if an id is empty or if it ends before it starts.
        """
        staging = self._session()
        if not (assertion.id and assertion.subject and assertion.predicate and assertion.object):
            raise DataError(f"assertion {assertion.id!r} lacks an id, subject, predicate or object")
        _check_interval(assertion.validity, f"assertion {assertion.id!r}")
        low, high = assertion.validity.low, assertion.validity.high
        content = digest(
            "assertion", assertion.id, assertion.subject, assertion.predicate, assertion.object, low, high,
            sorted(assertion.attributes.items()), assertion.extraction_version, assertion.review_status,
        )  # fmt: skip
        supports = {members_of(members) for members in assertion.supports if members}
        before = staging.assertions.get(assertion.id)
        if before is not None:
            if before.hash != content:
                raise DataError(f"assertion {assertion.id!r} is given twice with different content")
            before.put |= supports
            return
        if staging.first_key["assertion"]:
            row = staging.sql.execute(
                "SELECT key, hash FROM assertion WHERE id = ? AND died = ?", (assertion.id, LIVE)
            ).fetchone()
            if row is not None and bytes(row[1]) == content:
                existing = staging.support_sets(row[0])
                staging.assertions[assertion.id] = PutAssertion(row[0], content, supports, existing)
                return
            if row is not None:
                staging.end_rows("assertion", (row[0],))
                staging.end_rows("support_set", staging.support_sets(row[0]).values())
        key = staging.key("assertion")
        staging.assertions[assertion.id] = PutAssertion(key, content, supports)
        staging.add(
            "assertion",
            (
                key, assertion.id, assertion.subject, assertion.predicate, assertion.object, low, high, content,
                to_json(dict(sorted(assertion.attributes.items()))), assertion.extraction_version,
                assertion.review_status, staging.next, LIVE,
            ),
        )  # fmt: skip

    def remove_assertion(self, assertion_id: str) -> bool:
        """Stage the end of an assertion whatever its sources say. False if there is no such assertion."""
        staging = self._session()
        staging.flush()
        staging.assertions.pop(assertion_id, None)
        key = staging.first_value("SELECT key FROM assertion WHERE id = ? AND died = ?", (assertion_id, LIVE))
        if key is None:
            return False
        staging.end_rows("assertion", (key,))
        staging.end_rows("support_set", staging.support_sets(key).values())
        return True

    def source_ids(self) -> frozenset[str]:
        """Ids of the sources in force, for an ingest that removes what its input no longer has."""
        staging = self._session()
        return frozenset(row[0] for row in staging.sql.execute("SELECT id FROM source WHERE died = ?", (LIVE,)))

    def assertion_ids(self) -> frozenset[str]:
        """Ids of the assertions in force, for an ingest that removes what its input no longer has."""
        staging = self._session()
        staging.flush()
        return frozenset(row[0] for row in staging.sql.execute("SELECT id FROM assertion WHERE died = ?", (LIVE,)))

    def put_setting(self, key: str, value: str) -> None:
        """Stage a setting of the store. Keys that start with "_" are the store's own."""
        staging = self._session()
        if staging.first_value("SELECT value FROM setting WHERE key = ?", (key,)) != value:
            staging.sql.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))
            staging.other_changes = True

    def put_ontology(self, text: str, ontology: Ontology) -> None:
        """Stage the ontology in force: its YAML as the operator reads it, and the ontology itself."""
        staging = self._session()
        kept = dump_ontology(ontology)
        staging.ontology_changed |= staging.first_value("SELECT value FROM setting WHERE key = '_ontology'") != kept
        self.put_setting("_ontology_text", text)
        self.put_setting("_ontology", kept)

    # Publishing ---------------------------------------------------------------------------------------------------------

    def publish(self, stage: Callable[[], object] | None = None) -> int:
        """Make everything since `begin` visible at once, durably, and return the snapshot's sequence number.

        Without any change the published snapshot stays. For the operator; a reader's snapshot is `View.token`. `stage` copies the
        snapshot, complete and on disk but not yet published, to other stores; where it raises nothing is published, and the next
        session that publishes takes the snapshot with it.
        """
        staging = self._session()
        staging.flush()
        labels = Labels(staging.sql)
        deltas: dict[int, int] = defaultdict(int)
        for source_id in sorted(staging.refreshed - staging.changed):
            node = staging.first_value("SELECT node FROM source WHERE id = ? AND died = ?", (source_id, LIVE))
            if node:
                self.put_entity_source(node, source_id)
        settle_sources(staging)
        touched = settle_supports(staging, labels)
        facts_of = settle_adjacency(staging, touched)
        settle_entities(staging, facts_of, deltas)
        staging.flush()
        add_up(staging, deltas)
        if not staging.rows_changed():
            self.rollback()
            if stage is not None:
                stage()
            if staging.staged > staging.published:
                self._switch(staging.staged)
            return staging.staged
        write_digests(staging, deltas)
        staging.sweep()
        sql = staging.sql
        sql.execute("INSERT INTO snapshot VALUES (?, ?)", (staging.next, time.time_ns() // 1000))
        if stage is None:
            sql.execute("UPDATE pointer SET sequence = ?", (staging.next,))
        sql.execute("COMMIT")
        self._staging = None
        if stage is not None:
            stage()
            self._switch(staging.next)
        # Moves the log into the file; a busy reader only delays it.
        sql_connection = self._connection
        assert sql_connection is not None
        sql_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return staging.next

    def _switch(self, sequence: int) -> None:
        """Publish a staged snapshot, unless a later one is published by now."""
        assert self._connection is not None
        self._connection.execute("UPDATE pointer SET sequence = ? WHERE sequence < ?", (sequence, sequence))

    def forget(self, keep: int = 1) -> None:
        """Delete what only snapshots older than the newest `keep` can read. Their views raise SnapshotError from then on.

        Runs as a transaction of its own, outside a session; deleted bytes are overwritten.
        """
        if keep < 1:
            raise UsageError(f"keep is {keep}", allowed="1 or more")
        self.begin()
        sql = self._session().sql
        rows = sql.execute(
            "SELECT sequence FROM snapshot WHERE sequence <= (SELECT sequence FROM pointer) ORDER BY sequence DESC LIMIT ?",
            (keep,),
        ).fetchall()
        oldest = int(rows[-1][0])
        # The second condition is that of the index.
        dead = f"died <= ? AND died < {LIVE:d}"
        sql.execute(
            f"DELETE FROM support_member WHERE support_set IN (SELECT key FROM support_set WHERE {dead})", (oldest,)
        )
        for table in (
            "support_set", "assertion", "passage", "source", "name", "attribute", "entity_source", "entity",
            "entity_type", "entity_scope", "alias", "adjacency",
        ):  # fmt: skip
            sql.execute(f"DELETE FROM {table} WHERE {dead}", (oldest,))
        sql.execute("DELETE FROM snapshot WHERE sequence < ?", (oldest,))
        sql.execute(
            "DELETE FROM scope_digest WHERE sequence < (SELECT max(d.sequence) FROM scope_digest d "
            "WHERE d.scope = scope_digest.scope AND d.sequence <= ?)",
            (oldest,),
        )
        sql.execute("COMMIT")
        self._staging = None
        assert self._connection is not None
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _check_interval(interval: Interval, what: str) -> None:
    if interval.high < interval.low:
        raise DataError(f"{what} ends before it starts: {interval.format()}", allowed="start before end")
