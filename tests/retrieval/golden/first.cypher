// svc:checkout <-AFFECTED- inc
// asks: first inc
MATCH p0 = (a0:svc)<-[r0_0:AFFECTED]-(answer:inc)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
  AND r0_0.valid_from IS NOT NULL
RETURN DISTINCT answer.id AS answer, r0_0.valid_from AS since, p0 ORDER BY since ASC
LIMIT 40
