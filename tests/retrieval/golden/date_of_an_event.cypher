// release:R17 -APPROVED_BY@ends_in 2026-01-01..-> person
// asks: date person
:param p => {anchors0: ['release:R17'], since0_0: 1767225600000000, of0_0_types: ['person']};
CYPHER 5
MATCH (a0:Entity)-[r0_0:APPROVED_BY]->(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND nullIf(r0_0.high, 4611686018427387904) >= $p.since0_0
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND answer <> a0
RETURN DISTINCT answer.id AS answer, [a0.id, answer.id] AS path0
ORDER BY answer
LIMIT 40;
