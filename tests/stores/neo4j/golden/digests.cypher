CYPHER 5
MATCH (d:ScopeDigest)
WHERE d.sequence <= $p.sequence
WITH d ORDER BY d.sequence
WITH d.scope AS scope, last(collect(d.digest)) AS digest
MATCH (s:Scope {id: scope}) USING INDEX SEEK s:Scope(id)
RETURN scope, s.form, digest
LIMIT $p.limit
