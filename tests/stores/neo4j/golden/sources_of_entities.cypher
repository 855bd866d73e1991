CYPHER 5
CALL () {
  UNWIND $p.ids AS id
  MATCH (e:EntitySource {entity: id}) USING INDEX SEEK e:EntitySource(entity) WHERE e.born <= $p.sequence AND e.died > $p.sequence AND e.scope IN $p.scopes
  MATCH (s:Source {id: e.source}) USING INDEX SEEK s:Source(id) WHERE s.born <= $p.sequence AND s.died > $p.sequence
  RETURN collect(DISTINCT [id, s.id, s.low, s.timestamp]) AS own
}
CALL () {
  UNWIND $p.ids AS id
  MATCH (a:Entity {id: id})-[r]-() USING INDEX SEEK a:Entity(id) WHERE r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
  WITH DISTINCT id, r.fact AS fact
  MATCH (z:Support {fact: fact}) USING INDEX SEEK z:Support(fact) WHERE z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes
  WITH DISTINCT id, z.source AS source
  MATCH (s:Source {id: source}) USING INDEX SEEK s:Source(id) WHERE s.born <= $p.sequence AND s.died > $p.sequence
  RETURN collect(DISTINCT [id, s.id, s.low, s.timestamp]) AS proving
}
RETURN own, proving
LIMIT 1
