// cluster:us <-RUNS_ON- svc
// team:blue <-OWNED_BY@overlaps 2026-06-01..2026-06-02- svc
// asks: count svc[tier=1] of any
MATCH (answer:svc)
OPTIONAL MATCH p0 = (a0:cluster)<-[r0_0:RUNS_ON]-(answer:svc)
  WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
    AND a0.id IN $anchors0
OPTIONAL MATCH p1 = (a1:team)<-[r1_0:OWNED_BY]-(answer:svc)
  WHERE coalesce(r1_0.valid_from, $always) < $until
    AND coalesce(r1_0.valid_to, $forever) > $since
    AND any(scope IN r1_0.scopes WHERE scope IN $readable)
    AND a1.id IN $anchors1
WITH * WHERE (p0 IS NOT NULL OR p1 IS NOT NULL)
  AND answer[$keyanswer_0] = $valueanswer_0
RETURN count(DISTINCT answer) AS answer
LIMIT 40
