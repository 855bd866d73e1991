// inc:7
// inc:9
// asks: first opened of inc of any
MATCH (answer:inc)
WITH * WHERE ((answer.id IN $anchors0) OR (answer.id IN $anchors1))
RETURN answer.id AS answer, answer[$attribute] AS value ORDER BY value ASC
LIMIT 40
