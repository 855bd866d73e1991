// person:lena <-APPROVED_BY- release which is release:R17
// asks: exists release
MATCH p0 = (a0:person)<-[r0_0:APPROVED_BY]-(answer:release)
WHERE any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
  AND answer.id IN $ends0
RETURN DISTINCT answer.id AS answer, p0
LIMIT 40
