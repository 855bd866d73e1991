CYPHER 5
UNWIND $p.ids AS id
MATCH (t:Attribute {entity: id}) USING INDEX SEEK t:Attribute(entity)
WHERE (NOT $p.narrowed OR t.key IN $p.keys) AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes
  AND t.low >= $p.value_low_from AND t.low < $p.value_low_to AND t.high >= $p.value_high_from AND t.high < $p.value_high_to
OPTIONAL MATCH (s:Source {id: t.source}) USING INDEX SEEK s:Source(id) WHERE s.born <= $p.sequence AND s.died > $p.sequence
RETURN t.entity, t.key, t.value, t.source, t.start, t.end, t.number, t.instant, t.low, t.high, s.low, s.timestamp, t.row
LIMIT $p.limit
