"""Dates: the times a question names, as half-open UTC intervals of their precision, and how they constrain facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphroute.parsing.date_atoms import Atom
from graphroute.parsing.date_grammar import Grammar
from graphroute.parsing.lexing import Lexed, Match, Phrases, Span, Symbol, blocked_symbols, lex, word_set
from graphroute.parsing.scope import find_quotes
from graphroute.types.query import Cue, CueKind, DateConstraint, DateMode
from graphroute.types.time import Instant, Interval

_STARTED = (
    "became|become|becomes|join|joins|joined|joining|start|starts|started|begin|began|begun|begins|take over|"
    "takes over|took over|taken over|take office|took office|was appointed|were appointed|is appointed|"
    "been appointed|get appointed|got appointed|was elected|were elected|got elected|was hired|were hired|"
    "got hired|was promoted|were promoted|was named as|was installed as|assumed|succeeded|come into force|"
    "came into force|entered into force|enter into force|took effect|take effect|since when|from when|"
    "as of when|was sworn in|was assigned|were assigned|got assigned|was added|were added|newly appointed|"
    "newly elected|appointed as|took charge|stepped in|стал|стала|стало|стали|становится|присоедин*|вступил*|"
    "начал|начала|начали|начало действ*|назначен*|назначил*|избран*|возглавил*|занял|заняла|заняли|нанят*|"
    "с каких пор|с какого времени|成为|加入|开始|上任|就任|当选|接任|任命|接管|出任|升任|接手"
)
_ENDED = (
    "left|leave|leaves|leaving|stop|stops|stopped|ended|end|resign|resigns|resigned|step down|stepped down|"
    "steps down|quit|quits|ceased|cease|retired|retire|departed|depart|was removed|were removed|"
    "was dismissed|were dismissed|was fired|expired|expire|until when|till when|was replaced|were replaced|"
    "handed over|hand over|ran out|was ousted|ушел|ушла|ушли|покинул*|перестал*|прекратил*|уволил*|оставил*|"
    "закончил*|离开|卸任|辞职|停止|结束|退出|退役|离任|退休|离职"
)
_INCHOATIVES = Phrases({"started": _STARTED, "ended": _ENDED})
_NOT_ENDING = word_set(
    "of point side hand behind margin edge user users to over this for with date dates time year day"
)
"""Words after `end`, `left`, `start` that make them nouns or adjectives."""
_STARTING_NOUNS = word_set("date dates time times year years day days point page")
_BEFORE_NOUN_END = word_set("the a an this that at by its their front back year month in no")
_CLAUSE_WORDS = word_set(
    "that which who whom whose where когда который которая которое которые которого которой которым"
)
_SENTENCE_MARKS = frozenset(".?!;。？！；\n")

_OPEN_SIDES = {"before": DateMode.BEFORE, "until": DateMode.BEFORE, "after": DateMode.AFTER, "since": DateMode.AFTER}


@dataclass(frozen=True, slots=True)
class _Found:
    """A dated phrase: symbols `[first, last)`, what it constrains and how."""

    first: int
    last: int
    mode: DateMode
    interval: Interval
    rule: str
    ambiguous: bool


def _constrained(atom: Atom, operation: str, first: int) -> _Found:
    rule = f"{operation}:{atom.rule}" if operation not in ("", "range") else atom.rule
    if operation in _OPEN_SIDES:
        interval = {
            "before": Interval(None, atom.low),
            "until": Interval(None, atom.high),
            "after": Interval(atom.high, None),
            "since": Interval(atom.low, None),
        }[operation]
        return _Found(first, atom.after, _OPEN_SIDES[operation], interval, rule, atom.ambiguous)
    at = operation in ("on", "as_of") or (atom.fine and operation != "range")
    mode = DateMode.AT if at else DateMode.DURING
    return _Found(first, atom.after, mode, Interval(atom.low, atom.high), rule, atom.ambiguous)


_CONNECTING = frozenset(("and", "but", ",", "&", "и", "но", "，", "、", "并", "且"))


def _joined(found: Sequence[_Found], symbols: Sequence[Symbol]) -> list[_Found]:
    """`after X and before Y` as one range."""
    merged: list[_Found] = []
    for one in found:
        last = merged[-1] if merged else None
        modes = {one.mode, last.mode} if last else set()
        if last and modes == {DateMode.BEFORE, DateMode.AFTER} and one.first - last.last <= 2:
            between = [symbols[index].key for index in range(last.last, one.first)]
            interval = last.interval.intersection(one.interval)
            if interval is not None and all(key in _CONNECTING for key in between):
                rule = f"{last.rule}+{one.rule}"
                ambiguous = last.ambiguous or one.ambiguous
                merged[-1] = _Found(last.first, one.last, DateMode.DURING, interval, rule, ambiguous)
                continue
        merged.append(one)
    return merged


def _inchoatives(lexed: Lexed, blocked: Sequence[bool]) -> list[Match]:
    """Verbs that say a state starts or ends, without nouns and adjectives of the same form."""
    symbols = lexed.symbols
    kept: list[Match] = []
    for match in _INCHOATIVES.scan(symbols, blocked):
        following = symbols[match.last].key if match.last < len(symbols) else ""
        before = symbols[match.first - 1].key if match.first else ""
        if match.last - match.first == 1 and symbols[match.first].key in (
            "end",
            "left",
            "start",
            "leave",
            "stop",
            "begin",
        ):
            if following in _NOT_ENDING or following in _STARTING_NOUNS or before in _BEFORE_NOUN_END:
                continue
            if symbols[match.first].key == "left" and (before in ("are", "is", "were") or following in ("", "?")):
                continue
        kept.append(match)
    return kept


_REACH = 14
"""Symbols between a date and the verb it belongs to, at most."""


def _boundary(lexed: Lexed, index: int) -> bool:
    symbol = lexed.symbols[index]
    if symbol.key in _CLAUSE_WORDS:
        return True
    if symbol.key not in _SENTENCE_MARKS:
        return False
    return symbol.end >= len(lexed.text) or symbol.key != "." or lexed.text[symbol.end].isspace()


def _verb_of(one: _Found, lexed: Lexed, verbs: dict[int, str]) -> str:
    """`started` or `ended` if such a verb of the date's own clause is near, else empty."""
    symbols = lexed.symbols
    words_before = 0
    for index in range(one.first - 1, max(one.first - 1 - _REACH, -1), -1):
        if index in verbs:
            return verbs[index]
        if _boundary(lexed, index):
            words_before += symbols[index].key not in _SENTENCE_MARKS
            break
        words_before += symbols[index].kind in ("word", "han")
    han = one.last <= len(symbols) and any(symbols[index].kind == "han" for index in range(one.first, one.last))
    if words_before > 1 and not han:
        return ""
    seen = 0
    for index in range(one.last, min(one.last + _REACH, len(symbols))):
        if index in verbs:
            return verbs[index]
        if _boundary(lexed, index) and seen > 1:
            break
        seen += symbols[index].kind in ("word", "han")
    return ""


def find_inchoatives(text: str, *, masked: Sequence[Span] = ()) -> tuple[Cue, ...]:
    """Words that say a state starts (`value` "started") or ends ("ended"), with or without a date, in order.

    Rule `inchoative:<phrase>`. Words in quotes or in `masked` spans do not count.
    """
    lexed = lex(text)
    spans = [*masked, *((quote.start, quote.end) for quote in find_quotes(text))]
    return tuple(
        Cue(
            kind=CueKind.DATE,
            value=match.value,
            start=lexed.symbols[match.first].start,
            end=lexed.symbols[match.last - 1].end,
            rule=f"inchoative:{match.rule}",
            text=text[lexed.symbols[match.first].start : lexed.symbols[match.last - 1].end],
        )
        for match in _inchoatives(lexed, blocked_symbols(lexed, spans))
    )


def _read(lexed: Lexed, blocked: list[bool], instant: Instant, order: str) -> tuple[list[_Found], list[str]]:
    grammar = Grammar(lexed, blocked, instant, order)
    found: list[_Found] = []
    notes: list[str] = []
    index = 0
    while index < len(lexed.symbols):
        if blocked[index]:
            index += 1
            continue
        hit = grammar.constraint(index)
        if hit is None:
            index += 1
            continue
        atom, operation = hit
        if operation == "skip":
            pass
        elif atom.problem:
            notes.append(f"date not read: {atom.problem}")
        else:
            atom, operation = grammar.finish(atom, operation)
            found.append(_constrained(atom, operation, index))
        index = max(atom.after, index + 1)
    return found, notes


def _is_date(text: str, instant: Instant, order: str) -> bool:
    """True if the whole text is one date of a day or finer."""
    if len(text) > 40 or not any(character.isdigit() for character in text):
        return False
    lexed = lex(text)
    found, notes = _read(lexed, [False] * len(lexed.symbols), instant, order)
    return not notes and len(found) == 1 and found[0].mode is DateMode.AT and found[0].last == len(lexed.symbols)


def find_dates(
    text: str,
    *,
    instant: Instant,
    order: str = "DMY",
    masked: Sequence[Span] = (),
    language: str = "en",
) -> tuple[tuple[DateConstraint, ...], tuple[str, ...]]:
    """The times a question names, in order, and notes on what looked like a date and could not be read.

    Each is a half-open UTC interval of its precision; relative dates ("last week", "now") are read against `instant`, weeks start
    on Monday, a time of day without a zone is UTC. The cue's span covers the words around the date ("before 1 March 2024"); its rule is
    `<operation>:<form>`. `order` ("DMY" or "MDY") reads 03/04/2024, which is then marked ambiguous; Russian and Chinese questions
    (`language` "ru", "zh") always put the day first. Spans in `masked` (mentions, identifiers) and quotes are never dates, except
    a quote that is nothing but a day. Modes: AT for days, moments and "as of"; DURING for longer periods and ranges; BEFORE and
    AFTER with an open side; STARTED and ENDED where the verb of the clause says that a state starts or ends
    (any interval, open ones too). `before X` ends where X starts, `after X` starts where X ends, `since`, `until` and `by` include X.

    An impossible date (2024-02-30), one without a year, or one before the year 1 gives a note and no constraint.
    Time is linear in the text.
    """
    if language in ("ru", "zh"):
        order = "DMY"
    lexed = lex(text)
    spans = list(masked)
    for quote in find_quotes(text):
        if not _is_date(text[quote.start + 1 : quote.end - 1].strip(), instant, order):
            spans.append((quote.start, quote.end))
    blocked = blocked_symbols(lexed, spans)
    found, notes = _read(lexed, blocked, instant, order)
    verbs: dict[int, str] = {}
    for match in _inchoatives(lexed, blocked):
        verbs.update(dict.fromkeys(range(match.first, match.last), match.value))
    constraints: list[DateConstraint] = []
    for one in _joined(found, lexed.symbols):
        mode = one.mode
        if not one.rule.endswith("now"):
            verb = _verb_of(one, lexed, verbs)
            mode = DateMode(verb) if verb else mode
        start, end = lexed.symbols[one.first].start, lexed.symbols[one.last - 1].end
        cue = Cue(
            kind=CueKind.DATE,
            value=one.interval.format(),
            start=start,
            end=end,
            rule=one.rule,
            text=text[start:end],
        )
        constraints.append(DateConstraint(cue=cue, mode=mode, interval=one.interval, ambiguous=one.ambiguous))
    return tuple(constraints), tuple(dict.fromkeys(notes))
