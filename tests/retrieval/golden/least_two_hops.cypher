// person:vega <-DIRECTED_BY- film -STARS-> person
// asks: least person
:param p => {anchors0: ['person:vega'], of0_0_types: ['film'], of0_1_types: ['person']};
CYPHER 5
MATCH (a0:Entity)<-[r0_0:DIRECTED_BY]-(n0_0:Entity)-[r0_1:STARS]->(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = n0_0.id AND y.type IN $p.of0_0_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND r0_1.born <= $view.sequence AND r0_1.died > $view.sequence AND r0_1.scope IN $view.scopes
  AND EXISTS { MATCH (y:EntityType) WHERE y.entity = answer.id AND y.type IN $p.of0_1_types AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    )) }
  AND n0_0 <> a0
  AND answer <> n0_0
RETURN answer.id AS answer, count(DISTINCT n0_0) AS n
ORDER BY n ASC, answer
LIMIT 40;
