CYPHER 5 MATCH (n:<label>) RETURN count(n)
