// every inc
// asks: count inc[severity=critical]
:param p => {sequence: 7, scopes: [1, 2], anchors0: ['inc'], value_0: {key: 'severity', text: 'critical'}};
CYPHER 5
MATCH (y:EntityType)
WHERE y.type IN $p.anchors0 AND y.born <= $p.sequence AND y.died > $p.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $p.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $p.sequence AND w.died > $p.sequence AND w.scope IN $p.scopes
      }
    ))
WITH DISTINCT y.entity AS answer
WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $p.sequence AND x.died > $p.sequence AND x.scope IN $p.scopes }
WITH * WHERE EXISTS { MATCH (t:Attribute) WHERE t.key = $p.value_0.key AND t.entity = answer AND t.born <= $p.sequence AND t.died > $p.sequence AND t.scope IN $p.scopes AND t.folded = $p.value_0.text }
RETURN count(DISTINCT answer) AS answers
LIMIT 40;
