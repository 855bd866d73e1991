CYPHER 5
MATCH (y:EntityType {type: $p.type})
WHERE y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
WITH DISTINCT y.entity AS entity
MATCH (t:Attribute {entity: entity})
WHERE t.key = $p.key AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
WITH DISTINCT t.folded AS folded
LIMIT $p.limit
RETURN count(*)
