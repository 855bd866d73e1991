// svc:checkout -OWNED_BY@overlaps 2026-06-01..2026-06-02-> team
// asks: list team
:param p => {anchors0: ['svc:checkout'], since0_0: 1780272000000000, until0_0: 1780358400000000, of0_0_types: ['team']};
CYPHER 5
MATCH (a0:Entity)-[r0_0:OWNED_BY]->(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND r0_0.high > $p.since0_0
  AND r0_0.low < $p.until0_0
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND answer <> a0
RETURN DISTINCT answer.id AS answer, [a0.id, answer.id] AS path0
ORDER BY answer
LIMIT 40;
