CYPHER 5
UNWIND $p.nodes AS id
MATCH (a:Entity {id: id})<-[r:$any($p.predicates)]-(b)
USING INDEX SEEK a:Entity(id)
WHERE b <> a AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
  AND r.low >= $p.low_from AND r.low < $p.low_to AND r.high >= $p.high_from AND r.high < $p.high_to
  AND (NOT $p.bounded OR b.id IN $p.ends)
WITH DISTINCT a.id AS node, type(r) AS predicate, 1 AS way, b.id AS one, r.low AS low, r.high AS high
WHERE (size($p.types) = 0 OR EXISTS {
    MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = one AND y.type IN $p.types AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  })
  AND (size($p.filters) = 0 OR NOT EXISTS {
    UNWIND $p.filters AS f
    WITH f WHERE NOT (
      EXISTS {
        MATCH (t:Attribute) USING INDEX SEEK t:Attribute(entity) WHERE t.entity = one AND t.key = f.key AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
          AND t.low >= $p.value_low_from AND t.low < $p.value_low_to AND t.high >= $p.value_high_from AND t.high < $p.value_high_to AND CASE f.operator
          WHEN 'ne' THEN true WHEN 'eq' THEN t.folded = f.text WHEN 'in_range' THEN t.instant >= f.low AND t.instant < f.high
          WHEN 'lt' THEN t.number < f.number WHEN 'le' THEN t.number <= f.number
          WHEN 'gt' THEN t.number > f.number WHEN 'ge' THEN t.number >= f.number ELSE false END
      } AND NOT EXISTS {
        MATCH (t:Attribute) USING INDEX SEEK t:Attribute(entity) WHERE t.entity = one AND t.key = f.key AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
          AND t.low >= $p.value_low_from AND t.low < $p.value_low_to AND t.high >= $p.value_high_from AND t.high < $p.value_high_to AND f.operator = 'ne' AND t.folded = f.text
      }
    )
    RETURN f
  })
RETURN node, predicate, way, one, low, high
LIMIT $p.limit
