CYPHER 5
UNWIND $p.patterns AS pattern
CALL (pattern) {
  UNWIND pattern.nodes AS id
  MATCH (a:Entity {id: id}) USING INDEX SEEK a:Entity(id)
  WITH a, id AS low, id AS high
  WITH a, low, high, pattern.hops[0] AS hop
  CALL (a, low, high, hop) {
    WITH a WHERE hop IS NULL RETURN a AS b
    UNION ALL
    WITH a WHERE hop.forward
    MATCH (a)-[r:$any(hop.predicates)]->(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
    UNION ALL
    WITH a WHERE hop.backward
    MATCH (a)<-[r:$any(hop.predicates)]-(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
  }
  WITH b, min(low) AS low, max(high) AS high, b.id AS one
  WHERE pattern.hops[0] IS NULL OR size(pattern.hops[0].types) = 0 OR EXISTS {
    MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = one AND y.type IN pattern.hops[0].types AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  }
  WITH b AS a, low, high
  WITH a, low, high, pattern.hops[1] AS hop
  CALL (a, low, high, hop) {
    WITH a WHERE hop IS NULL RETURN a AS b
    UNION ALL
    WITH a WHERE hop.forward
    MATCH (a)-[r:$any(hop.predicates)]->(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
    UNION ALL
    WITH a WHERE hop.backward
    MATCH (a)<-[r:$any(hop.predicates)]-(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
  }
  WITH b, min(low) AS low, max(high) AS high, b.id AS one
  WHERE pattern.hops[1] IS NULL OR size(pattern.hops[1].types) = 0 OR EXISTS {
    MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = one AND y.type IN pattern.hops[1].types AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  }
  WITH b AS a, low, high
  WITH a, low, high, pattern.hops[2] AS hop
  CALL (a, low, high, hop) {
    WITH a WHERE hop IS NULL RETURN a AS b
    UNION ALL
    WITH a WHERE hop.forward
    MATCH (a)-[r:$any(hop.predicates)]->(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
    UNION ALL
    WITH a WHERE hop.backward
    MATCH (a)<-[r:$any(hop.predicates)]-(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
  }
  WITH b, min(low) AS low, max(high) AS high, b.id AS one
  WHERE pattern.hops[2] IS NULL OR size(pattern.hops[2].types) = 0 OR EXISTS {
    MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = one AND y.type IN pattern.hops[2].types AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  }
  WITH b AS a, low, high
  WITH a, low, high, pattern.hops[3] AS hop
  CALL (a, low, high, hop) {
    WITH a WHERE hop.forward
    MATCH (a)-[r:$any(hop.predicates)]->(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
    UNION ALL
    WITH a WHERE hop.backward
    MATCH (a)<-[r:$any(hop.predicates)]-(b)
    WHERE b <> a AND NOT (low = high AND b.id = low)
      AND r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
      AND r.low >= hop.low_from AND r.low < hop.low_to AND r.high >= hop.high_from AND r.high < hop.high_to
      AND (NOT hop.bounded OR b.id IN hop.ends)
    RETURN b
  }
  WITH DISTINCT b, b.id AS one
  WHERE pattern.hops[3] IS NULL OR size(pattern.hops[3].types) = 0 OR EXISTS {
    MATCH (y:EntityType) USING INDEX SEEK y:EntityType(entity) WHERE y.entity = one AND y.type IN pattern.hops[3].types AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  }
  WITH one
  WHERE (size(pattern.hops[3].filters) = 0 OR NOT EXISTS {
    UNWIND pattern.hops[3].filters AS f
    WITH f WHERE NOT (
      EXISTS {
        MATCH (t:Attribute) USING INDEX SEEK t:Attribute(entity) WHERE t.entity = one AND t.key = f.key AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
          AND t.low >= pattern.hops[3].value_low_from AND t.low < pattern.hops[3].value_low_to AND t.high >= pattern.hops[3].value_high_from AND t.high < pattern.hops[3].value_high_to AND CASE f.operator
          WHEN 'ne' THEN true WHEN 'eq' THEN t.folded = f.text WHEN 'in_range' THEN t.instant >= f.low AND t.instant < f.high
          WHEN 'lt' THEN t.number < f.number WHEN 'le' THEN t.number <= f.number
          WHEN 'gt' THEN t.number > f.number WHEN 'ge' THEN t.number >= f.number ELSE false END
      } AND NOT EXISTS {
        MATCH (t:Attribute) USING INDEX SEEK t:Attribute(entity) WHERE t.entity = one AND t.key = f.key AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
          AND t.low >= pattern.hops[3].value_low_from AND t.low < pattern.hops[3].value_low_to AND t.high >= pattern.hops[3].value_high_from AND t.high < pattern.hops[3].value_high_to AND f.operator = 'ne' AND t.folded = f.text
      }
    )
    RETURN f
  })
  RETURN one AS id
}
WITH id, count(*) AS met
WHERE met >= $p.needed
WITH id ORDER BY id
WITH collect(id) AS ids
RETURN size(ids), ids[..$p.first]
LIMIT 1
