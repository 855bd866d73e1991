"""Every Cypher text that reads a mapped graph: fixed ones with all names as parameters, and the one builder of look-ups with literal names.

Only a label or property that is spelt in the text lets the server use an index or its counts. `label_query` is the one place that writes
names into a text: it takes a fixed template and names from the mapping, quoted by `quoted`, and never anything from a question.
"""

from __future__ import annotations

from graphroute.errors import ConfigurationError
from graphroute.stores.neo4j.connection import Query
from graphroute.stores.printing import in_back_ticks

# The server plans a text anew for each size of a list, so ids of elements go as one text, parted by spaces, which no such id holds.
# A node is what the first mapped label says that it has the key of. `$order`: mapped labels; `$keys`, `$access`: label to property.
_LABEL = "head([l IN $order WHERE l IN labels({n}) AND {n}[$keys[l]] IS NOT NULL])"


def _label(node: str) -> str:
    return _LABEL.replace("{n}", node)


def _readable(element: str, access: str) -> str:
    """An element with access labels is readable by a holder of one, one without by whom the mapping's default labels admit."""
    return (
        f"CASE WHEN {element}[{access}] IS NULL THEN $open ELSE any(x IN [] + {element}[{access}] WHERE x IN $held) END"
    )


def _fact(relation: str, start: str, end: str) -> str:
    """Readable relationships take the access of their own property where one is mapped; `start` and `end` are tested beside."""
    return (
        f"CASE WHEN $relations[type({relation})].access IS NULL THEN true "
        f"ELSE {_readable(relation, f'$relations[type({relation})].access')} END"
    )


def _date(side: str) -> str:
    owner = "$relations[type(r)]"
    return (
        f"CASE {owner}.of WHEN 'start' THEN left(toStringOrNull(startNode(r)[{owner}.{side}]), 64) "
        f"WHEN 'end' THEN left(toStringOrNull(endNode(r)[{owner}.{side}]), 64) "
        f"ELSE left(toStringOrNull(r[{owner}.{side}]), 64) END"
    )


_IDENTITY = (
    "CASE WHEN $relations[type(r)].key IS NOT NULL THEN left(toStringOrNull(r[$relations[type(r)].key]), 256) "
    "WHEN $relations[type(r)].parallel THEN last(split(elementId(r), ':')) END"
)
_VALUES = "[p IN $wanted | [x IN [] + {n}[p] | left(toStringOrNull(x), 1000)]]"


def _values(node: str) -> str:
    return _VALUES.replace("{n}", node)


def _level(name: str, arrow: str) -> Query:
    return Query(
        name,
        "CYPHER 5 WITH split($ends, ' ') AS ends UNWIND split($nodes, ' ') AS node MATCH (n) WHERE elementId(n) = node "
        f"MATCH (n){arrow}(m) WHERE ($loops OR elementId(m) <> node) AND (NOT $narrow OR elementId(m) IN ends) "
        "AND (NOT $typed OR any(l IN labels(m) WHERE l IN $targets)) "
        f"WITH n, r, m, {_label('n')} AS nl, {_label('m')} AS ml WHERE nl IS NOT NULL AND ml IS NOT NULL "
        f"AND {_readable('n', '$access[nl]')} AND {_readable('m', '$access[ml]')} AND {_fact('r', 'n', 'm')} "
        "RETURN nl, toString(n[$keys[nl]]), type(r), ml, toString(m[$keys[ml]]), elementId(m), "
        f"{_date('start')}, {_date('end')}, {_IDENTITY}, {_values('m')} LIMIT $limit",
    )


FORWARD = _level("mapped_forward", "-[r:$any($types)]->")
BACKWARD = _level("mapped_backward", "<-[r:$any($types)]-")

ALL_FACTS = Query(
    "mapped_all_facts",
    f"CYPHER 5 MATCH (n)-[r:$any($types)]->(m) WITH n, r, m, {_label('n')} AS nl, {_label('m')} AS ml "
    f"WHERE nl IS NOT NULL AND ml IS NOT NULL AND {_readable('n', '$access[nl]')} AND {_readable('m', '$access[ml]')} "
    f"AND {_fact('r', 'n', 'm')} RETURN nl, toString(n[$keys[nl]]), type(r), ml, toString(m[$keys[ml]]), elementId(m), "
    f"{_date('start')}, {_date('end')}, {_IDENTITY}, [] LIMIT $limit",
)

FACT_COUNTS = Query(
    "mapped_fact_counts",
    f"CYPHER 5 MATCH (n)-[r:$any($types)]->(m) WITH n, r, m, {_label('n')} AS nl, {_label('m')} AS ml "
    f"WHERE nl IS NOT NULL AND ml IS NOT NULL AND {_readable('n', '$access[nl]')} AND {_readable('m', '$access[ml]')} "
    f"AND {_fact('r', 'n', 'm')} RETURN nl, type(r), ml, count(r)",
)

RELATION = Query(
    "mapped_relation",
    "CYPHER 5 UNWIND split($pairs, ' ') AS both WITH split(both, '|') AS pair MATCH (n) WHERE elementId(n) = pair[0] "
    "MATCH (m) WHERE elementId(m) = pair[1] MATCH (n)-[r:$any($types)]->(m) "
    f"WHERE type(r) = $types[toInteger(pair[2])] WITH n, r, m, {_label('n')} AS nl, {_label('m')} AS ml "
    f"WHERE nl IS NOT NULL AND ml IS NOT NULL AND {_readable('n', '$access[nl]')} AND {_readable('m', '$access[ml]')} "
    f"AND {_fact('r', 'n', 'm')} RETURN nl, toString(n[$keys[nl]]), type(r), ml, toString(m[$keys[ml]]), elementId(m), "
    f"{_date('start')}, {_date('end')}, {_IDENTITY}, "
    "CASE WHEN $relations[type(r)].source IS NULL THEN null ELSE left(toStringOrNull(r[$relations[type(r)].source]), 300) END "
    "LIMIT $limit",
)

NODES = Query(
    "mapped_nodes",
    f"CYPHER 5 UNWIND split($nodes, ' ') AS node MATCH (n) WHERE elementId(n) = node WITH n, {_label('n')} AS nl WHERE nl IS NOT NULL "
    f"AND {_readable('n', '$access[nl]')} RETURN nl, toString(n[$keys[nl]]), {_values('n')} LIMIT $limit",
)

SCAN = Query(
    "mapped_scan",
    f"CYPHER 5 MATCH (n:$any($targets)) WITH n, {_label('n')} AS nl WHERE nl IS NOT NULL AND {_readable('n', '$access[nl]')} "
    f"RETURN nl, toString(n[$keys[nl]]), {_values('n')} LIMIT $limit",
)

DISTINCT = Query(
    "mapped_distinct",
    f"CYPHER 5 MATCH (n:$any($targets)) WITH n, {_label('n')} AS nl WHERE nl IS NOT NULL AND {_readable('n', '$access[nl]')} "
    "UNWIND [] + n[$property] AS value WITH DISTINCT left(toStringOrNull(value), 100) AS value WHERE value IS NOT NULL "
    "RETURN value LIMIT $limit",
)

RELATION_DATES = Query(
    "mapped_relation_dates",
    f"CYPHER 5 MATCH (n)-[r:$any($types)]->(m) WITH n, r, m, {_label('n')} AS nl, {_label('m')} AS ml "
    f"WHERE nl IS NOT NULL AND ml IS NOT NULL AND {_readable('n', '$access[nl]')} AND {_readable('m', '$access[ml]')} "
    f"AND {_fact('r', 'n', 'm')} WITH DISTINCT left(toStringOrNull(r[$property]), 64) AS value WHERE value IS NOT NULL "
    "RETURN value LIMIT $limit",
)

# Walks of up to `MAX_HOPS` hops from nodes, counted on the server. A row is a node with the lowest and the highest of the starts that lead to
# it, so that a hop comes back to the start only where one start alone leads there and is entered. A hop that is not asked for stays at
# its node. What a mapping's dates and attributes say is no more than text here: `tested` hops pass where the text of all of
# them is one of `accepted`, which the caller has tested.
MAX_HOPS = 4
"""Hops of one pattern that the texts can walk."""


def _id(node: str, label: str) -> str:
    return f"$ids[{label}] + replace(replace(toString({node}[$keys[{label}]]), '%', '%25'), '/', '%2F')"


_WANTED = "[p IN hop.wanted | [x IN [] + m[p] | left(toStringOrNull(x), 1000)]]"
_SAID = (
    f"reduce(t = '', x IN [{_date('start')}, {_date('end')}] | t + coalesce(toString(size(x)) + ':' + x, '-')) + "
    f"reduce(t = '', g IN {_WANTED} | t + '[' + reduce(u = '', x IN coalesce(g, []) | u + coalesce(toString(size(x)) + ':' + x, '')))"
)
"""Dates of the relationship `r` and values of `hop.wanted` of the node `m` as one text, each with its length before it."""

_EVERYTHING_SAID = (
    f"DISTINCT {_SAID} AS said, {_date('start')} AS starting, {_date('end')} AS ending, {_WANTED} AS found"
)
_ACCEPTED = f"AND (NOT hop.tested OR hop.accepted[{_SAID}])"
_LAST = "WITH n, '' AS low, '-' AS high "
"""Before a hop that may come back to a start."""


def _walked(arrow: str, tested: str) -> str:
    return (
        f"MATCH (n){arrow}(m) WHERE m <> n AND NOT (low = high AND elementId(m) = low) "
        "AND (NOT hop.narrow OR hop.ends[elementId(m)] IS NOT NULL) AND (NOT hop.typed OR any(l IN labels(m) WHERE l IN hop.targets)) "
        f"WITH r, m, {_label('m')} AS ml WHERE ml IS NOT NULL AND {_readable('m', '$access[ml]')} AND {_fact('r', 'n', 'm')} "
        f"AND (NOT hop.narrow OR hop.ends[elementId(m)] = {_id('m', 'ml')}) {tested}"
    )


def _step(place: str, tested: str, returned: str, staying: str) -> str:
    """One hop from the nodes `n`; `returned` of `r`, `m` and its label `ml`."""
    return (
        f"WITH n, low, high, pattern.hops[{place}] AS hop CALL (n, low, high, hop) {{ {staying}"
        f"WITH n WHERE hop.forward {_walked('-[r:$any(hop.types)]->', tested)} RETURN {returned} UNION ALL "
        f"WITH n WHERE hop.backward {_walked('<-[r:$any(hop.types)]-', tested)} RETURN {returned} }} "
    )


def _steps(count: int) -> str:
    """That many hops, each to distinct nodes."""
    stay = "WITH n WHERE hop IS NULL RETURN n AS m UNION ALL "
    return "".join(
        f"{_step(str(place), _ACCEPTED, 'm', stay)}WITH m AS n, min(low) AS low, max(high) AS high "
        for place in range(count)
    )


_STARTS = (
    "UNWIND split(pattern.nodes, ' ') AS node MATCH (n) WHERE elementId(n) = node "
    f"WITH n, node AS low, node AS high, {_label('n')} AS nl WHERE nl IS NOT NULL AND {_readable('n', '$access[nl]')} "
    f"AND {_id('n', 'nl')} = pattern.known[node] "
)
"""The server gives the id of a deleted element to a new one: what stands there now must be what was looked up."""

COUNT_ENDS = Query(
    "mapped_count_ends",
    f"CYPHER 5 UNWIND $asked.patterns AS pattern CALL (pattern) {{ {_STARTS}{_steps(4)}"
    f"WITH n, {_label('n')} AS nl RETURN DISTINCT {_id('n', 'nl')} AS id }} "
    "WITH id, count(*) AS met WHERE met >= $asked.needed WITH id ORDER BY id WITH collect(id) AS ids "
    "RETURN size(ids), ids[..$asked.first]",
)

TOP_ENDS = Query(
    "mapped_top_ends",
    f"CYPHER 5 UNWIND $asked.patterns AS pattern CALL (pattern) {{ {_STARTS}{_steps(3)}{_LAST}{_step('3', _ACCEPTED, 'DISTINCT m', '')}"
    f"WITH n, m, {_label('n')} AS nl, {_label('m')} AS ml WITH {_id('n', 'nl')} AS before, {_id('m', 'ml')} AS id "
    "RETURN id, count(DISTINCT before) AS size } "
    "WITH collect([id, size]) AS groups, CASE WHEN $asked.most THEN max(size) ELSE min(size) END AS top "
    "UNWIND groups AS g WITH g, top, size(groups) AS groups WHERE g[1] = top RETURN g[0], top, groups ORDER BY g[0] LIMIT $limit",
)

SAID = Query(
    "mapped_said",
    f"CYPHER 5 UNWIND $asked.patterns AS pattern CALL (pattern) {{ {_STARTS}{_steps(3)}{_LAST}"
    f"{_step('3', '', _EVERYTHING_SAID, '')}"
    "RETURN DISTINCT said, starting, ending, found LIMIT $asked.limit } RETURN said, starting, ending, found",
)

VALUES_OF = Query(
    "mapped_values_of",
    f"CYPHER 5 MATCH (n:$any($targets)) WITH n, {_label('n')} AS nl WHERE nl IS NOT NULL AND {_readable('n', '$access[nl]')} "
    f"WITH {_values('n')} AS found, {_id('n', 'nl')} AS id RETURN found, count(DISTINCT id) LIMIT $limit",
)

_NODE = (
    "RETURN elementId(n), toString(n[$keys[nl]]), [l IN labels(n) WHERE l IN $order], "
    "[name IN $names[nl] | [p IN name | left(toStringOrNull(n[p]), 300)]], "
    "[x IN [] + n[$access[nl]] | toStringOrNull(x)], "
    "CASE WHEN $sources[nl] IS NULL THEN null ELSE left(toStringOrNull(n[$sources[nl]]), 300) END LIMIT $limit"
)
NAMES = Query(
    "mapped_names",
    f"CYPHER 5 MATCH (n:$any($targets)) WITH n, {_label('n')} AS nl WHERE nl IN $targets {_NODE}",
)

NODE_ACCESS = Query(
    "mapped_node_access",
    "CYPHER 5 MATCH (n:$any($names)) UNWIND [] + n[$property] AS value WITH DISTINCT toStringOrNull(value) AS value "
    "WHERE value IS NOT NULL RETURN value LIMIT $limit",
)
RELATION_ACCESS = Query(
    "mapped_relation_access",
    "CYPHER 5 MATCH ()-[r:$any($names)]->() UNWIND [] + r[$property] AS value WITH DISTINCT toStringOrNull(value) AS value "
    "WHERE value IS NOT NULL RETURN value LIMIT $limit",
)

AT_START = (NAMES, NODE_ACCESS, RELATION_ACCESS)
"""Texts that are sent when names are read, before any question."""

QUESTION_PATH = (
    FORWARD, BACKWARD, COUNT_ENDS, TOP_ENDS, SAID, ALL_FACTS, FACT_COUNTS, RELATION, NODES, SCAN, VALUES_OF, DISTINCT, RELATION_DATES,
    NAMES, NODE_ACCESS, RELATION_ACCESS,
)  # fmt: skip
"""Fixed texts that a question or the start of a process may send, beside those of `label_query`."""

LOOKUP = (
    f"CYPHER 5 MATCH (n:<label>) WHERE n.<property> IN $values WITH n, {_label('n')} AS nl WHERE nl = $label {_NODE}"
)
COUNT_NODES = "CYPHER 5 MATCH (n:<label>) RETURN count(n)"
COUNT_RELATIONS = "CYPHER 5 MATCH ()-[r:<label>]->() RETURN count(r)"
TEMPLATES = {"mapped_lookup": LOOKUP, "mapped_count_nodes": COUNT_NODES, "mapped_count_relations": COUNT_RELATIONS}
"""Texts in which `label_query` writes a label, type or property."""


def label_query(template: str, label: str, property: str = "") -> Query:
    """A template of `TEMPLATES` with a label or type, and a property, written in."""
    text = TEMPLATES[template].replace("<label>", quoted(label))
    if "<property>" in text:
        text = text.replace("<property>", quoted(property))
    return Query(template, text)


MAX_NAME = 1_000


def quoted(name: str) -> str:
    """A name as a quoted Cypher identifier. Raises ConfigurationError for one that cannot be written safely."""
    if not name or len(name) > MAX_NAME or "\x00" in name:
        shown = name[:40] + ("..." if len(name) > 40 else "")
        raise ConfigurationError(
            f"{shown!r} cannot be the name of a label, type or property", allowed="1 to 1,000 characters, no NUL"
        )
    return in_back_ticks(name)
