CYPHER 5
UNWIND $p.types AS type
MATCH (y:EntityType {type: type}) USING INDEX SEEK y:EntityType(type)
WHERE y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
WITH DISTINCT y.entity AS one
WHERE EXISTS { MATCH (x:EntityScope) USING INDEX SEEK x:EntityScope(entity) WHERE x.entity = one AND x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes }
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
RETURN count(one)
LIMIT 1
