CYPHER 5
UNWIND $p.ids AS id
MATCH (s:Source {id: id}) USING INDEX SEEK s:Source(id)
WHERE s.born <= $p.sequence AND s.died > $p.sequence AND s.scope IN $p.scopes
RETURN s.id, s.title, s.text, s.labels, s.parent, s.kind, s.node, s.lang, s.low, s.high, s.timestamp, s.origin, s.extra
LIMIT $p.limit
