"""Language of a text by its script, and Snowball stems."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from graphroute.text.folding import HAN_KANA
from graphroute.text.spelling import american
from graphroute.text.stop_words import STOP_WORDS

_ALGORITHMS = {"en": "english", "ru": "russian"}
_HAN_KANA = re.compile(f"[{HAN_KANA}]")
_CYRILLIC = re.compile("(?<![\\w@/.:_-])[\u0400-\u052f]+")
_LATIN = re.compile("(?<![\\w@/.:_-])[A-Za-z\u00c0-\u024f]+(?:['\u2019][A-Za-z]+)?(?![\\w@/:_-])")

_FUNCTION_WORD = 4.0

_lock = threading.Lock()
_stemmers: dict[str, Any] = {}


@lru_cache(maxsize=1 << 17)
def stem(key: str, language: str = "en") -> str:
    """Snowball stem of a folded word in `en` or `ru`; the word itself in other languages. British and American spellings share a stem.

    M. Porter, Snowball: a language for stemming algorithms, 2001.
    """
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return key
    if language == "en":
        key = american(key)
    with _lock:  # a Stemmer keeps the word it works on and must not be shared between threads
        stemmer = _stemmers.get(language)
        if stemmer is None:
            import Stemmer

            stemmer = _stemmers[language] = Stemmer.Stemmer(algorithm)
        return str(stemmer.stemWord(key)) or key


def detect_language(text: str) -> str:
    """`zh`, `ru` or `en`: the language in whose script most of the text is written.

    Names and identifiers keep their own script in any language. So identifiers do not count, words in capitals count
    only at the start or where there are no others, and function words count more.
    """
    if text.isascii():
        return "en"
    han = _HAN_KANA.findall(text)
    score = {
        "zh": 1.5 * len(han) + _FUNCTION_WORD * sum(character in STOP_WORDS["zh"] for character in han),
        "ru": _score(_CYRILLIC.finditer(text), "ru"),
        "en": _score(_LATIN.finditer(text), "en"),
    }
    return max(score, key=lambda language: score[language]) if any(score.values()) else "en"


def _score(matches: Iterator[re.Match[str]], language: str) -> float:
    found = list(matches)
    plain = [match for match in found if match.start() == 0 or match.group()[0].islower()]
    words = [match.group().casefold().replace("ё", "е") for match in plain or found[:1]]
    return sum(map(len, words)) + _FUNCTION_WORD * sum(word in STOP_WORDS[language] for word in words)
