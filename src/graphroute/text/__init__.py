"""Folding, words and search terms: one way to read text, at index and at query time."""

from graphroute.text.folding import fold, fold_with_offsets
from graphroute.text.languages import detect_language, stem
from graphroute.text.stop_words import STOP_WORDS
from graphroute.text.terms import query_terms, terms
from graphroute.text.words import Word, alias_key, words

__all__ = [
    "STOP_WORDS",
    "Word",
    "alias_key",
    "detect_language",
    "fold",
    "fold_with_offsets",
    "query_terms",
    "stem",
    "terms",
    "words",
]
