// every inc -AFFECTED@overlaps ..2026-06-01-> svc
// asks: most svc
:param p => {anchors0_types: ['inc'], until0_0: 1780272000000000, of0_0_types: ['svc']};
CYPHER 5
MATCH (a0:Entity)-[r0_0:AFFECTED]->(answer:Entity)
WHERE EXISTS { MATCH (y:EntityType) WHERE y.entity = a0.id AND y.type IN $p.anchors0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND r0_0.low < $p.until0_0
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND answer <> a0
RETURN answer.id AS answer, count(DISTINCT a0) AS n
ORDER BY n DESC, answer
LIMIT 40;
