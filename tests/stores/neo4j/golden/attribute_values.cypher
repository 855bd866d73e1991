CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
CALL () {
  UNWIND $p.keys AS lookup
  MATCH (t:Attribute {lookup: lookup}) USING INDEX SEEK t:Attribute(lookup) WHERE t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
  MATCH (y:EntityType {entity: t.entity}) USING INDEX SEEK y:EntityType(entity) WHERE y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  RETURN collect(DISTINCT [t.folded, y.type, t.key]) AS found
}
RETURN g.sequence, found
LIMIT 1
