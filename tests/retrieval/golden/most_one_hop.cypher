// every inc -AFFECTED@overlaps ..2026-06-01-> svc
// asks: most svc
MATCH p0 = (a0:inc)-[r0_0:AFFECTED]->(answer:svc)
WHERE coalesce(r0_0.valid_from, $always) < $until
  AND any(scope IN r0_0.scopes WHERE scope IN $readable)
RETURN answer.id AS answer, count(DISTINCT a0) AS n ORDER BY n DESC
LIMIT 40
