CYPHER 5
UNWIND $p.ids AS id
MATCH (p:Passage {id: id}) USING INDEX SEEK p:Passage(id)
WHERE p.born <= $p.sequence AND p.died > $p.sequence AND p.scope IN $p.scopes
RETURN p.id, p.source_id, p.start, p.end, p.text, p.title, p.low, p.high, p.timestamp, p.kind, p.node
LIMIT $p.limit
