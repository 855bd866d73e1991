CYPHER 5 MATCH (n:$any($names)) UNWIND [] + n[$property] AS value WITH DISTINCT toStringOrNull(value) AS value WHERE value IS NOT NULL RETURN value LIMIT $limit
