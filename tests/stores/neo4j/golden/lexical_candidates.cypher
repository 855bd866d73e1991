CYPHER 5
UNWIND $p.searches AS search
CALL db.index.fulltext.queryNodes(search.index, search.text, {limit: $p.limit}) YIELD node AS p
WITH DISTINCT p WHERE p.scope IN $p.scopes AND p.born <= $p.sequence AND p.died > $p.sequence AND (NOT $p.by_source OR p.source_id IN $p.sources) AND (NOT $p.by_node OR p.node IN $p.nodes) AND (NOT $p.by_kind OR p.kind IN $p.kinds) AND p.low >= $p.low_from AND p.low < $p.low_to AND p.high >= $p.high_from AND p.high < $p.high_to
RETURN p.id AS id, p.scope AS scope, p.length AS length, p.term_bytes AS packed
LIMIT $p.rows
