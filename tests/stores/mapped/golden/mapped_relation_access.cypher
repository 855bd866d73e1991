CYPHER 5 MATCH ()-[r:$any($names)]->() UNWIND [] + r[$property] AS value WITH DISTINCT toStringOrNull(value) AS value WHERE value IS NOT NULL RETURN value LIMIT $limit
