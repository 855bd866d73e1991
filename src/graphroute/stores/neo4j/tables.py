"""How each table of the record is copied to the server: its rows in order, the statements, and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graphroute.stores.neo4j import writes
from graphroute.stores.neo4j.connection import Query
from graphroute.stores.neo4j.facts import fact_hash, lookup_form
from graphroute.stores.neo4j.search_fields import search_fields
from graphroute.stores.schema import LIVE

Properties = dict[str, Any]


_ENDED: Final = f"born <= :since AND died > :since AND died <= :target AND died < {LIVE:d}"
"""The last condition is that of the index of ended rows."""
_BORN: Final = re.compile(r"\b((?:\w\.)?born) > :since\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of the record on the server.

    `select`: rows born after :since up to :target, in the order of the first `len(start)` columns and after :a0, :a1 ...;
    `start`: what is before the first row. `ended`: rows born up to :since that died after it up to :target. `exists`: whether the
    record still has a row, by the columns `identity`. `indexed`: properties that an index of the server holds. `columns`: names of the
    properties that `select` gives. `copy`: the statement, or what makes it for rows of one value of the first column.
    """

    name: str
    columns: tuple[str, ...]
    start: tuple[Any, ...]
    select: str
    copy: Query | Callable[[str], Query]
    ended: str | None = None
    end: Query | None = None
    exists: str | None = None
    identity: tuple[str, ...] = ()
    page: Query | None = None
    first: Any = ""
    indexed: tuple[str, ...] = ()
    make: Callable[[Properties], Properties] | None = None
    make_ended: Callable[[Properties], Properties] | None = None

    @property
    def later(self) -> str:
        """`select` where :since is a snapshot, through the index of the rows that the first one did not have."""
        return _BORN.sub(r"\1 > 1 AND \1 > :since", self.select)


def _with_lookup(column: str) -> Callable[[Properties], Properties]:
    def make(row: Properties) -> Properties:
        return {**row, "lookup": lookup_form(row[column])}

    return make


def _passage(row: Properties) -> Properties:
    return {**row, **search_fields(row)}


def _support(row: Properties) -> Properties:
    fact = fact_hash(row.pop("subject"), row.pop("predicate"), row.pop("object"), row.pop("low"), row.pop("high"))
    return {**row, "fact": fact}


def _fact(row: Properties) -> Properties:
    row["subject"], row["object"] = row.pop("node"), row.pop("other")
    return {**row, "fact": fact_hash(row["subject"], row["predicate"], row["object"], row["low"], row["high"])}


TABLES: Final[tuple[Table, ...]] = (
    Table(
        name="scope",
        columns=("id", "form"),
        start=(0,),
        select="SELECT id, form FROM scope WHERE id > :a0 ORDER BY id",
        copy=writes.COPY_SCOPE,
    ),
    Table(
        name="scope_digest",
        columns=("scope", "sequence", "digest"),
        start=(0, 0),
        select="SELECT scope, sequence, digest FROM scope_digest WHERE sequence > :since AND sequence <= :target "
        "AND (scope, sequence) > (:a0, :a1) ORDER BY scope, sequence",
        copy=writes.COPY_SCOPE_DIGEST,
    ),
    Table(
        name="term",
        columns=("id", "term"),
        start=(0,),
        select="SELECT id, term FROM term WHERE id > :a0 ORDER BY id",
        copy=writes.COPY_TERM,
    ),
    Table(
        name="tombstone",
        columns=("hash", "generation", "sequence"),
        start=(b"",),
        select="SELECT hash, generation, sequence FROM tombstone WHERE sequence > :since AND sequence <= :target "
        "AND hash > :a0 ORDER BY hash",
        copy=writes.COPY_TOMBSTONE,
    ),
    Table(
        name="source",
        columns=(
            "key",
            "id",
            "generation",
            "hash",
            "labels",
            "scope",
            "parent",
            "kind",
            "node",
            "lang",
            "low",
            "high",
            "timestamp",
            "origin",
            "extra",
            "born",
            "died",
            "title",
            "text",
        ),
        start=(0,),
        select="SELECT key, id, generation, hash, labels, scope, parent, kind, node, lang, low, high, timestamp, origin, extra, "
        "born, died, title, text FROM source WHERE born > :since AND born <= :target AND key > :a0 ORDER BY key",
        copy=writes.COPY_SOURCE,
        ended=f"SELECT key, died FROM source WHERE {_ENDED}",
        end=writes.END_SOURCE,
        exists="SELECT 1 FROM source WHERE key = ?",
        identity=("key",),
        page=writes.PAGE_SOURCE,
        first=0,
        indexed=("id",),
    ),
    Table(
        name="passage",
        columns=(
            "key",
            "id",
            "source",
            "scope",
            "kind",
            "node",
            "low",
            "high",
            "timestamp",
            "start",
            "end",
            "born",
            "died",
            "hash",
            "title",
            "text",
            "source_id",
            "terms",
        ),
        start=(0,),
        select="SELECT p.key, p.id, p.source, p.scope, p.kind, p.node, p.low, p.high, p.timestamp, p.start, p.end, p.born, "
        "p.died, p.hash, p.title, p.text, s.id, w.terms FROM passage p CROSS JOIN source s ON s.key = p.source "
        "LEFT JOIN passage_terms w ON w.passage = p.key "
        "WHERE p.born > :since AND p.born <= :target AND p.key > :a0 ORDER BY p.key",
        copy=writes.COPY_PASSAGE,
        ended=f"SELECT key, died FROM passage WHERE {_ENDED}",
        end=writes.END_PASSAGE,
        exists="SELECT 1 FROM passage WHERE key = ?",
        identity=("key",),
        page=writes.PAGE_PASSAGE,
        first=0,
        indexed=("id",),
        make=_passage,
    ),
    Table(
        name="entity_scope",
        columns=("entity", "scope", "via", "born", "died"),
        start=("", 0, 0, 0),
        select="SELECT entity, scope, via, born, died FROM entity_scope WHERE born > :since AND born <= :target "
        "AND (entity, scope, via, born) > (:a0, :a1, :a2, :a3) ORDER BY entity, scope, via, born",
        copy=writes.COPY_ENTITY_SCOPE,
        ended=f"SELECT entity, scope, via, born, died FROM entity_scope WHERE {_ENDED}",
        end=writes.END_ENTITY_SCOPE,
        exists="SELECT 1 FROM entity_scope WHERE entity = ? AND scope = ? AND via = ? AND born = ?",
        identity=("entity", "scope", "via", "born"),
        page=writes.PAGE_ENTITY_SCOPE,
        indexed=("entity",),
    ),
    Table(
        name="entity",
        columns=("id", "born", "died", "types", "names", "hash"),
        start=("", 0),
        select="SELECT id, born, died, types, names, hash FROM entity WHERE born > :since AND born <= :target "
        "AND (id, born) > (:a0, :a1) ORDER BY id, born",
        copy=writes.COPY_ENTITY_RECORD,
        ended=f"SELECT id, born, died FROM entity WHERE {_ENDED}",
        end=writes.END_ENTITY_RECORD,
        exists="SELECT 1 FROM entity WHERE id = ? AND born = ?",
        identity=("id", "born"),
        page=writes.PAGE_ENTITY_RECORD,
        indexed=("id",),
    ),
    Table(
        name="entity_type",
        columns=("entity", "type", "basis", "scope", "born", "died"),
        start=("", "", 0, 0, 0),
        select="SELECT entity, type, basis, scope, born, died FROM entity_type WHERE born > :since AND born <= :target "
        "AND (entity, type, basis, scope, born) > (:a0, :a1, :a2, :a3, :a4) ORDER BY entity, type, basis, scope, born",
        copy=writes.COPY_ENTITY_TYPE,
        ended=f"SELECT entity, type, basis, scope, born, died FROM entity_type WHERE {_ENDED}",
        end=writes.END_ENTITY_TYPE,
        exists="SELECT 1 FROM entity_type WHERE entity = ? AND type = ? AND basis = ? AND scope = ? AND born = ?",
        identity=("entity", "type", "basis", "scope", "born"),
        page=writes.PAGE_ENTITY_TYPE,
        indexed=("entity", "type"),
    ),
    Table(
        name="entity_source",
        columns=("key", "entity", "source", "type", "scope", "born", "died"),
        start=(0,),
        select="SELECT key, entity, source, type, scope, born, died FROM entity_source "
        "WHERE born > :since AND born <= :target AND key > :a0 ORDER BY key",
        copy=writes.COPY_ENTITY_SOURCE,
        ended=f"SELECT key, entity, died FROM entity_source WHERE {_ENDED}",
        end=writes.END_ENTITY_SOURCE,
        exists="SELECT 1 FROM entity_source WHERE key = ?",
        identity=("key",),
        page=writes.PAGE_ENTITY_SOURCE,
        indexed=("entity",),
    ),
    Table(
        name="name",
        columns=("key", "entity", "name", "source", "start", "end", "scope", "born", "died"),
        start=(0,),
        select="SELECT key, entity, name, source, start, end, scope, born, died FROM name "
        "WHERE born > :since AND born <= :target AND key > :a0 ORDER BY key",
        copy=writes.COPY_NAME,
        ended=f"SELECT key, entity, died FROM name WHERE {_ENDED}",
        end=writes.END_NAME,
        exists="SELECT 1 FROM name WHERE key = ?",
        identity=("key",),
        page=writes.PAGE_NAME,
        indexed=("entity",),
    ),
    Table(
        name="alias",
        columns=("key", "entity", "via", "basis", "scope", "born", "died"),
        start=("", "", "", 0, 0, 0),
        select="SELECT key, entity, via, basis, scope, born, died FROM alias WHERE born > :since AND born <= :target "
        "AND (key, entity, via, basis, scope, born) > (:a0, :a1, :a2, :a3, :a4, :a5) "
        "ORDER BY key, entity, via, basis, scope, born",
        copy=writes.COPY_ALIAS,
        ended=f"SELECT key, entity, via, basis, scope, born, died FROM alias WHERE {_ENDED}",
        end=writes.END_ALIAS,
        exists="SELECT 1 FROM alias WHERE key = ? AND entity = ? AND via = ? AND basis = ? AND scope = ? AND born = ?",
        identity=("key", "entity", "via", "basis", "scope", "born"),
        page=writes.PAGE_ALIAS,
        make=_with_lookup("key"),
        make_ended=_with_lookup("key"),
    ),
    Table(
        name="attribute",
        columns=(
            "row",
            "entity",
            "key",
            "value",
            "folded",
            "number",
            "instant",
            "low",
            "high",
            "source",
            "start",
            "end",
            "scope",
            "born",
            "died",
        ),
        start=(0,),
        select="SELECT row, entity, key, value, folded, number, instant, low, high, source, start, end, scope, born, died "
        "FROM attribute WHERE born > :since AND born <= :target AND row > :a0 ORDER BY row",
        copy=writes.COPY_ATTRIBUTE,
        ended=f"SELECT row, entity, died FROM attribute WHERE {_ENDED}",
        end=writes.END_ATTRIBUTE,
        exists="SELECT 1 FROM attribute WHERE row = ?",
        identity=("row",),
        page=writes.PAGE_ATTRIBUTE,
        indexed=("entity",),
        make=_with_lookup("folded"),
    ),
    Table(
        name="assertion",
        columns=(
            "key",
            "id",
            "subject",
            "predicate",
            "object",
            "low",
            "high",
            "hash",
            "attributes",
            "extraction_version",
            "review_status",
            "born",
            "died",
        ),
        start=(0,),
        select="SELECT key, id, subject, predicate, object, low, high, hash, attributes, extraction_version, review_status, born, "
        "died FROM assertion WHERE born > :since AND born <= :target AND key > :a0 ORDER BY key",
        copy=writes.COPY_ASSERTION,
        ended=f"SELECT key, died FROM assertion WHERE {_ENDED}",
        end=writes.END_ASSERTION,
        exists="SELECT 1 FROM assertion WHERE key = ?",
        identity=("key",),
        page=writes.PAGE_ASSERTION,
        first=0,
    ),
    # One node for each member of a support set. A set ends with its assertion at the latest, so a readable one needs no
    # look at the assertion.
    Table(
        name="support_set",
        columns=(
            "key",
            "ordinal",
            "assertion",
            "scope",
            "born",
            "died",
            "source",
            "start",
            "end",
            "assertion_id",
            "subject",
            "predicate",
            "object",
            "low",
            "high",
        ),
        start=(0, -1),
        select="SELECT s.key, m.ordinal, s.assertion, s.scope, s.born, s.died, m.source, m.start, m.end, a.id, a.subject, "
        "a.predicate, a.object, a.low, a.high FROM support_set s CROSS JOIN assertion a ON a.key = s.assertion "
        "CROSS JOIN support_member m ON m.support_set = s.key WHERE s.born > :since AND s.born <= :target "
        "AND s.key >= :a0 AND (s.key, m.ordinal) > (:a0, :a1) ORDER BY s.key, m.ordinal",
        copy=writes.COPY_SUPPORT,
        ended=f"SELECT s.key, s.died, a.id AS assertion_id FROM (SELECT * FROM support_set WHERE {_ENDED}) s "
        "CROSS JOIN assertion a ON a.key = s.assertion",
        end=writes.END_SUPPORT,
        exists="SELECT 1 FROM support_set WHERE key = ?",
        identity=("key",),
        page=writes.PAGE_SUPPORT,
        indexed=("assertion_id", "source"),
        make=_support,
    ),
    Table(
        name="adjacency",
        columns=("predicate", "node", "other", "low", "high", "scope", "born", "died"),
        start=("", "", "", 0, 0, 0, 0),
        select="SELECT predicate, node, other, low, high, scope, born, died FROM adjacency "
        "WHERE direction = 0 AND born > :since AND born <= :target "
        "AND (predicate, node, other, low, high, scope, born) > (:a0, :a1, :a2, :a3, :a4, :a5, :a6) "
        "ORDER BY predicate, node, other, low, high, scope, born",
        copy=writes.copy_fact,
        ended="SELECT predicate, node, other, low, high, scope, born, died FROM adjacency "
        f"WHERE direction = 0 AND {_ENDED}",
        end=writes.END_FACT,
        exists="SELECT 1 FROM adjacency WHERE predicate = ? AND node = ? AND direction = 0 AND other = ? AND low = ? AND high = ? "
        "AND scope = ? AND born = ?",
        identity=("predicate", "node", "other", "low", "high", "scope", "born"),
        page=writes.PAGE_FACT,
        make=_fact,
        make_ended=_fact,
    ),
)
"""In the order in which they are copied."""

CHANGING: Final[tuple[Query, ...]] = (
    *(table.copy for table in TABLES if isinstance(table.copy, Query)),
    *(table.end for table in TABLES if table.end is not None),
    writes.DROP_VECTORS,
    writes.FORGET_SNAPSHOTS,
    writes.FORGET_FACTS,
    writes.FORGET_ROWS,
)
"""What changes a store on the server, but for facts that are born. Each finds its rows by an index, whatever the store's size."""


def properties_of(
    columns: Sequence[str], row: Sequence[Any], make: Callable[[Properties], Properties] | None
) -> Properties:
    """The properties of the node or relationship of a row; what is null is left out."""
    found = {column: value for column, value in zip(columns, row, strict=True) if value is not None}
    return found if make is None else make(found)
