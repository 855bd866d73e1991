// team:ledger <-OWNED_BY- svc
// asks: count svc
:param p => {anchors0: ['team:ledger'], of0_0_types: ['svc']};
CYPHER 5
MATCH (a0:Entity)<-[r0_0:OWNED_BY]-(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND answer <> a0
RETURN count(DISTINCT answer.id) AS answers
LIMIT 40;
