CYPHER 5
MATCH (g:GraphrouteStore {one: 1})
RETURN g.settings
LIMIT 1
