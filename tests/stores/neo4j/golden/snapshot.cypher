CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
OPTIONAL MATCH (n:Snapshot) WHERE n.sequence = CASE WHEN $p.sequence < 0 THEN g.sequence ELSE $p.sequence END
RETURN g.sequence, n IS NOT NULL, n.published_at, g.id
LIMIT 1
