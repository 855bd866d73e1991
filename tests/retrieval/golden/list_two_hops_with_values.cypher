// cluster:eu-1 <-RUNS_ON- svc[tier=1] -USED_BY-> cust
// asks: list cust[plan=enterprise][seats>=5]
:param p => {anchors0: ['cluster:eu-1'], of0_0_types: ['svc'], value0_0_0: {key: 'tier', text: '1'}, of0_1_types: ['cust'], value0_1_0: {key: 'plan', text: 'enterprise'}, value0_1_1: {key: 'seats', number: 5.0}};
CYPHER 5
MATCH (a0:Entity)<-[r0_0:RUNS_ON]-(n0_0:Entity)-[r0_1:USED_BY]->(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = n0_0.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND EXISTS { MATCH (t:Attribute) WHERE t.key = $p.value0_0_0.key AND t.entity = n0_0.id AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes AND t.folded = $p.value0_0_0.text }
  AND r0_1.born <= $view.sequence AND r0_1.died > $view.sequence AND r0_1.scope IN $view.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_1_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND EXISTS { MATCH (t:Attribute) WHERE t.key = $p.value0_1_0.key AND t.entity = answer.id AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes AND t.folded = $p.value0_1_0.text }
  AND EXISTS { MATCH (t:Attribute) WHERE t.key = $p.value0_1_1.key AND t.entity = answer.id AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes AND t.number >= $p.value0_1_1.number }
  AND n0_0 <> a0
  AND answer <> a0
  AND answer <> n0_0
RETURN DISTINCT answer.id AS answer, [a0.id, n0_0.id, answer.id] AS path0
ORDER BY answer
LIMIT 40;
