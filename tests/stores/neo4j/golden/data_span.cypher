CYPHER 5
CALL () {
  MATCH (s:Source) WHERE s.born <= $p.sequence AND s.died > $p.sequence AND s.scope IN $p.scopes
  UNWIND [nullIf(s.low, $p.unknown_start), nullIf(s.high, $p.open_end), s.timestamp] AS instant
  RETURN min(instant) AS first, max(instant) AS last
}
CALL () {
  MATCH (:Entity)-[r]->(:Entity) WHERE r.born <= $p.sequence AND r.died > $p.sequence AND r.scope IN $p.scopes
  UNWIND [nullIf(r.low, $p.unknown_start), nullIf(r.high, $p.open_end)] AS instant
  RETURN min(instant) AS first_fact, max(instant) AS last_fact
}
RETURN first, last, first_fact, last_fact
LIMIT 1
