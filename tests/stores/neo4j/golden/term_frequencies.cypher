CYPHER 5
UNWIND $p.searches AS search
CALL db.index.fulltext.queryNodes(search.index, search.text) YIELD node AS p
WITH search, p WHERE p.scope IN $p.scopes AND p.born <= $p.sequence AND p.died > $p.sequence AND search.term IN p.term_ids
RETURN search.term AS term, count(p) AS frequency
LIMIT $p.limit
