// inc:7
// asks: value severity of inc
:param p => {sequence: 7, scopes: [1, 2], anchors0: ['inc:7'], attribute: 'severity'};
CYPHER 5
UNWIND $p.anchors0 AS answer
WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes }
MATCH (t:Attribute)
WHERE t.entity = answer AND t.key = $p.attribute AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
RETURN DISTINCT answer AS answer, t.value AS value
ORDER BY answer, value
LIMIT 40;
