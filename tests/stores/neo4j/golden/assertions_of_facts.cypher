CYPHER 5
UNWIND $p.facts AS fact
MATCH (z:Support {fact: fact}) USING INDEX SEEK z:Support(fact)
WHERE z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes
RETURN DISTINCT fact, z.assertion_id
LIMIT $p.limit
