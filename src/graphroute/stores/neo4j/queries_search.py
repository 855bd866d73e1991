"""Query texts of lexical and vector search; part of the fixed list of the question path.

Each takes one parameter, the map `$p`, as those of `queries` do. The property and the index of vectors are values in it.
"""

from __future__ import annotations

from graphroute.stores.neo4j.connection import Query

_VISIBLE = "p.scope IN $p.scopes AND p.born <= $p.sequence AND p.died > $p.sequence"
_WHERE = (
    "(NOT $p.by_source OR p.source_id IN $p.sources) AND (NOT $p.by_node OR p.node IN $p.nodes) "
    "AND (NOT $p.by_kind OR p.kind IN $p.kinds) "
    "AND p.low >= $p.low_from AND p.low < $p.low_to AND p.high >= $p.high_from AND p.high < $p.high_to"
)

PASSAGE_STATISTICS = Query(
    "passage_statistics",
    f"""CYPHER 5
OPTIONAL MATCH (store:GraphrouteStore)
WITH max(store.sequence) AS held
OPTIONAL MATCH (p:Passage) WHERE {_VISIBLE}
RETURN held, count(p) AS documents, coalesce(sum(p.length), 0) AS total
LIMIT 1""",
)

TERM_FREQUENCIES = Query(
    "term_frequencies",
    f"""CYPHER 5
UNWIND $p.searches AS search
CALL db.index.fulltext.queryNodes(search.index, search.text) YIELD node AS p
WITH search, p WHERE {_VISIBLE} AND search.term IN p.term_ids
RETURN search.term AS term, count(p) AS frequency
LIMIT $p.limit""",
)

LEXICAL_CANDIDATES = Query(
    "lexical_candidates",
    f"""CYPHER 5
UNWIND $p.searches AS search
CALL db.index.fulltext.queryNodes(search.index, search.text, {{limit: $p.limit}}) YIELD node AS p
WITH DISTINCT p WHERE {_VISIBLE} AND {_WHERE}
RETURN p.id AS id, p.scope AS scope, p.length AS length, p.term_bytes AS packed
LIMIT $p.rows""",
)

VECTOR_STATE = Query(
    "vector_state",
    f"""CYPHER 5
MATCH (state:VectorState)
RETURN state.identity AS identity, state.sequence AS sequence, state.total AS total,
  COUNT {{ MATCH (p:Passage) WHERE {_VISIBLE} AND p[$p.property] IS NOT NULL }} AS readable
LIMIT 1""",
)

VISIBLE_VECTORS = Query(
    "visible_vectors",
    f"""CYPHER 5
MATCH (p:Passage) WHERE {_VISIBLE} AND {_WHERE} AND p[$p.property] IS NOT NULL
WITH p, vector.similarity.cosine(p[$p.property], $p.vector) AS near
ORDER BY near DESC LIMIT $p.limit
RETURN p.id AS id, p.scope AS scope, near, p[$p.property] AS embedding""",
)

NEAREST_VECTORS = Query(
    "nearest_vectors",
    f"""CYPHER 5
CALL db.index.vector.queryNodes($p.index, $p.reach, $p.vector) YIELD node AS p, score AS near
WITH p, near WHERE {_VISIBLE} AND {_WHERE}
RETURN p.id AS id, p.scope AS scope, near, p[$p.property] AS embedding
ORDER BY near DESC LIMIT $p.limit""",
)

SEARCH_QUERIES = (
    PASSAGE_STATISTICS,
    TERM_FREQUENCIES,
    LEXICAL_CANDIDATES,
    VECTOR_STATE,
    VISIBLE_VECTORS,
    NEAREST_VECTORS,
)
