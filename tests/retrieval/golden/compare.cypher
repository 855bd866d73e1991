// inc:7, inc:9
// asks: compare downtime of inc
:param p => {anchors0: ['inc:7', 'inc:9'], attribute: 'downtime'};
CYPHER 5
UNWIND $p.anchors0 AS answer
WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $view.sequence AND x.died > $view.sequence AND x.scope IN $view.scopes }
MATCH (t:Attribute)
WHERE t.entity = answer AND t.key = $p.attribute AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes
WITH DISTINCT answer AS answer, t.value AS value, coalesce(t.instant, t.number) AS measure
RETURN answer, value
ORDER BY measure DESC, answer
LIMIT 40;
