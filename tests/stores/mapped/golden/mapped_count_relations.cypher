CYPHER 5 MATCH ()-[r:<label>]->() RETURN count(r)
