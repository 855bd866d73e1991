CYPHER 5
CALL db.index.vector.queryNodes($p.index, $p.reach, $p.vector) YIELD node AS p, score AS near
WITH p, near WHERE p.scope IN $p.scopes AND p.born <= $p.sequence AND p.died > $p.sequence AND (NOT $p.by_source OR p.source_id IN $p.sources) AND (NOT $p.by_node OR p.node IN $p.nodes) AND (NOT $p.by_kind OR p.kind IN $p.kinds) AND p.low >= $p.low_from AND p.low < $p.low_to AND p.high >= $p.high_from AND p.high < $p.high_to
RETURN p.id AS id, p.scope AS scope, near, p[$p.property] AS embedding
ORDER BY near DESC LIMIT $p.limit
