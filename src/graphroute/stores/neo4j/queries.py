"""Every Cypher text of the question path: a fixed list, values as parameters only, planned once when a process starts.

Each text takes one parameter, the map `$p`. The server keeps plans by text and types of parameters, and lists by their length too;
inside a map neither counts, so that each text has one plan. Texts start with `CYPHER 5`, which every supported release runs.
Readable is what is known at `$p.sequence` and carries one of `$p.scopes`.
"""

from __future__ import annotations

from typing import Final

from graphroute.stores.neo4j.connection import Parameters, Query

MAX_ROWS: Final = 5_000_000
"""More rows than any answer may have; a query that finds more is an error and not a shorter answer."""

PLANNED: Final[Parameters] = {"p": {}}
"""Parameters to plan a text with: of the types that questions give."""

# What is repeated in several texts. The letter is the variable it is about: a Alias, e EntitySource, n Name, p Passage, r a fact,
# s Source, t Attribute, w and y EntityType, x EntityScope, z Support.
_ALIVE_A: Final = "a.born <= $p.sequence AND a.died > $p.sequence"
_ALIVE_S: Final = "s.born <= $p.sequence AND s.died > $p.sequence"
_READ_E: Final = "e.born <= $p.sequence AND e.died > $p.sequence AND e.scope IN $p.scopes"
_READ_N: Final = "n.born <= $p.sequence AND n.died > $p.sequence AND n.scope IN $p.scopes"
_READ_P: Final = "p.born <= $p.sequence AND p.died > $p.sequence AND p.scope IN $p.scopes"
_READ_R: Final = "r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes"
_READ_S: Final = "s.born <= $p.sequence AND s.died > $p.sequence AND s.scope IN $p.scopes"
_READ_T: Final = "t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes"
_READ_W: Final = "w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes"
_READ_X: Final = "x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes"
_READ_Z: Final = "z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes"

# Tests of an interval are bounds on both of its ends, so that one text serves all of them.
_WHEN_R: Final = "r.low >= $p.low_from AND r.low < $p.low_to AND r.high >= $p.high_from AND r.high < $p.high_to"
_WHEN_A: Final = "a.low >= $p.low_from AND a.low < $p.low_to AND a.high >= $p.high_from AND a.high < $p.high_to"
_WHEN_T: Final = "t.low >= $p.value_low_from AND t.low < $p.value_low_to AND t.high >= $p.value_high_from AND t.high < $p.value_high_to"

_TYPED_Y: Final = f"""y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {{
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND {_READ_W}
      }}
    ))"""
"""A row of types tells the view one: readable, and none of a lower basis is."""

_VALUE: Final = f"""MATCH (t:Attribute) USING INDEX SEEK t:Attribute(entity) WHERE t.entity = one AND t.key = f.key AND {_READ_T}
          AND {_WHEN_T}"""
_PASSES: Final = f"""(size($p.filters) = 0 OR NOT EXISTS {{
    UNWIND $p.filters AS f
    WITH f WHERE NOT (
      EXISTS {{
        {_VALUE} AND CASE f.operator
          WHEN 'ne' THEN true WHEN 'eq' THEN t.folded = f.text WHEN 'in_range' THEN t.instant >= f.low AND t.instant < f.high
          WHEN 'lt' THEN t.number < f.number WHEN 'le' THEN t.number <= f.number
          WHEN 'gt' THEN t.number > f.number WHEN 'ge' THEN t.number >= f.number ELSE false END
      }} AND NOT EXISTS {{
        {_VALUE} AND f.operator = 'ne' AND t.folded = f.text
      }}
    )
    RETURN f
  }})"""
"""The entity `one` passes all filters."""

_HOP: Final = f"""WHERE b <> a AND {_READ_R}
  AND {_WHEN_R}
  AND (NOT $p.bounded OR b.id IN $p.ends)"""
_END: Final = f"""WHERE (size($p.types) = 0 OR EXISTS {{
    MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = one AND y.type IN $p.types AND {_TYPED_Y}
  }})
  AND {_PASSES}
RETURN node, predicate, way, one, low, high
LIMIT $p.limit"""

# Plans are kept, and one made while an index was empty or had few values may read a whole label for each row. So every look-up names
# its index, and the far end of a fact has no label that could be read instead.

# Facts ----------------------------------------------------------------------------------------------------------------

# What one hop may walk from the entities `$p.nodes`: node, predicate, direction (0 subject to object), entity reached, low, high.
HOP_FORWARD: Final = Query(
    "hop_forward",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})-[r:$any($p.predicates)]->(b)
USING INDEX SEEK a:Entity(id)
{_HOP}
WITH DISTINCT a.id AS node, type(r) AS predicate, 0 AS way, b.id AS one, r.low AS low, r.high AS high
{_END}""",
)
HOP_BACKWARD: Final = Query(
    "hop_backward",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})<-[r:$any($p.predicates)]-(b)
USING INDEX SEEK a:Entity(id)
{_HOP}
WITH DISTINCT a.id AS node, type(r) AS predicate, 1 AS way, b.id AS one, r.low AS low, r.high AS high
{_END}""",
)
HOP_EITHER: Final = Query(
    "hop_either",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})-[r:$any($p.predicates)]-(b)
USING INDEX SEEK a:Entity(id)
{_HOP}
WITH DISTINCT a.id AS node, type(r) AS predicate, CASE WHEN startNode(r) = a THEN 0 ELSE 1 END AS way, b.id AS one,
  r.low AS low, r.high AS high
{_END}""",
)
HOP_FORWARD_ANY: Final = Query(
    "hop_forward_any",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})-[r]->(b)
USING INDEX SEEK a:Entity(id)
{_HOP}
WITH DISTINCT a.id AS node, type(r) AS predicate, 0 AS way, b.id AS one, r.low AS low, r.high AS high
{_END}""",
)
HOP_BACKWARD_ANY: Final = Query(
    "hop_backward_any",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})<-[r]-(b)
USING INDEX SEEK a:Entity(id)
{_HOP}
WITH DISTINCT a.id AS node, type(r) AS predicate, 1 AS way, b.id AS one, r.low AS low, r.high AS high
{_END}""",
)
HOP_EITHER_ANY: Final = Query(
    "hop_either_any",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})-[r]-(b)
USING INDEX SEEK a:Entity(id)
{_HOP}
WITH DISTINCT a.id AS node, type(r) AS predicate, CASE WHEN startNode(r) = a THEN 0 ELSE 1 END AS way, b.id AS one,
  r.low AS low, r.high AS high
{_END}""",
)

# Walks of up to `MAX_HOPS` hops, counted on the server. A row is an entity with the lowest and the highest of the starts that lead to it, so
# that a hop comes back to the start only where one start alone leads there and is entered. A hop that is not asked for stays.
MAX_HOPS: Final = 4
"""Hops of one pattern that the texts can walk."""

_WALKED: Final = f"""b <> a AND NOT (low = high AND b.id = low)
      AND {_READ_R}
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)"""


def _step(place: str, staying: str, kept: str) -> str:
    """One hop from the entities `a`; `kept` of what it reaches."""
    hop = f"pattern.hops[{place}]"
    return f"""WITH a, low, high, {hop} AS hop
  CALL (a, low, high, hop) {{
    {staying}WITH a WHERE hop.forward
    MATCH (a)-[r:$any(hop.predicates)]->(b)
    WHERE {_WALKED}
    RETURN b
    UNION ALL
    WITH a WHERE hop.backward
    MATCH (a)<-[r:$any(hop.predicates)]-(b)
    WHERE {_WALKED}
    RETURN b
  }}
  WITH {kept}, b.id AS one
  WHERE {hop} IS NULL OR size({hop}.types) = 0 OR EXISTS {{
    MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = one AND y.type IN {hop}.types AND {_TYPED_Y}
  }}
  """


def _steps(count: int) -> str:
    """That many hops, each to distinct entities."""
    stay = "WITH a WHERE hop IS NULL RETURN a AS b\n    UNION ALL\n    "
    return "".join(
        f"{_step(str(place), stay, 'b, min(low) AS low, max(high) AS high')}WITH b AS a, low, high\n  "
        for place in range(count)
    )


_PASSES_LAST: Final = _PASSES.replace("$p.filters", "pattern.hops[3].filters").replace(
    "$p.value_", "pattern.hops[3].value_"
)
_FROM: Final = """UNWIND pattern.nodes AS id
  MATCH (a:Entity {id: id}) USING INDEX SEEK a:Entity(id)
  WITH a, id AS low, id AS high
  """

# How many entities at least `$p.needed` of the patterns end at, and the lowest ids of them.
COUNT_ENDS: Final = Query(
    "count_ends",
    f"""CYPHER 5
UNWIND $p.patterns AS pattern
CALL (pattern) {{
  {_FROM}{_steps(3)}{_step("3", "", "DISTINCT b")}WITH one
  WHERE {_PASSES_LAST}
  RETURN one AS id
}}
WITH id, count(*) AS met
WHERE met >= $p.needed
WITH id ORDER BY id
WITH collect(id) AS ids
RETURN size(ids), ids[..$p.first]
LIMIT 1""",
)
# The entities that the last hop reaches from the most or fewest entities, their number and how many were compared.
TOP_ENDS: Final = Query(
    "top_ends",
    f"""CYPHER 5
UNWIND $p.patterns AS pattern
CALL (pattern) {{
  {_FROM}{_steps(3)}WITH a, '' AS low, '-' AS high
  {_step("3", "", "DISTINCT a, b")}WITH a, one
  WHERE {_PASSES_LAST}
  RETURN one AS id, count(DISTINCT a) AS size
}}
WITH collect([id, size]) AS groups, CASE WHEN $p.most THEN max(size) ELSE min(size) END AS top
UNWIND groups AS g
WITH g[0] AS id, g[1] AS size, top, size(groups) AS groups
WHERE size = top
RETURN id, size, groups
ORDER BY id
LIMIT $p.limit""",
)

# Facts that touch the entities, loops too, in order; strings compare by code point on the server.
TOUCHING: Final = Query(
    "touching",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})-[r:$any($p.predicates)]-()
USING INDEX SEEK a:Entity(id)
WHERE {_READ_R}
  AND {_WHEN_R}
WITH DISTINCT startNode(r).id AS subject, type(r) AS predicate, endNode(r).id AS object, r.low AS low, r.high AS high
ORDER BY subject, predicate, object, low, high
LIMIT $p.limit
RETURN subject, predicate, object, low, high""",
)
TOUCHING_ANY: Final = Query(
    "touching_any",
    f"""CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {{id: id}})-[r]-()
USING INDEX SEEK a:Entity(id)
WHERE {_READ_R}
  AND {_WHEN_R}
WITH DISTINCT startNode(r).id AS subject, type(r) AS predicate, endNode(r).id AS object, r.low AS low, r.high AS high
ORDER BY subject, predicate, object, low, high
LIMIT $p.limit
RETURN subject, predicate, object, low, high""",
)

# The readable assertions of facts, a fact being named by its hash.
ASSERTIONS_OF_FACTS: Final = Query(
    "assertions_of_facts",
    f"""CYPHER 5
UNWIND $p.facts AS fact
MATCH (z:Support {{fact: fact}}) USING INDEX SEEK z:Support(fact)
WHERE {_READ_Z}
RETURN DISTINCT fact, z.assertion_id
LIMIT $p.limit""",
)

# Every readable fact with every readable assertion that states it.
ALL_FACTS: Final = Query(
    "all_facts",
    f"""CYPHER 5
MATCH (z:Support)
WHERE {_READ_Z}
WITH DISTINCT z.assertion AS key
MATCH (a:Assertion {{key: key}}) USING INDEX SEEK a:Assertion(key)
WHERE {_WHEN_A}
RETURN a.subject, a.predicate, a.object, a.low, a.high, a.id
LIMIT $p.limit""",
)

# Readable facts by types of their ends; types are looked up once for each entity.
FACT_COUNTS: Final = Query(
    "fact_counts",
    f"""CYPHER 5
MATCH (s:Entity)-[r]->(o:Entity)
WHERE {_READ_R}
WITH DISTINCT s, type(r) AS predicate, o, r.low AS low, r.high AS high
WITH s, predicate, o, count(*) AS facts
WITH s, collect([predicate, o, facts]) AS rows
CALL (s) {{
  OPTIONAL MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = s.id AND {_TYPED_Y}
  RETURN collect(DISTINCT y.type) AS kinds
}}
UNWIND rows AS row
WITH kinds AS subjects, row[0] AS predicate, row[1] AS o, sum(row[2]) AS facts
WITH o, collect([subjects, predicate, facts]) AS rows
CALL (o) {{
  OPTIONAL MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = o.id AND {_TYPED_Y}
  RETURN collect(DISTINCT y.type) AS kinds
}}
UNWIND rows AS row
UNWIND CASE WHEN size(row[0]) = 0 THEN [''] ELSE row[0] END AS subject
UNWIND CASE WHEN size(kinds) = 0 THEN [''] ELSE kinds END AS object
RETURN subject, row[1] AS predicate, object, sum(row[2]) AS facts
LIMIT $p.limit""",
)

# Snapshots and settings -----------------------------------------------------------------------------------------------

# The published snapshot, whether the one asked for (the published one if below 0) is there, when that was published, and of which store.
SNAPSHOT: Final = Query(
    "snapshot",
    """CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
OPTIONAL MATCH (n:Snapshot) WHERE n.sequence = CASE WHEN $p.sequence < 0 THEN g.sequence ELSE $p.sequence END
RETURN g.sequence, n IS NOT NULL, n.published_at, g.id
LIMIT 1""",
)

# Each scope written up to a snapshot with its digest then.
DIGESTS: Final = Query(
    "digests",
    """CYPHER 5
MATCH (d:ScopeDigest)
WHERE d.sequence <= $p.sequence
WITH d ORDER BY d.sequence
WITH d.scope AS scope, last(collect(d.digest)) AS digest
MATCH (s:Scope {id: scope}) USING INDEX SEEK s:Scope(id)
RETURN scope, s.form, digest
LIMIT $p.limit""",
)

SETTINGS: Final = Query(
    "settings",
    """CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
RETURN g.settings
LIMIT 1""",
)

# Sources and passages -------------------------------------------------------------------------------------------------

SOURCES: Final = Query(
    "sources",
    f"""CYPHER 5
UNWIND $p.ids AS id
MATCH (s:Source {{id: id}}) USING INDEX SEEK s:Source(id)
WHERE {_READ_S}
RETURN s.id, s.title, s.text, s.labels, s.parent, s.kind, s.node, s.lang, s.low, s.high, s.timestamp, s.origin, s.extra
LIMIT $p.limit""",
)
PASSAGES: Final = Query(
    "passages",
    f"""CYPHER 5
UNWIND $p.ids AS id
MATCH (p:Passage {{id: id}}) USING INDEX SEEK p:Passage(id)
WHERE {_READ_P}
RETURN p.id, p.source_id, p.start, p.end, p.text, p.title, p.low, p.high, p.timestamp, p.kind, p.node
LIMIT $p.limit""",
)
PASSAGES_OF_SOURCES: Final = Query(
    "passages_of_sources",
    f"""CYPHER 5
UNWIND $p.ids AS id
MATCH (p:Passage {{source_id: id}}) USING INDEX SEEK p:Passage(source_id)
WHERE {_READ_P}
RETURN p.id, p.source_id, p.start, p.end, p.text, p.title, p.low, p.high, p.timestamp, p.kind, p.node
LIMIT $p.limit""",
)

# Entities -------------------------------------------------------------------------------------------------------------

# Basis 0 of an alias: readable with the entity; 1: with one of its facts; 2: by its own scope.
ALIASES: Final = Query(
    "aliases",
    f"""CYPHER 5
UNWIND $p.keys AS lookup
MATCH (a:Alias {{lookup: lookup}}) USING INDEX SEEK a:Alias(lookup)
WHERE {_ALIVE_A} AND (
  (a.basis = 2 AND a.scope IN $p.scopes)
  OR (a.basis < 2 AND EXISTS {{
    MATCH (x:EntityScope) USING INDEX SEEK x:EntityScope(entity) WHERE x.entity = a.entity AND x.via <= 1 - a.basis AND {_READ_X}
  }})
)
RETURN a.key, a.entity, a.via
LIMIT $p.limit""",
)

# The published snapshot and, of the entities: lowest way in which each is visible; what the entities file says; types that are
# not stated; names that sources state, with the age of the source.
ENTITIES: Final = Query(
    "entities",
    f"""CYPHER 5
MATCH (g:GraphrouteStore {{one: 1}})
CALL () {{
  UNWIND $p.ids AS id
  MATCH (x:EntityScope {{entity: id}}) USING INDEX SEEK x:EntityScope(entity) WHERE {_READ_X}
  WITH id, min(x.via) AS via
  RETURN collect([id, via]) AS visible
}}
CALL () {{
  UNWIND $p.ids AS id
  MATCH (a:EntityRecord {{id: id}}) USING INDEX SEEK a:EntityRecord(id) WHERE {_ALIVE_A}
  RETURN collect([id, a.types, a.names]) AS said
}}
CALL () {{
  UNWIND $p.ids AS id
  MATCH (y:EntityType {{entity: id}}) USING INDEX SEEK y:EntityType(entity) WHERE y.basis > 0 AND {_TYPED_Y}
  RETURN collect(DISTINCT [id, y.type]) AS told
}}
CALL () {{
  UNWIND $p.ids AS id
  MATCH (n:Name {{entity: id}}) USING INDEX SEEK n:Name(entity) WHERE {_READ_N}
  OPTIONAL MATCH (s:Source {{id: n.source}}) USING INDEX SEEK s:Source(id) WHERE {_ALIVE_S}
  RETURN collect([id, n.name, n.source, n.start, s.low, s.timestamp]) AS stated
}}
RETURN g.sequence, visible, said, told, stated
LIMIT 1""",
)

ATTRIBUTES: Final = Query(
    "attributes",
    f"""CYPHER 5
UNWIND $p.ids AS id
MATCH (t:Attribute {{entity: id}}) USING INDEX SEEK t:Attribute(entity)
WHERE (NOT $p.narrowed OR t.key IN $p.keys) AND {_READ_T}
  AND {_WHEN_T}
OPTIONAL MATCH (s:Source {{id: t.source}}) USING INDEX SEEK s:Source(id) WHERE {_ALIVE_S}
RETURN t.entity, t.key, t.value, t.source, t.start, t.end, t.number, t.instant, t.low, t.high, s.low, s.timestamp, t.row
LIMIT $p.limit""",
)

# Which types and keys have one of the values; a long value is looked up by its hash.
ATTRIBUTE_VALUES: Final = Query(
    "attribute_values",
    f"""CYPHER 5
MATCH (g:GraphrouteStore {{one: 1}})
CALL () {{
  UNWIND $p.keys AS lookup
  MATCH (t:Attribute {{lookup: lookup}}) USING INDEX SEEK t:Attribute(lookup) WHERE {_READ_T}
  MATCH (y:EntityType {{entity: t.entity}}) USING INDEX SEEK y:EntityType(entity) WHERE {_TYPED_Y}
  RETURN collect(DISTINCT [t.folded, y.type, t.key]) AS found
}}
RETURN g.sequence, found
LIMIT 1""",
)
DISTINCT_VALUES: Final = Query(
    "distinct_values",
    f"""CYPHER 5
MATCH (y:EntityType {{type: $p.type}}) USING INDEX SEEK y:EntityType(type)
WHERE {_TYPED_Y}
WITH DISTINCT y.entity AS entity
MATCH (t:Attribute {{entity: entity}}) USING INDEX SEEK t:Attribute(entity)
WHERE t.key = $p.key AND {_READ_T}
WITH DISTINCT t.folded AS folded
LIMIT $p.limit
RETURN count(*)""",
)

# Readable entities of the types that pass all filters.
_WHERE: Final = f"""UNWIND $p.types AS type
MATCH (y:EntityType {{type: type}}) USING INDEX SEEK y:EntityType(type)
WHERE {_TYPED_Y}
WITH DISTINCT y.entity AS one
WHERE EXISTS {{ MATCH (x:EntityScope) USING INDEX SEEK x:EntityScope(entity) WHERE x.entity = one AND {_READ_X} }}
  AND {_PASSES}"""
ENTITIES_WHERE: Final = Query("entities_where", f"CYPHER 5\n{_WHERE}\nRETURN one\nLIMIT $p.limit")
COUNT_WHERE: Final = Query("count_where", f"CYPHER 5\n{_WHERE}\nRETURN count(one)\nLIMIT 1")

# Supports -------------------------------------------------------------------------------------------------------------

SUPPORTS: Final = Query(
    "supports",
    f"""CYPHER 5
UNWIND $p.ids AS id
MATCH (z:Support {{assertion_id: id}}) USING INDEX SEEK z:Support(assertion_id)
WHERE {_READ_Z}
MATCH (s:Source {{id: z.source}}) USING INDEX SEEK s:Source(id)
WHERE {_ALIVE_S}
RETURN id, z.key, z.ordinal, z.source, z.start, z.end, s.low, s.high, s.timestamp, s.kind
LIMIT $p.limit""",
)
ASSERTIONS_OF_SOURCES: Final = Query(
    "assertions_of_sources",
    f"""CYPHER 5
UNWIND $p.ids AS id
MATCH (z:Support {{source: id}}) USING INDEX SEEK z:Support(source)
WHERE {_READ_Z}
RETURN DISTINCT id, z.assertion_id
LIMIT $p.limit""",
)

# Sources of entities: of their records and prose, and of their facts, each with its age.
SOURCES_OF_ENTITIES: Final = Query(
    "sources_of_entities",
    f"""CYPHER 5
CALL () {{
  UNWIND $p.ids AS id
  MATCH (e:EntitySource {{entity: id}}) USING INDEX SEEK e:EntitySource(entity) WHERE {_READ_E}
  MATCH (s:Source {{id: e.source}}) USING INDEX SEEK s:Source(id) WHERE {_ALIVE_S}
  RETURN collect(DISTINCT [id, s.id, s.low, s.timestamp]) AS own
}}
CALL () {{
  UNWIND $p.ids AS id
  MATCH (a:Entity {{id: id}})-[r]-() USING INDEX SEEK a:Entity(id) WHERE {_READ_R}
  WITH DISTINCT id, r.fact AS fact
  MATCH (z:Support {{fact: fact}}) USING INDEX SEEK z:Support(fact) WHERE {_READ_Z}
  WITH DISTINCT id, z.source AS source
  MATCH (s:Source {{id: source}}) USING INDEX SEEK s:Source(id) WHERE {_ALIVE_S}
  RETURN collect(DISTINCT [id, s.id, s.low, s.timestamp]) AS proving
}}
RETURN own, proving
LIMIT 1""",
)

# What there is --------------------------------------------------------------------------------------------------------

COUNTS: Final = Query(
    "counts",
    f"""CYPHER 5
CALL () {{ MATCH (s:Source) WHERE {_READ_S} RETURN count(*) AS sources }}
CALL () {{ MATCH (p:Passage) WHERE {_READ_P} RETURN count(*) AS passages }}
CALL () {{ MATCH (x:EntityScope) WHERE {_READ_X} RETURN count(DISTINCT x.entity) AS entities }}
CALL () {{ MATCH (z:Support) WHERE {_READ_Z} RETURN count(DISTINCT z.assertion) AS assertions }}
RETURN sources, passages, entities, assertions
LIMIT 1""",
)
DATA_SPAN: Final = Query(
    "data_span",
    f"""CYPHER 5
CALL () {{
  MATCH (s:Source) WHERE {_READ_S}
  UNWIND [nullIf(s.low, $p.unknown_start), nullIf(s.high, $p.open_end), s.timestamp] AS instant
  RETURN min(instant) AS first, max(instant) AS last
}}
CALL () {{
  MATCH (:Entity)-[r]->(:Entity) WHERE {_READ_R}
  UNWIND [nullIf(r.low, $p.unknown_start), nullIf(r.high, $p.open_end)] AS instant
  RETURN min(instant) AS first_fact, max(instant) AS last_fact
}}
RETURN first, last, first_fact, last_fact
LIMIT 1""",
)

QUERIES: Final[tuple[Query, ...]] = (
    HOP_FORWARD,
    HOP_BACKWARD,
    HOP_EITHER,
    HOP_FORWARD_ANY,
    HOP_BACKWARD_ANY,
    HOP_EITHER_ANY,
    COUNT_ENDS,
    TOP_ENDS,
    TOUCHING,
    TOUCHING_ANY,
    ASSERTIONS_OF_FACTS,
    ALL_FACTS,
    FACT_COUNTS,
    SNAPSHOT,
    DIGESTS,
    SETTINGS,
    SOURCES,
    PASSAGES,
    PASSAGES_OF_SOURCES,
    ALIASES,
    ENTITIES,
    ATTRIBUTES,
    ATTRIBUTE_VALUES,
    DISTINCT_VALUES,
    ENTITIES_WHERE,
    COUNT_WHERE,
    SUPPORTS,
    ASSERTIONS_OF_SOURCES,
    SOURCES_OF_ENTITIES,
    COUNTS,
    DATA_SPAN,
)
"""All texts of graph and catalog. What is not here is not sent to answer a question."""

# For texts that are shown to readers: numbers of snapshots and scopes tell of what a reader may not see, so that they are a parameter
# of their own, `$view`, whose value is not shown.
READABLE_FACT: Final = _READ_R.replace("$p.", "$view.")
"""Of the relationship `r`."""
READABLE_ENTITY: Final = _READ_X.replace("$p.", "$view.")
"""Of the row `x` that makes an entity visible."""
READABLE_VALUE: Final = _READ_T.replace("$p.", "$view.")
"""Of the attribute `t`."""
TOLD_TYPE: Final = _TYPED_Y.replace("$p.", "$view.")
"""Of the row `y` that tells a type."""
