"""`graphroute ask`: an answer with checked citations, or the prompt where no endpoint is configured."""

from __future__ import annotations

from pathlib import Path

import click

from graphroute.cli import output
from graphroute.cli.explain import exit_code, explanation, show_answers
from graphroute.cli.options import question_options, reader_of, warn_of_unknown_labels
from graphroute.types.trace import Trace


@click.command()
@question_options
def ask(
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
    """Answer QUESTION from what the reader may see; without a model endpoint in the routes file, print the prompt."""
    reader = reader_of(reader_id, labels, public)
    from graphroute.pipeline.engine import GraphRoute

    with GraphRoute.open(store, routes=routes, ontology=ontology, log=log) as router:
        warn_of_unknown_labels(router, reader)
        trace = router.ask(question, reader=reader, as_of=as_of)
    if as_json:
        output.write_json(explanation(trace, log))
    else:
        _show(trace)
    return exit_code(trace, strict=strict)


def _show(trace: Trace) -> None:
    bundle, answer = trace.bundle, trace.answer
    for item in bundle.degraded:
        output.warn(f"{item.stage} failed, the answer may be incomplete: {item.reason}")
    if answer is None:
        return
    if not answer.generated and answer.abstained:
        output.write(answer.text)
        output.note(f"no answer: {answer.reason}")
        return
    if not answer.generated:
        output.note(f"{answer.reason}; this is the prompt")
        output.write(answer.prompt)
        show_answers(bundle)
        return
    output.write(answer.text)
    if answer.citations:
        output.heading("Cited")
        output.table(
            [[citation.unit_id, "valid" if citation.valid else "not in the evidence"] for citation in answer.citations]
        )
    if answer.unsupported:
        output.warn("a statement of the answer has no valid citation")
    if bundle.sources:
        output.heading("Sources")
        output.table([[source, bundle.source_titles.get(source, "")] for source in bundle.sources])
