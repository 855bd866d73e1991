CYPHER 5
UNWIND $p.ids AS id
MATCH (z:Support {assertion_id: id}) USING INDEX SEEK z:Support(assertion_id)
WHERE z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes
MATCH (s:Source {id: z.source}) USING INDEX SEEK s:Source(id)
WHERE s.born <= $p.sequence AND s.died > $p.sequence
RETURN id, z.key, z.ordinal, z.source, z.start, z.end, s.low, s.high, s.timestamp, s.kind
LIMIT $p.limit
