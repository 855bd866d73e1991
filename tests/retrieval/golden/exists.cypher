// person:lena <-APPROVED_BY- release which is release:R17
// asks: exists release
:param p => {anchors0: ['person:lena'], ends0_0: ['release:R17']};
CYPHER 5
MATCH (a0:Entity)<-[r0_0:APPROVED_BY]-(answer:Entity)
WHERE a0.id IN $p.anchors0
  AND r0_0.born <= $view.sequence AND r0_0.died > $view.sequence AND r0_0.scope IN $view.scopes
  AND answer.id IN $p.ends0_0
  AND answer <> a0
RETURN DISTINCT answer.id AS answer, [a0.id, answer.id] AS path0
ORDER BY answer
LIMIT 40;
