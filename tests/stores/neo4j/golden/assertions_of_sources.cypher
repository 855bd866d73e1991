CYPHER 5
UNWIND $p.ids AS id
MATCH (z:Support {source: id}) USING INDEX SEEK z:Support(source)
WHERE z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes
RETURN DISTINCT id, z.assertion_id
LIMIT $p.limit
