"""The conditions usable under `when:` in a routes file: what each name means, and the language that joins them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from graphroute.errors import ConfigurationError
from graphroute.strict_yaml import suggest
from graphroute.text import fold
from graphroute.types.query import Cue, Mention, Operation, ParsedQuery, RelationCue

MAX_LENGTH = 1_000
"""Characters of a condition."""
MAX_NESTING = 20
"""Depth of parentheses and `not` in a condition."""

Features = Mapping[str, int | bool]

# "Related to" and "about" admit any result, so they do not make a question relational.
NON_RESTRICTING = frozenset(
    fold(phrase)
    for phrase in (
        "about",
        "associated",
        "associated with",
        "concerning",
        "connected",
        "connected to",
        "connected with",
        "linked",
        "linked to",
        "regarding",
        "relate",
        "relate to",
        "related",
        "related to",
        "relates to",
        "relevant to",
        "similar",
        "similar to",
        "о",
        "об",
        "про",
        "похож",
        "похожий на",
        "связан",
        "связан с",
        "связанный",
        "связанный с",
        "касается",
        "относится к",
        "关于",
        "有关",
        "相关",
        "类似",
        "与",
    )
)


@dataclass(frozen=True, slots=True)
class Feature:
    """A name of the language: `number` tells how it is used, `meaning` is its documentation."""

    number: bool
    meaning: str
    compute: Callable[[ParsedQuery], int | bool]


def _quoted(cue: Cue, query: ParsedQuery) -> bool:
    return any(quote.start <= cue.start and cue.end <= quote.end for quote in query.quotes)


def _negated(cue: Cue, query: ParsedQuery) -> bool:
    if cue.value.startswith("not:"):
        return True
    for negation in query.negations:
        if negation.start <= cue.start and cue.end <= negation.end:
            return True
        if negation.end <= cue.start and not query.text[negation.end : cue.start].strip():
            return True
    return False


def _asserted(cues: Sequence[Cue], query: ParsedQuery) -> list[Cue]:
    """Cues that are neither inside a quotation nor under a negation."""
    return [cue for cue in cues if not _quoted(cue, query) and not _negated(cue, query)]


def restricting_relations(query: ParsedQuery) -> tuple[RelationCue, ...]:
    """The relation words that restrict the admissible result: not quoted, and not of the "related to" sort."""
    return tuple(
        relation
        for relation in query.relations
        if relation.options
        and not _quoted(relation.cue, query)
        and fold(relation.cue.text or query.text[relation.cue.start : relation.cue.end]) not in NON_RESTRICTING
    )


def exact_identifiers(query: ParsedQuery) -> tuple[Mention, ...]:
    """Identifiers given whole. One that only matches as a part of longer ids is not exact."""
    return tuple(
        mention
        for mention in query.identifiers
        if not mention.candidates or any(candidate.via != "fragment" for candidate in mention.candidates)
    )


def resolved_mentions(query: ParsedQuery) -> tuple[Mention, ...]:
    """Identifiers and names for which at least one entity was found, one per place, in order."""
    found: dict[tuple[int, int], Mention] = {}
    for mention in chain(query.identifiers, query.mentions):
        if mention.candidates and mention.strong:
            found.setdefault((mention.cue.start, mention.cue.end), mention)
    return tuple(found[place] for place in sorted(found))


def _aggregates(query: ParsedQuery, *operations: Operation) -> bool:
    wanted = {operation.value for operation in operations}
    return any(cue.value in wanted for cue in _asserted(query.aggregations, query))


def _hops(query: ParsedQuery) -> int:
    return max((len(branch.hops) for branch in query.readings[0].branches), default=0) if query.readings else 0


def _anchors(query: ParsedQuery) -> int:
    if not query.readings:
        return 0
    return len({anchor for branch in query.readings[0].branches for anchor in branch.anchors})


FEATURES: Mapping[str, Feature] = {
    "has_exact_id": Feature(
        False, "a whole identifier (ticket, article or part number) is given", lambda q: bool(exact_identifiers(q))
    ),
    "id_count": Feature(True, "whole identifiers given", lambda q: len(exact_identifiers(q))),
    "entity_count": Feature(
        True, "names and identifiers for which an entity was found", lambda q: len(resolved_mentions(q))
    ),
    "ambiguous_count": Feature(
        True, "names that several entities share", lambda q: sum(m.ambiguous for m in resolved_mentions(q))
    ),
    "unresolved_count": Feature(True, "names for which nothing was found", lambda q: len(q.unresolved)),
    "relation_count": Feature(
        True,
        'relation words that restrict the result; "related to" and "about" do not count',
        lambda q: len(restricting_relations(q)),
    ),
    "type_count": Feature(True, "words that name a type of entity", lambda q: len(_asserted(q.types, q))),
    "attribute_count": Feature(True, "words that name an attribute", lambda q: len(_asserted(q.attributes, q))),
    "value_count": Feature(True, "words that are a value of an attribute", lambda q: len(_asserted(q.values, q))),
    "date_count": Feature(True, "dates and ranges of dates", lambda q: len(q.dates)),
    "corpus_scope": Feature(
        False,
        "the question is about the whole corpus (overall, themes, across all)",
        lambda q: bool(_asserted(q.scope, q)),
    ),
    "asks_for_aggregation": Feature(
        False,
        "a count, a list, an extreme or a comparison is asked for, not quoted and not negated",
        lambda q: bool(_asserted(q.aggregations, q)),
    ),
    "asks_for_count": Feature(False, "a number of things is asked for", lambda q: _aggregates(q, Operation.COUNT)),
    "asks_for_list": Feature(False, "all of some things are asked for", lambda q: _aggregates(q, Operation.LIST)),
    "asks_for_extreme": Feature(
        False,
        "the first, last, most or least is asked for",
        lambda q: _aggregates(q, Operation.FIRST, Operation.LAST, Operation.MOST, Operation.LEAST),
    ),
    "has_reading": Feature(False, "the question can be read as a query over facts", lambda q: bool(q.readings)),
    "reading_cost": Feature(
        True,
        "cost of the best such reading, rounded up; 0 without one",
        lambda q: int(-(-q.readings[0].cost // 1)) if q.readings else 0,
    ),
    "reading_hops": Feature(True, "facts in the longest branch of the best reading", _hops),
    "reading_anchors": Feature(True, "entities the best reading starts from", _anchors),
    "unexplained_count": Feature(
        True,
        "content words that the best reading leaves out; 0 without one",
        lambda q: len(q.readings[0].unexplained) if q.readings else 0,
    ),
    "is_definition": Feature(
        False,
        "the meaning of something is asked for",
        lambda q: q.question is not None and q.question.value == "definition",
    ),
    "quoted": Feature(False, "a part of the question is quoted", lambda q: bool(q.quotes)),
    "negated": Feature(False, "a part of the question is negated", lambda q: bool(q.negations)),
    "question_words": Feature(True, "words of the question, split at spaces", lambda q: len(q.text.split())),
}
"""Every name usable in a condition, with its meaning."""


def features(query: ParsedQuery) -> dict[str, int | bool]:
    """The value of every condition name for a question, in the order of `FEATURES`."""
    return {name: feature.compute(query) for name, feature in FEATURES.items()}


@dataclass(frozen=True, slots=True)
class Flag:
    """A yes-or-no name."""

    name: str

    def evaluate(self, values: Features) -> bool:
        """True if the condition holds."""
        return bool(values[self.name])

    def failures(self, values: Features) -> list[str]:
        """The parts that make the condition false; empty if it holds."""
        return [] if values[self.name] else [f"{self.name} is false"]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Comparison:
    """A number compared with a number; each side is a name or a whole number."""

    left: str | int
    operator: str
    right: str | int

    def evaluate(self, values: Features) -> bool:
        """True if the condition holds."""
        left, right = self._side(self.left, values), self._side(self.right, values)
        return _OPERATORS[self.operator](left, right)

    def failures(self, values: Features) -> list[str]:
        """The parts that make the condition false; empty if it holds."""
        if self.evaluate(values):
            return []
        names = dict.fromkeys(side for side in (self.left, self.right) if isinstance(side, str))
        found = ", ".join(f"{name} is {int(values[name])}" for name in names)
        return [f"{self} ({found})" if found else str(self)]

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"

    @staticmethod
    def _side(side: str | int, values: Features) -> int:
        return int(values[side]) if isinstance(side, str) else side


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    part: Condition

    def evaluate(self, values: Features) -> bool:
        """True if the condition holds."""
        return not self.part.evaluate(values)

    def failures(self, values: Features) -> list[str]:
        """The parts that make the condition false; empty if it holds."""
        if not self.part.evaluate(values):
            return []
        return [f"{self.part.name} is true" if isinstance(self.part, Flag) else f"{self} is false"]

    def __str__(self) -> str:
        return f"not {_wrap(self.part, And, Or)}"


@dataclass(frozen=True, slots=True)
class And:
    """All parts."""

    parts: tuple[Condition, ...]

    def evaluate(self, values: Features) -> bool:
        """True if the condition holds."""
        return all(part.evaluate(values) for part in self.parts)

    def failures(self, values: Features) -> list[str]:
        """The parts that make the condition false; empty if it holds."""
        return [text for part in self.parts for text in part.failures(values)]

    def __str__(self) -> str:
        return " and ".join(_wrap(part, And, Or) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part."""

    parts: tuple[Condition, ...]

    def evaluate(self, values: Features) -> bool:
        """True if the condition holds."""
        return any(part.evaluate(values) for part in self.parts)

    def failures(self, values: Features) -> list[str]:
        """The parts that make the condition false; empty if it holds."""
        return [] if self.evaluate(values) else [text for part in self.parts for text in part.failures(values)]

    def __str__(self) -> str:
        return " or ".join(_wrap(part, Or) for part in self.parts)


Condition = Flag | Comparison | Not | And | Or
"""A parsed condition. `str(condition)` is its canonical spelling and parses to an equal one."""

_OPERATORS: Mapping[str, Callable[[int, int], bool]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
}
_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9]+)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>>=|<=|==|!=|>|<|\(|\)))")
_WORDS = frozenset({"and", "or", "not"})


def _wrap(part: Condition, *loose: type[Condition]) -> str:
    return f"({part})" if isinstance(part, loose) else str(part)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int


def parse_condition(text: str) -> Condition:
    """Parses a condition by this grammar, with `not` binding tighter than `and`, and `and` tighter than `or`:

        condition  = conjunction { "or" conjunction }
        conjunction = negation { "and" negation }
        negation   = "not" negation | "(" condition ")" | flag | number comparator number
        comparator = ">=" | "<=" | "==" | "!=" | ">" | "<"
        number     = a numeric name of FEATURES | digits

    Raises ConfigurationError with the column (from 1), what was found and, for an unknown name, the nearest known one.
    """
    if len(text) > MAX_LENGTH:
        raise ConfigurationError(f"the condition has {len(text)} characters", allowed=f"at most {MAX_LENGTH}")
    return _Parser(text).parse()


def names_of(condition: Condition) -> Iterator[str]:
    """Every name a condition uses."""
    if isinstance(condition, Flag):
        yield condition.name
    elif isinstance(condition, Comparison):
        yield from (side for side in (condition.left, condition.right) if isinstance(side, str))
    elif isinstance(condition, Not):
        yield from names_of(condition.part)
    else:
        for part in condition.parts:
            yield from names_of(part)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def parse(self) -> Condition:
        condition = self._or()
        if self._peek.kind != "end":
            raise self._unexpected("'and', 'or' or the end of the condition")
        return condition

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _accept(self, text: str) -> bool:
        if self._peek.kind != "end" and self._peek.text == text:
            self._next += 1
            return True
        return False

    def _or(self) -> Condition:
        parts = [self._and()]
        while self._accept("or"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else Or(_flat(parts, Or))

    def _and(self) -> Condition:
        parts = [self._not()]
        while self._accept("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else And(_flat(parts, And))

    def _not(self) -> Condition:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise _error(self._peek.position, f"nested more than {MAX_NESTING} levels deep")
        try:
            if self._accept("not"):
                return Not(self._not())
            if self._accept("("):
                inner = self._or()
                if not self._accept(")"):
                    raise self._unexpected("')'")
                return inner
            return self._test()
        finally:
            self._depth -= 1

    def _test(self) -> Condition:
        token = self._peek
        left = self._operand()
        if self._peek.text not in _OPERATORS:
            if isinstance(left, int):
                raise _error(token.position, f"the number {left} alone says nothing", hint="compare it with a name")
            if FEATURES[left].number:
                raise _error(token.position, f"{left} is a number", hint=f"compare it, as in '{left} >= 1'")
            return Flag(left)
        operator = self._take()
        right_token = self._peek
        right = self._operand()
        for side, place in ((left, token), (right, right_token)):
            if isinstance(side, str) and not FEATURES[side].number:
                raise _error(place.position, f"{side} is yes or no", hint=f"write '{side}' or 'not {side}'")
        if isinstance(left, int) and isinstance(right, int):
            raise _error(token.position, "two numbers are compared", hint="compare with a name")
        if self._peek.text in _OPERATORS:
            raise _error(self._peek.position, "comparisons cannot be chained", hint="join them with 'and'")
        return Comparison(left, operator.text, right)

    def _operand(self) -> str | int:
        token = self._peek
        if token.kind == "number":
            self._take()
            if len(token.text) > 9:
                raise _error(
                    token.position, f"the number {token.text[:12]}... is too large", allowed="at most 9 digits"
                )
            return int(token.text)
        if token.kind == "word" and token.text not in _WORDS:
            self._take()
            if token.text not in FEATURES:
                raise _error(token.position, f"unknown condition {token.text!r}", hint=suggest(token.text, FEATURES))
            return token.text
        raise self._unexpected("a condition name, a number, 'not' or '('")

    def _unexpected(self, allowed: str) -> ConfigurationError:
        token = self._peek
        found = "the condition ends here" if token.kind == "end" else f"{token.text!r} is out of place"
        return _error(token.position, found, allowed=allowed)


def _flat(parts: Sequence[Condition], kind: type[And] | type[Or]) -> tuple[Condition, ...]:
    found: list[Condition] = []
    for part in parts:
        if isinstance(part, And | Or) and isinstance(part, kind):
            found.extend(part.parts)
        else:
            found.append(part)
    return tuple(found)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if not match or not match.lastgroup:
            start = position + len(text[position:]) - len(text[position:].lstrip())
            raise _error(
                start,
                f"{text[start]!r} is not part of the language",
                allowed="names, whole numbers, and, or, not, ( ), >= > <= < == !=",
            )
        yield _Token(match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup))
        position = match.end()
    yield _Token("end", "", len(text))


def _error(position: int, message: str, *, allowed: str | None = None, hint: str | None = None) -> ConfigurationError:
    return ConfigurationError(f"{message} at character {position + 1} of the condition", allowed=allowed, hint=hint)
