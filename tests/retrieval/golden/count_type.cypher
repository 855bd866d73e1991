// every inc
// asks: count inc[severity=critical]
MATCH (answer:inc)
WHERE answer[$keyanswer_0] = $valueanswer_0
RETURN count(DISTINCT answer) AS answer
LIMIT 40
