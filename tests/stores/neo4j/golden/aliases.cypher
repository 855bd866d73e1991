CYPHER 5
UNWIND $p.keys AS lookup
MATCH (a:Alias {lookup: lookup}) USING INDEX SEEK a:Alias(lookup)
WHERE a.born <= $p.sequence AND a.died > $p.sequence AND (
  (a.basis = 2 AND a.scope IN $p.scopes)
  OR (a.basis < 2 AND EXISTS {
    MATCH (x:EntityScope) USING INDEX SEEK x:EntityScope(entity) WHERE x.entity = a.entity AND x.via <= 1 - a.basis AND x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes
  })
)
RETURN a.key, a.entity, a.via
LIMIT $p.limit
