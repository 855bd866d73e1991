"""The schema of the store file as documented SQL, and the binary forms kept in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

FORMAT_VERSION = 2
"""Kept in PRAGMA user_version; a file of another version is refused."""

LIVE = 2**62
"""`died` of a row that is in force."""

STORE_SETTING = "_store"
"""Key of the setting that tells one store from all others, wherever its rows are copied."""

UNREADABLE = "[[]]"
"""Form of the scope that nobody can read: a source that is unknown or carries no label."""

# Every versioned row is known in [born, died), counted in snapshot sequence numbers. Sequence numbers, row keys and scope
# ids stay inside the stores. `low` and `high` are valid time in microseconds, half-open, with the sentinels of
# graphroute.types.time. Ids and labels compare as bytes, which is code point order.
SCHEMA = """
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- The one switch: which snapshot new views read.
CREATE TABLE pointer (one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER NOT NULL);
INSERT INTO pointer VALUES (1, 0);

-- Snapshots that can still be read. The numbers are for the operator.
CREATE TABLE snapshot (sequence INTEGER PRIMARY KEY, published_at INTEGER NOT NULL);
INSERT INTO snapshot VALUES (0, 0);

-- Interned scopes: AND over sources of OR over labels, in minimal canonical form (graphroute.access).
CREATE TABLE scope (id INTEGER PRIMARY KEY, form TEXT NOT NULL UNIQUE);

-- Sum of the hashes of all rows of a scope, written when a snapshot changes it.
CREATE TABLE scope_digest (
  scope INTEGER NOT NULL REFERENCES scope (id), sequence INTEGER NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY (scope, sequence)
) WITHOUT ROWID;

-- A changed or re-ingested source is a new generation.
CREATE TABLE source (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL, generation INTEGER NOT NULL, hash BLOB NOT NULL,
  labels TEXT NOT NULL, scope INTEGER NOT NULL REFERENCES scope (id),
  parent TEXT, kind TEXT, node TEXT, lang TEXT, low INTEGER NOT NULL, high INTEGER NOT NULL, timestamp INTEGER,
  origin TEXT, extra TEXT NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (id, generation)
);
CREATE INDEX source_by_id ON source (id, died);

-- blake2b-128 of an erased external id and its last generation, so that the id is never taken for the old one again.
CREATE TABLE tombstone (hash BLOB PRIMARY KEY, generation INTEGER NOT NULL, sequence INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE passage (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL, source INTEGER NOT NULL REFERENCES source (key),
  scope INTEGER NOT NULL REFERENCES scope (id), kind TEXT, node TEXT, low INTEGER NOT NULL, high INTEGER NOT NULL,
  timestamp INTEGER, start INTEGER NOT NULL, end INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL,
  hash BLOB NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX passage_by_id ON passage (id, died);
CREATE INDEX passage_by_source ON passage (source);

-- Analysed terms of "title\\ntext": pack_terms over ids of `term`.
CREATE TABLE passage_terms (passage INTEGER PRIMARY KEY REFERENCES passage (key) ON DELETE CASCADE, terms BLOB NOT NULL);
CREATE TABLE term (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);

-- float32 little-endian unit vectors; `identity` is name@revision/size.
CREATE TABLE vector (
  passage INTEGER NOT NULL REFERENCES passage (key) ON DELETE CASCADE, identity TEXT NOT NULL, vector BLOB NOT NULL,
  PRIMARY KEY (passage, identity)
) WITHOUT ROWID;

-- What the entities files say; names are readable through the entity's facts.
CREATE TABLE entity (
  id TEXT NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL, types TEXT NOT NULL, names TEXT NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (id, born)
) WITHOUT ROWID;

-- Types. basis 0: stated, for all who see the entity; without one 1: told by a record about it, 2: told by its place in a
-- fact, 3: by a place that things of several types take, 4: by nothing. 1 to 3 are readable by `scope`, the others have
-- scope 0. A reader gets the types of the lowest basis that holds a readable one.
CREATE TABLE entity_type (
  entity TEXT NOT NULL, type TEXT NOT NULL, basis INTEGER NOT NULL, scope INTEGER NOT NULL, born INTEGER NOT NULL,
  died INTEGER NOT NULL, PRIMARY KEY (entity, type, basis, scope, born)
) WITHOUT ROWID;
CREATE INDEX entity_by_type ON entity_type (type, entity);

-- Scopes in which an entity is visible: via 0 through a fact, via 1 through its own record or prose.
CREATE TABLE entity_scope (
  entity TEXT NOT NULL, scope INTEGER NOT NULL, via INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL,
  PRIMARY KEY (entity, scope, via, born)
) WITHOUT ROWID;

-- A source that is a record of, or prose about, an entity, and the type that a record tells.
CREATE TABLE entity_source (
  key INTEGER PRIMARY KEY, entity TEXT NOT NULL, source TEXT NOT NULL, type TEXT, scope INTEGER NOT NULL,
  born INTEGER NOT NULL, died INTEGER NOT NULL
);
CREATE INDEX entity_source_by_entity ON entity_source (entity);
CREATE INDEX entity_source_by_source ON entity_source (source);

-- Names stated by a source.
CREATE TABLE name (
  key INTEGER PRIMARY KEY, entity TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL, start INTEGER, end INTEGER,
  scope INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL
);
CREATE INDEX name_by_entity ON name (entity);
CREATE INDEX name_by_source ON name (source);

-- Folded look-up keys. basis 0: readable with the entity; 1: with one of its facts; 2: by `scope`.
CREATE TABLE alias (
  key TEXT NOT NULL, entity TEXT NOT NULL, via TEXT NOT NULL, basis INTEGER NOT NULL, scope INTEGER NOT NULL,
  born INTEGER NOT NULL, died INTEGER NOT NULL,
  PRIMARY KEY (key, entity, via, basis, scope, born)
) WITHOUT ROWID;
CREATE INDEX alias_by_entity ON alias (entity);

CREATE TABLE attribute (
  row INTEGER PRIMARY KEY, entity TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, folded TEXT NOT NULL,
  number REAL, instant INTEGER, low INTEGER NOT NULL, high INTEGER NOT NULL, source TEXT NOT NULL, start INTEGER, end INTEGER,
  scope INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL
);
CREATE INDEX attribute_by_entity ON attribute (entity, key);
CREATE INDEX attribute_by_value ON attribute (key, folded);
CREATE INDEX attribute_by_source ON attribute (source);

CREATE TABLE assertion (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
  low INTEGER NOT NULL, high INTEGER NOT NULL, hash BLOB NOT NULL, attributes TEXT NOT NULL, extraction_version TEXT,
  review_status TEXT, born INTEGER NOT NULL, died INTEGER NOT NULL
);
CREATE INDEX assertion_by_id ON assertion (id, died);
CREATE INDEX assertion_by_fact ON assertion (subject, predicate, object, low, high);

-- Alternative sets of sources, each proving the assertion together.
CREATE TABLE support_set (
  key INTEGER PRIMARY KEY, assertion INTEGER NOT NULL REFERENCES assertion (key), scope INTEGER NOT NULL,
  born INTEGER NOT NULL, died INTEGER NOT NULL
);
CREATE INDEX support_set_by_assertion ON support_set (assertion);
CREATE TABLE support_member (
  support_set INTEGER NOT NULL REFERENCES support_set (key), ordinal INTEGER NOT NULL, source TEXT NOT NULL,
  start INTEGER, end INTEGER, PRIMARY KEY (support_set, ordinal)
) WITHOUT ROWID;
CREATE INDEX support_member_by_source ON support_member (source);

-- Facts as adjacency, clustered, both directions: 0 walks subject to object, 1 object to subject. One row for each
-- scope that proves the fact.
CREATE TABLE adjacency (
  node TEXT NOT NULL, predicate TEXT NOT NULL, direction INTEGER NOT NULL, other TEXT NOT NULL, low INTEGER NOT NULL,
  high INTEGER NOT NULL, scope INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER NOT NULL,
  PRIMARY KEY (node, predicate, direction, other, low, high, scope, born)
) WITHOUT ROWID;

-- What a snapshot changed, for copies and for forgetting. Rows of the first snapshot, which is mostly the bulk, and rows in
-- force are not in these, so that they stay small; 4611686018427387904 is `died` of a row in force.
CREATE INDEX source_born ON source (born) WHERE born > 1;
CREATE INDEX source_died ON source (died) WHERE died < 4611686018427387904;
CREATE INDEX passage_born ON passage (born) WHERE born > 1;
CREATE INDEX passage_died ON passage (died) WHERE died < 4611686018427387904;
CREATE INDEX entity_born ON entity (born) WHERE born > 1;
CREATE INDEX entity_died ON entity (died) WHERE died < 4611686018427387904;
CREATE INDEX entity_type_born ON entity_type (born) WHERE born > 1;
CREATE INDEX entity_type_died ON entity_type (died) WHERE died < 4611686018427387904;
CREATE INDEX entity_scope_born ON entity_scope (born) WHERE born > 1;
CREATE INDEX entity_scope_died ON entity_scope (died) WHERE died < 4611686018427387904;
CREATE INDEX entity_source_born ON entity_source (born) WHERE born > 1;
CREATE INDEX entity_source_died ON entity_source (died) WHERE died < 4611686018427387904;
CREATE INDEX name_born ON name (born) WHERE born > 1;
CREATE INDEX name_died ON name (died) WHERE died < 4611686018427387904;
CREATE INDEX alias_born ON alias (born) WHERE born > 1;
CREATE INDEX alias_died ON alias (died) WHERE died < 4611686018427387904;
CREATE INDEX attribute_born ON attribute (born) WHERE born > 1;
CREATE INDEX attribute_died ON attribute (died) WHERE died < 4611686018427387904;
CREATE INDEX assertion_born ON assertion (born) WHERE born > 1;
CREATE INDEX assertion_died ON assertion (died) WHERE died < 4611686018427387904;
CREATE INDEX support_set_born ON support_set (born) WHERE born > 1;
CREATE INDEX support_set_died ON support_set (died) WHERE died < 4611686018427387904;
CREATE INDEX adjacency_born ON adjacency (born) WHERE born > 1;
CREATE INDEX adjacency_died ON adjacency (died) WHERE died < 4611686018427387904;

-- Derived objects outside this schema's own tables (reports, cache entries, log excerpts).
CREATE TABLE derived (
  source TEXT NOT NULL, kind TEXT NOT NULL, object TEXT NOT NULL, snapshot INTEGER NOT NULL,
  PRIMARY KEY (source, kind, object, snapshot)
) WITHOUT ROWID;

-- Everything made from a source, for erasure.
CREATE VIEW lineage (object, kind, source, snapshot) AS
  SELECT passage.id, 'passage', source.id, passage.born FROM passage JOIN source ON source.key = passage.source
  UNION ALL SELECT passage.id, 'posting', source.id, passage.born
    FROM passage_terms JOIN passage ON passage.key = passage_terms.passage JOIN source ON source.key = passage.source
  UNION ALL SELECT passage.id || ' ' || vector.identity, 'vector', source.id, passage.born
    FROM vector JOIN passage ON passage.key = vector.passage JOIN source ON source.key = passage.source
  UNION ALL SELECT entity || ' ' || name, 'name', source, born FROM name
  UNION ALL SELECT entity || ' ' || key, 'attribute', source, born FROM attribute
  UNION ALL SELECT assertion.id, 'assertion', support_member.source, support_set.born
    FROM support_member JOIN support_set ON support_set.key = support_member.support_set
    JOIN assertion ON assertion.key = support_set.assertion
  UNION ALL SELECT object, kind, source, snapshot FROM derived;
"""


def pack_terms(term_ids: Iterable[int]) -> bytes:
    """Term ids of one passage, with repetitions, as int32 little-endian of shape (2, n): ids ascending, then counts."""
    counts = sorted(Counter(term_ids).items())
    return np.array([[term for term, _ in counts], [count for _, count in counts]], dtype="<i4").tobytes()


def unpack_terms(blob: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The (ids, counts) arrays of `pack_terms`, each of shape (n,)."""
    pairs = np.frombuffer(blob, dtype="<i4").reshape(2, -1)
    return pairs[0], pairs[1]
