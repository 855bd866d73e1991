CYPHER 5
MATCH (state:VectorState)
RETURN state.identity AS identity, state.sequence AS sequence, state.total AS total,
  COUNT { MATCH (p:Passage) WHERE p.scope IN $p.scopes AND p.born <= $p.sequence AND p.died > $p.sequence AND p[$p.property] IS NOT NULL } AS readable
LIMIT 1
