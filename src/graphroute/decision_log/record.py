"""The decision record of a run: choices, ids, counts and times, without names, question or evidence text."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from graphroute.text import STOP_WORDS, words
from graphroute.types.query import Cue
from graphroute.types.retrieval import RetrievalResult
from graphroute.types.time import format_instant
from graphroute.types.trace import Attempt, Trace

SCHEMA = 2
"""Version of the record's shape; readers accept every version up to it."""
KEY_VARIABLE = "GRAPHROUTE_LOG_KEY"
"""Environment variable with the secret under which questions and readers are hashed."""

_PROCESS_KEY = os.urandom(32)
_PERSONAL = re.compile(
    r"[^\s<>]+@[^\s<>]+|(?:\+|\b)[0-9][0-9 ()/-]{6,}[0-9]|['\"\u201c\u00ab][^'\"\u201d\u00bb]*['\"\u201d\u00bb]"
)
_CODE = re.compile(r"[A-Za-z0-9_:./#&+=~,;-]{1,200}\Z")
_STOPPED = frozenset().union(*STOP_WORDS.values())


def record_of(trace: Trace, *, log_question: bool, key: bytes | None = None, operator: bool = True) -> dict[str, Any]:
    """The projection of a trace that the log keeps and `graphroute explain --json` prints, as JSON values.

    The question and the reader stand as hashes keyed with `key` (by default that of `KEY_VARIABLE`, else one of this
    process). Cues stand as kind, rule and span. With `log_question` the part `text` is added: the question, the words of
    its cues, the entities and all reasons as they are; it is the only part that holds words of people.
    `operator`: include what only the operator may see, such as counts of stale paths.
    """
    secret = key or _environment_key() or _PROCESS_KEY
    query, bundle = trace.query, trace.bundle
    hidden = _words_of(trace)

    def code(value: str) -> str:
        return value if _CODE.match(value) and "@" not in value else _hash(secret, "id", value)

    def safe(reason: str) -> str:
        return _redact(reason, hidden)

    record: dict[str, Any] = {
        "schema": SCHEMA,
        "run": trace.run_id,
        "reader": _hash(secret, "reader", trace.reader.id),
        "labels": len(trace.reader.labels),
        "question": {
            "hash": _hash(secret, "question", query.text),
            "characters": len(query.text),
            "language": query.language,
            "family": query.family.value,
            "cues": [_cue(cue) for cue in query.cues],
            "predicates": sorted({option[0] for relation in query.relations for option in relation.options}),
            "unresolved": len(query.unresolved),
            "readings": len(query.readings),
        },
        "as_of": format_instant(bundle.as_of),
        "moved": query.moved,
        "snapshot": bundle.snapshot,
        "config": trace.config_hash,
        "attempts": [_attempt(attempt, safe, operator=operator) for attempt in trace.attempts],
        "route": bundle.route,
        "retrievers": list(bundle.retrievers),
        "fallback": bundle.fallback,
        "abstained": bundle.abstained,
        "reason": safe(bundle.reason),
        "evidence": {
            "units": dict(sorted(Counter(unit.kind for unit in bundle.units).items())),
            "sources": [code(source) for source in bundle.sources],
            "edges": [code(edge) for edge in bundle.edges],
            "answers": len(bundle.answers),
            "anchors": [_hash(secret, "entity", anchor) for anchor in bundle.anchors],
            "paths_returned": bundle.paths_returned,
            "paths_rejected_as_stale": bundle.paths_rejected_as_stale,
            "truncated": bundle.truncated,
            "evidence_truncated": bundle.evidence_truncated,
            "omissions": dict(sorted(Counter(omission.stage for omission in bundle.omissions).items())),
            "flags": list(bundle.flags),
        },
        "degraded": [{"stage": item.stage, "reason": safe(item.reason)} for item in bundle.degraded],
        "prompt": None,
        "answer": None,
        "seconds": {stage: round(value, 6) for stage, value in trace.seconds.items()},
    }
    if trace.serialized is not None:
        text = trace.serialized
        record["prompt"] = {
            "format": f"{text.format}/{text.format_version}",
            "profile": text.profile,
            "nodes": text.nodes,
            "facts": text.facts,
            "format_reason": text.format_reason or None,
            "tokens": text.tokens,
            "tokenizer": text.tokenizer,
            "budget": text.budget,
            "included": len(text.included),
            "omitted": len(text.omitted),
            "sha256": text.sha256,
        }
    if trace.answer is not None:
        answer = trace.answer
        record["answer"] = {
            "generated": answer.generated,
            "abstained": answer.abstained,
            "unsupported": answer.unsupported,
            "citations": len(answer.citations),
            "invalid_citations": sum(not citation.valid for citation in answer.citations),
            "model": answer.model,
            "prompt_tokens": answer.usage.prompt_tokens if answer.usage else None,
            "completion_tokens": answer.usage.completion_tokens if answer.usage else None,
        }
    if operator:
        record["operator"] = {
            name: value if isinstance(value, int) else safe(value) for name, value in sorted(trace.operator.items())
        }
    if log_question:
        record["text"] = _text(trace)
    return record


def _environment_key() -> bytes | None:
    value = os.environ.get(KEY_VARIABLE)
    return value.encode("utf-8", "surrogateescape") if value else None


def _hash(secret: bytes, purpose: str, value: str) -> str:
    message = f"{purpose}\0{value}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:20]


def _cue(cue: Cue) -> dict[str, Any]:
    return {"kind": cue.kind.value, "rule": cue.rule, "span": [cue.start, cue.end]}


def _attempt(attempt: Attempt, safe: Any, *, operator: bool) -> dict[str, Any]:
    decision, sufficiency = attempt.decision, attempt.sufficiency
    return {
        "route": decision.route,
        "reason": decision.reason,
        "rejected": [list(item) for item in decision.rejected if item[0] != "proposal"],
        "fallback_from": decision.fallback_from,
        "features": dict(decision.features),
        "params": {name: dict(params) for name, params in decision.params.items()},
        "limits": {
            "max_hops": decision.limits.max_hops,
            "max_paths": decision.limits.max_paths,
            "max_source_spans": decision.limits.max_source_spans,
        },
        "results": [_result(result, safe, operator=operator) for result in attempt.results],
        "sufficiency": {
            "score": sufficiency.score,
            "threshold": sufficiency.threshold,
            "parts": {name: round(value, 6) for name, value in sufficiency.parts.items()},
        },
    }


def _result(result: RetrievalResult, safe: Any, *, operator: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "retriever": result.retriever,
        "verdict": result.verdict.value,
        "hits": len(result.hits),
        "bindings": len(result.bindings),
        "truncated_by": result.truncated_by,
        "evidence_truncated": result.evidence_truncated,
        "as_of": format_instant(result.instant),
        "reason": safe(result.reason),
        "seconds": round(result.seconds, 6),
    }
    if operator:
        found["stale_paths"] = result.stale_paths
    return found


def _text(trace: Trace) -> dict[str, Any]:
    query, bundle = trace.query, trace.bundle
    return {
        "question": query.text,
        "reader": trace.reader.id,
        "cues": [
            {**_cue(cue), "value": cue.value, "text": cue.text or query.text[cue.start : cue.end]} for cue in query.cues
        ],
        "notes": list(query.notes),
        "anchors": list(bundle.anchors),
        "answers": [{"id": answer.id, "display": answer.display} for answer in bundle.answers],
        "reason": bundle.reason,
        "omissions": [
            {"what": omission.what, "stage": omission.stage, "reason": omission.reason} for omission in bundle.omissions
        ],
        "degraded": [{"stage": item.stage, "reason": item.reason} for item in bundle.degraded],
        "results": [
            {"retriever": result.retriever, "reason": result.reason, "plan": list(result.plan), "cypher": result.cypher}
            for attempt in trace.attempts
            for result in attempt.results
        ],
    }


def _words_of(trace: Trace) -> frozenset[str]:
    """Folded words that a free-text reason may not repeat: those of the question, of names and of evidence titles."""
    query, bundle = trace.query, trace.bundle
    texts: list[str] = [query.text, trace.reader.id, *bundle.anchors]
    for mention in (*query.identifiers, *query.mentions):
        texts.extend(name for candidate in mention.candidates for name in (candidate.name, candidate.entity_id))
    for entity in bundle.entities.values():
        texts.extend((entity.id, entity.name, *entity.names))
    texts.extend(answer.display for answer in bundle.answers)
    texts.extend(_titles(bundle.source_titles))
    return frozenset(word.key for text in texts for word in words(text)) - _STOPPED


def _titles(titles: Mapping[str, str]) -> Iterable[str]:
    return titles.values()


def _redact(reason: str, hidden: frozenset[str]) -> str:
    """The reason without quoted text, addresses, long numbers and the given words."""
    text = _PERSONAL.sub("[...]", reason)
    pieces: list[str] = []
    last = 0
    for word in words(text):
        if word.key in hidden:
            pieces.extend((text[last : word.start], "[...]"))
            last = word.end
    return "".join((*pieces, text[last:]))[:500]
