"""Chooses the first route whose condition holds, and one fallback where its evidence is too thin."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphroute.routing.conditions import Condition, features
from graphroute.types.query import ParsedQuery
from graphroute.types.route import Limits, RouteDecision, Sufficiency


@dataclass(frozen=True, slots=True)
class Step:
    """A retriever of a route and its parameters."""

    retriever: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRule:
    """A route: where it applies (`condition` None: always), and the retrievers it runs in order.

    `uses` names the strategies the steps come from. `fallback`: the route's own fallback instead of the general one.
    """

    name: str
    uses: tuple[str, ...]
    steps: tuple[Step, ...]
    condition: Condition | None = None
    fallback: FallbackRule | None = None
    falls_back: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackRule:
    """What runs once if sufficiency is below `threshold`, in [0, 1]."""

    use: str
    steps: tuple[Step, ...]
    threshold: float


class Router:
    """Applies routes in order. Pure and deterministic: equal questions and rules give equal decisions."""

    def __init__(self, routes: Sequence[RouteRule], fallback: FallbackRule | None = None) -> None:
        """`routes` end with one without a condition; `fallback` applies to routes without their own."""
        self._routes = tuple(routes)
        self._fallback = fallback

    def route(self, query: ParsedQuery, *, limits: Limits, proposal: str | None = None) -> RouteDecision:
        """The route for a question.

        `proposal`: a route that a classifier of the caller suggests, by its number from 1 or its name. A proposal that
        names no route is rejected, with the reason, and the rules decide.
        """
        values = features(query)
        rejected: list[tuple[str, str]] = []
        if proposal is not None:
            proposed = self._proposed(proposal)
            if proposed is not None:
                return self._decision(proposed, values, limits, f"proposed as {proposal.strip()!r}", rejected)
            rejected.append(("proposal", f"{proposal.strip()[:40]!r} names none of the {len(self._routes)} routes"))
        for rule in self._routes:
            if rule.condition is None:
                return self._decision(rule, values, limits, "no other route applies", rejected)
            if rule.condition.evaluate(values):
                return self._decision(rule, values, limits, f"{rule.condition}", rejected)
            rejected.append((rule.name, "; ".join(rule.condition.failures(values))))
        return RouteDecision(
            route="none",
            retrievers=(),
            limits=limits,
            reason="no route applies",
            features=values,
            rejected=tuple(rejected),
        )

    def threshold(self, attempted: RouteDecision) -> float:
        """The sufficiency below which the fallback of a route runs; 0 if it has none."""
        rule = self._fallback_of(attempted)
        return rule.threshold if rule else 0.0

    def fallback(self, query: ParsedQuery, attempted: RouteDecision, sufficiency: Sufficiency) -> RouteDecision | None:
        """The fallback after a route whose evidence is too thin, or None.

        None if the evidence suffices, if `attempted` is itself a fallback, or if every retriever of the fallback has
        run already with the same parameters: nothing is asked twice.
        """
        rule = self._fallback_of(attempted)
        if rule is None or sufficiency.score >= rule.threshold:
            return None
        done = [(name, dict(attempted.params.get(name, {}))) for name in attempted.retrievers]
        steps = [step for step in rule.steps if (step.retriever, dict(step.params)) not in done]
        if not steps:
            return None
        skipped = [step.retriever for step in rule.steps if step not in steps]
        parts = ", ".join(f"{name} {value:.2f}" for name, value in sufficiency.parts.items())
        reason = f"evidence {sufficiency.score:.2f} below {rule.threshold:g}"
        if parts:
            reason += f" ({parts})"
        if skipped:
            reason += f"; {', '.join(skipped)} already ran"
        return RouteDecision(
            route=rule.use,
            retrievers=tuple(step.retriever for step in steps),
            params={step.retriever: dict(step.params) for step in steps if step.params},
            limits=attempted.limits,
            reason=reason,
            features=attempted.features,
            rejected=((attempted.route, reason),),
            fallback_from=attempted.route,
        )

    def _fallback_of(self, attempted: RouteDecision) -> FallbackRule | None:
        if attempted.fallback_from is not None:
            return None
        for rule in self._routes:
            if rule.name == attempted.route:
                return (rule.fallback or self._fallback) if rule.falls_back else None
        return self._fallback

    def _proposed(self, proposal: str) -> RouteRule | None:
        text = proposal.strip()
        number = re.fullmatch(r"([0-9]{1,4})\.?", text, re.ASCII)
        if number:
            place = int(number.group(1))
            return self._routes[place - 1] if 1 <= place <= len(self._routes) else None
        return next((rule for rule in self._routes if rule.name == text), None)

    @staticmethod
    def _decision(
        rule: RouteRule, values: Mapping[str, int | bool], limits: Limits, reason: str, rejected: list[tuple[str, str]]
    ) -> RouteDecision:
        return RouteDecision(
            route=rule.name,
            retrievers=tuple(step.retriever for step in rule.steps),
            params={step.retriever: dict(step.params) for step in rule.steps if step.params},
            limits=limits,
            reason=reason,
            features=values,
            rejected=tuple(rejected),
        )
