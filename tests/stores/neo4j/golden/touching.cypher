CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {id: id})-[r:$any($p.predicates)]-()
USING INDEX SEEK a:Entity(id)
WHERE r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
  AND r.low >= $p.low_from AND r.low < $p.low_to AND r.high >= $p.high_from AND r.high < $p.high_to
WITH DISTINCT startNode(r).id AS subject, type(r) AS predicate, endNode(r).id AS object, r.low AS low, r.high AS high
ORDER BY subject, predicate, object, low, high
LIMIT $p.limit
RETURN subject, predicate, object, low, high
