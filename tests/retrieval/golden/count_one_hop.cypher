// team:ledger <-OWNED_BY- svc
// asks: count svc
MATCH p0 = (a0:team)<-[r0_0:OWNED_BY]-(answer:svc)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
RETURN count(DISTINCT answer) AS answer
LIMIT 40
