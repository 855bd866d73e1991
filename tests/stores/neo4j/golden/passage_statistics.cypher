CYPHER 5
OPTIONAL MATCH (store:GraphrouteStore)
WITH max(store.sequence) AS held
OPTIONAL MATCH (p:Passage) WHERE p.scope IN $p.scopes AND p.born <= $p.sequence AND p.died > $p.sequence
RETURN held, count(p) AS documents, coalesce(sum(p.length), 0) AS total
LIMIT 1
