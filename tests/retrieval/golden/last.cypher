// svc:checkout <-CHANGED@starts_in 2026-01-01..2026-02-01- release
// asks: last release
MATCH p0 = (a0:svc)<-[r0_0:CHANGED]-(answer:release)
WHERE r0_0.valid_from >= $since
  AND r0_0.valid_from < $until
  AND any(scope IN r0_0.scopes WHERE scope IN $readable)
  AND a0.id IN $anchors0
  AND r0_0.valid_from IS NOT NULL
RETURN DISTINCT answer.id AS answer, r0_0.valid_from AS since, p0 ORDER BY since DESC
LIMIT 40
