CYPHER 5
CALL () {
  UNWIND $p.ids AS id
  MATCH (e:EntitySource {entity: id}) WHERE e.born <= $p.sequence AND e.died > $p.sequence AND e.scope IN $p.scopes
  MATCH (s:Source {id: e.source}) WHERE s.born <= $p.sequence AND s.died > $p.sequence
  RETURN collect(DISTINCT [id, s.id, s.low, s.timestamp]) AS own
}
CALL () {
  UNWIND $p.ids AS id
  MATCH (:Entity {id: id})-[r]-(:Entity) WHERE r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
  WITH DISTINCT id, r.fact AS fact
  MATCH (z:Support {fact: fact}) WHERE z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes
  WITH DISTINCT id, z.source AS source
  MATCH (s:Source {id: source}) WHERE s.born <= $p.sequence AND s.died > $p.sequence
  RETURN collect(DISTINCT [id, s.id, s.low, s.timestamp]) AS proving
}
RETURN own, proving
LIMIT 1
