// release:R17 -APPROVED_BY@ends_in 2026-01-01..-> person
// asks: date person
MATCH p0 = (a0:release)-[r0_0:APPROVED_BY]->(answer:person)
WHERE r0_0.valid_to >= $since
  AND any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
RETURN DISTINCT answer.id AS answer, p0
LIMIT 40
