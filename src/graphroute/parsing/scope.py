"""Scope: quoted text, negated text and words that modify how the other cues combine."""

from __future__ import annotations

from collections.abc import Sequence

from graphroute.parsing.lexing import Lexed, Match, Phrases, Span, blocked_symbols, is_word_character, lex, word_set
from graphroute.types.query import Cue, CueKind

MAX_QUOTE_CHARACTERS = 500
"""A quotation mark without its partner within this many characters is no quotation."""

_PAIRS = {"«": "»", "“": "”", "„": "“”", "「": "」", "『": "』", "《": "》", "〈": "〉", "‘": "’", "‹": "›", "【": "】"}
_RULES = {
    '"': "quote.double",
    "'": "quote.single",
    "`": "quote.backtick",
    "«": "quote.guillemet",
    "‹": "quote.guillemet",
    "“": "quote.curly",
    "„": "quote.low",
    "‘": "quote.single",
    "「": "quote.corner",
    "『": "quote.corner",
    "《": "quote.title",
    "〈": "quote.title",
    "【": "quote.lenticular",
}


def _word_at(text: str, position: int) -> bool:
    return 0 <= position < len(text) and is_word_character(text[position])


def _space_or_mark(text: str, position: int) -> bool:
    """True at the ends of the text and at anything that is no letter or digit."""
    return not _word_at(text, position)


def _closings(text: str) -> dict[str, list[int]]:
    """Positions of marks that may close a quotation, per mark."""
    found: dict[str, list[int]] = {}
    for position, character in enumerate(text):
        if character in '»”“」』》〉›】"`＂' or (
            character in "'’" and position and not text[position - 1].isspace() and _space_or_mark(text, position + 1)
        ):
            found.setdefault(character, []).append(position)
    return found


def find_quotes(text: str) -> tuple[Cue, ...]:
    """Quoted spans with their marks, in order, outermost only.

    A single quotation mark opens only before a letter and after no letter, and closes only after a character and before no
    letter, so that apostrophes ("don't", "users' teams") open nothing; a plural possessive inside a quotation may close it early.
    `value` is the text between the marks. Linear: a mark without a partner within `MAX_QUOTE_CHARACTERS` is passed over.
    """
    closings = _closings(text)
    cursors = dict.fromkeys(closings, 0)
    found: list[Cue] = []
    position = 0
    while position < len(text):
        character = text[position]
        ends = character if character in "\"`'＂" else _PAIRS.get(character, "")
        if not ends or (character == "'" and not _opens(text, position)):
            position += 1
            continue
        best = -1
        for end in ends:
            places = closings.get(end, ())
            cursor = cursors.get(end, 0)
            while cursor < len(places) and places[cursor] <= position + 1:
                cursor += 1
            cursors[end] = cursor
            if cursor < len(places) and places[cursor] - position <= MAX_QUOTE_CHARACTERS:
                best = places[cursor] if best < 0 else min(best, places[cursor])
        if best < 0 or not text[position + 1 : best].strip():
            position += 1
            continue
        found.append(
            Cue(
                kind=CueKind.QUOTE,
                value=text[position + 1 : best],
                start=position,
                end=best + 1,
                rule=_RULES.get(character, "quote.double"),
                text=text[position : best + 1],
            )
        )
        position = best + 1
    return tuple(found)


def _opens(text: str, position: int) -> bool:
    following = text[position + 1 : position + 2]
    return _space_or_mark(text, position - 1) and bool(following) and not following.isspace()


_NEGATORS = Phrases(
    {
        "operation": "don't|do not|dont|never|no need to|avoid|skip|не надо|не нужно|не стоит|不要|不用|别|无需|不必",
        "not": (
            "not|isn't|aren't|wasn't|weren't|doesn't|does not|didn't|did not|hasn't|haven't|hadn't|won't|can't|cannot|couldn't|"
            "shouldn't|wouldn't|mustn't|neither|nor|no longer|without|instead of|rather than|не|нет|ни|без|вместо|"
            "不是|不|没有|没|未|并非|不再|而不是"
        ),
        "no": "no|none of|nobody|nothing|никто|ничто",
    }
)
_BEFORE_ORDER = word_set(", ; : . ? ! please and but then so just пожалуйста и но а 请 ， 。 ； ： 也 并")
"""Words after which "don't" is an order, not a predicate."""
_NOT_NEGATORS = Phrases(
    {
        "": (
            "not only|no one knows|not including|no later than|not later than|no earlier than|not before|"
            "not earlier than|not after|no.|don't you|isn't it|why not|whether or not|or not|not just|"
            "not more than|no more than|not less than|no less than|no fewer than|if not|never mind|не только|"
            "не позднее|не ранее|не более|не менее|или нет|不同|不仅|不但|是不是|有没有|不晚于|不早于|不少|不过|不断|不久|不少于|不超过|能不能|"
            "未来|特别|分别|区别|类别|级别|别名|别号|别称|别墅|别处|别的|个别|性别|别人|非常|非洲|除非|并非洲|没关系"
        ),
    }
)
_SCOPE_ENDS = word_set(
    ", ; . ? ! : ( ) ， ； 。 ？ ！ ： 、 but just only instead however rather simply но а просто только лишь 但 但是 只 只要 而"
)


def find_negations(text: str, *, masked: Sequence[Span] = ()) -> tuple[Cue, ...]:
    """Negated stretches: from the negating word to the end of its clause, in order.

    `value` is "operation" (an order not to: "Don't count them"), "not" or "no". A stretch ends at punctuation or at a word that sets a
    contrast (but, just, only, instead). Dates with "not" ("no later than"), "not only" and the like are no negation. Words in quotes or in
    `masked` spans do not count.
    """
    lexed = lex(text)
    blocked = _blocked(lexed, masked)
    symbols = lexed.symbols
    found: list[Cue] = []
    index = 0
    while index < len(symbols):
        if blocked[index]:
            index += 1
            continue
        exempt = _NOT_NEGATORS.at(symbols, index)
        if exempt is not None:
            index = exempt.last
            continue
        match = _NEGATORS.at(symbols, index)
        if match is None or (symbols[index].kind == "word" and _joined_by_mark(lexed, index)):
            index += 1
            continue
        value = match.value
        before = symbols[match.first - 1].key if match.first else "."
        # A capital inside a sentence belongs to a name: "Not Angry".
        if lexed.text[symbols[match.first].start : symbols[match.last - 1].end].istitle() and before not in ".?!:;":
            index += 1
            continue
        if before != "." and before not in _BEFORE_ORDER:
            if match.rule in ("skip", "avoid"):
                index += 1
                continue
            value = "not" if value == "operation" else value
        end = match.last
        while end < len(symbols) and not _ends_scope(lexed, blocked, end):
            end += 1
        start_at, end_at = symbols[match.first].start, symbols[end - 1].end
        found.append(
            Cue(
                kind=CueKind.NEGATION,
                value=value,
                start=start_at,
                end=end_at,
                rule=f"negation:{match.rule}",
                text=text[start_at:end_at],
            )
        )
        index = max(end, match.last)
    return tuple(found)


def _ends_scope(lexed: Lexed, blocked: Sequence[bool], index: int) -> bool:
    if blocked[index]:
        return False
    symbol = lexed.symbols[index]
    if symbol.key not in _SCOPE_ENDS:
        return False
    if symbol.kind == "mark" and symbol.key in ".:,(":
        # Inside v1.18, 10:30 or 1,000 a mark ends nothing.
        return symbol.end >= len(lexed.text) or not is_word_character(lexed.text[symbol.end])
    return True


def _joined_by_mark(lexed: Lexed, index: int) -> bool:
    """True for a word that is a part of a longer one: `no` in `no-op` or `x_no`."""
    start, end = lexed.symbols[index].start, lexed.symbols[index].end
    before = lexed.flat[start - 1] if start else " "
    after = lexed.flat[end : end + 1]
    earlier = lexed.flat[start - 2] if start > 1 else " "
    later = lexed.flat[end + 1] if end + 1 < len(lexed.flat) else " "
    return (before in "-_/@#." and is_word_character(earlier)) or (
        bool(after) and after in "-_/@" and is_word_character(later)
    )


def _blocked(lexed: Lexed, masked: Sequence[Span]) -> list[bool]:
    """Symbols in masked spans or in quotes."""
    return blocked_symbols(lexed, [*masked, *((quote.start, quote.end) for quote in find_quotes(lexed.text))])


def blocked_by_quotes(lexed: Lexed, masked: Sequence[Span] = ()) -> list[bool]:
    """For each symbol: is it in a quote or a masked span, so that no cue may use it?"""
    return _blocked(lexed, masked)


def cue_of(lexed: Lexed, match: Match, kind: CueKind, prefix: str, value: str | None = None) -> Cue:
    """A phrase match as a cue with rule `<prefix>:<phrase>`."""
    start, end = lexed.symbols[match.first].start, lexed.symbols[match.last - 1].end
    return Cue(
        kind=kind,
        value=match.value if value is None else value,
        start=start,
        end=end,
        rule=f"{prefix}:{match.rule}",
        text=lexed.text[start:end],
    )


_MODIFIERS = Phrases(
    {
        "both": "both|both of|and also|оба|обе|обоих|обеих|обоим|两者|都|双方|同时",
        "together": "together with|together|along with|as well as|jointly|вместе|совместно|вместе с|一起|共同",
        "same": (
            "same|the same|identical|the very same|one and the same|одинаков*|тот же|та же|то же|те же|"
            "того же|той же|тем же|тому же|одного и того же|один и тот же|相同|同样|同一|一样"
        ),
        "share": "share|shares|shared|sharing|раздел*|共享|共有",
        "common": "in common|common to|common|mutual|общий|общая|общее|общие|общих|общего|共同的",
        "also": "not only|also|too|additionally|furthermore|также|тоже|еще и|也|还|另外|此外",
        "each other": "each other|one another|mutually|друг друг*|друг с другом|互相|相互|彼此",
        "respectively": "respectively|соответственно|分别",
        "except": (
            "except|except for|other than|apart from|excluding|besides|but not|aside from|all but|save for|"
            "with the exception of|кроме|за исключением|помимо|исключая|除了|以外|之外|除外|除"
        ),
        "only": "only|solely|exclusively|только|лишь|исключительно|只|仅|仅仅",
        "any": "either|any of|at least one of|любой из|任一",
    }
)


def find_modifiers(text: str, *, masked: Sequence[Span] = ()) -> tuple[Cue, ...]:
    """Words that say how slots combine: both, together, same, share, common, co, also, each other, respectively, except, only, any.

    `co` covers the prefix `co-` of a word ("co-directed") or a closed set of words written without the hyphen. Words in quotes or in
    `masked` spans do not count.
    """
    lexed = lex(text)
    blocked = _blocked(lexed, masked)
    found = [cue_of(lexed, match, CueKind.MODIFIER, "modifier") for match in _MODIFIERS.scan(lexed.symbols, blocked)]
    symbols = lexed.symbols
    for index, symbol in enumerate(symbols):
        if blocked[index] or symbol.kind != "word":
            continue
        start, end = symbol.start, symbol.end
        if symbol.key == "co" and lexed.flat[end : end + 1] == "-" and index + 2 < len(symbols):
            verb = symbols[index + 2]
            if verb.start != end + 1 or verb.kind != "word":
                continue
            end = end + 1
        elif not symbol.key.startswith(_CO_WORDS):
            continue
        found.append(
            Cue(
                kind=CueKind.MODIFIER,
                value="co",
                start=start,
                end=end,
                rule="modifier:co-",
                text=text[start:end],
            )
        )
    return tuple(sorted(found, key=lambda cue: (cue.start, cue.end)))


_CO_WORDS = (
    "coauthor",
    "costar",
    "codirect",
    "cowrit",
    "cowrote",
    "cofound",
    "coown",
    "cochair",
    "colead",
    "соавтор",
    "соучредител",
)
