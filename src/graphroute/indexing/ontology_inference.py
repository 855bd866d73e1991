"""Infers an ontology from a profile of the data: types, relations, words, records and identifier patterns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from graphroute.indexing.profile import (
    DataProfile,
    FieldProfile,
    KindProfile,
    PredicateProfile,
    ProfileBuilder,
    TypeProfile,
    local_part,
)
from graphroute.ontology.lexicon import (
    PREPOSITIONS,
    expand,
    is_agent,
    is_event,
    is_place,
    is_thing,
    is_time,
    lexicon,
    participle_base,
    singular,
    synonyms,
    third_person_base,
)
from graphroute.ontology.naming import (
    RelationWords,
    Side,
    abbreviates,
    field_noun,
    field_words,
    initials,
    kind_noun,
    name_parts,
    names_agent,
    of_other_time,
    relation_words,
    type_nouns,
    variants,
)
from graphroute.text import STOP_WORDS
from graphroute.types.ontology import AttributeType, EntityType, Ontology, RecordType, RelationKind, RelationType

__all__ = ["DataProfile", "ProfileBuilder", "infer_ontology", "local_part"]

MAX_PHRASES = 20
"""Phrases of one role kept for a relation; own words come first."""

_ROLES = ("forward", "inverse", "object_nouns", "subject_nouns")
_TURNED = ("inverse", "forward", "subject_nouns", "object_nouns")
_NAME_FIELDS = ("name", "title", "full name", "display name", "label")
_CODE = re.compile(r"(?P<head>[^\W\d_]{1,12})(?P<mark>[-_ #.]?)(?P<rest>[\w.()\- ]*\d[\w.()\- ]*)\Z")
_TITLE_CODE = re.compile(r"(?P<head>[A-Z]{1,8})(?P<mark>[-_])(?P<rest>\d+)(?![\w-]|\.\d)")
_RULE_CODE = re.compile(r"(?P<head>[A-Z]{2,6}) [A-Z]{0,4}\d+[A-Za-z]?(?:\.[\w()]+)+")


def infer_ontology(profile: DataProfile | ProfileBuilder) -> Ontology:
    """The ontology that a profile suggests: a pure function, equal for equal profiles.

    What it cannot know it leaves closed: a relation is `complete` only if records state it or its history has ends,
    `symmetric` never. Types and relations that only restricted sources prove are marked for the operator to confirm.
    """
    if isinstance(profile, ProfileBuilder):
        profile = profile.build()
    types = _types(profile)
    relations = _relations(profile, types)
    records = _records(profile, types, relations)
    titles_are_names = any(
        item.entities >= 3 and item.documents >= 0.9 * item.entities for item in profile.types if not item.restricted
    )
    return Ontology(
        types=types,
        relations=relations,
        attributes=_attributes(profile, types, relations, records),
        records=records,
        identifier_patterns=_title_patterns(profile),
        titles_are_names=titles_are_names,
        inferred=True,
    )


# Types


def _types(profile: DataProfile) -> dict[str, EntityType]:
    nouns = {item.name: _nouns(item, profile) for item in profile.types}
    doers = _doers(profile)
    # A type's own name is no synonym of another type.
    owners: dict[str, str] = {}
    for name in sorted(nouns):
        for noun in nouns[name][0]:
            owners.setdefault(noun, name)
    found = {}
    for item in profile.types:
        own, other = nouns[item.name]
        foreign = {noun for noun, name in owners.items() if name != item.name}
        # "which product does the recall concern" would hold the phrase "product recall" where there are products.
        words = [*own, *(noun for noun in other if not foreign & {noun, *noun.split()})]
        found[item.name] = EntityType(
            name=item.name,
            nouns=tuple(dict.fromkeys(words))[:MAX_PHRASES],
            display=_display(item),
            prefix=item.prefix if item.prefix != item.name else None,
            patterns=_id_patterns(item),
            agent=any(is_agent(noun) for noun in own) or (item.name in doers and not any(map(_no_person, own))),
            temporal=any(is_time(noun) for noun in own),
            place=any(is_place(noun) for noun in own),
            restricted=item.restricted,
        )
    return found


def _doers(profile: DataProfile) -> frozenset[str]:
    """Types of those by whom things are done (`INSPECTED_BY`), but for what causes, replaces or uses do as well."""
    found = set()
    for item in profile.predicates:
        parts = name_parts(item.name)
        verb = participle_base(parts[-2]) if len(parts) >= 2 and parts[-1] == "by" else None
        if verb is not None and verb not in lexicon().impersonal and item.range:
            found.add(item.range[0][0])
    return frozenset(found)


def _no_person(noun: str) -> bool:
    return is_thing(noun) or is_event(noun) or is_time(noun) or is_place(noun) or bool(synonyms(noun))


def _nouns(item: TypeProfile, profile: DataProfile) -> tuple[list[str], list[str]]:
    """Nouns of a type: its own (name, expanded name, what its records and ids call it) and synonyms."""
    name = re.sub(r"(?<=\D)_\d+\Z", "", item.name)
    named = type_nouns(name)
    parts = name_parts(name)
    own = [singular(phrase) for phrase in variants(parts)] if parts else [item.name.casefold()]
    other = [noun for noun in named if noun not in own]
    called = _called(item, profile)
    spelled = [noun for noun in called if abbreviates(name.casefold(), noun)]
    if spelled:
        # What records spell out wins over what an abbreviation may stand for elsewhere.
        own = [own[0], *spelled]
        other = [word for noun in spelled for word in synonyms(noun)]
    other.extend(called)
    for kind in profile.kinds:
        own_id = _id_field(kind) if kind.name and kind.nodes < 0.9 else None
        if own_id is not None and own_id.prefix == (item.prefix or item.name):
            for phrase in variants(name_parts(kind.name)):
                noun = singular(phrase)
                other.append(noun)
                other.extend(synonyms(noun))
    for word in _leading_words(item.locals):
        own.extend(variants([word]))
    if item.documents >= 0.9 * item.entities:
        other.extend(lexicon().documents)
    for noun in tuple(own):
        other.extend(initials(noun.split()))
    return list(dict.fromkeys(own)), [noun for noun in dict.fromkeys(other) if noun not in own]


def _called(item: TypeProfile, profile: DataProfile) -> list[str]:
    """What kinds of record with one document an entity, and fields whose name the type's abbreviates, call its entities."""
    found = [
        kind_noun(kind.name)
        for kind in profile.kinds
        if kind.nodes >= 0.9
        and kind.subjects
        and kind.subjects[0][0] == item.name
        and kind.subjects[0][1] >= 0.9 * kind.sampled
        and kind.entities >= max(2, 0.95 * kind.sampled)
    ]
    # "ticket comment" names a part of a ticket, "support ticket" a ticket.
    parts = tuple(" ".join(name_parts(name)) for name in (item.name, *type_nouns(item.name)))
    found = [noun for noun in found if not noun.startswith(tuple(f"{part} " for part in parts if part))]
    for predicate in profile.predicates:
        for link in predicate.links:
            side = predicate.range if link.side == "object" else predicate.domain
            noun = field_noun(link.key)
            head = noun.rpartition(" ")[2]
            if side and side[0][0] == item.name and abbreviates(item.name.casefold(), head):
                found.append(head)
    return [noun for noun in dict.fromkeys(found) if noun]


def _leading_words(locals_: Sequence[str]) -> tuple[str, ...]:
    """First words that many ids share: `sig-node`, `sig-auth`, `wg-batch` give sig and wg."""
    plain = [text for text in locals_ if re.fullmatch(r"[a-z]{2,12}(?:[-_][a-z0-9]+)+", text)]
    if len(plain) < max(5, 0.6 * len(locals_)):
        return ()
    counts = Counter(re.split(r"[-_]", text)[0] for text in plain)
    frequent = [word for word, count in sorted(counts.items()) if count >= max(3, 0.05 * len(plain))]
    if sum(counts[word] for word in frequent) < 0.6 * len(plain) or any(re.search(r"\d", text) for text in plain[:1]):
        return ()
    return tuple(sorted(frequent, key=lambda word: (-counts[word], word)))


def _display(item: TypeProfile) -> str | None:
    """A template where the id is how people call the thing; else the name is shown, and without one the local part."""
    if item.prefix and item.titles_seen >= 3 and item.titled >= 0.6 * item.titles_seen and _numeric(item.locals):
        return f"{item.prefix.upper()}-{{local}}"
    if item.named and item.locals and _shape(item.locals) is not None and not _numeric(item.locals):
        return "{local}"
    return None


def _numeric(locals_: Sequence[str]) -> bool:
    return bool(locals_) and sum(text.isascii() and text.isdigit() for text in locals_) >= 0.95 * len(locals_)


MANY_HEADS = 5
"""Different letter heads of codes in titles from which on others are expected."""


def _id_patterns(item: TypeProfile) -> tuple[str, ...]:
    patterns: list[str] = []
    if len(item.locals) >= 3:
        if _numeric(item.locals):
            if item.prefix and item.prefix.isascii() and item.prefix.isalpha() and not _weak_head(item.prefix):
                patterns.append(rf"(?i)\b{item.prefix}[- _#:]?\d+\b")
        else:
            shape = _shape(item.locals)
            if shape is not None:
                patterns.append(shape)
    if item.documents >= 0.9 * item.entities and item.titles:
        codes = [match["head"] for match in map(_RULE_CODE.match, item.titles) if match]
        heads = sorted(head for head, count in Counter(codes).items() if count >= 3)
        if heads and len(heads) <= 40 and len(codes) >= 0.4 * len(item.titles):
            patterns.append(rf"\b(?:{'|'.join(heads)}) [A-Z]{{0,4}}\d+[A-Za-z]?(?:\.\w+)*(?:\.?\(\w+\))*")
            if len(heads) >= MANY_HEADS and all(head.isupper() for head in heads):
                # So many books are hardly all there are: a dotted number after any capitals is a code too.
                longest = max(len(head) for head in heads) + 1
                patterns.append(rf"\b[A-Z]{{2,{longest}}} \d+[A-Za-z]?(?:\.\w+)+(?:\.?\(\w+\))*")
    return tuple(patterns)


def _shape(locals_: Sequence[str]) -> str | None:
    """A pattern of ids like `CHG-482`, `btxn_9f3a`, `R17`: a few letter heads, then something with a digit."""
    matches = [match for match in map(_CODE.match, locals_) if match]
    if len(matches) < max(3, 0.6 * len(locals_)):
        return None
    counts = Counter((match["head"], match["mark"]) for match in matches)
    heads = sorted(
        head for head, count in counts.items() if count >= max(3 if len(matches) > 8 else 1, 0.01 * len(matches))
    )
    covered = [match for match in matches if (match["head"], match["mark"]) in heads]
    if not heads or len(heads) > 12 or len(covered) < 0.6 * len(locals_):
        return None
    rests = [match["rest"] for match in covered]
    if all(rest.isascii() and rest.isdigit() for rest in rests):
        body = r"\d+"
    elif all(re.fullmatch(r"\d+(?:\.\d+)*", rest) for rest in rests):
        body = r"\d+(?:\.\d+)*"
    elif all(re.fullmatch(r"\w+", rest, re.ASCII) for rest in rests):
        body = r"\w*\d\w*"
    else:
        body = r"[\w.\-]*\d[\w.\-]*"
    marks = sorted({mark for _, mark in heads})
    letters = sorted({head for head, _ in heads})
    words = "|".join(letters)
    weak = any(map(_weak_head, letters))
    loose = marks == ["-"] and body == r"\d+" and not weak
    mark = "" if marks == [""] else "[- ]?" if loose else _marks(marks)
    if marks == [""] and body == r"\w*\d\w*":
        return None  # letters run into a mix of letters and digits: any word with a digit would match
    flag = "(?i)" if not weak and body == r"\d+" and marks != [""] else ""
    group = words if len(letters) == 1 else f"(?:{words})"
    # `\b` of RE2 knows ASCII letters only.
    boundary = r"\b" if words.isascii() else ""
    return rf"{flag}{boundary}{group}{mark}{body}\b"


def _weak_head(head: str) -> bool:
    """Letters before a number that may be any word: short or a function word, they count only as written (`IN-700`, not "in 700")."""
    return (len(head) <= 2 and head.isascii()) or head.casefold() in STOP_WORDS["en"] or head.casefold() in PREPOSITIONS


def _marks(marks: Sequence[str]) -> str:
    group = "".join("\\-" if mark == "-" else mark for mark in marks if mark)
    return f"[{group}]" + ("?" if "" in marks else "") if len(group) > 1 else group + ("?" if "" in marks else "")


def _title_patterns(profile: DataProfile) -> tuple[str, ...]:
    """Codes that documents' titles begin with ("CHG-482 Renew the certificate")."""
    heads: set[str] = set()
    for kind in profile.kinds:
        codes = [match["head"] for match in map(_TITLE_CODE.match, kind.titles) if match]
        if len(codes) >= max(3, 0.6 * len(kind.titles)):
            heads.update(head for head, count in Counter(codes).items() if count >= max(2, 0.05 * len(codes)))
    known = {item.prefix.upper() for item in profile.types if item.prefix and _numeric(item.locals)}
    names = sorted(head for head in heads - known if not _weak_head(head))
    return (rf"(?i)\b(?:{'|'.join(names)})[- ]?\d+\b",) if names and len(names) <= 40 else ()


# Relations


def _relations(profile: DataProfile, types: Mapping[str, EntityType]) -> dict[str, RelationType]:
    occurrences = _occurrences(profile, types)
    domains = {item.name: tuple(name for name, _ in item.domain) for item in profile.predicates}
    ranges = {item.name: tuple(name for name, _ in item.range) for item in profile.predicates}
    words = {
        item.name: relation_words(item.name, _side(domains[item.name], types), _side(ranges[item.name], types))
        for item in profile.predicates
    }
    links = _links(profile)
    for item in profile.predicates:
        _add_field_words(words[item.name], links.get(item.name, {}), domains[item.name], ranges[item.name], types)
    _drop_names_of_others(words, domains, ranges, types)
    _add_range_nouns(words, domains, ranges, types)
    _let_own_words_win(words, domains, ranges)
    found = {}
    for item in profile.predicates:
        phrases = {role: words[item.name].phrases(role)[:MAX_PHRASES] for role in _ROLES}
        agent = any(types[name].agent for name in domains[item.name] if name in types)
        event = _is_event(item, occurrences, agent)
        found[item.name] = RelationType(
            name=item.name,
            domain=domains[item.name],
            range=ranges[item.name],
            kind=RelationKind.EVENT if event else RelationKind.STATE,
            complete=item.recorded >= 0.9 or (item.closed > 0 and item.started >= 0.9),
            functional=item.subjects >= 3 and item.several_at_once <= 0.01,
            forward=phrases["forward"],
            inverse=phrases["inverse"],
            object_nouns=phrases["object_nouns"],
            subject_nouns=phrases["subject_nouns"],
            restricted=item.restricted,
        )
    return found


def _is_event(item: PredicateProfile, occurrences: frozenset[str], agent: bool) -> bool:
    """Happens at its start: never ended, nearly always dated, and of a subject that happens, or said by a verb of something
    done once ("approved by"), or of any other that does not last and is dated by a field of its record."""
    if item.closed or item.started < 0.9:
        return False
    if any(name in occurrences for name, _ in item.domain):
        return True
    verb = _deed(item.name)
    if verb is None or verb in lexicon().lasting:
        return False
    if verb in lexicon().achievements and (agent or not _timeless(item.name)):
        return True
    dated = max((count for key, count in item.date_fields if key), default=0)
    return not _timeless(item.name) and dated >= max(2, 0.9 * item.sampled)


def _timeless(name: str) -> bool:
    """In the present (`REPLACES`): of things it says how they stand, not what was done when."""
    return any(third_person_base(part) for part in name_parts(name))


def _deed(name: str) -> str | None:
    """The verb of a relation's name that says what was done: a past form, or one in the third person without preposition."""
    parts = name_parts(name)
    while len(parts) > 1 and (parts[-1] in PREPOSITIONS or parts[0] in ("was", "were", "is", "been", "has", "got")):
        parts = parts[:-1] if parts[-1] in PREPOSITIONS else parts[1:]
    attached = name_parts(name)[-1:] != parts[-1:]
    for part in (parts[-1], parts[0]) if parts else ():
        if not attached and third_person_base(part):
            return third_person_base(part)
        base = participle_base(part)
        if base is not None and base != part and not part.endswith("ing") and not third_person_base(part):
            return base
    return None


def _side(names: Sequence[str], types: Mapping[str, EntityType]) -> Side:
    members = [types[name] for name in names if name in types]
    return Side(
        nouns=tuple(dict.fromkeys(noun for item in members for noun in item.nouns)),
        agent=bool(members) and members[0].agent,
        temporal=bool(members) and members[0].temporal,
    )


def _occurrences(profile: DataProfile, types: Mapping[str, EntityType]) -> frozenset[str]:
    """Types whose entities happen at one moment: by their noun, or each fact of theirs is single, open and of its record's day."""
    by_type: dict[str, list[PredicateProfile]] = {}
    for item in profile.predicates:
        if item.domain:
            by_type.setdefault(item.domain[0][0], []).append(item)
    found = set()
    for name, items in by_type.items():
        nouns = types[name].nouns[:3] if name in types else ()
        dated = [item for item in items if item.started >= 0.9]
        closed = any(item.closed for item in items)
        if closed or not dated or any(item.one_date < 0.95 for item in dated):
            continue
        lasting = any(is_thing(noun) or is_agent(noun) or is_place(noun) for noun in nouns)
        same_day = all(item.at_source_date >= 0.9 and item.single >= 0.95 for item in dated)
        same_day = same_day and sum(item.facts for item in dated) >= 5
        if any(is_event(noun) for noun in nouns) or (same_day and not lasting):
            found.add(name)
    return frozenset(found)


def _links(profile: DataProfile) -> Mapping[str, Mapping[tuple[str, str], int]]:
    """For each predicate the fields that call an end of its facts something: (key, side) -> facts.

    A field speaks for the predicate that it states most; the name or id of a record's own entity speaks for none.
    """
    fields = {(kind.name, item.key): item for kind in profile.kinds for item in kind.fields}
    most: Counter[tuple[str, str]] = Counter()
    for predicate in profile.predicates:
        for link in predicate.links:
            most[link.kind, link.key] = max(most[link.kind, link.key], link.facts)
    found: dict[str, Counter[tuple[str, str]]] = {}
    for predicate in profile.predicates:
        counts: Counter[tuple[str, str]] = Counter()
        for link in predicate.links:
            item = fields.get((link.kind, link.key))
            own = item is not None and item.unique >= 0.95 and item.values <= 1.05 * item.distinct
            if link.side == "subject" and (own or " ".join(name_parts(link.key)) in _NAME_FIELDS):
                continue
            if 2 * link.facts >= most[link.kind, link.key] and not of_other_time(link.key):
                counts[link.key, link.side] += link.facts
        found[predicate.name] = Counter(
            {key: count for key, count in counts.items() if count >= max(2, 0.05 * predicate.sampled)}
        )
    return found


def _add_field_words(
    words: RelationWords,
    links: Mapping[tuple[str, str], int],
    domain: Sequence[str],
    range_: Sequence[str],
    types: Mapping[str, EntityType],
) -> None:
    """What records call an end of the facts: `artist: X` in the record of a work makes "artist" a noun of CREATED_BY."""
    ends = {"object": (domain, range_), "subject": (range_, domain)}
    for (key, side), _ in sorted(links.items(), key=lambda entry: (-entry[1], entry[0])):
        near, far = (_side(names, types) for names in ends[side])
        noun = field_noun(key)
        if any(noun in item.nouns or " ".join(name_parts(key)) in item.nouns for item in types.values()):
            continue  # the name of a type says what the entity is, not which relation leads to it
        found = field_words(key, near, far)
        for role, turned in zip(_ROLES, _ROLES if side == "object" else _TURNED, strict=True):
            words.add(turned, *found.own.get(role, ()), own=True)
            words.add(turned, *found.other.get(role, ()))


def _drop_names_of_others(
    words: Mapping[str, RelationWords],
    domains: Mapping[str, Sequence[str]],
    ranges: Mapping[str, Sequence[str]],
    types: Mapping[str, EntityType],
) -> None:
    """A noun from the lexicon that is the very name of a type does not name an end of another type."""
    owners: dict[str, set[str]] = {}
    for name in types:
        for noun in (*types[name].nouns, *variants(name_parts(name))):
            owners.setdefault(noun, set()).add(name)
    for name in sorted(words):
        for role, side in (("object_nouns", ranges[name]), ("subject_nouns", domains[name])):
            group = words[name].other.get(role, {})
            for noun in [noun for noun in group if noun in owners and not owners[noun] & set(side)]:
                del group[noun]


def _add_range_nouns(
    words: Mapping[str, RelationWords],
    domains: Mapping[str, Sequence[str]],
    ranges: Mapping[str, Sequence[str]],
    types: Mapping[str, EntityType],
) -> None:
    """The nouns of the range name the object where no other relation joins the two types."""
    joins: Counter[tuple[str, str]] = Counter()
    for name in words:
        joins.update((source, target) for source in domains[name] for target in ranges[name])
    for name in sorted(words):
        if len(domains[name]) == len(ranges[name]) == 1 and domains[name] != ranges[name]:
            pair = (domains[name][0], ranges[name][0])
            if joins[pair] == 1 and pair[1] in types:
                words[name].add("object_nouns", *types[pair[1]].nouns)


def _let_own_words_win(
    words: Mapping[str, RelationWords], domains: Mapping[str, Sequence[str]], ranges: Mapping[str, Sequence[str]]
) -> None:
    """A synonym is dropped where another relation between like types has the phrase from its own name."""
    for name in sorted(words):
        for other in sorted(words):
            alike = set(domains[name]) & set(domains[other]) and set(ranges[name]) & set(ranges[other])
            ends = ((*domains[name], *ranges[name]), (*domains[other], *ranges[other]))
            if other == name or not set(ends[0]) & set(ends[1]):
                continue
            taken = {phrase for role in _ROLES for phrase in words[other].own.get(role, ())}
            for role in _ROLES:
                group = words[name].other.get(role, {})
                # Where only one end is alike, types tell synonyms apart unless the word is a noun as well as a verb.
                for phrase in [phrase for phrase in group if phrase in taken and (alike or names_agent(phrase))]:
                    if phrase not in words[name].own.get(role, ()):
                        del group[phrase]


# Records


def _id_field(kind: KindProfile) -> FieldProfile | None:
    """The field that holds the id of the record's own entity: unique, known, and best one that the document's id repeats."""
    titles = set(name_parts(kind.name))

    def rank(item: FieldProfile) -> tuple[float, int, str]:
        return (-item.in_id, len(set(name_parts(item.key)) - titles - {"id", "key", "number", "no", "code"}), item.key)

    found = [
        item
        for item in kind.fields
        if item.prefix
        and item.unique >= 0.98
        and item.present >= 0.95
        and item.refers >= (0.5 if item.in_id >= 0.95 else 0.9)
    ]
    best = min(found, key=rank, default=None)
    if best is not None and kind.documents < 3 and best.in_id < 0.95:
        return None  # two documents say little about which of their ids is their own
    return best


def _records(
    profile: DataProfile, types: Mapping[str, EntityType], relations: Mapping[str, RelationType]
) -> tuple[RecordType, ...]:
    dated = [item.name for item in profile.predicates if item.started >= 0.9]
    spoken = {name: {*relations[name].forward[:1], *relations[name].inverse[:1]} for name in dated}
    deeds = frozenset(verb for name in dated if (verb := _deed(name)) is not None and verb in spoken[name])
    by_prefix = {item.prefix or item.name: item.name for item in profile.types}
    found = []
    for kind in profile.kinds:
        if kind.records < 0.8 or not kind.fields:
            continue
        type_name = id_field = None
        own = _id_field(kind) if kind.nodes < 0.9 else None
        if own is not None and own.prefix in by_prefix:
            type_name, id_field = by_prefix[own.prefix or ""], own.key
        about = type_name or (kind.subjects[0][0] if kind.subjects else None)
        found.append(
            RecordType(
                kind=kind.name,
                type=type_name,
                id_field=id_field,
                names=_name_fields(kind, types.get(about or "")),
                attributes=_attribute_keys(kind, deeds),
                date_order="DMY" if kind.day_first > kind.month_first else "MDY",
            )
        )
    return tuple(found)


def _attribute_keys(kind: KindProfile, deeds: frozenset[str]) -> dict[str, str]:
    """All fields under their own keys, but for dates that say no more than the verb of a relation ("donated_on").

    "When was it donated" asks for a fact of the relation, which says by whom as well; the field becomes its "donation date".
    """
    keys = {"*": "*"}
    for item in kind.fields:
        parts = [part for part in name_parts(item.key) if part not in ("at", "on", "date")]
        verb = participle_base(parts[0]) if len(parts) == 1 else None
        if verb in deeds and verb != parts[0] and item.kinds.get("date", 0.0) >= 0.8:
            action = next((noun for noun, of in sorted(lexicon().actions.items()) if of == verb), verb)
            keys[item.key] = f"{action} date"
    return keys


def _name_fields(kind: KindProfile, about: EntityType | None) -> tuple[str, ...]:
    """Fields that name the record's entity: name or title; a full or company name only of people and organisations."""
    nouns = set(about.nouns) if about else set()
    agent = about is not None and about.agent
    found = []
    for item in kind.fields:
        words = " ".join(name_parts(item.key))
        owner, _, last = words.rpartition(" ")
        named = words in _NAME_FIELDS[:2] or words in ("display name", "label")
        named = named or (words in ("full name", "company name", "legal name") and agent)
        named = named or (last in ("name", "title") and expand(owner) in nouns)
        if named and item.present >= 0.8 and item.unique >= 0.8 and item.length <= 150 and item.refers < 0.5:
            found.append(item.key)
    return tuple(sorted(found, key=lambda key: (len(name_parts(key)), key)))


SENTENCE = 4
"""So many words before a colon, found in one document only, begin a sentence and name no field."""


def _attributes(
    profile: DataProfile,
    types: Mapping[str, EntityType],
    relations: Mapping[str, RelationType],
    records: Iterable[RecordType],
) -> dict[str, tuple[AttributeType, ...]]:
    kinds = {kind.name: kind for kind in profile.kinds}
    found: dict[str, dict[str, AttributeType]] = {}
    for record in records:
        kind = kinds[record.kind]
        about = record.type or (kind.subjects[0][0] if kind.subjects else None)
        if about not in types or about is None:
            continue
        related = _relation_nouns(about, relations)
        for item in kind.fields:
            words = " ".join(name_parts(item.key))
            if (
                item.key == record.id_field
                or item.key in record.names
                or item.refers >= 0.5
                or item.stated >= 0.5
                or item.length > 300
                or not words
                or (item.values == 1 and len(words.split()) >= SENTENCE)
                or singular(words) in related
                or item.key in relations
            ):
                continue
            key = record.attributes.get(item.key, item.key)
            attribute = attribute_of(key, item, types[about], kind)
            before = found.setdefault(about, {}).get(key)
            if before is not None:
                nouns = tuple(dict.fromkeys((*before.nouns, *attribute.nouns)))
                attribute = AttributeType(
                    key=key,
                    nouns=nouns,
                    kind=before.kind if before.kind == attribute.kind else "text",
                    enumerated=before.enumerated or attribute.enumerated,
                )
            found[about][key] = attribute
    return {name: tuple(items[key] for key in sorted(items)) for name, items in sorted(found.items()) if items}


def _relation_nouns(about: str, relations: Mapping[str, RelationType]) -> frozenset[str]:
    return frozenset(
        phrase
        for relation in relations.values()
        if about in relation.domain
        for phrase in (*relation.object_nouns[:3], " ".join(name_parts(relation.name)))
    )


def attribute_of(key: str, item: FieldProfile, owner: EntityType, kind: KindProfile) -> AttributeType:
    """A field or property as an attribute of a type, with the nouns that its name gives."""
    parts = [part for part in name_parts(key) if part not in ("at", "on")] or name_parts(key)
    value_kind = max(("text", "number", "date"), key=lambda name: item.kinds.get(name, 0.0))
    if item.kinds.get(value_kind, 0.0) < 0.8:
        value_kind = "text"
    nouns: dict[str, None] = {}
    for phrase in variants(parts):
        nouns.setdefault(singular(phrase))
    if value_kind == "number" and len(parts) > 1 and parts[-1] in lexicon().units:
        # The unit is no part of the noun: "dosage_mg".
        parts = parts[:-1]
        for phrase in variants(parts):
            nouns.setdefault(singular(phrase))
    context = {word for noun in owner.nouns for word in noun.split()} | set(name_parts(kind.name))
    rest = list(parts)
    while len(rest) > 1 and (rest[0] in context or expand(rest[0]) in context):
        rest = rest[1:]
        for phrase in variants(rest):
            nouns.setdefault(singular(phrase))
    for noun in tuple(nouns):
        if not is_time(noun):
            for other in synonyms(noun):
                nouns.setdefault(other)
    if value_kind == "date" and key != item.key:
        # The base form: with it the past form means the relation as well.
        nouns.setdefault(next((verb for verb in map(participle_base, name_parts(item.key)) if verb), key))
    elif value_kind == "date":
        for part in parts:
            verb = lexicon().actions.get(part) or lexicon().verb_forms.get(part)
            if verb is not None and part not in ("date", "time"):
                nouns.setdefault(f"{verb} date")
                nouns.setdefault(verb)
    for noun in owner.nouns:
        nouns.pop(noun, None)
    enumerated = (
        value_kind == "text" and item.length <= 40 and item.distinct <= 60 and item.values >= max(6, 3 * item.distinct)
    )
    return AttributeType(key=key, nouns=tuple(nouns)[:12], kind=value_kind, enumerated=enumerated)
