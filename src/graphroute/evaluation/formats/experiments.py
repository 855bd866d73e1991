"""The measurements that need no model: sizes, the same graph in a window, the same budget by whole records and by raw tokens, orders of records."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from graphroute.evaluation.formats.graph import BenchGraph, Task
from graphroute.evaluation.formats.orders import BY_QUESTION, Arranged, Order, arranged
from graphroute.evaluation.formats.prompt import FORMS, digest, joined, messages_of
from graphroute.evaluation.formats.variants import Traversal, Variant, fidelity, written_ids
from graphroute.evaluation.statistics import wilson
from graphroute.models.tokenizers.base import Tokenizer

BUDGETS = (512, 1024, 2048, 4096, 8192)
"""Tokens of a whole prompt."""

CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
FITS = "FITS"


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRow:
    """One graph in one variant, whole. Tokens of the graph are those of its text, header included; of the prompt those of everything sent, over the graph's questions."""

    graph: str
    variant: str
    facts: int
    bytes: int
    graph_tokens: int
    grammar_tokens: int
    prompt_tokens_min: int
    prompt_tokens_mean: float
    prompt_tokens_max: int
    sha256: str
    round_trip: float
    round_trip_equal: bool
    traversal: float
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """The same graph, whole, in a window of so many tokens. `fitting` of `questions` prompts fit; `outcome` is CONTEXT_OVERFLOW unless all do."""

    graph: str
    variant: str
    window: int
    fitting: int
    questions: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """What is left of a graph at a budget of prompt tokens.

    `cut`: `records` (whole records, the finished prompt is counted) or `raw` (the text is cut after a token). Shares are means over the questions: `required` of the facts of their
    gold paths, `complete` those whose path is there in whole, with its 95 % Wilson interval, `traversal` those answered by walking the text that was sent, over the questions that have an answer;
    `false_answers`: questions without an answer that the cut text seems to answer.
    """

    graph: str
    variant: str
    order: str
    seed: int | None
    budget: int
    cut: str
    parsed: float
    facts: float
    nodes: float
    prompt_tokens: float
    required: float
    complete: float
    complete_low: float
    complete_high: float
    traversal: float
    false_answers: int
    answerable: int
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRow:
    """One order at one budget over `permutations` runs: mean and spread (population standard deviation, least and most) of complete paths. Spread is None for a single run."""

    graph: str
    variant: str
    order: str
    budget: int
    permutations: int
    complete_mean: float
    complete_spread: float | None
    complete_least: float
    complete_most: float
    traversal_mean: float
    traversal_spread: float | None


@dataclass(slots=True)
class Bench:
    """Texts and counts of one run, each made once. `note` is called after each step of the work."""

    tokenizer: Tokenizer
    language: str | None = None
    note: Callable[[], None] = lambda: None
    _arranged: dict[tuple[str, Order, str], Arranged] = field(default_factory=dict)
    _whole: dict[tuple[str, str], str] = field(default_factory=dict)

    def arranged(self, graph: BenchGraph, order: Order, task: Task | None = None) -> Arranged:
        """The graph in an order; once for all questions where the ordering does not look at them."""
        key = (graph.name, order, task.id if task is not None and order.name in BY_QUESTION else "")
        if key not in self._arranged:
            self._arranged[key] = arranged(graph, order, task)
        return self._arranged[key]

    def whole(self, graph: BenchGraph, variant: Variant) -> str:
        """The text of the whole graph in canonical order."""
        key = (graph.name, variant.label)
        if key not in self._whole:
            self._whole[key] = variant.form.dumps(self.arranged(graph, Order()).records, variant.profile)
        return self._whole[key]

    def prompt(self, variant: Variant, graph: BenchGraph, task: Task | None, text: str) -> str:
        """Everything that is sent, as one text. Without a task the question is left out."""
        question = task.text(self.language or graph.language) if task else ""
        messages = messages_of(
            text,
            grammar=variant.form.grammar,
            semantics=graph.semantics,
            question=question,
            kind=task.kind if task else "one",
        )
        return joined(messages)

    def tokens(self, variant: Variant, graph: BenchGraph, task: Task | None, text: str) -> int:
        """Tokens of the finished prompt."""
        return self.tokenizer.count(self.prompt(variant, graph, task, text))

    def size(self, graph: BenchGraph, variant: Variant) -> tuple[SizeRow, str]:
        """The row of a whole graph in canonical order, and its text."""
        records = self.arranged(graph, Order()).records
        text = self.whole(graph, variant)
        prompts = [self.tokens(variant, graph, task, text) for task in graph.tasks or (None,)]
        held = fidelity(variant, text, records)
        traversal = Traversal(variant, text, written_ids(variant, records))
        right = [traversal.right(task) for task in graph.tasks]
        row = SizeRow(
            graph=graph.name,
            variant=variant.label,
            facts=len(graph.edges),
            bytes=len(text.encode()),
            graph_tokens=self.tokenizer.count(text),
            grammar_tokens=self.tokenizer.count(variant.form.grammar),
            prompt_tokens_min=min(prompts),
            prompt_tokens_mean=statistics.fmean(prompts),
            prompt_tokens_max=max(prompts),
            sha256=digest(text),
            round_trip=held.edges,
            round_trip_equal=held.equal,
            traversal=statistics.fmean(right) if right else 1.0,
            questions=len(graph.tasks),
        )
        self.note()
        return row, text

    def windows(self, graph: BenchGraph, variant: Variant, text: str, windows: Sequence[int]) -> list[WindowRow]:
        """The same graph in each window: what does not fit is an outcome, never cut."""
        sizes = [self.tokens(variant, graph, task, text) for task in graph.tasks]
        rows = []
        for window in windows:
            fitting = sum(size <= window for size in sizes)
            rows.append(
                WindowRow(
                    graph=graph.name,
                    variant=variant.label,
                    window=window,
                    fitting=fitting,
                    questions=len(sizes),
                    outcome=FITS if fitting == len(sizes) else CONTEXT_OVERFLOW,
                )
            )
        return rows

    def budgets(
        self,
        graph: BenchGraph,
        variant: Variant,
        budgets: Sequence[int],
        order: Order,
    ) -> list[BudgetRow]:
        """Whole records in one order, as many as the finished prompt has room for."""
        return [self._row(graph, variant, budget, order, "records") for budget in budgets]

    def raw(self, graph: BenchGraph, variant: Variant, budgets: Sequence[int]) -> list[BudgetRow]:
        """The same budgets with the text cut after a token, which measures damage and not brevity."""
        return [self._row(graph, variant, budget, Order(), "raw") for budget in budgets]

    def cut(
        self, graph: BenchGraph, variant: Variant, budget: int | None, order: Order, task: Task
    ) -> tuple[str, tuple[int, ...]]:
        """The text for one question, whole without a budget, and the places of its facts in order."""
        whole = self.arranged(graph, order, task)
        if budget is None:
            return variant.form.dumps(whole.records, variant.profile), whole.places
        asked = task if order.name in BY_QUESTION else self._longest(graph)
        count = self._room(graph, variant, budget, asked, whole)
        return (variant.form.dumps(whole.first(count), variant.profile) if count else ""), whole.places[:count]

    def _row(self, graph: BenchGraph, variant: Variant, budget: int, order: Order, cut: str) -> BudgetRow:
        cuts: dict[tuple[int, int], tuple[str, Traversal, int]] = {}
        required, complete, right, false, used, parsed, facts, nodes = [], [], [], 0, [], [], [], []
        longest = self._longest(graph)
        for task in graph.tasks:
            whole = self.arranged(graph, order, task)
            # Where the order is the same for all questions, so is the cut: the prompt with the longest question must fit.
            key = (id(whole), id(task) if order.name in BY_QUESTION else 0)
            if key not in cuts:
                asked = task if order.name in BY_QUESTION else longest
                if cut == "raw":
                    text, count = self._raw_text(graph, variant, budget, asked, whole)
                else:
                    count = self._room(graph, variant, budget, asked, whole)
                    text = variant.form.dumps(whole.first(count), variant.profile) if count else ""
                cuts[key] = (text, Traversal(variant, text, written_ids(variant, whole.first(count))), count)
            text, traversal, count = cuts[key]
            held = whole.places[:count]
            used.append(self.tokens(variant, graph, task, text))
            parsed.append(traversal.parsed)
            facts.append(traversal.facts)
            nodes.append(traversal.nodes)
            there = set(held) if traversal.parsed else set()
            if task.insufficient:
                false += traversal.parsed and not traversal.right(task)
                continue
            required.append(len(there & set(task.path)) / len(set(task.path)))
            complete.append(set(task.path) <= there)
            right.append(traversal.right(task))
        share = statistics.fmean(complete) if complete else 0.0
        low, high = wilson(share, len(complete))
        self.note()
        return BudgetRow(
            graph=graph.name,
            variant=variant.label,
            order=order.name,
            seed=order.seed,
            budget=budget,
            cut=cut,
            parsed=statistics.fmean(parsed),
            facts=statistics.fmean(facts),
            nodes=statistics.fmean(nodes),
            prompt_tokens=statistics.fmean(used),
            required=statistics.fmean(required) if required else 0.0,
            complete=share,
            complete_low=low,
            complete_high=high,
            traversal=statistics.fmean(right) if right else 0.0,
            false_answers=false,
            answerable=len(complete),
            questions=len(graph.tasks),
        )

    def _longest(self, graph: BenchGraph) -> Task:
        """The task whose prompt is the longest."""

        def asked(task: Task) -> int:
            return self.tokenizer.count(f"{task.text(self.language or graph.language)}\n{FORMS[task.kind]}")

        return max(graph.tasks, key=asked)

    def _room(self, graph: BenchGraph, variant: Variant, budget: int, task: Task, whole: Arranged) -> int:
        """How many of the first facts the finished prompt has room for; found by guess and bisection, confirmed on the finished prompt."""
        sizes: dict[int, int] = {}

        def size(count: int) -> int:
            if count not in sizes:
                text = variant.form.dumps(whole.first(count), variant.profile) if count else ""
                sizes[count] = self.tokens(variant, graph, task, text)
            return sizes[count]

        most, low, empty = len(whole.places), 0, size(0)
        if empty >= budget:
            return 0
        high = most + 1
        probe = min(most, max(1, (budget - empty) // 16))
        # Sizes grow nearly in line with the number of facts, so each guess is drawn from the last one.
        while high - low > 1:
            if size(probe) <= budget:
                low = probe
            else:
                high = probe
            per_fact = max(0.5, (size(probe) - empty) / probe)
            guess = int((budget - empty) / per_fact) if len(sizes) <= 6 else (low + high) // 2
            probe = min(max(guess, low + 1), high - 1)
        return low

    def _raw_text(
        self, graph: BenchGraph, variant: Variant, budget: int, task: Task, whole: Arranged
    ) -> tuple[str, int]:
        """The text cut after the last token that the prompt has room for, and how many facts are left for sure: all or none."""
        text = self.whole(graph, variant)
        left = budget - self.tokens(variant, graph, task, "")
        cut = self.tokenizer.head(text, max(0, left))
        return cut, len(whole.places) if cut == text else 0


def order_rows(rows: Iterable[BudgetRow]) -> list[OrderRow]:
    """Rows of the same order and budget over their seeds, as mean and spread."""
    groups: dict[tuple[str, str, str, int], list[BudgetRow]] = {}
    for row in rows:
        groups.setdefault((row.graph, row.variant, row.order, row.budget), []).append(row)
    found = []
    for (graph, variant, order, budget), members in groups.items():
        complete = [row.complete for row in members]
        right = [row.traversal for row in members]
        several = len(members) > 1
        found.append(
            OrderRow(
                graph=graph,
                variant=variant,
                order=order,
                budget=budget,
                permutations=len(members),
                complete_mean=statistics.fmean(complete),
                complete_spread=statistics.pstdev(complete) if several else None,
                complete_least=min(complete),
                complete_most=max(complete),
                traversal_mean=statistics.fmean(right),
                traversal_spread=statistics.pstdev(right) if several else None,
            )
        )
    return found
