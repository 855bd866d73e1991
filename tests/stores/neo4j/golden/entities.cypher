CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
CALL () {
  UNWIND $p.ids AS id
  MATCH (x:EntityScope {entity: id}) USING INDEX SEEK x:EntityScope(entity) WHERE x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes
  WITH id, min(x.via) AS via
  RETURN collect([id, via]) AS visible
}
CALL () {
  UNWIND $p.ids AS id
  MATCH (a:EntityRecord {id: id}) USING INDEX SEEK a:EntityRecord(id) WHERE a.born <= $p.sequence AND a.died > $p.sequence
  RETURN collect([id, a.types, a.names]) AS said
}
CALL () {
  UNWIND $p.ids AS id
  MATCH (y:EntityType {entity: id}) USING INDEX SEEK y:EntityType(entity) WHERE y.basis > 0 AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
  RETURN collect(DISTINCT [id, y.type]) AS told
}
CALL () {
  UNWIND $p.ids AS id
  MATCH (n:Name {entity: id}) USING INDEX SEEK n:Name(entity) WHERE n.born <= $p.sequence AND n.died > $p.sequence AND n.scope IN $p.scopes
  OPTIONAL MATCH (s:Source {id: n.source}) USING INDEX SEEK s:Source(id) WHERE s.born <= $p.sequence AND s.died > $p.sequence
  RETURN collect([id, n.name, n.source, n.start, s.low, s.timestamp]) AS stated
}
RETURN g.sequence, visible, said, told, stated
LIMIT 1
