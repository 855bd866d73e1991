"""Nominative forms that a Russian name in another case may have."""

from __future__ import annotations

from itertools import product

MAX_WORDS = 4
"""Longest name put back into the nominative, in words."""

_ENDINGS = (
    ("ого", ("ый", "ий", "ой")),
    ("его", ("ий", "ее")),
    ("ому", ("ый", "ий", "ой")),
    ("ему", ("ий", "ее")),
    ("ыми", ("ые",)),
    ("ими", ("ие",)),
    ("ами", ("ы", "а", "и")),
    ("ями", ("и", "я")),
    ("ией", ("ия",)),
    ("ии", ("ия", "ие")),
    ("ию", ("ия",)),
    ("ия", ("ий",)),
    ("ием", ("ий", "ие")),
    ("ым", ("ый", "")),
    ("им", ("ий", "")),
    ("ых", ("ые",)),
    ("их", ("ие",)),
    ("ой", ("а", "ая", "ой")),
    ("ей", ("я", "а", "яя")),
    ("ую", ("ая",)),
    ("юю", ("яя",)),
    ("ом", ("", "о")),
    ("ем", ("ь", "й", "е")),
    ("а", ("", "о")),
    ("я", ("ь", "й", "е")),
    ("у", ("", "а", "о")),
    ("ю", ("ь", "й", "я", "е")),
    ("е", ("", "а", "о", "я")),
    ("ы", ("а",)),
    ("и", ("а", "я", "ь")),
)
"""Endings of oblique cases and what the nominative may end in instead, longest first."""
_LETTERS = tuple(one for one in _ENDINGS if len(one[0]) == 1)
"""Tried also where a longer ending fits."""
_SHORTEST = 2


def _word(key: str) -> tuple[str, ...]:
    forms = {key: None}
    for ending, others in _ENDINGS:
        if key.endswith(ending) and len(key) - len(ending) >= _SHORTEST:
            forms.update(dict.fromkeys(key.removesuffix(ending) + other for other in others))
            break
    for ending, others in _LETTERS:
        if key.endswith(ending) and len(key) - len(ending) >= _SHORTEST:
            forms.update(dict.fromkeys(key.removesuffix(ending) + other for other in others))
    return tuple(forms)


def nominatives(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Keys of names that `keys`, the folded words of a name, may be a case of, themselves left out; () for other scripts.

    Every ending is tried, so most forms are no words; they serve to look names up that are known.
    """
    cyrillic = [all("\u0400" <= char <= "\u052f" for char in key) for key in keys]
    if not any(cyrillic) or len(keys) > MAX_WORDS:
        return ()
    options = [_word(key) if one else (key,) for key, one in zip(keys, cyrillic, strict=True)]
    whole = " ".join(keys)
    return tuple(name for name in map(" ".join, product(*options)) if name != whole)
