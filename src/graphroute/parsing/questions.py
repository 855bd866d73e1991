"""Questions: the question word or imperative, what kind of thing is asked for, and whether text alone answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphroute.parsing.lexing import Lexed, Match, Phrases, Span, is_word_character, lex, word_set
from graphroute.parsing.scope import blocked_by_quotes, find_negations
from graphroute.types.query import Cue, CueKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a question asks for.

    `cue.value`: who, whose, when, where, how_many, how_much, which, what, list, yes_no, ellipsis, definition, why or how_to.
    `noun`: the words that name the thing asked for ("films" in "which films"), up to the next function word. `text_only`: a
    definition, a reason or a procedure, which passages answer and facts do not.
    """

    cue: Cue
    noun: Cue | None = None
    text_only: bool = False
    rule_word: str = ""


_WORDS = Phrases(
    {
        "who": "who|whom|by whom|who's|who're|кто|кого|кому|кем|о ком|谁|哪位|何人|什么人",
        "whose": "whose|чей|чья|чьё|чье|чьи|чьего|чьей|谁的",
        "when": (
            "when|what year|which year|what years|which years|what date|which date|what dates|which dates|"
            "what day|which day|what month|which month|what time|which quarter|what quarter|since when|"
            "until when|on what date|on which date|in what year|in which year|when's|how long ago|когда|"
            "в каком году|какого числа|в каком месяце|с каких пор|в какой день|до какого времени|什么时候|何时|哪年|"
            "哪一年|几年|几月|哪一天|哪天|什么时间|哪个月|哪个年代|何年"
        ),
        "where": "where|where's|где|куда|откуда|哪里|哪儿|何处|什么地方|在哪|何地",
        "how_many": "how many|how often|сколько|как часто|多少|几个|几位|几次|几家|几种|几名|几条|几项|几辆|几份|几件|几台|几架|几艘|几部|几本|几笔",
        "how_much": (
            "how much|how old|how long|how far|how tall|how high|how big|how large|how deep|how wide|"
            "how heavy|how fast|how popular|how soon|как долго|насколько|как давно|多大|多长|多高|多久|多远"
        ),
        "why": (
            "why|for what reason|for which reason|what is the reason|what was the reason|how come|"
            "what caused|почему|зачем|отчего|为什么|为何|为甚么|原因是什么|何故"
        ),
        "how_to": (
            "how do i|how do we|how do you|how can i|how can we|how to|how should|how does|how did|how is|"
            "how are|how was|how were|how would|how will|how must|how may|how might|how can|how do|how|как|"
            "каким образом|如何|怎么|怎样|怎么样|怎"
        ),
        "which": (
            "which|какой|какая|какое|какие|каких|каким|какими|какую|каком|какого|какому|которые|哪个|哪些|哪种|哪家|"
            "哪本|哪款|哪台|哪份|哪件|哪张|哪部|哪条|哪所|哪支|哪项|哪座|哪国|哪类|哪一个|哪|哪几个"
        ),
        "what": "what|what's|whats|каков|какова|каково|каковы|что|чего|чему|чем|什么|甚么|何",
    }
)
_DEFINITIONS = Phrases(
    {
        "definition": (
            "what is meant by|what does it mean|definition of|meaning of|define|what is the meaning of|"
            "what is the definition of|explain what|explain|describe what|what exactly is|что такое|"
            "что значит|что означает|определение|дай определение|объясни*|什么是|是什么意思|什么意思|的定义|何谓|的含义"
        ),
    }
)
_FILLERS = Phrases(
    {
        "": (
            "please|can you|could you|would you|will you|can you please|could you please|can you tell me|"
            "could you tell me|tell me|do you know|i want to know|i would like to know|i'd like to know|so|"
            "and|also|hi|hello|just|then|ok|okay|now|kindly|i need to know|find out|let me know|пожалуйста|"
            "скажи|скажите|а|и|подскажите|请|请问|请告诉我|告诉我|那么"
        )
    }
)
_IMPERATIVES = Phrases(
    {
        "list": (
            "list|name|show|show me|give|give me|find|identify|display|enumerate|get|return|provide|"
            "tell me about|count|retrieve|fetch|quote|look up|search for|перечисли|перечислите|назови|"
            "назовите|покажи|покажите|выведи|выведите|дай|найди|найдите|посчитай|посчитайте|список|列出|列举|显示|"
            "给出|找出|查找|统计"
        )
    }
)
_AUXILIARIES = word_set(
    "is are was were do does did has have had can could will would should may might must isn't aren't wasn't weren't don't doesn't "
    "didn't hasn't haven't правда верно"
)
_PREPOSITIONS = word_set(
    "in on at by for from with to of under over about into onto through within during between among as against across в во на с со у о об "
    "от до из к ко по за при для через под над перед 在 由 被 从 于 与 和 跟 向"
)
_STOPS = _PREPOSITIONS | word_set(
    "is are was were be been being do does did has have had can could will would should may might must that which who whom whose where "
    "when and or but the a an this these those it its not he she they you we i there all any both than also most then if because while "
    "list lists listed own owns owned hold holds held make makes made есть был была было были является являются это и или что кто "
    "который которая которые чтобы ли не его ее их мы вы он она они"
)
_HAN_STOPS = frozenset("拥的是了在和与及有被把将对从由而也都不就或之其所为给让向以")
_DETERMINERS = word_set(
    "the a an all any every each of me us some current most both these those все всех всех эти those"
)
_RELATIVES = word_set("who whom whose which where when that который которая которое которые")
_PEOPLE = word_set("person people persons man woman человек человека людей люди")
_SENTENCE = frozenset(".?!;？。！；")
_BOUNDARIES = _SENTENCE | frozenset(",:，：\n-(")


def _ends_sentence(lexed: Lexed, index: int) -> bool:
    symbol = lexed.symbols[index]
    return symbol.key in _SENTENCE and (
        symbol.kind == "mark" and (symbol.end >= len(lexed.text) or not is_word_character(lexed.text[symbol.end]))
    )


class _Finder:
    """Finds the one question of a text."""

    def __init__(self, text: str, masked: Sequence[Span]) -> None:
        self.lexed = lex(text)
        self.symbols = self.lexed.symbols
        self.blocked = blocked_by_quotes(self.lexed, masked)
        self.start = self.skip_fillers(0)

    def key(self, index: int) -> str:
        """Folded symbol, empty outside the text and in masked spans."""
        return self.symbols[index].key if 0 <= index < len(self.symbols) and not self.blocked[index] else ""

    def han(self, index: int) -> bool:
        """True for a Han character."""
        return 0 <= index < len(self.symbols) and self.symbols[index].kind == "han"

    def cue(self, match: Match, value: str, rule: str) -> Cue:
        """A question cue over the symbols of a match."""
        start, end = self.symbols[match.first].start, self.symbols[match.last - 1].end
        return Cue(
            kind=CueKind.QUESTION,
            value=value,
            start=start,
            end=end,
            rule=f"question:{rule}",
            text=self.lexed.text[start:end],
        )

    def noun(self, first: int, rule: str, *, limit: int = 6) -> Cue | None:
        """Words from `first` to the next function word, mark or masked span."""
        if self.han(first):
            return self._han_noun(first, rule)
        while first < len(self.symbols) and (self.blocked[first] or self.key(first) in _DETERMINERS):
            first += 1
        last = first
        while last < min(len(self.symbols), first + 2 * limit):
            symbol = self.symbols[last]
            if self.blocked[last] or symbol.kind == "han":
                break
            if symbol.kind == "mark" and not (symbol.key in "-/" and last > first and self._touches(last)):
                break
            if symbol.key in _STOPS or (symbol.key.endswith(("'s", "'")) and last > first):
                break
            last += 1
        return self._span(first, last, rule)

    def _touches(self, index: int) -> bool:
        return (
            index + 1 < len(self.symbols)
            and self.symbols[index].start == self.symbols[index - 1].end
            and self.symbols[index + 1].start == self.symbols[index].end
        )

    def _han_noun(self, first: int, rule: str) -> Cue | None:
        if self.key(first) + self.key(first + 1) in ("所有", "全部", "一切"):
            first += 2
        last = first
        while last < min(len(self.symbols), first + 8) and self.han(last) and not self.blocked[last]:
            if self.symbols[last].key in _HAN_STOPS:
                break
            last += 1
        return self._span(first, last, rule)

    def _span(self, first: int, last: int, rule: str) -> Cue | None:
        if last <= first:
            return None
        start, end = self.symbols[first].start, self.symbols[last - 1].end
        piece = self.lexed.text[start:end]
        return Cue(kind=CueKind.TYPE, value=piece, start=start, end=end, rule=f"asked:{rule}", text=piece)

    def skip_fillers(self, index: int) -> int:
        """First symbol after greetings, polite openings and orders not to do something ("Don't count them, just show ...")."""
        order = next((one for one in find_negations(self.lexed.text) if one.value == "operation"), None)
        if self.symbols and index == 0 and order is not None and order.start == self.symbols[0].start:
            after = self.lexed.index_at(order.end)
            while self.key(after) in (",", "but", "но", "а", "just", "просто", "только", "只", "只要"):
                after += 1
            index = after if after < len(self.symbols) else 0
        while index < len(self.symbols) and not self.blocked[index]:
            match = _FILLERS.at(self.symbols, index)
            if match is None:
                break
            index = match.last
            while self.key(index) in (",", "，", "-", ":"):
                index += 1
        return index

    def clause_start(self, index: int) -> bool:
        """True at the start of a sentence or clause, also after one preposition there."""
        for place in (index, index - 1):
            if place == 0:
                return True
            if place > 0 and self.key(place - 1) in _BOUNDARIES and self._is_boundary(place - 1):
                return place == index or self.key(place) in _PREPOSITIONS
            if self.key(index - 1) not in _PREPOSITIONS:
                break
        return index == self.start or (index > 0 and self.key(index - 1) in ("and", "also", "me", "know", "then"))

    def _is_boundary(self, index: int) -> bool:
        symbol = self.symbols[index]
        return (
            symbol.kind != "mark"
            or symbol.end >= len(self.lexed.text)
            or not is_word_character(self.lexed.text[symbol.end])
        )

    def find(self) -> Question | None:
        """The question, or None if nothing in the text asks."""
        if not self.symbols:
            return None
        start = self.start
        definition = self._definition(start)
        if definition is not None:
            return definition
        words = [match for match in _WORDS.scan(self.symbols, self.blocked) if self._asks(match)]
        main = self._main(words)
        imperative = self._imperative(start)
        if imperative is not None and (
            main is None or (main.first > imperative.first and not self._indirect(imperative, main))
        ):
            return self._from_imperative(imperative)
        if start < len(self.symbols) and self.key(start) in _AUXILIARIES and (main is None or main.first > start):
            inverted = (
                main is not None
                and main.value in ("which", "what")
                and self.key(start) in ("did", "do", "does", "is", "was")
            )
            if not inverted:
                return self._yes_no(Match(self.key(start), self.key(start), start, start + 1))
        closing = self._closing_yes_no()
        if closing is not None and (main is None or main.value in ("how_to",)):
            return self._yes_no(closing)
        if main is not None:
            return self._from_word(main)
        return (closing and self._yes_no(closing)) or self._ellipsis(start)

    def _asks(self, match: Match) -> bool:
        word = match.rule
        if word in ("как", "чем", "что") and match.first and self.key(match.first - 1) in (",", "，"):
            return False
        if word == "как" and self.key(match.last) in ("и", "только", "минимум", "максимум"):
            return False
        if word == "когда" and match.first and self.key(match.first - 1) == ",":
            return False
        if (word == "何" and self.key(match.last) in ("塞", "况")) or (
            word == "几年" and self.key(match.first - 1) in ("近", "这", "十")
        ):
            return False
        return not (word == "how" and self.key(match.last) in ("ever",))

    def _main(self, words: Sequence[Match]) -> Match | None:
        if not words:
            return None
        first = [match for match in words if self.clause_start(match.first)]
        if first:
            lead = first[0]
            if (
                lead.value in ("when", "where")
                and lead.last - lead.first == 1
                and self.key(lead.last) not in _AUXILIARIES
            ):
                later = [match for match in first[1:] if match.value not in ("when", "where")]
                if later:
                    return later[0]
            return lead
        named = [
            match for match in words if match.value in ("which", "what", "how_many", "when") or self.han(match.first)
        ]
        free = [match for match in words if not self._relative(match)]
        if self.han(words[0].first):
            return words[0]
        return (free or named or list(words))[-1] if not named or free else named[-1]

    def _relative(self, match: Match) -> bool:
        """`the man who`, `the account on which`: a relative pronoun."""
        if self.symbols[match.first].key not in _RELATIVES:
            return False
        if match.value in ("which", "what") and match.first and self.key(match.first - 1) not in _PREPOSITIONS | {","}:
            return self.key(match.last) in _AUXILIARIES
        if match.value == "who" and (match.last >= len(self.symbols) or self.key(match.last) in ("?", ".", "")):
            return False
        following = self.key(match.last)
        return match.value != "which" or following in _AUXILIARIES or match.last + 2 < len(self.symbols)

    def _imperative(self, start: int) -> Match | None:
        if start >= len(self.symbols) or self.blocked[start]:
            return None
        match = _IMPERATIVES.at(self.symbols, start)
        if match is None or any(self.blocked[match.first : match.last]):
            return None
        return (
            None if self.key(match.last) in ("of", "is", "was", ":", "s") and match.last - match.first == 1 else match
        )

    def _indirect(self, imperative: Match, main: Match) -> bool:
        """`show me who owns`, `find which teams`: the question word right after the imperative."""
        return main.first - imperative.last <= 1 and main.value != "how_many"

    def _from_imperative(self, match: Match) -> Question:
        noun = self.noun(match.last, "list")
        return Question(cue=self.cue(match, "list", match.rule), noun=noun, rule_word=match.rule)

    def _yes_no(self, match: Match) -> Question:
        return Question(cue=self.cue(match, "yes_no", match.rule), rule_word=match.rule)

    def _closing_yes_no(self) -> Match | None:
        """Russian `ли`, Chinese `吗` and `是否`."""
        for index, symbol in enumerate(self.symbols):
            if self.blocked[index]:
                continue
            if symbol.key in ("ли", "吗", "嗎", "么") and (symbol.key == "ли" or not self.han(index + 1)):
                if symbol.key == "么" and self.key(index - 1) in ("什", "怎", "那", "这", "多", "甚", "要"):
                    continue
                return Match("yes_no", symbol.key, index, index + 1)
            for phrase in ("是否", "有没有", "是不是", "能否", "可否"):
                if all(self.key(index + step) == sign for step, sign in enumerate(phrase)):
                    return Match("yes_no", phrase, index, index + len(phrase))
        return None

    def _definition(self, start: int) -> Question | None:
        for match in _DEFINITIONS.scan(self.symbols, self.blocked):
            if match.first == start or self.han(match.first) or match.rule in ("definition of", "meaning of"):
                return Question(cue=self.cue(match, "definition", match.rule), text_only=True, rule_word=match.rule)
        key = self.key(start)
        if key in ("what", "what's", "whats"):
            after = start + 1
            verb = self.key(after)
            if verb in ("does", "do", "did"):
                for index in range(after + 1, min(len(self.symbols), after + 30)):
                    if _ends_sentence(self.lexed, index):
                        break
                    if self.key(index) in ("mean", "means", "signify") and not self._is_boundary_word(index - 1):
                        return Question(
                            cue=self.cue(Match("", "", start, after), "definition", "what-does-mean"),
                            text_only=True,
                            rule_word="what",
                        )
            if key == "what" and verb in ("is", "are"):
                after += 1
            elif key == "what":
                return None
            if self._plain_name(after):
                return Question(
                    cue=self.cue(Match("", "", start, after), "definition", "what-is"), text_only=True, rule_word="what"
                )
        return self._han_definition()

    def _is_boundary_word(self, index: int) -> bool:
        return self.key(index) in (",", ";")

    def _plain_name(self, index: int) -> bool:
        """True if the rest of the sentence is one name or noun phrase without a relation word."""
        if self.key(index) in ("the", "your", "my", "our", "his", "her", "their"):
            return False
        count = 0
        article = self.key(index) in ("a", "an")
        if article:
            index += 1
        while index < len(self.symbols) and not _ends_sentence(self.lexed, index):
            symbol = self.symbols[index]
            if self.blocked[index]:
                count += 1
                index += 1
                continue
            if symbol.kind == "word":
                if (
                    symbol.key in _STOPS
                    or symbol.key.endswith(("'s", "ing"))
                    or symbol.key in ("current", "happening", "new")
                ):
                    return False
                count += 1
            index += 1
        return 0 < count <= 8

    def _han_definition(self) -> Question | None:
        """`X是什么？` without a 的 before it asks what X is."""
        symbols = self.symbols
        for index in range(len(symbols) - 2):
            if self.key(index) == "是" and self.key(index + 1) == "什" and self.key(index + 2) == "么":
                closing = index + 3 >= len(symbols) or symbols[index + 3].kind == "mark"
                if closing and not any(symbol.key in "的中在由" for symbol in symbols[max(index - 30, 0) : index]):
                    return Question(
                        cue=self.cue(Match("", "", index, index + 3), "definition", "是什么"),
                        text_only=True,
                        rule_word="什么",
                    )
        return None

    def _from_word(self, match: Match) -> Question:
        value, rule = match.value, match.rule
        noun: Cue | None = None
        if value in ("which", "what"):
            verb = self.key(match.last)
            if rule in ("what's", "whats") or (value == "what" and verb in ("is", "are", "was", "were", "will")):
                start = match.last if rule in ("what's", "whats") else match.last + 1
                noun = self.noun(start, "what-is")
            elif self.han(match.first) and self.key(match.first - 1) == "是" and not self.han(match.last):
                noun = self._han_before(match.first - 1)
            elif self.han(match.first) or verb not in _AUXILIARIES:
                noun = self.noun(match.last, value)
            head = noun.value.split()[0].lower() if noun else ""
            if head in _PEOPLE:
                value = "who"
        elif value in ("how_many", "whose", "how_much"):
            noun = self.noun(match.last, value)
        elif value == "when" and not self.han(match.first) and match.last - match.first > 1:
            noun = self._span(match.last - 1, match.last, "when")
        return Question(
            cue=self.cue(match, value, rule), noun=noun, text_only=value in ("why", "how_to"), rule_word=rule
        )

    def _han_before(self, verb: int) -> Cue | None:
        """`X的颜色是什么`: the noun between 的 and 是."""
        first = verb
        while first > 0 and verb - first < 12 and self.han(first - 1) and self.key(first - 1) not in _HAN_STOPS:
            first -= 1
        if self.key(first - 1) != "的":
            return None
        return self._span(first, verb, "what-is")

    def _ellipsis(self, start: int) -> Question | None:
        """`KEP-5040: owning sig?`, `Current stage of X`, `Chairs of WG Serving`."""
        symbols = self.symbols
        colon = next(
            (
                index
                for index in range(start, len(symbols))
                if symbols[index].key in (":", "：", "-", "?") and self._is_boundary(index) and not self.blocked[index]
            ),
            None,
        )
        if colon is not None and symbols[colon].key in (":", "：") and colon + 1 < len(symbols):
            noun = self.noun(colon + 1, "ellipsis")
            if noun is not None:
                return Question(cue=self._cue_of_noun(noun, "colon"), noun=noun, rule_word=":")
        while start < len(symbols) and self.blocked[start]:
            start += 1
        for index in range(start, min(len(symbols), start + 8)):
            if self.key(index) in ("of", "for", "的"):
                noun = self.noun(start, "ellipsis")
                if self.key(index) == "的":
                    noun = self._han_noun(index + 1, "ellipsis")
                if noun is not None:
                    return Question(cue=self._cue_of_noun(noun, self.key(index)), noun=noun, rule_word=self.key(index))
                break
        if self.symbols[-1].key in ("?", "？"):
            last = Match("", "?", len(symbols) - 1, len(symbols))
            return Question(cue=self.cue(last, "ellipsis", "?"), rule_word="?")
        return None

    def _cue_of_noun(self, noun: Cue, rule: str) -> Cue:
        return Cue(
            kind=CueKind.QUESTION,
            value="ellipsis",
            start=noun.start,
            end=noun.end,
            rule=f"question:ellipsis-{rule}",
            text=noun.text,
        )


def read_question(text: str, *, masked: Sequence[Span] = ()) -> Question | None:
    """The question word, imperative or elliptic form of a text and what it asks for; None if nothing asks.

    The first question word at the start of a clause counts; else, as in "X directed which films", the last that is no relative pronoun.
    Words in quotes or in `masked` spans (mentions, identifiers) do not count. English, Russian and Chinese words are told apart
    by script. Rule: `question:<phrase>`.
    """
    return _Finder(text, masked).find()
