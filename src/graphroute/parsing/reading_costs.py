"""What a reading of a question costs for what it leaves unexplained or implies, and the bounds of the search."""

from __future__ import annotations

MAX_HOPS = 4
IMPLIED_HOP = 1.0
IMPLIED_HOP_TO_NAMED_TYPE = 0.4
REUSED_RELATION = 0.5
REUSED_RELATION_TO_NAMED_TYPE = 0.3
UNUSED_RELATION_WORD = 2.5
UNUSED_OPTIONAL_WORD = 0.1
UNUSED_TYPE_WORD = 0.8
UNUSED_MENTION = 1.5
UNUSED_WEAK_MENTION = 0.3
UNUSED_GOVERNED_MENTION = 0.6
"""A lower-case word that is a name and stands behind a preposition ("CVEs for requests")."""
WEAK_ANCHOR = 0.2
WEAK_ANCHOR_BESIDE_STRONG = 0.6
WRONG_VOICE = 2.0
WRONG_ORDER = 0.5
WRONG_ORDER_TO_QUESTION = 0.3
WRONG_TARGET = 3.0
NOT_AN_AGENT = 1.5
DATE_OF_FACT = 0.2
"""A "when" read as the date of a fact rather than as an entity that is a time."""
TARGET_WORD_ELSEWHERE = 1.2
UNEXPLAINED_WORD = 0.35
UNEXPLAINED_BESIDE_RELATION = 0.9
UNUSED_VALUE = 0.5
SHARED_WORD = 0.3
EACH_OF_SEVERAL = 0.3
UNKNOWN_VERB = 1.0
THERE_AND_BACK = 1.7
"""A relation walked to something and back again, which no second word and no "same", "other" or "also" asks for."""
WALKED_ONCE = 1.2
NEARER_TO_ANOTHER_ANCHOR = 0.4
MEMBERSHIP = 0.3
"""What a relation of members gains where the question says "is in"."""
WORD_IS_ANCHOR_TOO = 1.5
THE_DEED_ITSELF = 0.6
"""What "what did X order" loses by ending at the order and not at what was ordered."""
NOUN_OF_THE_ANCHOR = 0.4
"""A noun taken for the anchor itself that does not stand beside it: "products from Pavlova" where Pavlova is the product."""
GUESSED_CHAIN = 1.5
"""A chain of hops of which the question names none, in a graph without text."""
NO_DATE = 0.25
"""A date of the question that neither a fact nor an attribute on the path has. Less than an implied hop, which would go round it."""
UNDATED = "nothing on the path has a date"
"""The reason such a reading is given."""
MAX_COST = 2.6
"""Readings that leave more unexplained than this are not readings of the question."""
MAX_NAMES = 12
MAX_WORDS = 40
"""Questions that name more things or relations than this are texts, not queries; the bound keeps the search short."""
