// every inc[severity=critical] -AFFECTED-> svc
// asks: list svc
:param p => {sequence: 7, scopes: [1, 2], anchors0_types: ['inc'], start0_0: {key: 'severity', text: 'critical'}, of0_0_types: ['svc']};
CYPHER 5
MATCH (a0:Entity)-[r0_0:AFFECTED]->(answer:Entity)
WHERE EXISTS { MATCH (y:EntityType) WHERE y.entity = a0.id AND y.type IN $p.anchors0_types AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    )) }
  AND EXISTS { MATCH (t:Attribute) WHERE t.key = $p.start0_0.key AND t.entity = a0.id AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes AND t.folded = $p.start0_0.text }
  AND r0_0.born <= $p.sequence AND r0_0.died > $p.sequence AND r0_0.scope IN $p.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_0_types AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    )) }
  AND answer <> a0
RETURN DISTINCT answer.id AS answer, [a0.id, answer.id] AS path0
ORDER BY answer
LIMIT 40;
