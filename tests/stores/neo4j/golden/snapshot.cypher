CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
RETURN g.sequence, EXISTS {
    MATCH (n:Snapshot) WHERE n.sequence = CASE WHEN $p.sequence < 0 THEN g.sequence ELSE $p.sequence END
  }
LIMIT 1
