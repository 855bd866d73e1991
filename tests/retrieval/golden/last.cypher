// svc:checkout <-CHANGED@starts_in 2026-01-01..2026-02-01- release
// asks: last release
:param p => {anchors0: ['svc:checkout'], since0_0: 1767225600000000, until0_0: 1769904000000000, of0_0_types: ['release']};
CYPHER 5
MATCH (a0:Entity)<-[r0_0:CHANGED]-(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND nullIf(r0_0.low, -4611686018427387904) >= $p.since0_0
  AND nullIf(r0_0.low, -4611686018427387904) < $p.until0_0
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND answer <> a0
  AND nullIf(r0_0.low, -4611686018427387904) IS NOT NULL
RETURN DISTINCT answer.id AS answer, nullIf(r0_0.low, -4611686018427387904) AS since, [a0.id, answer.id] AS path0
ORDER BY since DESC, answer
LIMIT 40;
