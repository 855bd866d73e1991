CYPHER 5
CALL () { MATCH (s:Source) WHERE s.born <= $p.sequence AND s.died > $p.sequence AND s.scope IN $p.scopes RETURN count(*) AS sources }
CALL () { MATCH (p:Passage) WHERE p.born <= $p.sequence AND p.died > $p.sequence AND p.scope IN $p.scopes RETURN count(*) AS passages }
CALL () { MATCH (x:EntityScope) WHERE x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes RETURN count(DISTINCT x.entity) AS entities }
CALL () { MATCH (z:Support) WHERE z.born <= $p.sequence AND z.died > $p.sequence AND z.scope IN $p.scopes RETURN count(DISTINCT z.assertion) AS assertions }
RETURN sources, passages, entities, assertions
LIMIT 1
