"""Infers an ontology and a mapping from the schema of a graph that graphroute did not write, and lists what is unclear."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphroute.indexing.ontology_inference import attribute_of, infer_ontology
from graphroute.indexing.profile import DataProfile, FieldProfile, KindProfile, PredicateProfile, TypeProfile
from graphroute.ontology.lexicon import is_event, lexicon, participle_base, singular, third_person_base
from graphroute.ontology.naming import name_parts, type_nouns
from graphroute.stores.mapped.schema import GraphSchema, LabelShape, PropertyShape, TypeShape
from graphroute.stores.mapped.values import parse_date
from graphroute.text import STOP_WORDS
from graphroute.types.mapping import DateMapping, DateOwner, GraphMapping, NodeMapping, RelationMapping
from graphroute.types.ontology import AttributeType, EntityType, Ontology, RelationKind, RelationType

IsUnique = Callable[[str, str], bool]
"""Whether every node of a label has a property's value to itself."""

MAX_TEXT = 300
"""Longest value of an attribute; longer ones are texts."""

MAX_CODE = 40
"""Longest value of a property that tells nodes apart and may be a name; longer ones are hashes."""

MAX_VALUES = 200
"""Different values up to which a text attribute may filter."""

_NAMES = frozenset(
    ["name", "title", "label", "full name", "display name", "company name", "legal name", "brand", "caption", "heading",
     "имя", "название", "наименование", "фио", "заголовок", "名称", "名字", "姓名", "标题", "名"]
)  # fmt: skip
_ALIASES = frozenset(
    ["alias", "aliases", "aka", "nickname", "nick name", "short name", "synonyms", "other names", "alternative names", "code", "sku",
     "isbn", "symbol", "ticker", "abbreviation", "acronym", "login", "username", "user name", "псевдоним", "别名", "简称", "номер", "编号"]
)  # fmt: skip
_FIRST = frozenset(["first name", "given name", "forename", "имя", "名"])
_LAST = frozenset(["last name", "surname", "family name", "фамилия", "姓"])
_KEYS = (
    "id",
    "uuid",
    "guid",
    "key",
    "code",
    "number",
    "no",
    "nr",
    "ref",
    "identifier",
    "ключ",
    "ид",
    "код",
    "номер",
    "编号",
    "代码",
)
_START = frozenset(
    ["from", "start", "since", "begin", "began", "effective", "started", "joined", "с", "начало", "开始", "自"]
)
_END = frozenset(
    [
        "to",
        "until",
        "end",
        "till",
        "through",
        "expires",
        "expiry",
        "expired",
        "ended",
        "left",
        "по",
        "конец",
        "结束",
        "至",
    ]
)
_WHEN = frozenset(
    [
        "date",
        "time",
        "datetime",
        "timestamp",
        "when",
        "on",
        "at",
        "day",
        "дата",
        "время",
        "день",
        "日期",
        "时间",
        "日",
        "year",
        "год",
        "年",
    ]
)
_KEPT = frozenset(
    [
        "created",
        "updated",
        "modified",
        "inserted",
        "loaded",
        "imported",
        "ingested",
        "synced",
        "changed",
        "deleted",
        "last",
        "due",
        "required",
    ]
)
_ACCESS = frozenset(
    ["access", "access label", "access labels", "acl", "visibility", "security label", "security labels", "read access", "readers", "access level",
     "access group", "access groups", "confidentiality", "доступ", "гриф", "权限", "密级"]
)  # fmt: skip
_MAYBE_ACCESS = frozenset(
    ["classification", "tenant", "tenant id", "audience", "permissions", "groups", "roles", "sensitivity", "restricted"]
)
_SOURCE = frozenset(
    ["source", "source id", "source url", "source document", "provenance", "data source", "источник", "来源"]
)
_NO_NAMES = frozenset(
    ["phone", "fax", "email", "mail", "address", "url", "uri", "link", "photo", "picture", "image", "postal", "zip", "contact", "street", "city",
     "country", "region", "state", "notes", "note", "comment", "hash", "password", "token", "path", "file", "телефон", "адрес", "电话", "地址"]
)  # fmt: skip
_ORDERS = frozenset(["order", "purchase order", "sales order", "sale", "заказ", "订单"])
_MUTUAL = frozenset(
    ["sibling", "twin", "cousin", "neighbour", "neighbor", "colleague", "peer", "roommate", "classmate", "teammate", "ally",
     "супруг", "супруга", "друг", "сосед", "коллега", "родственник", "партнёр", "партнер", "брак",
     "配偶", "夫妻", "结婚", "朋友", "同事", "邻居", "同学", "兄弟姐妹", "合作伙伴"]
)  # fmt: skip
"""What is said of both ends of a relation alike."""
_ONE_WAY = frozenset(["know", "knows", "known", "amend", "amends", "amended", "amendment", "amending"])
"""Words for what one side does to the other, though both may be called alike."""


@dataclass(frozen=True, slots=True)
class InferredGraph:
    """`unclear`: what the user should decide, one sentence each."""

    ontology: Ontology
    mapping: GraphMapping
    unclear: tuple[str, ...]


@dataclass(slots=True)
class _Work:
    schema: GraphSchema
    nodes: dict[str, NodeMapping] = field(default_factory=dict)
    labels: dict[str, LabelShape] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)


def infer_graph(
    schema: GraphSchema, is_unique: IsUnique, *, default_labels: Sequence[str] = (), dataset: str = ""
) -> InferredGraph:
    """Ontology and mapping of a schema: equal for equal schemas. `is_unique` is asked only for properties that may be keys.

    A label without a property that identifies its nodes is left out and said.
    """
    work = _Work(schema)
    _map_nodes(work, is_unique)
    relations = _map_relations(work)
    profile = DataProfile(
        types=tuple(_type_profile(work, name) for name in work.nodes),
        predicates=tuple(_predicate_profile(work, relation) for relation in relations.values()),
    )
    ontology = infer_ontology(profile)
    types = {name: _entity_type(work, kind) for name, kind in ontology.types.items()}
    found = {name: _relation_type(work, relation, relations[name]) for name, relation in ontology.relations.items()}
    attributes = {name: _attributes(work, name, types[name]) for name in work.nodes}
    ontology = replace(
        ontology,
        types=types,
        relations=found,
        attributes={name: items for name, items in attributes.items() if items},
        titles_are_names=False,
    )
    _doubts(work, ontology, relations, default_labels)
    order = "DMY" if _day_first(schema) else "MDY"
    mapping = GraphMapping(
        nodes=work.nodes,
        relations=relations,
        default_labels=tuple(default_labels),
        date_order=order,
        dataset=dataset,
    )
    return InferredGraph(ontology, mapping, tuple(dict.fromkeys(work.unclear)))


def _words(name: str) -> str:
    return " ".join(name_parts(name)) or name.casefold().strip()


# Nodes


def _map_nodes(work: _Work, is_unique: IsUnique) -> None:
    # The label of more nodes first: it is the more general one, and a node takes its id from the first it has.
    for label in sorted(work.schema.labels.values(), key=lambda item: (-item.count, item.name)):
        key = _key(label, is_unique)
        name = label.name.strip()
        if not name or name in work.nodes:
            work.unclear.append(f"label {label.name!r} has no name of its own and is left out")
            continue
        if key is None:
            work.unclear.append(
                f"label {label.name!r}: no property identifies its {label.count} nodes, so they are left out; name one with `key`"
            )
            continue
        names = _names(label, key)
        codes = _codes(label, key, names)
        if codes:
            shown = ", whose values are shown" if not names else ""
            work.unclear.append(
                f"label {label.name!r}: {', '.join(codes)} tells its nodes apart and is taken for a name of theirs{shown}"
            )
        names = (*names, *((code,) for code in codes))
        if not names:
            work.unclear.append(
                f"label {label.name!r}: no property looks like a name; its nodes are called by their {key}"
            )
        if key not in label.indexed and key not in label.unique and label.count > 1_000:
            work.unclear.append(
                f"label {label.name!r}: no index on {key}, so that each look-up reads {label.count} nodes; create a constraint or range index"
            )
        work.nodes[name] = NodeMapping(
            name=name,
            label=label.name,
            key=key,
            names=names,
            access=_access(work, f"label {label.name!r}", label.properties),
            source=_source(label.properties),
        )
        work.labels[name] = label


def _key(label: LabelShape, is_unique: IsUnique) -> str | None:
    nouns = {_words(label.name), *type_nouns(label.name)}

    def rank(item: PropertyShape) -> tuple[int, int, str]:
        words = _words(item.name)
        owner, _, last = words.rpartition(" ")
        score = 0
        if item.name in label.unique:
            score += 100
        if words in _KEYS or words.replace(" ", "") in _KEYS:
            score += 50
        elif last in _KEYS and (owner in nouns or owner.replace(" ", "") in nouns):
            score += 60
        elif last in _KEYS[:3]:
            score += 30
        elif any(words.endswith(key) for key in ("id", "编号", "号")) and len(words) <= 20:
            score += 25
        elif words in _NAMES or last in ("name", "title"):
            score += 10
        return (-score, 0 if item.kind == "INTEGER" else 1, item.name)

    for item in sorted(label.properties.values(), key=rank):
        whole = item.count == label.sampled and set(item.kinds) <= {"INTEGER", "STRING"} and item.length <= 200
        if not whole or item.distinct < item.count or (rank(item)[0] == 0 and _date_kind(item)):
            continue
        if item.name in label.unique or label.sampled == label.count or is_unique(label.name, item.name):
            return item.name
    return None


def _names(label: LabelShape, key: str) -> tuple[tuple[str, ...], ...]:
    nouns = {_words(label.name), *type_nouns(label.name)}
    first = last = None
    scored: list[tuple[int, str]] = []
    aliases: list[str] = []
    for item in label.properties.values():
        words = _words(item.name)
        if item.kind not in ("STRING", "LIST<STRING>") or item.length > MAX_TEXT or not item.count:
            continue
        if item.kind == "LIST<STRING>":
            if words in _ALIASES:
                aliases.append(item.name)
            continue
        if words in _FIRST:
            first = first or item.name
        if words in _LAST:
            last = last or item.name
        owner, _, tail = words.rpartition(" ")
        unique = item.distinct / item.count
        if words in _ALIASES and unique >= 0.9 and item.name != key:
            aliases.append(item.name)
            continue
        if _date_kind(item) or set(words.split()) & _NO_NAMES - nouns:
            continue
        score = 0
        if words in _NAMES or re.fullmatch(r"(?:name|title) [a-z]{2}", words):
            score = 100 if unique >= 0.5 else 0
        elif tail in ("name", "title") and (owner in nouns or any(owner in noun.split() for noun in nouns)):
            score = 95 if unique >= 0.5 else 0
        elif tail in ("название", "имя", "名称", "名") or words.endswith(("名称", "名", "姓名")):
            score = 90 if unique >= 0.5 else 0
        elif tail == "name" and words not in _FIRST | _LAST:
            score = 60 if unique >= 0.8 else 0
        elif item.name == key and not _words(key).endswith(_KEYS):
            score = 70
        elif unique >= 0.9 and item.length <= 80 and item.count >= 0.9 * label.sampled and _wordy(item):
            score = 80 if owner in nouns else 40
        if score and item.count >= 0.5 * label.sampled:
            scored.append((-score, item.name))
    found: list[tuple[str, ...]] = []
    if first and last:
        found.append((first, last))
        found.append((last,))
        scored = [entry for entry in scored if entry[0] <= -90 and entry[1] not in (first, last)]
    if scored:
        scored.sort()
        best = scored[0][0]
        # A guess counts only where nothing is called a name.
        found.extend((name,) for score, name in scored if score == best or score <= -90)
    found.extend((name,) for name in aliases)
    return tuple(dict.fromkeys(found))


def _codes(label: LabelShape, key: str, names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Texts beside the key that tell nodes apart as a host name or a ticket's number does, the most name-like first: `db-01`, `INC-101`."""
    known = {part for name in names for part in name}
    nouns = {_words(label.name), *type_nouns(label.name)}
    found = []
    for item in label.properties.values():
        words = _words(item.name)
        tail = words.rpartition(" ")[2]
        if item.name == key or item.name in known or item.kind != "STRING" or set(words.split()) & _NO_NAMES - nouns:
            continue
        apart = item.distinct == item.count and item.count >= max(2, 0.9 * label.sampled)
        if not apart or item.length > MAX_CODE or _date_kind(item) or not all(map(_is_code, item.sample)):
            continue
        called = tail.endswith(("name", "имя", "名", "名称"))
        counted = tail in _KEYS or tail in _ALIASES or words.endswith(("id", "号", "代码", "номер"))
        digits = all(any(char.isdigit() for char in text) for text in item.sample)
        if called or counted or digits:
            found.append((0 if called else 1 if counted else 2, item.name))
    return tuple(name for _, name in sorted(found))


def _is_code(text: str) -> bool:
    """One word with a letter in it, and no address."""
    return len(text.split()) == 1 and any(map(str.isalpha, text)) and not re.search(r"://|@", text)


def _wordy(item: PropertyShape) -> bool:
    """Values that could be names: letters for the most part, and few words."""
    lettered = [
        text for text in item.sample if sum(char.isalpha() for char in text) >= 0.6 * max(1, len(text.replace(" ", "")))
    ]
    return len(lettered) >= 0.8 * max(1, len(item.sample)) and sum(
        len(text.split()) for text in item.sample
    ) <= 5 * len(item.sample)


def _access(work: _Work, where: str, properties: Mapping[str, PropertyShape]) -> str | None:
    for name, item in properties.items():
        words = _words(name)
        if item.kind not in ("STRING", "LIST<STRING>"):
            continue
        if words in _ACCESS:
            work.unclear.append(
                f"{where}: {name} is taken for its access labels; take `access` out of the mapping if it is none"
            )
            return name
        if words in _MAYBE_ACCESS:
            work.unclear.append(f"{where}: does {name} say who may read it? then map it as `access`")
    return None


def _source(properties: Mapping[str, PropertyShape]) -> str | None:
    return next((name for name in properties if _words(name) in _SOURCE), None)


# Dates


def _date_kind(item: PropertyShape) -> bool:
    """True for a property whose values are dates: temporal types, texts that all read as dates, numbers whose name says date and time."""
    if item.kind in ("DATE", "ZONED DATETIME", "LOCAL DATETIME"):
        return True
    parts = set(name_parts(item.name)) or {item.name}
    if item.kind == "STRING":
        texts = item.sample
        return bool(texts) and sum(_reads_as_date(text) for text in texts) >= 0.8 * len(texts)
    if item.kind == "INTEGER":
        named = parts & (_WHEN | _START | _END) or any(item.name.endswith(word) for word in ("日期", "时间"))
        return bool(named) and bool(item.sample) and all(_plausible(text) for text in item.sample)
    return False


def _reads_as_date(text: str) -> bool:
    return len(text) >= 7 and not text.isdigit() and parse_date(text) is not None


def _plausible(text: str) -> bool:
    """An integer that is a year, a day or an epoch after 1900, and no small count."""
    number = int(text) if text.lstrip("-").isdigit() else 0
    return 1800 <= number <= 2200 or 18000101 <= number <= 22001231 or 1e8 <= abs(number) <= 1e16


def _dates(properties: Mapping[str, PropertyShape]) -> list[str]:
    return [name for name, item in sorted(properties.items()) if _date_kind(item)]


def _own_date(label: LabelShape) -> str | None:
    """The property that says when a node happened: its type's own date, or the only one of an event; None for what lasts."""
    nouns = {_words(label.name), *type_nouns(label.name)}
    dates = [name for name in _dates(label.properties) if not set(name_parts(name)) & _KEPT]
    event = any(is_event(noun) for noun in nouns)
    for name in dates:
        rest = [part for part in name_parts(name) if part not in _WHEN]
        if not rest and name_parts(name) != ["year"]:
            return name
        if " ".join(rest) in nouns or any(" ".join(rest) in noun.split() for noun in nouns):
            return name
        # `loanedOn` of a Loan, `visited_at` of a Visit: the verb of the noun.
        if rest and any(_same_root(part, noun) for part in rest for noun in nouns):
            return name
    starts = [name for name in dates if set(name_parts(name)) & _START]
    if event and (starts or len(dates) == 1):
        return (starts or dates)[0]
    return None


def _same_root(form: str, noun: str) -> bool:
    base = participle_base(form) or third_person_base(form) or form
    return len(base) >= 4 and (base == noun or noun.startswith(base[: max(4, len(base) - 1)]))


def _relation_date(work: _Work, kind: TypeShape, domain: Sequence[str], range_: Sequence[str]) -> DateMapping | None:
    own = _dates(kind.properties)
    start = next((name for name in own if set(name_parts(name)) & _START), None)
    end = next((name for name in own if set(name_parts(name)) & _END and name != start), None)
    if start or end:
        return DateMapping(of=DateOwner.RELATION, start=start, end=end)
    happened = [name for name in own if not set(name_parts(name)) & _KEPT] or own
    if happened:
        return DateMapping(of=DateOwner.RELATION, start=happened[0])
    verbs = {base for part in name_parts(kind.name) if (base := participle_base(part) or third_person_base(part))}
    sides = ((DateOwner.START, domain), (DateOwner.END, range_))
    for owner, names in sides:
        if len(names) != 1 or names[0] not in work.labels:
            continue
        for name in _dates(work.labels[names[0]].properties):
            if any(participle_base(part) in verbs or part in verbs for part in name_parts(name) if part not in _WHEN):
                return DateMapping(of=owner, start=name)
    for owner, names in sides:
        if len(names) == 1 and names[0] in work.labels and (date := _own_date(work.labels[names[0]])):
            return DateMapping(of=owner, start=date)
    return None


def _day_first(schema: GraphSchema) -> bool:
    from graphroute.text.dates import infer_date_order

    values = [
        text
        for properties in (
            *(label.properties for label in schema.labels.values()),
            *(kind.properties for kind in schema.types.values()),
        )
        for item in properties.values()
        if item.kind == "STRING"
        for text in item.sample
    ]
    return infer_date_order(values) == "DMY"


# Relations


def _map_relations(work: _Work) -> dict[str, RelationMapping]:
    found: dict[str, RelationMapping] = {}
    for kind in work.schema.types.values():
        name = kind.name.strip()
        sides: tuple[dict[str, None], dict[str, None]] = ({}, {})
        lost = 0
        for ends, count in sorted(kind.ends.items(), key=lambda entry: (-entry[1], entry[0])):
            identities = [_identity(work, labels) for labels in ends]
            if None in identities:
                lost += count
                continue
            for side, identity in zip(sides, identities, strict=True):
                side.setdefault(str(identity))
        if lost:
            work.unclear.append(
                f"relationship {kind.name!r}: {lost} of {kind.sampled} end at a node that no mapped label identifies"
            )
        if not sides[0] or not name or name in found:
            continue
        domain, range_ = tuple(sides[0]), tuple(sides[1])
        key = next((prop for prop in sorted(kind.unique) if prop in kind.properties), None)
        if key is None and kind.parallel:
            key = next(
                (
                    item.name
                    for item in kind.properties.values()
                    if _words(item.name).rpartition(" ")[2] in _KEYS
                    and item.count == item.distinct >= min(kind.count, kind.sampled)
                ),
                None,
            )
        if kind.parallel and key is None:
            work.unclear.append(
                f"relationship {kind.name!r}: several join the same two nodes and no property tells them apart; their ids hold the server's own"
            )
        found[name] = RelationMapping(
            name=name,
            type=kind.name,
            domain=domain,
            range=range_,
            key=key,
            parallel=kind.parallel,
            date=_relation_date(work, kind, domain, range_),
            access=_access(work, f"relationship {kind.name!r}", kind.properties),
            source=_source(kind.properties),
        )
    return found


def _identity(work: _Work, labels: Sequence[str]) -> str | None:
    held = set(labels)
    return next((name for name, node in work.nodes.items() if node.label in held), None)


def _specific(work: _Work, kind: TypeShape, side: int) -> tuple[str, ...]:
    """Types of one side for the words of the relation: the rarest label that all nodes there have, else the rarest of each."""
    by_label = {node.label: name for name, node in work.nodes.items()}
    groups = [
        ([by_label[label] for label in ends[side] if label in by_label], count)
        for ends, count in sorted(kind.ends.items(), key=lambda entry: (-entry[1], entry[0]))
    ]
    groups = [(names, count) for names, count in groups if names]
    if not groups:
        return ()

    def rare(names: Sequence[str]) -> str:
        return min(names, key=lambda name: (work.labels[name].count, name))

    common = set.intersection(*(set(names) for names, _ in groups))
    found = (rare(sorted(common)),) if common else tuple(dict.fromkeys(rare(names) for names, _ in groups))
    return tuple(dict.fromkeys((*found, *(sub for name in found for sub in _within(work, name)))))


def _within(work: _Work, name: str) -> tuple[str, ...]:
    """Types all of whose nodes are of the type as well: the surgeons among the doctors."""
    label = work.labels[name]
    return tuple(
        other
        for other, shape in work.labels.items()
        if other != name and shape.count < label.count and shape.beside.get(label.name, 0) == shape.sampled
    )


def _type_profile(work: _Work, name: str) -> TypeProfile:
    label = work.labels[name]
    node = work.nodes[name]
    return TypeProfile(
        name=name,
        entities=label.count,
        prefix=name,
        named=label.count if node.names else 0,
        locals=label.properties[node.key].sample,
    )


def _predicate_profile(work: _Work, relation: RelationMapping) -> PredicateProfile:
    kind = work.schema.types[relation.type]
    whole = kind.sampled == kind.count
    return PredicateProfile(
        name=relation.name,
        facts=kind.count,
        domain=tuple((name, kind.count) for name in _specific(work, kind, 0) or relation.domain),
        range=tuple((name, kind.count) for name in _specific(work, kind, 1) or relation.range),
        subjects=kind.starts,
        objects=kind.finishes,
        single=1.0 if kind.starts == kind.sampled else 0.0,
        most_at_once=1 if kind.starts == kind.sampled else 2,
        several_at_once=0.0 if whole and kind.starts == kind.sampled else 1.0,
        closed=1 if relation.date and relation.date.end else 0,
        started=1.0 if relation.date and relation.date.start else 0.0,
        at_source_date=0.0,
        recorded=0.0,
        one_date=0.0,
        sampled=kind.sampled,
    )


def _entity_type(work: _Work, kind: EntityType) -> EntityType:
    display = None
    if not work.nodes[kind.name].names:
        noun = _words(kind.name)
        display = f"{noun[:1].upper()}{noun[1:]} {{local}}" if "{" not in noun and "}" not in noun else "{local}"
    return replace(kind, display=display, prefix=None)


def _mutual_nouns(relation: RelationType) -> tuple[str, ...]:
    """Nouns for either end of a relation that joins a type with itself and says the same of both: `MARRIED_TO`, `FRIEND_OF`, `同事`."""
    if set(relation.domain) != set(relation.range):
        return ()
    parts = name_parts(relation.name)
    if _ONE_WAY & set(parts):
        return ()
    frames = [one for one in lexicon().frames if one.agents and set(one.agents) == set(one.patients)]
    for part in parts:
        base = participle_base(part) or third_person_base(part) or part
        for frame in frames:
            if base in (verb.split()[0] for verb in frame.verbs) or singular(part) in frame.agents:
                return frame.agents
    return tuple(dict.fromkeys(noun for part in parts if (noun := singular(part)) in _MUTUAL))


def _relation_type(work: _Work, relation: RelationType, mapping: RelationMapping) -> RelationType:
    date = mapping.date
    if nouns := _mutual_nouns(relation):
        work.unclear.append(
            f"relation {relation.name!r} joins {relation.domain[0]} with itself and is read both ways; take `symmetric` out of the ontology if it has a direction"
        )
        relation = replace(
            relation,
            symmetric=True,
            object_nouns=tuple(dict.fromkeys((*relation.object_nouns, *nouns))),
            subject_nouns=(),
        )
    if "buy" in relation.forward and all(set(type_nouns(name)) & _ORDERS for name in relation.domain):
        # What an order holds was bought by one and sold by another.
        relation = replace(relation, forward=(*relation.forward, "sell"))
    if date is None:
        return replace(relation, kind=RelationKind.STATE)
    lasting = date.of is DateOwner.RELATION and (
        date.end is not None or bool(set(name_parts(date.start or "")) & _START)
    )
    return replace(relation, kind=RelationKind.STATE if lasting else RelationKind.EVENT)


# Attributes


def _attributes(work: _Work, name: str, owner: EntityType) -> tuple[AttributeType, ...]:
    label, node = work.labels[name], work.nodes[name]
    used = {node.key, node.access, node.source, *(prop for parts in node.names for prop in parts)}
    aliases = {parts[0] for parts in node.names if len(parts) == 1 and _words(parts[0]) in _ALIASES}
    codes = set(_codes(label, node.key, ())) & {parts[0] for parts in node.names if len(parts) == 1}
    used -= aliases | codes
    found = []
    for item in sorted(label.properties.values(), key=lambda item: item.name):
        if item.name in used or not item.name.strip():
            continue
        if item.length > MAX_TEXT:
            size = f"{item.length / 1_000_000:.0f} MB" if item.length > 1_000_000 else f"{item.length:,} characters"
            work.unclear.append(
                f"label {label.name!r}: {item.name} holds up to {size} and is left out of the attributes"
            )
            continue
        if len(item.kinds) > 1:
            kinds = ", ".join(
                f"{kind} {count}" for kind, count in sorted(item.kinds.items(), key=lambda e: (-e[1], e[0]))
            )
            work.unclear.append(
                f"label {label.name!r}: {item.name} has values of several types ({kinds}); each is read as it is"
            )
        if item.kind in ("POINT", "DURATION") or (item.kind.startswith("LIST<") and item.kind != "LIST<STRING>"):
            continue
        kind = "date" if _date_kind(item) else "number" if item.kind in ("INTEGER", "FLOAT") else "text"
        profile = FieldProfile(
            key=item.name,
            present=item.count / max(1, label.sampled),
            distinct=item.distinct,
            values=item.count,
            unique=item.distinct / max(1, item.count),
            length=float(item.length),
            kinds={kind: 1.0},
        )
        attribute = attribute_of(item.name, profile, owner, KindProfile(name="", documents=0, records=0.0, nodes=0.0))
        values = {text.casefold() for text in item.sample}
        enumerated = item.kind == "BOOLEAN" or (
            kind == "text"
            and item.name not in codes
            and item.length <= 60
            and item.distinct <= MAX_VALUES
            and not values & STOP_WORDS["en"]
        )
        nouns = attribute.nouns or ((_words(item.name),) if re.search(r"\w", _words(item.name)) else ())
        found.append(replace(attribute, nouns=nouns, enumerated=enumerated))
    return tuple(found)


# Doubts


def _doubts(
    work: _Work, ontology: Ontology, relations: Mapping[str, RelationMapping], default_labels: Sequence[str]
) -> None:
    if not default_labels:
        closed = [name for name, node in work.nodes.items() if node.access is None]
        if closed:
            which = "no label has" if len(closed) == len(work.nodes) else f"{', '.join(map(repr, closed[:6]))} lack"
            work.unclear.append(
                f"{which} an access property: everything of theirs is hidden until `default_labels` names who may read it"
            )
    for name, node in work.nodes.items():
        dates = _dates(work.labels[name].properties)
        own = _own_date(work.labels[name])
        if len(dates) > 1 and own:
            work.unclear.append(f"label {node.label!r}: of {', '.join(dates)}, {own} is taken for when it happened")
    for name, relation in relations.items():
        words = ontology.relations[name]
        known = {*lexicon().verb_forms, *lexicon().frames_by_agent, *lexicon().frames_by_patient}
        parts = [singular(part) for part in name_parts(name)]
        if not any(part in known or participle_base(part) for part in (*parts, *name_parts(name))):
            said = ", ".join((*words.forward[:2], *words.object_nouns[:2])) or "nothing"
            work.unclear.append(
                f"relation {name!r}: no word of its name is a verb or noun that is known; questions may say {said}; add others"
            )
        if relation.date is not None and relation.date.of is not DateOwner.RELATION:
            side = relation.domain if relation.date.of is DateOwner.START else relation.range
            work.unclear.append(f"relation {name!r} is dated by {relation.date.start} of its {side[0]}")
