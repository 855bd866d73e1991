"""Aggregation: words that ask for a count, a list, an extreme, a comparison, a grouping or the whole corpus."""

from __future__ import annotations

from collections.abc import Sequence

from graphroute.parsing.date_grammar import is_dated_word
from graphroute.parsing.lexing import Lexed, Match, Phrases, Span, is_word_character, lex, word_set
from graphroute.parsing.questions import read_question
from graphroute.parsing.scope import blocked_by_quotes, cue_of, find_negations
from graphroute.text import STOP_WORDS
from graphroute.types.query import Cue, CueKind

CORPUS = "corpus"
"""Value of a scope cue: the question is about the whole corpus."""

_WORDS = Phrases(
    {
        "most": (
            "the most|most|most common|the most common|most commonly|most often|the most often|most frequent|"
            "most frequently|the most frequent|highest number|the highest number of|largest number|"
            "greatest number|the largest number of|the greatest number of|highest count|the highest|highest|"
            "the largest|largest|greatest|biggest|the biggest|the greatest|maximum|the maximum|most popular|"
            "highest total|most expensive|the most expensive|most costly|priciest|the priciest|самый дорогой|самая дорогая|"
            "самое дорогое|самые дорогие|最贵|больше всего|больше всех|чаще всего|наибольш*|наибольшее число|наибольшее количество|"
            "наибольшим числом|наибольшим количеством|самое большое число|максимальн*|"
            "самый частый|最多|最常|最常见|最高|最大|数量最多"
        ),
        "least": (
            "fewest|the fewest|the least|least|least often|least common|lowest number|smallest number|"
            "cheapest|the cheapest|least expensive|the least expensive|самый дешевый|самая дешевая|самое дешевое|самые дешевые|"
            "最便宜|the lowest number of|the smallest number of|the lowest|lowest|smallest|the smallest|minimum|"
            "меньше всего|меньше всех|реже всего|наименьш*|минимальн*|最少|最低|最小"
        ),
        "count": (
            "how many|how many times|how often|number of|the number of|total number of|the total number of|"
            "count of|the count of|count|counts of|total of|in total|total count|the total|total|сколько|"
            "сколько раз|количество|число|общее число|посчитай*|подсчитай*|как часто|всего|多少|几个|几位|几次|几家|几种|"
            "几名|几条|几项|几份|几件|几台|几架|几艘|几部|几本|几笔|数量|总数|一共|总共|共有|计算"
        ),
        "first": (
            "first|the first|earliest|the earliest|oldest|the oldest|older|the older|earlier|created first|"
            "born first|born earlier|came first|released first|at first|initial|original|первый|первая|"
            "первое|первым|первой|первыми|самый ранний|самая ранняя|раньше всех|самый старый|старейш*|старше|"
            "раньше|最早|最早的|第一个|第一位|首个|首位|首次|最先|哪个先|哪一个先|谁先|最老|更早|较早|年长"
        ),
        "last": (
            "last|the last|latest|the latest|newest|the newest|most recent|the most recent|most recently|"
            "youngest|the youngest|younger|the younger|newer|the newer|later|born later|released later|"
            "последний|последняя|последнее|последним|последней|самый новый|самая новая|самый поздний|новейш*|"
            "младше|моложе|позже|позднее|最新|最新的|最近的|最后一个|最晚|最后|更晚|较晚|年轻"
        ),
        "exists": (
            "is there|are there|is there any|are there any|was there|were there|was there any|do any|"
            "does any|did any|has any|have any|does there exist|has anyone|does anyone|did anyone|is anyone|"
            "есть ли|существует ли|имеется ли|существуют ли|имеются ли|有没有|是否有|是否存在|有无|是否"
        ),
        "distinct": "different|distinct|unique|separate|различн*|разных|разные|уникальн*|不同的|不同|各不相同",
        "group": (
            "per|for each|for every|each|every|grouped by|group by|broken down by|break down by|split by|"
            "by each|breakdown by|breakdown|in each|of each|для каждого|для каждой|по каждому|по каждой|"
            "на каждого|на каждую|каждый|каждая|в разрезе|每个|每|各个|各|按|分别"
        ),
        "list": (
            "what are all|show all|show me all|give all|give me all|find all|all of the|name all|list all|"
            "list|enumerate|name|the list of|a list of|show the list|what are the|which are the|перечисли*|"
            "список|назови*|покажи все*|покажи всех|выведи*|列出|列举|哪些|有哪些|所有|全部"
        ),
    }
)
_SCOPE = Phrases(
    {
        CORPUS: (
            "overall|across all|across the whole|across the entire|main theme|main themes|themes|theme|"
            "key themes|common themes|trend|trends|recurring|recurrent|in general|generally speaking|"
            "as a whole|the whole corpus|whole corpus|entire corpus|the entire corpus|all documents|"
            "all the documents|all sources|every document|entire collection|whole collection|main topics|"
            "key topics|big picture|"
            "summarize all|summarise all|common patterns|patterns across|"
            "key takeaways|company-wide|organisation-wide|organization-wide|across teams|across the company|"
            "across the organization|across the organisation|across incidents|most common problems|"
            "typical problems|what do the documents say|в целом|в общем|основные темы|главные темы|тенденци*|"
            "повторяющ*|по всем документам|все документы|по всему корпусу|во всех документах|"
            "общая картина|закономерност*|总体|整体|总的来说|主要主题|主题有哪些|趋势|反复出现|所有文档|全部文档|整个语料|总体上"
        ),
    }
)
_OVERVIEW = Phrases(
    {
        CORPUS: (
            "high-level overview|high level overview|overview of|overview|summarize the|summarise the|summary of|обзор|кратко опиши*|概述|概览"
        ),
    }
)
"""Words that ask for the whole corpus unless what follows is a topic of its own."""
_TOPIC_WORDS = 6
_TOPIC_HAN = 12
"""So many content words, or Han characters, after the cue name a topic that passages are about, not the corpus."""
_IMPERATIVES = frozenset(("list", "name", "count", "enumerate"))
_LEADS = word_set("and then please also to just , ; : you now or kindly not n't don't")
_AFTER_FIRST = word_set(
    "name names week month quarter year day days weeks months years half time class aid hand language person of thing things "
    "place step stage party level grade rate degree lady minister mover monday tuesday wednesday thursday friday saturday sunday"
)
"""Words that make `first` and `last` a name or a date, not an extreme."""
_NUMBER_WORDS = word_set("one two three four five six seven eight nine ten")
_COMPARATIVES = word_set(
    "more less fewer longer shorter higher lower larger bigger smaller better worse greater taller deeper faster sooner больше меньше "
    "выше ниже длиннее короче крупнее"
)
_NOT_ALTERNATIVE = word_set(
    "not later earlier more less after before newer older fewer above below over under any other both equal at greater"
)
_PARTICIPLES = (
    "ed",
    "en",
    "wn",
    "ught",
    "old",
    "ade",
    "ne",
    "un",
    "et",
    "ut",
    "ad",
    "ld",
    "ent",
    "id",
    "epared",
    "orn",
    "it",
)


def _previous(lexed: Lexed, index: int) -> str:
    return lexed.symbols[index - 1].key if index else ""


def _following(lexed: Lexed, index: int) -> str:
    return lexed.symbols[index].key if index < len(lexed.symbols) else ""


def _part_of_word(lexed: Lexed, match: Match) -> bool:
    """True for `list` in `allow-list` or `first_name`."""
    symbols = lexed.symbols
    if symbols[match.first].kind == "han":
        return False
    start, end = symbols[match.first].start, symbols[match.last - 1].end
    before = lexed.flat[start - 1 : start]
    after = lexed.flat[end : end + 1]
    return (bool(before) and before in "-_/@#." and start > 1 and is_word_character(lexed.flat[start - 2])) or (
        bool(after) and after in "-_/" and end + 1 < len(lexed.flat) and is_word_character(lexed.flat[end + 1])
    )


def _sentence_start(lexed: Lexed, index: int) -> bool:
    return index == 0 or _previous(lexed, index) in ".?!;:\n" or _previous(lexed, index) in _LEADS


def _accepted(lexed: Lexed, match: Match, counted: bool) -> bool:
    """Drop words that only look like the cue."""
    symbols = lexed.symbols
    word = symbols[match.first].key
    single = match.last - match.first == 1
    before, after = _previous(lexed, match.first), _following(lexed, match.last)
    if _part_of_word(lexed, match):
        return False
    if single and word in _IMPERATIVES:
        return _sentence_start(lexed, match.first) and after not in ("of", "is", "was", ":", "?")
    if match.value in ("most", "least"):
        if (single and before in ("at", "the very")) or (single and word == "most" and after in ("of", "people")):
            return False
        return not (single and word == "least" and before == "not")
    if match.value in ("first", "last"):
        last_word = symbols[match.last - 1].key
        if after in ("than",) or (
            before in ("no", "not", "or", "and") and last_word in ("later", "earlier", "older", "newer")
        ):
            return False
        if last_word in ("first", "last", "initial", "original") and not (
            match.last - match.first > 1 and symbols[match.first].key != "the"
        ):
            number = after.isdigit() or after in _NUMBER_WORDS
            return not (
                after in _AFTER_FIRST or number or (before in ("at", "his", "her", "their") and after == "name")
            )
        return match.rule != "at first"
    if match.value == "count":
        if word == "total" and single:
            return after not in ("of",) or counted
        if match.rule == "多少" and before in ("是", "为") and after in ("", "?", "？", "。"):
            return False  # "金额是多少": a value
        if match.rule in ("всего", "total", "the total"):
            return before not in ("больше", "меньше", "чаще", "реже", "прежде")
    if match.value == "exists":
        return not counted
    if match.value == "distinct":
        return after not in ("from", "than", "to") and before not in ("a", "an", "is", "entirely", "very", "有", "的")
    if match.value == "group":
        if word == "per":
            return before != "as" and after not in ("se", "annum", "cent", "capita") and bool(after)
        if word in ("each", "every") and single:
            return after not in ("other", "others", "time", "single") and before not in ("of",)
        if match.rule == "分别":
            return False
    return True


def _grouping_by(lexed: Lexed, blocked: Sequence[bool], cues: Sequence[Cue]) -> list[Match]:
    """`count incidents by team`: `by` after a noun, with a count or list before it."""
    found: list[Match] = []
    starts = [cue.start for cue in cues if cue.value in ("count", "list", "most", "least")]
    if not starts:
        return found
    for index, symbol in enumerate(lexed.symbols):
        if symbol.key != "by" or blocked[index] or index + 1 >= len(lexed.symbols) or blocked[index + 1]:
            continue
        before, after = _previous(lexed, index), lexed.symbols[index + 1]
        if min(starts) > symbol.start or not before or blocked[index - 1] or before.endswith(_PARTICIPLES):
            continue
        raw = lexed.text[after.start : after.end]
        ends = _following(lexed, index + 2) in ("", "?", ".", ",", ";", "and", "in", "for", "on", "type", "name", "id")
        if (
            after.kind == "word"
            and raw.islower()
            and after.key not in ("the", "a", "an", "any", "who", "which", "far")
            and ends
        ):
            found.append(Match("group", "by", index, index + 2))
    return found


def _comparisons(lexed: Lexed, blocked: Sequence[bool], cues: Sequence[Cue]) -> list[Match]:
    """`or` between alternatives of which one is asked for, and words that say a comparison outright."""
    found = _COMPARE.scan(lexed.symbols, blocked)
    asks = False
    compares = False
    extremes = {cue.start for cue in cues if cue.value in ("first", "last", "most", "least")}
    pending: list[int] = []
    for index, symbol in enumerate(lexed.symbols):
        if blocked[index]:
            continue
        if symbol.key in (".", "?", "!", "？", "。", "！") and _ends_sentence(lexed, index):
            if asks and compares:
                found.extend(Match("compare", "or", place, place + 1) for place in pending)
            asks, compares, pending = False, False, []
            continue
        if symbol.key in ("which", "who", "what", "whose", "кто", "какой", "какая", "какое", "что", "谁", "哪"):
            asks = True
        if symbol.start in extremes or symbol.key in _COMPARATIVES or symbol.key == "更":
            compares = True
        if symbol.key in ("or", "или") and _following(lexed, index + 1) not in _NOT_ALTERNATIVE:
            pending.append(index)
        if symbol.key in ("还", "或") and _following(lexed, index + 1) in ("是", "者"):
            pending.append(index)
    if asks and compares:
        found.extend(Match("compare", "or", place, place + 1) for place in pending)
    return found


def _ends_sentence(lexed: Lexed, index: int) -> bool:
    end = lexed.symbols[index].end
    return end >= len(lexed.text) or not is_word_character(lexed.text[end])


_COMPARE = Phrases(
    {
        "compare": (
            "compare|compared to|compared with|comparison of|comparison between|versus|vs|older of|"
            "younger of|newer of|difference between|differences between|which of the two|earlier of|later of|"
            "сравни*|по сравнению с|разница между|比较|相比|区别是什么"
        )
    }
)


def find_aggregations(text: str, *, masked: Sequence[Span] = ()) -> tuple[Cue, ...]:
    """Aggregation and scope cues in order of position.

    Kind AGGREGATION with value count, list, most, least, first, last, compare, exists, distinct or group; kind SCOPE with value
    "corpus" for themes, trends and overviews. A cue inside a negation has the value prefix "not:" ("Don't count them"). The rule is
    `aggregation:<phrase>` or `scope:<phrase>`. Words in quotes or in `masked` spans (mentions, identifiers, dates) do not count.
    """
    lexed = lex(text)
    blocked = blocked_by_quotes(lexed, masked)
    cues: list[Cue] = []
    counted = False
    for match in _WORDS.scan(lexed.symbols, blocked):
        if not _accepted(lexed, match, counted) or is_dated_word(lexed, match.first, match.last):
            continue
        counted = counted or match.value == "count"
        cues.append(cue_of(lexed, match, CueKind.AGGREGATION, "aggregation"))
    for index in range(len(lexed.symbols) - 1):
        after = _following(lexed, index + 1)
        if lexed.symbols[index].key == "top" and not blocked[index] and (after.isdigit() or after in _NUMBER_WORDS):
            cues.append(cue_of(lexed, Match("most", "top", index, index + 1), CueKind.AGGREGATION, "aggregation"))
    question = read_question(text, masked=masked)
    if question is not None and question.cue.value == "which" and not any(_overlaps(question.cue, cue) for cue in cues):
        cues.append(
            Cue(
                kind=CueKind.AGGREGATION,
                value="list",
                start=question.cue.start,
                end=question.cue.end,
                rule="aggregation:which",
                text=question.cue.text,
            )
        )
    if (
        question is not None
        and question.cue.value == "yes_no"
        and question.rule_word in ("do", "does", "did", "has", "have")
    ):
        holds = question.rule_word in ("has", "have") or any(symbol.key == "have" for symbol in lexed.symbols)
        if holds and not any(cue.value == "exists" for cue in cues):
            cues.append(
                Cue(
                    kind=CueKind.AGGREGATION,
                    value="exists",
                    start=question.cue.start,
                    end=question.cue.end,
                    rule="aggregation:does-have",
                    text=question.cue.text,
                )
            )
    cues.extend(
        cue_of(lexed, match, CueKind.AGGREGATION, "aggregation") for match in _grouping_by(lexed, blocked, cues)
    )
    cues.extend(
        cue_of(lexed, match, CueKind.AGGREGATION, "aggregation") for match in _comparisons(lexed, blocked, cues)
    )
    scopes = [cue_of(lexed, match, CueKind.SCOPE, "scope") for match in _SCOPE.scan(lexed.symbols, blocked)]
    scopes.extend(
        cue_of(lexed, match, CueKind.SCOPE, "scope")
        for match in _OVERVIEW.scan(lexed.symbols, blocked)
        if not _has_topic(lexed, match.last)
    )
    cues = [cue for cue in cues if cue.value != "list" or not any(_inside(cue, scope) for scope in scopes)]
    cues.extend(scopes)
    negations = [(one.start, one.end) for one in find_negations(text, masked=masked)]
    return tuple(
        sorted(
            (_negated(cue, negations) for cue in cues),
            key=lambda cue: (cue.start, cue.end, cue.kind, cue.value, cue.rule),
        )
    )


def _has_topic(lexed: Lexed, index: int) -> bool:
    """True if many content words follow: "an overview of the rules for custodians under the new framework concerning client money"."""
    han = content = 0
    for place in range(index, len(lexed.symbols)):
        symbol = lexed.symbols[place]
        if symbol.key in (".", "?", "!", "？", "。", "！", ";") and _ends_sentence(lexed, place):
            break
        if symbol.kind == "han":
            han += 1
        elif symbol.kind == "word" and not any(symbol.key in words for words in STOP_WORDS.values()):
            content += 1
    return content > _TOPIC_WORDS or han > _TOPIC_HAN


def _overlaps(one: Cue, other: Cue) -> bool:
    return one.start < other.end and other.start < one.end


def _inside(one: Cue, other: Cue) -> bool:
    return other.start <= one.start and one.end <= other.end


def _negated(cue: Cue, negations: Sequence[Span]) -> Cue:
    if not any(start <= cue.start and cue.end <= end for start, end in negations):
        return cue
    return Cue(kind=cue.kind, value=f"not:{cue.value}", start=cue.start, end=cue.end, rule=cue.rule, text=cue.text)
