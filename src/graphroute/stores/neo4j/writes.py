"""Cypher of the write path: the lease, guarded batches, the switch of the pointer, forgetting, and reading a record back.

Every statement that copies rows first takes the lock of the one `GraphrouteStore` node and goes on only if the caller still
holds the lease and the journal is where the caller left it; the journal advances in the same transaction.
"""

from __future__ import annotations

from typing import Final

from graphroute.errors import DataError
from graphroute.stores.neo4j.connection import Query
from graphroute.stores.printing import in_back_ticks

# The store on the server ------------------------------------------------------------------------------------------------

STORE: Final = Query(
    "store",
    """CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
RETURN g.id, g.format, g.sequence, g.journal, g.owner, g.lease - timestamp(), g.settings
LIMIT 1""",
)
FOREIGN: Final = Query(
    "foreign",
    """CYPHER 5
MATCH (n) WHERE NOT any(label IN labels(n) WHERE label STARTS WITH 'Graphroute')
RETURN labels(n)
LIMIT 1""",
)
FOUND: Final = Query(
    "found_store",
    """CYPHER 5
MERGE (g:GraphrouteStore {one: 1})
ON CREATE SET g.id = $p.id, g.format = $p.format, g.sequence = 0, g.journal = '', g.owner = '', g.lease = 0, g.settings = '{}'
MERGE (n:Snapshot {sequence: 0})
ON CREATE SET n.published_at = 0
RETURN g.id""",
)
LEASE: Final = Query(
    "lease",
    """CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
SET g.touched = timestamp()
WITH g
WHERE g.id = $p.id AND (g.lease < timestamp() OR g.owner = $p.owner OR g.owner = $p.dead)
SET g.owner = $p.owner, g.lease = timestamp() + $p.lease
RETURN g.sequence, g.journal""",
)
RELEASE: Final = Query(
    "release",
    """CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
SET g.touched = timestamp()
WITH g
WHERE g.owner = $p.owner
SET g.owner = '', g.lease = 0
RETURN g.id""",
)

_LEASED: Final = """CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
SET g.touched = timestamp()
WITH g
WHERE g.owner = $p.owner
SET g.lease = timestamp() + $p.lease
WITH g
"""
RENEW: Final = Query("renew", f"{_LEASED}RETURN g.id")

_GUARD: Final = """CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
SET g.touched = timestamp()
WITH g
WHERE g.owner = $p.owner AND g.journal = $p.before
SET g.journal = $p.after, g.lease = timestamp() + $p.lease
WITH g
"""
_DONE: Final = "\nRETURN g.journal"

JOURNAL: Final = Query("journal", f"{_GUARD}{_DONE}")

PUBLISH: Final = Query(
    "publish",
    f"""{_GUARD}SET g.sequence = $p.sequence, g.settings = $p.settings
WITH g
CALL () {{
  UNWIND $p.rows AS row
  MERGE (n:Snapshot {{sequence: row.sequence}})
  SET n.published_at = row.published_at
}}{_DONE}""",
)

# Rows that were born ------------------------------------------------------------------------------------------------

_ENDED: Final = "FOREACH (_ IN CASE WHEN row.died < $p.live THEN [1] ELSE [] END | SET n:Ended)"

COPY_SCOPE: Final = Query(
    "copy_scope", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Scope) SET n = row }}{_DONE}"
)
COPY_SCOPE_DIGEST: Final = Query(
    "copy_scope_digest", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:ScopeDigest) SET n = row }}{_DONE}"
)
COPY_TERM: Final = Query("copy_term", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Term) SET n = row }}{_DONE}")
COPY_TOMBSTONE: Final = Query(
    "copy_tombstone",
    f"{_GUARD}CALL () {{ UNWIND $p.rows AS row MERGE (n:Tombstone {{hash: row.hash}}) SET n = row }}{_DONE}",
)
COPY_SOURCE: Final = Query(
    "copy_source", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Source) SET n = row {_ENDED} }}{_DONE}"
)
COPY_PASSAGE: Final = Query(
    "copy_passage", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Passage) SET n = row {_ENDED} }}{_DONE}"
)
COPY_ENTITY_RECORD: Final = Query(
    "copy_entity_record",
    f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:EntityRecord) SET n = row {_ENDED} }}{_DONE}",
)
COPY_ENTITY_TYPE: Final = Query(
    "copy_entity_type", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:EntityType) SET n = row {_ENDED} }}{_DONE}"
)
COPY_ENTITY_SCOPE: Final = Query(
    "copy_entity_scope",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MERGE (:Entity {{id: row.entity}})
  CREATE (n:EntityScope) SET n = row {_ENDED}
}}{_DONE}""",
)
COPY_ENTITY_SOURCE: Final = Query(
    "copy_entity_source",
    f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:EntitySource) SET n = row {_ENDED} }}{_DONE}",
)
COPY_NAME: Final = Query(
    "copy_name", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Name) SET n = row {_ENDED} }}{_DONE}"
)
COPY_ALIAS: Final = Query(
    "copy_alias", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Alias) SET n = row {_ENDED} }}{_DONE}"
)
COPY_ATTRIBUTE: Final = Query(
    "copy_attribute", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Attribute) SET n = row {_ENDED} }}{_DONE}"
)
COPY_ASSERTION: Final = Query(
    "copy_assertion", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Assertion) SET n = row {_ENDED} }}{_DONE}"
)
COPY_SUPPORT: Final = Query(
    "copy_support", f"{_GUARD}CALL () {{ UNWIND $p.rows AS row CREATE (n:Support) SET n = row {_ENDED} }}{_DONE}"
)


def relationship_type(predicate: str) -> str:
    """A predicate as an identifier of Cypher. Raises DataError for what no identifier may hold."""
    if not predicate or "\0" in predicate:
        raise DataError(f"the predicate {predicate[:40]!r} cannot be the type of a relationship")
    return in_back_ticks(predicate)


def copy_fact(predicate: str) -> Query:
    """Copies facts of one predicate, the one thing here that no parameter can say: Neo4j 5.26.0 takes the first type it
    has seen for every later `$(type)` of a relationship it makes. A type that is not the predicate ends the transaction."""
    return Query(
        "copy_fact",
        f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MERGE (s:Entity {{id: row.subject}})
  MERGE (o:Entity {{id: row.object}})
  CREATE (s)-[r:{relationship_type(predicate)} {{fact: row.fact, low: row.low, high: row.high, scope: row.scope, born: row.born, died: row.died}}]->(o)
  FOREACH (_ IN CASE WHEN type(r) = row.predicate THEN [] ELSE [1 / 0] END | SET r.wrong = true)
  FOREACH (_ IN CASE WHEN row.died < $p.live THEN [1] ELSE [] END | CREATE (n:EndedFact) SET n = row)
}}{_DONE}""",
    )


COPY_VECTOR: Final = Query(
    "copy_vector",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MERGE (n:Vector {{passage: row.passage, identity: row.identity}})
  SET n = row
}}{_DONE}""",
)

# Rows that ended ----------------------------------------------------------------------------------------------------

END_SOURCE: Final = Query(
    "end_source",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:Source {{key: row.key}}) USING INDEX SEEK n:Source(key)
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_PASSAGE: Final = Query(
    "end_passage",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:Passage {{key: row.key}}) USING INDEX SEEK n:Passage(key)
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_ENTITY_RECORD: Final = Query(
    "end_entity_record",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:EntityRecord {{id: row.id}}) USING INDEX SEEK n:EntityRecord(id)
  WHERE n.born = row.born
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_ENTITY_TYPE: Final = Query(
    "end_entity_type",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:EntityType {{entity: row.entity}}) USING INDEX SEEK n:EntityType(entity)
  WHERE n.type = row.type AND n.basis = row.basis AND n.scope = row.scope AND n.born = row.born
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_ENTITY_SCOPE: Final = Query(
    "end_entity_scope",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:EntityScope {{entity: row.entity}}) USING INDEX SEEK n:EntityScope(entity)
  WHERE n.scope = row.scope AND n.via = row.via AND n.born = row.born
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_ENTITY_SOURCE: Final = Query(
    "end_entity_source",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:EntitySource {{entity: row.entity}}) USING INDEX SEEK n:EntitySource(entity)
  WHERE n.key = row.key
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_NAME: Final = Query(
    "end_name",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:Name {{entity: row.entity}}) USING INDEX SEEK n:Name(entity)
  WHERE n.key = row.key
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_ALIAS: Final = Query(
    "end_alias",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:Alias {{lookup: row.lookup}}) USING INDEX SEEK n:Alias(lookup)
  WHERE n.key = row.key AND n.entity = row.entity AND n.via = row.via AND n.basis = row.basis AND n.scope = row.scope
    AND n.born = row.born
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_ATTRIBUTE: Final = Query(
    "end_attribute",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:Attribute {{entity: row.entity}}) USING INDEX SEEK n:Attribute(entity)
  WHERE n.row = row.row
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_ASSERTION: Final = Query(
    "end_assertion",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:Assertion {{key: row.key}}) USING INDEX SEEK n:Assertion(key)
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_SUPPORT: Final = Query(
    "end_support",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (n:Support {{assertion_id: row.assertion_id}}) USING INDEX SEEK n:Support(assertion_id)
  WHERE n.key = row.key
  SET n.died = row.died, n:Ended
}}{_DONE}""",
)
END_FACT: Final = Query(
    "end_fact",
    f"""{_GUARD}CALL () {{
  UNWIND $p.rows AS row
  MATCH (s:Entity {{id: row.subject}})-[r]->(o:Entity {{id: row.object}}) USING INDEX SEEK s:Entity(id) USING INDEX SEEK o:Entity(id)
  WHERE r.fact = row.fact AND r.scope = row.scope AND r.born = row.born AND r.died <> row.died
  SET r.died = row.died
  CREATE (n:EndedFact) SET n = row
}}{_DONE}""",
)

# Old snapshots, and data to be dropped --------------------------------------------------------------------------------

FORGET_SNAPSHOTS: Final = Query(
    "forget_snapshots",
    f"""{_LEASED}CALL () {{
  MATCH (n:Snapshot) USING INDEX SEEK n:Snapshot(sequence) WHERE n.sequence < $p.oldest
  DELETE n
}}
CALL () {{
  MATCH (d:ScopeDigest) WHERE d.sequence <= $p.oldest
  WITH d.scope AS scope, max(d.sequence) AS newest
  MATCH (n:ScopeDigest {{scope: scope}}) USING INDEX SEEK n:ScopeDigest(scope) WHERE n.sequence < newest
  DELETE n
}}
RETURN EXISTS {{ MATCH (f:EndedFact) USING INDEX SEEK f:EndedFact(died) WHERE f.died <= $p.oldest }}
  OR EXISTS {{ MATCH (e:Ended) USING INDEX SEEK e:Ended(died) WHERE e.died <= $p.oldest }}""",
)
"""Also drops the digests that only those snapshots had; whether there is more to forget."""
FORGET_FACTS: Final = Query(
    "forget_facts",
    f"""{_LEASED}CALL () {{
  MATCH (n:EndedFact) USING INDEX SEEK n:EndedFact(died) WHERE n.died <= $p.oldest
  WITH n LIMIT $p.limit
  OPTIONAL MATCH (s:Entity {{id: n.subject}})-[r]->(o:Entity {{id: n.object}}) USING INDEX SEEK s:Entity(id) USING INDEX SEEK o:Entity(id)
  WHERE r.fact = n.fact AND r.scope = n.scope AND r.born = n.born
  WITH collect(r) AS facts, collect(DISTINCT n) AS marks
  FOREACH (r IN facts | DELETE r)
  FOREACH (n IN marks | DELETE n)
  RETURN size(marks) AS size
}}
RETURN size""",
)
FORGET_ROWS: Final = Query(
    "forget_rows",
    f"""{_LEASED}CALL () {{
  MATCH (n:Ended) USING INDEX SEEK n:Ended(died) WHERE n.died <= $p.oldest
  WITH n LIMIT $p.limit
  WITH collect(n) AS gone, collect(DISTINCT CASE WHEN n:EntityScope THEN n.entity END) AS entities,
    collect(CASE WHEN n:Passage THEN n.key END) AS passages
  FOREACH (n IN gone | DETACH DELETE n)
  WITH size(gone) AS size, entities, passages
  CALL (entities) {{
    UNWIND entities AS id
    MATCH (e:Entity {{id: id}}) USING INDEX SEEK e:Entity(id)
    WHERE NOT EXISTS {{ (e)--() }}
      AND NOT EXISTS {{ MATCH (x:EntityScope {{entity: id}}) USING INDEX SEEK x:EntityScope(entity) }}
    DELETE e
  }}
  CALL (passages) {{
    UNWIND passages AS key
    MATCH (v:Vector {{passage: key}}) USING INDEX SEEK v:Vector(passage)
    DELETE v
  }}
  RETURN size
}}
RETURN size""",
)
DROP_VECTORS: Final = Query(
    "drop_vectors",
    """CYPHER 5
UNWIND $p.rows AS row
MATCH (n:Vector {passage: row.passage}) USING INDEX SEEK n:Vector(passage)
WHERE n.identity = row.identity
DELETE n
RETURN count(*)""",
)
HELD: Final = Query(
    "held",
    """CYPHER 5
CALL () { MATCH (s:Scope) RETURN coalesce(max(s.id), 0) AS scopes }
CALL () { MATCH (t:Term) RETURN coalesce(max(t.id), 0) AS terms }
CALL () { MATCH (n:Snapshot) RETURN collect([n.sequence, n.published_at]) AS snapshots }
CALL () { MATCH (d:ScopeDigest) RETURN collect([d.scope, d.sequence, d.digest]) AS digests }
RETURN scopes, terms, snapshots, digests
LIMIT 1""",
)
VECTORS: Final = Query(
    "vectors",
    """CYPHER 5
MATCH (n:Vector)
RETURN n.passage, n.identity, n.check""",
)
UNDO_FACTS: Final = Query(
    "undo_facts",
    f"""{_LEASED}CALL () {{
  MATCH (:Entity)-[r]->(:Entity) WHERE r.born > $p.since
  WITH r LIMIT $p.limit
  DELETE r
  RETURN count(*) AS size
}}
RETURN size""",
)
UNDO_ROWS: Final = Query(
    "undo_rows",
    f"""{_LEASED}CALL () {{
  MATCH (n) WHERE n.born > $p.since OR (n:ScopeDigest AND n.sequence > $p.since) OR (n:Tombstone AND n.sequence > $p.since)
  WITH n LIMIT $p.limit
  DETACH DELETE n
  RETURN count(*) AS size
}}
RETURN size""",
)
WIPE: Final = Query(
    "wipe",
    f"""{_LEASED}CALL () {{
  MATCH (n) WHERE NOT any(label IN labels(n) WHERE label STARTS WITH 'Graphroute')
  WITH n LIMIT $p.limit
  DETACH DELETE n
  RETURN count(*) AS size
}}
RETURN size""",
)
RESET: Final = Query(
    "reset",
    f"""{_GUARD}SET g.sequence = 0, g.id = $p.id, g.format = $p.format, g.settings = '{{}}'
WITH g
MERGE (n:Snapshot {{sequence: 0}})
ON CREATE SET n.published_at = 0{_DONE}""",
)

# Reading the record back ------------------------------------------------------------------------------------------------
# Pages by an indexed property; a page may end inside a group of equal values, so the caller reads its last group again.

PAGE_SCOPE: Final = Query("page_scope", "CYPHER 5 MATCH (n:Scope) RETURN n.id, n.form")
PAGE_SCOPE_DIGEST: Final = Query(
    "page_scope_digest", "CYPHER 5 MATCH (n:ScopeDigest) RETURN n.scope, n.sequence, n.digest"
)
PAGE_SNAPSHOT: Final = Query("page_snapshot", "CYPHER 5 MATCH (n:Snapshot) RETURN n.sequence, n.published_at")
PAGE_TOMBSTONE: Final = Query("page_tombstone", "CYPHER 5 MATCH (n:Tombstone) RETURN n.hash, n.generation, n.sequence")
PAGE_TERM: Final = Query(
    "page_term",
    "CYPHER 5 MATCH (n:Term) WHERE n.id > $p.after WITH n ORDER BY n.id LIMIT $p.limit RETURN n.id, properties(n)",
)
PAGE_SOURCE: Final = Query(
    "page_source",
    "CYPHER 5 MATCH (n:Source) WHERE n.key > $p.after WITH n ORDER BY n.key LIMIT $p.limit RETURN n.key, properties(n)",
)
PAGE_PASSAGE: Final = Query(
    "page_passage",
    "CYPHER 5 MATCH (n:Passage) WHERE n.key > $p.after WITH n ORDER BY n.key LIMIT $p.limit RETURN n.key, properties(n)",
)
PAGE_VECTOR: Final = Query(
    "page_vector",
    "CYPHER 5 MATCH (n:Vector) WHERE n.passage > $p.after WITH n ORDER BY n.passage LIMIT $p.limit RETURN n.passage, properties(n)",
)
PAGE_ENTITY_RECORD: Final = Query(
    "page_entity_record",
    "CYPHER 5 MATCH (n:EntityRecord) WHERE n.id > $p.after WITH n ORDER BY n.id LIMIT $p.limit RETURN n.id, properties(n)",
)
PAGE_ENTITY_TYPE: Final = Query(
    "page_entity_type",
    "CYPHER 5 MATCH (n:EntityType) WHERE n.entity > $p.after WITH n ORDER BY n.entity LIMIT $p.limit RETURN n.entity, properties(n)",
)
PAGE_ENTITY_SCOPE: Final = Query(
    "page_entity_scope",
    "CYPHER 5 MATCH (n:EntityScope) WHERE n.entity > $p.after WITH n ORDER BY n.entity LIMIT $p.limit RETURN n.entity, properties(n)",
)
PAGE_ENTITY_SOURCE: Final = Query(
    "page_entity_source",
    "CYPHER 5 MATCH (n:EntitySource) WHERE n.entity > $p.after WITH n ORDER BY n.entity LIMIT $p.limit RETURN n.entity, properties(n)",
)
PAGE_NAME: Final = Query(
    "page_name",
    "CYPHER 5 MATCH (n:Name) WHERE n.entity > $p.after WITH n ORDER BY n.entity LIMIT $p.limit RETURN n.entity, properties(n)",
)
PAGE_ALIAS: Final = Query(
    "page_alias",
    "CYPHER 5 MATCH (n:Alias) WHERE n.lookup > $p.after WITH n ORDER BY n.lookup LIMIT $p.limit RETURN n.lookup, properties(n)",
)
PAGE_ATTRIBUTE: Final = Query(
    "page_attribute",
    "CYPHER 5 MATCH (n:Attribute) WHERE n.entity > $p.after WITH n ORDER BY n.entity LIMIT $p.limit RETURN n.entity, properties(n)",
)
PAGE_ASSERTION: Final = Query(
    "page_assertion",
    "CYPHER 5 MATCH (n:Assertion) WHERE n.key > $p.after WITH n ORDER BY n.key LIMIT $p.limit RETURN n.key, properties(n)",
)
PAGE_SUPPORT: Final = Query(
    "page_support",
    "CYPHER 5 MATCH (n:Support) WHERE n.fact > $p.after WITH n ORDER BY n.fact LIMIT $p.limit RETURN n.fact, properties(n)",
)
PAGE_FACT: Final = Query(
    "page_fact",
    """CYPHER 5
MATCH (s:Entity) WHERE s.id > $p.after
WITH s ORDER BY s.id LIMIT $p.limit
RETURN s.id, COLLECT {
    MATCH (s)-[r]->(o:Entity) RETURN [type(r), o.id, r.low, r.high, r.scope, r.born, r.died]
  }""",
)
