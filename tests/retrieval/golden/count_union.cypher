// cluster:us <-RUNS_ON- svc
// team:blue <-OWNED_BY@overlaps 2026-06-01..2026-06-02- svc
// asks: count svc[tier=1] of any
:param p => {anchors0: ['cluster:us'], of0_0_types: ['svc'], value0_0_0: {key: 'tier', text: '1'}, anchors1: ['team:blue'], since1_0: 1780272000000000, until1_0: 1780358400000000, of1_0_types: ['svc'], value1_0_since: 1780272000000000, value1_0_until: 1780358400000000, value1_0_0: {key: 'tier', text: '1'}};
CYPHER 5
CALL () {
  MATCH (a0:Entity)<-[r0_0:RUNS_ON]-(answer:Entity)
  WHERE a0.id IN $p.anchors0
    AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
    AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
        (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
          MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
        }
      )) }
    AND EXISTS { MATCH (t:Attribute) WHERE t.key = $p.value0_0_0.key AND t.entity = answer.id AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes AND t.folded = $p.value0_0_0.text }
    AND answer <> a0
  RETURN answer.id AS answer, [a0.id, answer.id] AS path
  UNION
  MATCH (a1:Entity)<-[r1_0:OWNED_BY]-(answer:Entity)
  WHERE a1.id IN $p.anchors1
    AND r1_0.born <= $view.sequence AND r1_0.died > $view.sequence AND r1_0.scope IN $view.scopes
    AND r1_0.high > $p.since1_0
    AND r1_0.low < $p.until1_0
    AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of1_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
        (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
          MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
        }
      )) }
    AND EXISTS { MATCH (t:Attribute) WHERE t.key = $p.value1_0_0.key AND t.entity = answer.id AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes AND t.low < $p.value1_0_until AND t.high > $p.value1_0_since AND t.folded = $p.value1_0_0.text }
    AND answer <> a1
  RETURN answer.id AS answer, [a1.id, answer.id] AS path
}
RETURN count(DISTINCT answer) AS answers
LIMIT 40;
