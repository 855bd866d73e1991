"""How well evidence answers a question: a stated function in [0, 1], made of parts that the record keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphroute.routing.conditions import exact_identifiers, resolved_mentions, restricting_relations
from graphroute.text import STOP_WORDS, terms, words
from graphroute.types.query import ParsedQuery
from graphroute.types.retrieval import Hit, RetrievalResult, ScoreKind, Verdict
from graphroute.types.route import Sufficiency

TOP_HITS = 5
"""Passages and reports, best first, that are read for coverage."""
_CHARACTERS = 4_000
_NOT_PROVEN = 0.5
_PRESENT = 0.4
_FINAL = frozenset({Verdict.ABSENT, Verdict.UNRESOLVED})
_STOPPED = frozenset().union(*STOP_WORDS.values())


def assess(
    query: ParsedQuery,
    results: Sequence[RetrievalResult],
    *,
    threshold: float,
    authority: Mapping[str, float] | None = None,
) -> Sufficiency:
    """The sufficiency of the results of one route.

    No score of a retriever enters: BM25, cosines and fused ranks have no common scale, so a bound on one means nothing
    for another. What enters is what was found.

    Facts (a result that read the question as a query over facts):
        score = slots * (0.4 anchors + 0.4 relations + 0.2 authority)
        slots      1 if the retriever vouches for the answer, 0.5 for facts that do not prove one, 0 without facts
        anchors    named things found / named things
        relations  relation words the reading uses / relation words, divided by 1 + a quarter for each word left out
    Text (passages and reports):
        score = hits * (0.4 + 0.6 coverage) * authority
        hits       1 if there are any
        coverage   share of the content words found in the first `TOP_HITS` hits, averaged with the share of the names
                   found in them where names are given; 1 if an exact hit was made for each whole identifier and
                   nothing relational is asked
    `authority` is the mean weight of the kinds of the sources of the first hits (1 where none is configured).
    The score is that of the better kind. A closed-world absence or an unresolved slot is final: 0, with the part
    `final` 1. `failed` counts retrievers that failed.
    """
    weights = authority or {}
    failed = sum(result.verdict is Verdict.FAILED for result in results)
    extra = {"failed": float(failed)} if failed else {}
    if any(result.verdict in _FINAL for result in results):
        return Sufficiency(score=0.0, parts={"final": 1.0, **extra}, threshold=threshold)
    candidates = [_facts(query, result, weights) for result in results if _is_facts(result)]
    hits = [hit for result in results if not _is_facts(result) for hit in result.hits[:TOP_HITS]]
    candidates.append(_text(query, hits, weights))
    score, parts = max(candidates, key=lambda candidate: candidate[0])
    return Sufficiency(score=round(score, 6), parts={**parts, **extra}, threshold=threshold)


def _is_facts(result: RetrievalResult) -> bool:
    return (
        result.reading is not None
        or result.verdict is Verdict.ANSWERED
        or any(hit.path is not None for hit in result.hits)
    )


def _facts(query: ParsedQuery, result: RetrievalResult, weights: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    found = len(resolved_mentions(query))
    anchors = found / (found + len(query.unresolved)) if query.unresolved else 1.0
    relations = _relations(query, result)
    slots = 1.0 if result.verdict is Verdict.ANSWERED else _NOT_PROVEN if result.hits or result.bindings else 0.0
    trust = _authority(result.hits[:TOP_HITS], weights)
    score = slots * (0.4 * anchors + 0.4 * relations + 0.2 * trust)
    return score, {"slots": slots, "anchors": anchors, "relations": relations, "authority": trust}


def _relations(query: ParsedQuery, result: RetrievalResult) -> float:
    asked = {(relation.cue.start, relation.cue.end) for relation in restricting_relations(query)}
    if result.reading is None:
        return 1.0 if not asked else _NOT_PROVEN
    used = {
        (hop.cue.start, hop.cue.end) for branch in result.reading.branches for hop in branch.hops if hop.cue is not None
    }
    share = len(asked & used) / len(asked) if asked else 1.0
    return share / (1 + 0.25 * len(result.reading.unexplained))


def _text(query: ParsedQuery, hits: Sequence[Hit], weights: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    if not hits:
        return 0.0, {"hits": 0.0}
    trust = _authority(hits, weights)
    identifiers = exact_identifiers(query)
    exact = sum(hit.kind is ScoreKind.EXACT for hit in hits)
    if identifiers and not restricting_relations(query) and exact >= len(identifiers):
        coverage = 1.0
    else:
        texts = [set(terms(_read(hit))) for hit in hits]
        coverage = _coverage(query, texts)
    return (_PRESENT + (1 - _PRESENT) * coverage) * trust, {"hits": 1.0, "coverage": coverage, "authority": trust}


def _read(hit: Hit) -> str:
    if hit.passage is not None:
        return f"{hit.passage.title}\n{hit.passage.text[:_CHARACTERS]}"
    return f"{hit.report.title}\n{hit.report.text[:_CHARACTERS]}" if hit.report is not None else ""


def _coverage(query: ParsedQuery, texts: Sequence[set[str]]) -> float:
    together: set[str] = set().union(*texts)
    wanted = _content(query.text)
    by_word = sum(bool(unit & together) for unit in wanted) / len(wanted) if wanted else 1.0
    named = resolved_mentions(query)
    if not named:
        return by_word
    by_name = 0
    for mention in named:
        spellings = {query.text[mention.cue.start : mention.cue.end], *(c.name for c in mention.candidates)}
        units = [_content(spelling) for spelling in sorted(spellings)]
        by_name += any(unit and all(part & text for part in unit) for unit in units for text in texts)
    return (by_word + by_name / len(named)) / 2


def _content(text: str) -> list[set[str]]:
    """For each content word its terms; for Han and kana each pair of neighbours, as single characters are everywhere."""
    units: list[set[str]] = []
    for word in words(text):
        found = set(terms(word.text))
        if found and word.key not in _STOPPED and not (len(word.key) == 1 and ord(word.key) > 0x2E80):
            units.append(found)
    for term in dict.fromkeys(terms(text)):
        if len(term) == 2 and all(ord(character) > 0x2E80 for character in term):
            units.append({term})
    return units


def _authority(hits: Sequence[Hit], weights: Mapping[str, float]) -> float:
    found = [
        min(1.0, max(0.0, weights.get(hit.passage.kind or "", 1.0)))
        for hit in hits
        if hit.passage is not None and weights
    ]
    return sum(found) / len(found) if found else 1.0
