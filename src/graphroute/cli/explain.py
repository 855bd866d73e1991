"""`graphroute explain`: what was found in a question, what was tried and why, the evidence and what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from graphroute.cli import output
from graphroute.cli.options import question_options, reader_of, warn_of_unknown_labels
from graphroute.types.evidence import EvidenceBundle, EvidenceUnit
from graphroute.types.graph import Direction, Hop, Support
from graphroute.types.query import Branch, ParsedQuery, Reading
from graphroute.types.retrieval import Verdict
from graphroute.types.time import ALWAYS, format_instant
from graphroute.types.trace import Attempt, Trace

_TEXT_WIDTH = 300


@click.command()
@question_options
def explain(
    question: str,
    store: str | Path,
    reader_id: str | None,
    labels: tuple[str, ...],
    public: bool,
    as_of: str | None,
    routes: Path | None,
    ontology: Path | None,
    log: Path | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Show what was found in QUESTION, which routes were tried and why, the evidence, and what was left out."""
    reader = reader_of(reader_id, labels, public)
    from graphroute.pipeline.engine import GraphRoute

    with GraphRoute.open(store, routes=routes, ontology=ontology, log=log) as router:
        warn_of_unknown_labels(router, reader)
        trace = router.explain(question, reader=reader, as_of=as_of)
    if as_json:
        output.write_json(explanation(trace, log))
    else:
        show(trace)
    return exit_code(trace, strict=strict)


def exit_code(trace: Trace, *, strict: bool) -> int:
    """0; 5 if retrievers failed and nothing usable came, or with `strict` if anything is degraded."""
    results = [result for attempt in trace.attempts for result in attempt.results]
    failed = any(result.verdict is Verdict.FAILED for result in results)
    usable = bool(trace.bundle.units or trace.bundle.answers)
    return 5 if (failed and not usable) or (strict and trace.bundle.degraded) else 0


def explanation(trace: Trace, log: Path | None) -> dict[str, Any]:
    """The decision record as the reader may see it, with the evidence. Its hashes are those of `log`, if there is one."""
    from graphroute.decision_log.record import record_of
    from graphroute.decision_log.writer import DecisionLog

    # Without a log there is nothing to match, and the question is shown anyway: a fixed key keeps the output the same.
    key = DecisionLog(log).key if log is not None else b"explain"
    record = record_of(trace, log_question=True, key=key, operator=False)
    bundle = trace.bundle
    record["evidence"]["shown"] = [_unit(unit, bundle) for unit in bundle.units]
    if trace.serialized is not None:
        record["prompt"]["text"] = trace.serialized.text
    if trace.answer is not None:
        record["answer"]["text"] = trace.answer.text
        record["answer"]["reason"] = trace.answer.reason
        record["answer"]["cited"] = [
            {"unit": citation.unit_id, "valid": citation.valid} for citation in trace.answer.citations
        ]
        if not trace.answer.generated:
            record["answer"]["prompt"] = trace.answer.prompt
    return record


def _unit(unit: EvidenceUnit, bundle: EvidenceBundle) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": unit.id,
        "rank": unit.rank,
        "kind": unit.kind,
        "retrievers": list(unit.retrievers),
        "score": unit.score,
        "score_kind": unit.score_kind.value,
        "binding": unit.binding,
        "conflict": unit.conflict,
        "note": unit.note,
    }
    if unit.path is not None:
        found["hops"] = [
            {
                "subject": hop.fact.subject,
                "predicate": hop.fact.predicate,
                "object": hop.fact.object,
                "direction": hop.direction.value,
                "valid": hop.fact.validity.format(),
                "edges": list(hop.fact.assertion_ids),
                "supports": [_support(support) for support in _supports(hop, bundle)],
            }
            for hop in unit.path.hops
        ]
    elif unit.passage is not None:
        passage = unit.passage
        found["passage"] = {
            "source": passage.source_id,
            "span": [passage.start, passage.end],
            "title": passage.title,
            "text": passage.text,
            "valid": passage.validity.format(),
        }
    elif unit.report is not None:
        found["report"] = {
            "title": unit.report.title,
            "text": unit.report.text,
            "sources": list(unit.report.source_ids),
        }
    return found


def _supports(hop: Hop, bundle: EvidenceBundle) -> Iterable[Support]:
    for assertion_id in hop.fact.assertion_ids:
        yield from bundle.supports.get(assertion_id, ())


def _support(support: Support) -> dict[str, Any]:
    return {
        "edge": support.assertion_id,
        "source": support.span.source_id,
        "span": None if support.span.start is None else [support.span.start, support.span.end],
        "dated": format_instant(support.source_timestamp),
    }


def show(trace: Trace) -> None:
    """The explanation as text."""
    query, bundle = trace.query, trace.bundle
    labels = ", ".join(sorted(trace.reader.labels))
    output.table(
        [
            ["question", query.text],
            ["reader", f"{trace.reader.id} ({labels})"],
            ["as of", f"{format_instant(bundle.as_of)}{' (moved by the question)' if query.moved else ''}"],
            ["snapshot", f"{bundle.snapshot}, configuration {trace.config_hash}"],
        ],
        indent=0,
    )
    _show_question(query)
    _show_routes(trace.attempts)
    _show_plan(trace)
    show_answers(bundle)
    _show_evidence(trace)
    _show_gaps(bundle)
    output.heading("Times")
    output.table([[stage, f"{seconds * 1000:.1f} ms"] for stage, seconds in trace.seconds.items()])


def _show_question(query: ParsedQuery) -> None:
    output.heading(f"Found in the question ({query.family.value}, {query.language})")
    cues = [
        [f"{cue.start}-{cue.end}", cue.kind.value, cue.text or query.text[cue.start : cue.end], cue.value, cue.rule]
        for cue in query.cues
    ]
    if cues:
        output.table(cues, header=["span", "kind", "words", "value", "rule"])
    else:
        output.write("  nothing")
    for note in query.notes:
        output.write(f"  note: {note}")
    if query.readings:
        output.heading("Readings")
        output.table(
            [[f"{reading.cost:g}", _reading(reading), "; ".join(reading.reasons)] for reading in query.readings[:5]],
            header=["cost", "reading", "because"],
        )


def _reading(reading: Reading) -> str:
    joiner = " and " if reading.combine == "all" else " or "
    text = f"{reading.operation.value} {'/'.join(reading.target_types) or 'anything'}: "
    text += joiner.join(_branch(branch) for branch in reading.branches)
    if reading.unexplained:
        text += f" (left out: {', '.join(reading.unexplained)})"
    return text


def _branch(branch: Branch) -> str:
    text = f"({'|'.join(branch.anchors) or '/'.join(branch.start_types) or 'anything'})"
    for hop in branch.hops:
        arrow = f"-{hop.predicate}->" if hop.direction is Direction.FORWARD else f"<-{hop.predicate}-"
        text += f" {arrow} ({'/'.join(hop.types) or 'anything'})"
    return text


def _show_routes(attempts: tuple[Attempt, ...]) -> None:
    output.heading("Routes")
    rows: list[list[str]] = []
    for attempt in attempts:
        decision = attempt.decision
        if decision.fallback_from is None:
            rows.extend([name, "no", why] for name, why in decision.rejected)
            rows.append([decision.route, "yes", decision.reason])
        else:
            rows.append([decision.route, "fallback", decision.reason])
    output.table(rows)
    for attempt in attempts:
        output.heading(f"Retrieval, route {attempt.decision.route}")
        output.table(
            [
                [
                    result.retriever,
                    result.verdict.value,
                    f"{len(result.hits)}",
                    f"{len(result.bindings)}",
                    f"{result.seconds * 1000:.1f} ms",
                    "; ".join(
                        part
                        for part in (result.reason, result.truncated_by and f"cut by {result.truncated_by}")
                        if part
                    ),
                ]
                for result in attempt.results
            ],
            header=["retriever", "verdict", "hits", "answers", "time", "reason"],
        )
        sufficiency = attempt.sufficiency
        parts = ", ".join(f"{name} {value:.2f}" for name, value in sufficiency.parts.items())
        made_of = f" ({parts})" if parts else ""
        output.write(f"  sufficiency {sufficiency.score:.2f} of {sufficiency.threshold:g} needed{made_of}")


def _show_plan(trace: Trace) -> None:
    for attempt in trace.attempts:
        for result in attempt.results:
            if result.plan:
                output.heading(f"Plan of {result.retriever}")
                for step in result.plan:
                    output.write(f"  {step}")
            if result.cypher:
                output.heading("As Cypher")
                text = f"{result.cypher_parameters};\n{result.cypher};"
                if "$view." in result.cypher:
                    text = f"// $view is what the reader may read: operator.view in the decision log.\n{text}"
                output.write("\n".join(f"  {line}" for line in text.splitlines()))


def show_answers(bundle: EvidenceBundle) -> None:
    """The bindings of the asked-for slot, or why there are none."""
    if bundle.abstained:
        output.heading(f"No answer: {bundle.reason}")
    elif bundle.answers:
        output.heading(f"Answers ({len(bundle.answers)})")
        output.table([[answer.display, answer.id or ""] for answer in bundle.answers])


def _show_evidence(trace: Trace) -> None:
    bundle, text = trace.bundle, trace.serialized
    size = f", {text.tokens} of {text.budget} tokens as {text.format}" if text is not None else ""
    output.heading(f"Evidence ({len(bundle.units)} units{size})")
    if text is not None and text.format_reason:
        output.write(f"  format chosen: {text.format_reason}")
    if not bundle.units:
        output.write(f"  none: {bundle.reason or 'nothing found'}")
    for unit in bundle.units:
        _show_unit(unit, bundle)


def _show_unit(unit: EvidenceUnit, bundle: EvidenceBundle) -> None:
    flags = [*(["conflict"] if unit.conflict else []), *([unit.note] if unit.note else [])]
    remark = f"  ({'; '.join(flags)})" if flags else ""
    output.write(
        f"  {unit.rank}. {unit.kind} {unit.id} by {', '.join(unit.retrievers)},"
        f" {unit.score_kind.value} {unit.score:.4g}{remark}"
    )
    if unit.path is not None:
        for hop in unit.path.hops:
            fact = hop.fact
            way = "" if hop.direction is Direction.FORWARD else ", walked backwards"
            output.write(
                f"     {_named(fact.subject, bundle)} -{fact.predicate}-> {_named(fact.object, bundle)}"
                f"{'' if fact.validity == ALWAYS else f'  [{fact.validity.format()}]'}{way}"
            )
            for support in _supports(hop, bundle):
                dated = format_instant(support.source_timestamp)
                place = _span(support.span.source_id, support.span.start, support.span.end)
                output.write(f"       {support.assertion_id} by {place}{f', dated {dated}' if dated else ''}")
    elif unit.passage is not None:
        passage = unit.passage
        output.write(
            f"     {_span(passage.source_id, passage.start, passage.end)} {output.one_line(passage.title, 100)}"
        )
        output.write(f"     {output.one_line(passage.text, _TEXT_WIDTH)}")
    elif unit.report is not None:
        output.write(f"     {output.one_line(unit.report.title, 100)}, from {', '.join(unit.report.source_ids)}")
        output.write(f"     {output.one_line(unit.report.text, _TEXT_WIDTH)}")


def _named(entity_id: str, bundle: EvidenceBundle) -> str:
    entity = bundle.entities.get(entity_id)
    return f"{entity.name} ({entity_id})" if entity is not None and entity.name != entity_id else entity_id


def _span(source: str, start: int | None, end: int | None) -> str:
    return source if start is None else f"{source}[{start}:{'' if end is None else end}]"


def _show_gaps(bundle: EvidenceBundle) -> None:
    if bundle.omissions:
        output.heading("Left out")
        output.table([[omission.what, omission.stage, omission.reason] for omission in bundle.omissions])
    if bundle.degraded:
        output.heading("Degraded: the evidence may be incomplete")
        output.table([[item.stage, item.reason] for item in bundle.degraded])
    if bundle.flags:
        output.heading(f"Flags: {', '.join(bundle.flags)}")
