// cluster:eu-1 <-RUNS_ON- svc
// team:ledger <-OWNED_BY- svc
// asks: list svc of all
:param p => {anchors0: ['cluster:eu-1'], of0_0_types: ['svc'], anchors1: ['team:ledger'], of1_0_types: ['svc']};
CYPHER 5
MATCH (a0:Entity)<-[r0_0:RUNS_ON]-(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND answer <> a0
MATCH (a1:Entity)<-[r1_0:OWNED_BY]-(answer:Entity)
WHERE a1.id IN $p.anchors1
  AND r1_0.born <= $view.sequence AND r1_0.died > $view.sequence AND r1_0.scope IN $view.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of1_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND answer <> a1
RETURN DISTINCT answer.id AS answer, [a0.id, answer.id] AS path0, [a1.id, answer.id] AS path1
ORDER BY answer
LIMIT 40;
