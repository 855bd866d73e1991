CYPHER 5
MATCH (z:Support)
WHERE z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes
WITH DISTINCT z.assertion AS key
MATCH (a:Assertion {key: key}) USING INDEX SEEK a:Assertion(key)
WHERE a.low >= $p.low_from AND a.low < $p.low_to AND a.high >= $p.high_from AND a.high < $p.high_to
RETURN a.subject, a.predicate, a.object, a.low, a.high, a.id
LIMIT $p.limit
