// cluster:eu-1 <-RUNS_ON- svc
// team:ledger <-OWNED_BY- svc
// asks: list svc of all
MATCH p0 = (a0:cluster)<-[r0_0:RUNS_ON]-(answer:svc)
MATCH p1 = (a1:team)<-[r1_0:OWNED_BY]-(answer:svc)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
  AND any(scope IN r1_0.scopes WHERE scope IN $readable)
  AND a1.id IN $anchors1
RETURN DISTINCT answer.id AS answer, p0, p1
LIMIT 40
