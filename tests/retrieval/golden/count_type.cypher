// every inc
// asks: count inc[severity=critical]
:param p => {anchors0: ['inc'], value_0: {key: 'severity', text: 'critical'}};
CYPHER 5
MATCH (y:EntityType)
WHERE y.type IN $p.anchors0 AND y.born <= $view.sequence AND y.died > $view.sequence AND (y.basis = 0 OR (
      (y.scope = 0 OR y.scope IN $view.scopes) AND NOT EXISTS {
        MATCH (w:EntityType) USING INDEX SEEK w:EntityType(entity) WHERE w.entity = y.entity AND w.basis < y.basis AND w.born <= $view.sequence AND w.died > $view.sequence AND w.scope IN $view.scopes
      }
    ))
WITH DISTINCT y.entity AS answer
WITH answer WHERE EXISTS { MATCH (x:EntityScope) WHERE x.entity = answer AND x.born <= $view.sequence AND x.died > $view.sequence AND x.scope IN $view.scopes }
WITH * WHERE EXISTS { MATCH (t:Attribute) WHERE t.key = $p.value_0.key AND t.entity = answer AND t.born <= $view.sequence AND t.died > $view.sequence AND t.scope IN $view.scopes AND t.folded = $p.value_0.text }
RETURN count(DISTINCT answer) AS answers
LIMIT 40;
