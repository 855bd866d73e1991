"""Words too common to search for, by language, as folded keys."""

from __future__ import annotations

from collections.abc import Mapping

_ENGLISH = """
a about after all also am an and any are as at be because been before being between both but by can could did
do does doing during each few for from further had has have having he her here hers him his how i if in into is
it its itself just me more most my no nor not of off on once only or other our ours out over own same she should
so some such than that the their theirs them then there these they this those through to too under until up
upon us very was we were what when where which while who whom whose why will with within would you your yours
don't doesn't didn't isn't aren't wasn't weren't dont doesnt didnt isnt arent wasnt werent whos whats
"""

_RUSSIAN = """
а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да для до его ее ей ему если
есть еще же за здесь и из или им их к как какая какие какими каких каким какое какой каком какому какую ко когда
кого ком кому который которая которое которые которого которой которых которым которую кто куда ли либо между
меня мне мы на над нам нас не него нее ней нет ни ними них но ну о об однако он она они оно от откуда по под
пока после потому при про с со сколько так также такая такие такой там те тем то того тоже той только том тот ту
ты у уже хотя чего чей чем через что чтобы чье чья эта эти это этого этой этом этот эту я
"""

_CHINESE = """
的 了 是 在 和 与 及 或 也 都 就 而 着 把 被 对 从 到 由 吗 呢 吧 啊 谁 哪 哪个 哪些 哪里 什么 怎么 怎样 如何 为什么
多少 几 这 那 这个 那个 这些 那些 它 他 她 我 你 您 们 我们 你们 他们 请 请问 之 其 以 于 有 没有 不 很 个 哪位 何 何时
是谁 是否 是什么 的是
"""

STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "ru": frozenset(_RUSSIAN.split()),
    "zh": frozenset(_CHINESE.split()),
}
