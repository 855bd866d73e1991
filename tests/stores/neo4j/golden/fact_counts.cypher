CYPHER 5
MATCH (s:Entity)-[r]->(o:Entity)
WHERE r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
WITH DISTINCT s, type(r) AS predicate, o, r.low AS low, r.high AS high
WITH s, predicate, o, count(*) AS facts
WITH s, collect([predicate, o, facts]) AS rows
CALL (s) {
  OPTIONAL MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = s.id AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  RETURN collect(DISTINCT y.type) AS kinds
}
UNWIND rows AS row
WITH kinds AS subjects, row[0] AS predicate, row[1] AS o, sum(row[2]) AS facts
WITH o, collect([subjects, predicate, facts]) AS rows
CALL (o) {
  OPTIONAL MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = o.id AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  RETURN collect(DISTINCT y.type) AS kinds
}
UNWIND rows AS row
UNWIND CASE WHEN size(row[0]) = 0 THEN [''] ELSE row[0] END AS subject
UNWIND CASE WHEN size(kinds) = 0 THEN [''] ELSE kinds END AS object
RETURN subject, row[1] AS predicate, object, sum(row[2]) AS facts
LIMIT $p.limit
