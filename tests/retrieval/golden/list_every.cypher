// every inc[severity=critical] -AFFECTED-> svc
// asks: list svc
MATCH p0 = (a0:inc)-[r0_0:AFFECTED]->(answer:svc)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0[$keystart0_0] = $valuestart0_0
RETURN DISTINCT answer.id AS answer, p0
LIMIT 40
