// person:vega <-DIRECTED_BY- film -STARS-> person
// asks: least person
MATCH p0 = (a0:person)<-[r0_0:DIRECTED_BY]-(n0_0:film)-[r0_1:STARS]->(answer:person)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND any(scope IN r0_1.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
RETURN answer.id AS answer, count(DISTINCT n0_0) AS n ORDER BY n ASC
LIMIT 40
