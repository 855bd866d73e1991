"""Language of a text by its script, and Snowball stems."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any

from graphroute.text.folding import HAN_KANA

_ALGORITHMS = {"en": "english", "ru": "russian"}
_HAN_KANA = re.compile(f"[{HAN_KANA}]")
_CYRILLIC = re.compile("(?<![\\w@/.:_-])[\u0400-\u052f]+")
_LATIN = re.compile("(?<![\\w@/.:_-])[A-Za-z\u00c0-\u024f]+(?:['\u2019][A-Za-z]+)?(?![\\w@/:_-])")

_lock = threading.Lock()
_stemmers: dict[str, Any] = {}


@lru_cache(maxsize=1 << 17)
def stem(key: str, language: str = "en") -> str:
    """Snowball stem of a folded word in `en` or `ru`; the word itself in other languages.

    M. Porter, Snowball: a language for stemming algorithms, 2001.
    """
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return key
    with _lock:  # a Stemmer keeps the word it works on and must not be shared between threads
        stemmer = _stemmers.get(language)
        if stemmer is None:
            import Stemmer

            stemmer = _stemmers[language] = Stemmer.Stemmer(algorithm)
        return str(stemmer.stemWord(key)) or key


def detect_language(text: str) -> str:
    """`zh`, `ru` or `en` by the script that most of the text is written in.

    Names and identifiers stand in their own script in any language, so words in lower case decide where there are any,
    and identifiers never count.
    """
    if text.isascii():
        return "en"
    han = 3 * len(_HAN_KANA.findall(text))
    cyrillic_words, latin_words = _CYRILLIC.findall(text), _LATIN.findall(text)
    if any(word[0].islower() for word in (*cyrillic_words, *latin_words)):
        cyrillic_words = [word for word in cyrillic_words if word[0].islower()]
        latin_words = [word for word in latin_words if word[0].islower()]
    cyrillic, latin = sum(map(len, cyrillic_words)), sum(map(len, latin_words))
    if han and han >= cyrillic and han >= latin:
        return "zh"
    return "ru" if cyrillic and cyrillic >= latin else "en"
