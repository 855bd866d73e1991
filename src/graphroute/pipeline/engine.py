"""GraphRoute: parse, route, retrieve, merge, serialize, generate, log; in that order."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphroute.cancellation import check
from graphroute.config.load import load_routes
from graphroute.config.model import RoutesConfig
from graphroute.decision_log.record import record_of
from graphroute.errors import BackendError, UsageError
from graphroute.generation.single_pass import answer
from graphroute.merging.merge import merge
from graphroute.parsing.parser import Parser
from graphroute.pipeline.assembly import Parts, assemble
from graphroute.pipeline.async_calls import in_thread
from graphroute.resources import resource
from graphroute.retrieval.contract import ContractResult, load_contracts, run_contract
from graphroute.routing.sufficiency import assess
from graphroute.serialization.serialize import serialize
from graphroute.stores.lexical.base import NO_FILTER, LexicalStore, PassageFilter, Scored
from graphroute.stores.neo4j.printing import view_parameter
from graphroute.strict_yaml import suggest
from graphroute.time_limit import limited
from graphroute.types.answer import Answer
from graphroute.types.evidence import Degradation, EvidenceBundle
from graphroute.types.prompt import SerializedEvidence
from graphroute.types.query import ParsedQuery
from graphroute.types.reader import Reader
from graphroute.types.retrieval import RetrievalResult, Verdict
from graphroute.types.route import RouteDecision
from graphroute.types.time import Instant, instant_of
from graphroute.types.trace import Attempt, Trace
from graphroute.types.view import View

AsOf = datetime | date | str | None


class GraphRoute:
    """A router over one store. Open once per process; safe to share between threads.

    Questions are read by people with labels: every call takes `reader`. `as_of` is the day the question is asked: what "now" and
    relative dates mean; without it the store's configured day, else the clock.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._router = parts.config.router()
        order = parts.config.date_order
        words = _Words(parts.backends.lexical, parts.config.deadlines.whole / 2000)
        self._parser, self._bare_parser = (
            Parser(parts.ontology, parts.backends.catalog, lexical, date_order=order, undated=parts.undated)
            for lexical in (words, _NoWords())
        )

    @classmethod
    def open(
        cls,
        store: str | Path,
        *,
        routes: str | Path | RoutesConfig | None = None,
        ontology: str | Path | None = None,
        log: str | Path | None = None,
        bookmarks: Iterable[str] = (),
    ) -> Self:
        """Open a store that `graphroute ingest` wrote: a file, or the address of a Neo4j server (`neo4j://HOST:PORT`).

        `routes`: a routes file, the shipped policy if None. `ontology`: replaces the one kept in the store. `log`: where decision
        records go, none if None. `bookmarks`: those that an ingest into a cluster reported, so that what it wrote is seen. Raises ConfigurationError, DataError or BackendError.
        """
        config = routes if isinstance(routes, RoutesConfig) else load_routes(routes)
        return cls(assemble(store, config, ontology=ontology, log=Path(log) if log else None, bookmarks=bookmarks))

    def close(self) -> None:
        """Release the store."""
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def retrieve(self, question: str, *, reader: Reader, as_of: AsOf = None) -> EvidenceBundle:
        """The evidence bundle for a question, logged."""
        return self._run(question, reader, as_of, generate=False).bundle

    def explain(self, question: str, *, reader: Reader, as_of: AsOf = None) -> Trace:
        """Everything one retrieval decided, with the serialized evidence; no answer is generated."""
        return self._run(question, reader, as_of, generate=False)

    def ask(self, question: str, *, reader: Reader, as_of: AsOf = None) -> Trace:
        """The same, then an answer from the configured endpoint.

        Without an endpoint, or if it fails, `answer.generated` is False, `answer.prompt` is all there is and `answer.reason` says why; a failure
        is also in `bundle.degraded`.
        """
        return self._run(question, reader, as_of, generate=True)

    async def aretrieve(self, question: str, *, reader: Reader, as_of: AsOf = None) -> EvidenceBundle:
        """`retrieve` for an event loop, which stays free meanwhile. Cancelled, it ends what runs on a server for it."""
        return await in_thread(lambda: self.retrieve(question, reader=reader, as_of=as_of))

    async def aexplain(self, question: str, *, reader: Reader, as_of: AsOf = None) -> Trace:
        """`explain` for an event loop; see `aretrieve`."""
        return await in_thread(lambda: self.explain(question, reader=reader, as_of=as_of))

    async def aask(self, question: str, *, reader: Reader, as_of: AsOf = None) -> Trace:
        """`ask` for an event loop; see `aretrieve`."""
        return await in_thread(lambda: self.ask(question, reader=reader, as_of=as_of))

    def contract(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        reader: Reader,
        as_of: AsOf = None,
        folder: str | Path | None = None,
    ) -> ContractResult:
        """Rows of a named retrieval contract. `folder`: where the contract files are, schema/contracts if None.

        Raises UsageError for an unknown contract or parameter, ConfigurationError for a contract the ontology does not fit.
        """
        found = load_contracts(Path(folder) if folder else resource("schema/contracts"), self._parts.ontology)
        if name not in found:
            raise UsageError(f"unknown contract {name!r}", hint=suggest(name, tuple(found)))
        deadlines = self._parts.config.deadlines
        with limited(deadlines.whole / 1000):
            return run_contract(
                found[name],
                arguments or {},
                backends=self._parts.backends,
                view=self._parts.backends.catalog.view(reader=reader),
                instant=self._instant(as_of),
                deadline=time.monotonic() + deadlines.seconds_of("local_graph"),
            )

    def unknown_labels(self, reader: Reader) -> tuple[str, ...]:
        """Labels of the reader that open nothing in the store, in order."""
        view = self._parts.backends.catalog.view
        return tuple(label for label in sorted(reader.labels) if not view(reader=Reader(reader.id, [label])).scopes)

    @property
    def settings(self) -> Mapping[str, str]:
        """The store's settings: dataset, day, embedder, default labels."""
        return self._parts.settings

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await in_thread(self.close)

    def _run(self, question: str, reader: Reader, as_of: AsOf, *, generate: bool) -> Trace:
        parts, clock = self._parts, _Clock()
        with limited(parts.config.deadlines.whole / 1000):
            view = parts.backends.catalog.view(reader=reader)
            instant = self._instant(as_of)
            query, unread = clock.time("parse", lambda: self._parse(question, view=view, instant=instant))
            decision = clock.time("route", lambda: self._router.route(query, limits=parts.config.bounds()))
            attempts = [self._attempt(query, decision, (), view=view, clock=clock)]
            fallback = self._router.fallback(query, decision, attempts[0].sufficiency)
            if fallback is not None:
                attempts.append(self._attempt(query, fallback, attempts[0].results, view=view, clock=clock))
            bundle = clock.time("merge", lambda: self._merge(query, attempts, unread, view=view))
        serialized = clock.time(
            "serialize",
            lambda: replace(
                serialize(
                    bundle,
                    format=parts.form.format,
                    profile=parts.form.profile,
                    budget=parts.config.budget,
                    tokenizer=parts.tokenizer,
                ),
                format_reason=parts.form.reason,
            ),
        )
        said = None
        if generate:
            bundle, said = clock.time("generate", lambda: self._answer(bundle, serialized))
        trace = Trace(
            run_id=uuid.uuid4().hex,
            reader=reader,
            query=query,
            attempts=tuple(attempts),
            bundle=bundle,
            serialized=serialized,
            answer=said,
            seconds=clock.seconds,
            config_hash=parts.config_hash,
            operator={
                "sequence": view.sequence,
                "view": view_parameter(view),
                "stale_paths": sum(r.stale_paths for a in attempts for r in a.results),
            },
        )
        if parts.log is not None:
            parts.log.append(record_of(trace, log_question=parts.config.log.question_text, key=parts.log.key))
        return trace

    def _attempt(
        self,
        query: ParsedQuery,
        decision: RouteDecision,
        before: Sequence[RetrievalResult],
        *,
        view: View,
        clock: _Clock,
    ) -> Attempt:
        """Run the retrievers of a route in order. One that ran on the route before is not run again."""
        known = {result.retriever: result for result in before if result.verdict is not Verdict.FAILED}
        results: list[RetrievalResult] = []
        for name in decision.retrievers:
            if name in known:
                results.append(known[name])
                continue
            results.append(
                clock.time(
                    f"retrieve:{name}",
                    lambda name=name: self._retrieve(name, query, decision, tuple(results), view=view),
                )
            )
        threshold = self._router.threshold(decision)
        sufficiency = assess(query, results, threshold=threshold, authority=self._parts.ontology.source_authority)
        return Attempt(decision=decision, results=tuple(results), sufficiency=sufficiency)

    def _retrieve(
        self, name: str, query: ParsedQuery, decision: RouteDecision, prior: tuple[RetrievalResult, ...], *, view: View
    ) -> RetrievalResult:
        retriever = self._parts.retriever(name, decision.params.get(name, {}))
        try:
            # Models and arrays are loaded once per process or snapshot, outside the deadline of one question.
            self._parts.prepare(name, query.text, view=view)
        except BackendError as error:
            return RetrievalResult(retriever=name, verdict=Verdict.FAILED, reason=error.message)
        deadlines = self._parts.config.deadlines
        deadline = time.monotonic() + deadlines.seconds_of(name)
        try:
            # Something is left for the catalog, which has to put together what others found.
            with limited(deadlines.whole / 1000, reserve=deadlines.merge / 1000):
                return retriever.retrieve(query, view=view, limits=decision.limits, prior=prior, deadline=deadline)
        except BackendError as error:
            return RetrievalResult(retriever=name, verdict=Verdict.FAILED, reason=error.message)

    def _parse(self, question: str, *, view: View, instant: Instant) -> tuple[ParsedQuery, tuple[Degradation, ...]]:
        """The question taken apart; without the words of the corpus if the lexical store fails.

        Then no name counts as unknown, since only that store can tell. Raises BackendError if the catalog fails.
        """
        try:
            return self._parser.parse(question, view=view, instant=instant), ()
        except BackendError as error:
            query = self._bare_parser.parse(question, view=view, instant=instant)
            return replace(query, unresolved=()), (Degradation(stage="parse", reason=error.message),)

    def _merge(
        self, query: ParsedQuery, attempts: Sequence[Attempt], unread: Sequence[Degradation], *, view: View
    ) -> EvidenceBundle:
        results: dict[str, RetrievalResult] = {}
        for attempt in attempts:
            for result in attempt.results:
                before = results.get(result.retriever)
                if before is None or before.verdict is Verdict.FAILED:
                    results[result.retriever] = result
        failed = (
            Degradation(stage=result.retriever, reason=result.reason)
            for result in results.values()
            if result.verdict is Verdict.FAILED
        )
        degraded = (*unread, *failed)
        return merge(
            query,
            attempts[-1].decision,
            tuple(results.values()),
            attempts=tuple(attempts),
            view=view,
            catalog=self._parts.backends.catalog,
            graph=self._parts.backends.graph,
            ontology=self._parts.ontology,
            params=self._parts.merge_params,
            degraded=degraded,
            instant=query.instant,
        )

    def _answer(self, bundle: EvidenceBundle, serialized: SerializedEvidence) -> tuple[EvidenceBundle, Answer]:
        """The answer; if the endpoint fails the prompt with the reason, and the failure is noted in the bundle."""
        parts = self._parts
        timeout = parts.config.deadlines.generate / 1000
        try:
            return bundle, answer(bundle, serialized, model=parts.model, timeout=timeout)
        except BackendError as error:
            prompt = answer(bundle, serialized, model=None, timeout=timeout)
            failed = Degradation(stage="generate", reason=error.message)
            return replace(bundle, degraded=(*bundle.degraded, failed)), replace(prompt, reason=error.message)

    def _instant(self, as_of: AsOf) -> Instant:
        given: Any = as_of if as_of is not None else self._parts.settings.get("as_of") or None
        if given is None:
            return instant_of(self._parts.now())
        return parse_as_of(given)


class _Words:
    """The lexical store as parsing asks it: one that does not answer leaves time for the bare parser and the other stores."""

    def __init__(self, store: LexicalStore, seconds: float) -> None:
        self._store = store
        self._seconds = seconds

    def search(
        self,
        query: str,
        *,
        view: View,
        k: int,
        where: PassageFilter = NO_FILTER,
        deadline: float | None = None,
    ) -> Sequence[Scored]:
        """See `LexicalStore.search`."""
        with limited(self._seconds):
            return self._store.search(query, view=view, k=k, where=where, deadline=deadline)

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """See `LexicalStore.document_frequencies`."""
        with limited(self._seconds):
            return self._store.document_frequencies(terms, view=view)


class _NoWords:
    """Stands in for a lexical store that fails: nothing is found, and no word is said to be missing."""

    def search(
        self,
        query: str,
        *,
        view: View,
        k: int,
        where: PassageFilter = NO_FILTER,
        deadline: float | None = None,
    ) -> Sequence[Scored]:
        """Nothing."""
        return ()

    def document_frequencies(self, terms: Sequence[str], *, view: View) -> Sequence[int]:
        """One for each term."""
        return [1] * len(terms)


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, stage: str, run: Any) -> Any:
        """Run a stage and add its seconds. Raises CancelledError where nobody waits any more."""
        check()
        began = time.perf_counter()
        try:
            return run()
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began


def parse_as_of(given: datetime | date | str) -> Instant:
    """The instant of a day or moment; a day means its first instant in UTC.

    Raises UsageError for a naive moment, a text that is no ISO 8601 date, and every other type.
    """
    if isinstance(given, datetime):
        if given.tzinfo is None:
            raise UsageError(
                f"as_of {given.isoformat()} has no time zone", allowed="an aware datetime, a date or ISO 8601"
            )
        return instant_of(given)
    if isinstance(given, date):
        return instant_of(datetime(given.year, given.month, given.day, tzinfo=UTC))
    if not isinstance(given, str):
        raise UsageError(f"as_of is of type {type(given).__name__}", allowed="an aware datetime, a date or ISO 8601")
    try:
        text = given.strip()
        if len(text) == 10:
            return parse_as_of(date.fromisoformat(text))
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"as_of {given!r} is not a date", allowed="2026-08-21 or 2026-08-21T09:00:00Z") from None
    # A naive moment in a text is UTC: the one rule for data and questions.
    return instant_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
