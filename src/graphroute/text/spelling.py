"""British spellings to American ones, so that `authorised` and `Authorized` are one word to search and matching."""

from __future__ import annotations

import re

_ALWAYS_ISE = re.compile(
    "advertis|advis|apprais|aris|bruis|chastis|circumcis|clockwis|compris|compromis|concis|cris|cruis|demis|despis|devis|disguis|enterpris|excis|exercis|expertis|franchis|"
    "improvis|incis|likewis|merchandis|nois|otherwis|paradis|pois|prais|precis|premis|promis|rais|revis|ris|sunris|supervis|surmis|surpris|televis|treatis|wis"
)
"""Words that American English writes with `-ise` as well, without their ending."""

_ISE = re.compile("(.{3,}i)s(e|es|ed|er|ers|ing|ation|ations|ational|able)")
_YSE = re.compile("((?:anal|paral|catal|electrol|hydrol)y)s(e|ed|er|ers|ing)")
_OUR = re.compile(
    "((?:dis|mis|un)?(?:arm|behavi|cand|clam|col|demean|endeav|fav|ferv|flav|harb|hon|hum|lab|misbehavi|neighb|od|parl|rig|rum|sav|savi|splend|"
    "tum|vap|vig)o)u(r.*)"
)
_RE = re.compile("(cal?ib|cent|fib|(?:kilo|centi|milli)?met|(?:milli)?lit|lust|meag|sab|somb|spect|theat)re(s|d)?")
_DOUBLED_L = re.compile(
    "(cancel|channel|counsel|dial|equal|fuel|initial|jewel|label|level|libel|marshal|marvel|model|panel|quarrel|rival|shovel|signal|total|"
    "travel|tunnel|unravel)l(ed|er|ers|ing|ings)"
)
_DIGRAPH = re.compile(
    "((?:orthop|encyclop|p)(?=aed)|(?:an|gyn)(?=ae[sc])|h(?=aem)|arch(?=aeol)|f(?=oet)|(?=oestr)|(?=oesoph))[ao]e(.*)"
)
_WORDS = {
    "acknowledgement": "acknowledgment",
    "ageing": "aging",
    "aluminium": "aluminum",
    "analogue": "analog",
    "catalogue": "catalog",
    "catalogued": "cataloged",
    "cheque": "check",
    "defence": "defense",
    "dialogue": "dialog",
    "enrol": "enroll",
    "enrolment": "enrollment",
    "fulfil": "fulfill",
    "fulfilment": "fulfillment",
    "grey": "gray",
    "instalment": "installment",
    "jewellery": "jewelry",
    "judgement": "judgment",
    "licence": "license",
    "manoeuvre": "maneuver",
    "offence": "offense",
    "plough": "plow",
    "practise": "practice",
    "practised": "practiced",
    "practising": "practicing",
    "pretence": "pretense",
    "programme": "program",
    "sceptic": "skeptic",
    "sceptical": "skeptical",
    "skilful": "skillful",
    "tyre": "tire",
    "wilful": "willful",
}


def american(word: str) -> str:
    """The American spelling of a folded English word; the word itself where the two agree."""
    found = _WORDS.get(word)
    if found is not None:
        return found
    if word.endswith("s") and word[:-1] in _WORDS:
        return _WORDS[word[:-1]] + "s"
    match = _ISE.fullmatch(word)
    if match:
        return word if _ALWAYS_ISE.fullmatch(match[1] + "s") else f"{match[1]}z{match[2]}"
    match = _YSE.fullmatch(word)
    if match:
        return f"{match[1]}z{match[2]}"
    match = _OUR.fullmatch(word)
    if match:
        return match[1] + match[2]
    match = _RE.fullmatch(word)
    if match:
        return f"{match[1]}er{'' if match[2] is None else 'ed' if match[2] == 'd' else 's'}"
    match = _DOUBLED_L.fullmatch(word)
    if match:
        return match[1] + match[2]
    match = _DIGRAPH.fullmatch(word)
    if match:
        return f"{match[1]}e{match[2]}"
    return word
