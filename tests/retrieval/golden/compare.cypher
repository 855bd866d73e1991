// inc:7, inc:9
// asks: compare downtime of inc
MATCH (answer:inc)
WHERE answer.id IN $anchors0
RETURN answer.id AS answer, answer[$attribute] AS value ORDER BY value DESC
LIMIT 40
