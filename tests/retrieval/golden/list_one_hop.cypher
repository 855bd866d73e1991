// svc:checkout -OWNED_BY@overlaps 2026-06-01..2026-06-02-> team
// asks: list team
MATCH p0 = (a0:svc)-[r0_0:OWNED_BY]->(answer:team)
WHERE coalesce(r0_0.valid_from, $always) < $until
  AND coalesce(r0_0.valid_to, $forever) > $since
  AND any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
RETURN DISTINCT answer.id AS answer, p0
LIMIT 40
