"""Metrics by name, in the order of the report."""

from __future__ import annotations

from graphroute.evaluation.metrics.base import Metric
from graphroute.registry import Registry

TABLE = {
    "complete_path": "graphroute.evaluation.metrics.complete_path:CompletePath",
    "complete_path_at_half": "graphroute.evaluation.metrics.complete_path_at_half:CompletePathAtHalf",
    "edge_precision": "graphroute.evaluation.metrics.edge_precision:EdgePrecision",
    "answer_exactness": "graphroute.evaluation.metrics.answer_exactness:AnswerExactness",
    "source_recall": "graphroute.evaluation.metrics.source_recall:SourceRecall",
    "source_completeness": "graphroute.evaluation.metrics.source_completeness:SourceCompleteness",
    "entity_resolution": "graphroute.evaluation.metrics.entity_resolution:EntityResolution",
    "abstention": "graphroute.evaluation.metrics.abstention:Abstention",
    "false_abstention": "graphroute.evaluation.metrics.false_abstention:FalseAbstention",
    "permission_violations": "graphroute.evaluation.metrics.permission_violations:PermissionViolations",
    "forbidden_sources": "graphroute.evaluation.metrics.forbidden_sources:ForbiddenSources",
    "freshness_violations": "graphroute.evaluation.metrics.freshness_violations:FreshnessViolations",
    "graph_calls": "graphroute.evaluation.metrics.graph_calls:GraphCalls",
    "degraded": "graphroute.evaluation.metrics.degraded:Degraded",
    "latency": "graphroute.evaluation.metrics.latency:Latency",
    "tokens": "graphroute.evaluation.metrics.tokens:Tokens",
}

METRICS: Registry[type[Metric]] = Registry("metric", TABLE)


def all_metrics() -> list[Metric]:
    """One of each, in the order of the report."""
    return [METRICS.load(name)() for name in TABLE]
