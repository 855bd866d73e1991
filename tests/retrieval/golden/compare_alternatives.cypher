// inc:7
// inc:9
// asks: first opened of inc of any
:param p => {sequence: 7, scopes: [1, 2], anchors0: ['inc:7'], anchors1: ['inc:9'], attribute: 'opened'};
CYPHER 5
CALL () {
  UNWIND $p.anchors0 AS answer
  WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes }
  RETURN answer AS answer, [] AS path
  UNION
  UNWIND $p.anchors1 AS answer
  WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes }
  RETURN answer AS answer, [] AS path
}
MATCH (t:Attribute)
WHERE t.entity = answer AND t.key = $p.attribute AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
RETURN DISTINCT answer, t.value AS value
LIMIT 40;
