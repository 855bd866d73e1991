CYPHER 5
MATCH (y:EntityType {type: $p.type}) USING INDEX SEEK y:EntityType(type)
WHERE y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
WITH DISTINCT y.entity AS entity
MATCH (t:Attribute {entity: entity}) USING INDEX SEEK t:Attribute(entity)
WHERE t.key = $p.key AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
WITH DISTINCT t.folded AS folded
LIMIT $p.limit
RETURN count(*)
