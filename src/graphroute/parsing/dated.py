"""Where the dates of a question belong: to the facts of a reading, or to an attribute of something on its way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphroute.ontology.lexicon import is_event
from graphroute.parsing.lexing import word_set
from graphroute.parsing.relations import WordCue
from graphroute.parsing.tokens import Token
from graphroute.parsing.vocabulary import word_bases
from graphroute.text import alias_key
from graphroute.types.graph import AttributeFilter
from graphroute.types.ontology import AttributeType, Ontology
from graphroute.types.query import DateConstraint
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Interval, format_instant

_APPEARING = word_set(
    "release publish issue premiere air launch выпуск издание публикация премьера выход 发布 发行 上映 出版 首映 首播"
)
"""What the date is called on which a work appears: whoever had a part in it had it then."""
_MAKING = word_set(
    "direct write act star appear play perform produce publish release create author compose film record make draw illustrate design "
    "develop edit translate sing paint shoot narrate написать снять снимать сыграть играть издать выпустить создать поставить "
    "перевести нарисовать спеть сняться 写 著 创作 导演 执导 拍摄 出演 主演 饰演 制作 出版 发行 发布 翻译 演唱 画"
)
"""Verbs by which a work comes about."""
_HAPPENING = word_set(
    "open file submit sign order place raise report record date occur happen start begin issue create make publish "
    "дата открытие создание 创建 开立 日期 时间"
)
"""What the date of an event is called."""
_KEEPING = word_set(
    "own hold possess keep have lead head manage administer supervise oversee run serve depend rely require need use "
    "belong contain include locate host work live employ be sit lie support"
)
"""Verbs of states, which begin and end at other times than the event they are said of."""
_PLAIN = word_set("date year at on time day дата год день 日期 年 时间")
_YEAR = re.compile(r"(?:^|[\s_])(?:year|год|年)$|年$")
_DEAR = re.compile(r"(?:expensive|costl\w+|pric\w+|dear\w*|cheap\w*|дорог\w*|дорож\w*|деш[её]в\w*)|[贵宜]")
_PRICES = word_set("price cost rate fee цена стоимость 价格 单价 价")


@dataclass(frozen=True, slots=True)
class DatedStep:
    """One hop: its relation, the types it reaches and the index of the word that names it."""

    predicate: str
    types: tuple[str, ...]
    cue: int | None


@dataclass(frozen=True, slots=True)
class Placed:
    """The test that the dates became, on the "target", the "start" or the node behind `hop` (branch, place).

    `rest`: dates that are left for the facts. Without a test the facts carry the dates, or nothing does (`nowhere`).
    """

    test: AttributeFilter | None = None
    where: str = ""
    hop: tuple[int, int] = (0, 0)
    nowhere: bool = False
    rest: tuple[DateConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class _Node:
    where: str
    hop: tuple[int, int]
    types: frozenset[str]
    predicates: frozenset[int]
    """Words that name the hops at it."""
    relations: frozenset[str]


class Placing:
    """Finds the attribute that a date belongs to. Built once per ontology."""

    def __init__(self, ontology: Ontology, undated: frozenset[str] | None) -> None:
        self._ontology = ontology
        self._undated = undated
        self._dates = {
            name: tuple(one for one in attributes if one.kind == "date")
            for name, attributes in ontology.attributes.items()
        }

    @property
    def known(self) -> bool:
        """It is known which relations have dates."""
        return self._undated is not None

    def place(
        self,
        words: Sequence[WordCue],
        dates: Sequence[DateConstraint],
        interval: Interval,
        branches: Sequence[Sequence[DatedStep]],
        start_types: tuple[str, ...],
        target: frozenset[str],
        *,
        apart: bool = False,
    ) -> Placed:
        """Where the interval belongs. `start_types`: of everything that the walk starts from; empty where it starts from what is named.

        To the date that a word of the question names ("released"), if something on the way has it; else to the facts; where it is known that
        none of them has a date, to the one thing on the way whose date of origin the verb shares ("films directed after 2012").
        """
        nodes = list(self._nodes(branches, start_types, target))
        used = {step.cue for steps in branches for step in steps if step.cue is not None}
        steps = [step for branch in branches for step in branch]
        factual = bool(steps) and (self._undated is None or any(step.predicate not in self._undated for step in steps))
        named = self._named(words, dates, nodes, used, interval, apart=apart)
        if named is not None:
            return replace(named, nowhere=bool(named.rest) and not factual)
        if factual:
            return Placed()
        fitting = [(node, key) for node in nodes if (key := self._of_origin(node, words, interval)) is not None]
        if len(fitting) == 1:
            return self._placed(*fitting[0], interval)
        return Placed(nowhere=True)

    @staticmethod
    def _nodes(
        branches: Sequence[Sequence[DatedStep]], start_types: tuple[str, ...], target: frozenset[str]
    ) -> Iterator[_Node]:
        """The target first, then what is passed, then the start."""
        last = [steps[-1] for steps in branches if steps]
        yield _Node("target", (0, 0), target, _cues(last), frozenset(step.predicate for step in last))
        for number, steps in enumerate(branches):
            for place, step in enumerate(steps[:-1]):
                around = (step, steps[place + 1])
                predicates = frozenset(one.predicate for one in around)
                yield _Node("hop", (number, place), frozenset(step.types), _cues(around), predicates)
        if start_types and branches and branches[0]:
            first = branches[0][:1]
            predicates = frozenset(step.predicate for step in first)
            yield _Node("start", (0, 0), frozenset(start_types), _cues(first), predicates)

    def _named(
        self,
        words: Sequence[WordCue],
        dates: Sequence[DateConstraint],
        nodes: Sequence[_Node],
        used: set[int],
        interval: Interval,
        *,
        apart: bool,
    ) -> Placed | None:
        near = sorted(
            range(len(words)),
            key=lambda index: min(_gap(words[index], date) for date in dates),
        )
        for index in near:
            word = words[index]
            if (word.is_relation or word.is_type) and not (self.known and index in used):
                # A relation's own dates, where it may have some, are what its verb is asked of.
                continue
            for node in nodes:
                if index in used and index not in node.predicates:
                    continue
                said = {key for name, key in word.entry.attributes if name in node.types}
                options = [one for name in sorted(node.types) for one in self._dates.get(name, ()) if one.key in said]
                rest: tuple[DateConstraint, ...] = ()
                if apart:
                    own = min(dates, key=lambda date: _gap(word, date))
                    interval, rest = own.interval, tuple(date for date in dates if date is not own)
                key = _by_precision(options, interval)
                if key is not None:
                    return replace(self._placed(node, key, interval), rest=rest)
        return None

    def _of_origin(self, node: _Node, words: Sequence[WordCue], interval: Interval) -> str | None:
        """The one date that all types of a node have of their own beginning, where what is said of them happened then."""
        said = {part for index in node.predicates for part in alias_key(words[index].entry.phrase).split()}
        verbs = {part for name in node.relations for part in self._verbs(name)}
        keys: set[str] = set()
        for name in node.types:
            kind = self._ontology.types.get(name)
            nouns = {noun.casefold() for noun in kind.nouns} if kind is not None else set()
            event = any(is_event(noun) for noun in nouns)
            if event:
                fitting = [one for one in self._dates.get(name, ()) if _words_of(one) & (_HAPPENING | nouns)]
                own = [one for one in fitting if _words_of(one) <= nouns | _PLAIN]
                fitting = [] if said & _KEEPING else own or fitting
            else:
                made = bool(node.relations) and bool(verbs & _MAKING)
                fitting = [one for one in self._dates.get(name, ()) if made and _words_of(one) & _APPEARING]
            key = _by_precision(fitting, interval)
            if key is None:
                return None
            keys.add(key)
        return keys.pop() if len(keys) == 1 else None

    def _verbs(self, name: str) -> Iterator[str]:
        relation = self._ontology.relations[name]
        for phrase in (*relation.forward, *relation.inverse):
            yield from phrase.casefold().split()

    @staticmethod
    def _placed(node: _Node, key: str, interval: Interval) -> Placed:
        low = "" if interval.low == MIN_INSTANT else str(interval.low)
        high = "" if interval.high == MAX_INSTANT else str(interval.high)
        return Placed(AttributeFilter(key, "in_range", f"{low}..{high}"), node.where, node.hop)


def comparable(
    words: Sequence[WordCue], tokens: Sequence[Token], attributes: Sequence[AttributeType], name: str, kind: str
) -> list[tuple[str, int | None]]:
    """Keys of the kind ("number" or "date") by which entities of a type may be ordered, with the word that names each.

    "the highest unit price" names the attribute; "the most expensive" asks for a price, if the type has only one.
    """
    if kind == "number" and is_priced(tokens):
        return [(one.key, None) for one in attributes if one.kind == kind and _words_of(one) & _PRICES]
    fitting = {one.key for one in attributes if one.kind == kind}
    named = [
        (key, index)
        for index, word in enumerate(words)
        for owner, key in word.entry.attributes
        if owner == name and key in fitting
    ]
    return list(dict.fromkeys(named))


def is_priced(tokens: Sequence[Token]) -> bool:
    """The question orders by price without naming it."""
    return any(_DEAR.fullmatch(token.key) and token.owner == "aggregation" for token in tokens)


def _gap(word: WordCue, date: DateConstraint) -> int:
    return max(word.start - date.cue.end, date.cue.start - word.end, 0)


def _cues(steps: Sequence[DatedStep]) -> frozenset[int]:
    return frozenset(step.cue for step in steps if step.cue is not None)


def _by_precision(options: Sequence[AttributeType], interval: Interval) -> str | None:
    """Of a year and a date of the same thing: the year for whole years, the date for less."""
    if len(options) < 2:
        return options[0].key if options else None
    years = [one for one in options if _YEAR.search(" ".join(_parts(one.key)))]
    rest = [one for one in options if one not in years]
    whole = all(
        moment in (MIN_INSTANT, MAX_INSTANT) or (format_instant(moment) or "").endswith("-01-01")
        for moment in (interval.low, interval.high)
    )
    chosen = years if whole and years else rest
    return chosen[0].key if len(chosen) == 1 else None


def _parts(key: str) -> list[str]:
    return alias_key(re.sub(r"(?<=[a-zа-яё0-9])(?=[A-ZА-ЯЁ])", " ", key)).split()


def _words_of(attribute: AttributeType) -> frozenset[str]:
    """Base forms of the words of an attribute's name."""
    return frozenset(base for part in _parts(attribute.key) for base in word_bases(part))
