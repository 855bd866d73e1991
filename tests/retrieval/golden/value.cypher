// inc:7
// asks: value severity of inc
:param p => {anchors0: ['inc:7'], attribute: 'severity'};
CYPHER 5
UNWIND $p.anchors0 AS answer
WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $view.sequence AND x.died > $view.sequence AND x.scope IN $view.scopes }
MATCH (t:Attribute)
WHERE t.entity = answer AND t.key = $p.attribute AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes
RETURN DISTINCT answer AS answer, t.value AS value
ORDER BY answer, value
LIMIT 40;
