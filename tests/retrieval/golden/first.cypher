// svc:checkout <-AFFECTED- inc
// asks: first inc
MATCH p0 = (a0:svc)<-[r0_0:AFFECTED]-(answer:inc)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
RETURN DISTINCT answer.id AS answer, p0
LIMIT 40
