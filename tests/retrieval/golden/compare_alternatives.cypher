// inc:7
// inc:9
// asks: first opened of inc of any
:param p => {anchors0: ['inc:7'], anchors1: ['inc:9'], attribute: 'opened'};
CYPHER 5
CALL () {
  UNWIND $p.anchors0 AS answer
  WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $view.sequence AND x.died > $view.sequence AND x.scope IN $view.scopes }
  RETURN answer AS answer, [] AS path
  UNION
  UNWIND $p.anchors1 AS answer
  WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $view.sequence AND x.died > $view.sequence AND x.scope IN $view.scopes }
  RETURN answer AS answer, [] AS path
}
MATCH (t:Attribute)
WHERE t.entity = answer AND t.key = $p.attribute AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes
RETURN DISTINCT answer, t.value AS value
LIMIT 40;
