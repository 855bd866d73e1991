// cluster:eu-1 <-RUNS_ON- svc[tier=1] -USED_BY-> cust
// asks: list cust[plan=enterprise][seats>=5]
MATCH p0 = (a0:cluster)<-[r0_0:RUNS_ON]-(n0_0:svc)-[r0_1:USED_BY]->(answer:cust)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND n0_0[$key0_0_0] = $value0_0_0
  AND any(scope IN r0_1.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
  AND answer[$keyanswer_0] = $valueanswer_0
  AND answer[$keyanswer_1] >= $valueanswer_1
RETURN DISTINCT answer.id AS answer, p0
LIMIT 40
