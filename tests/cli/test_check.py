"""`graphroute check`."""

import json
from pathlib import Path
from typing import Any

from graphroute.routing.conditions import FEATURES

SYSTEMS = Path(__file__).parents[2] / "evals" / "systems"


def test_the_shipped_policy_is_right(run: Any) -> None:
    ended = run("check")
    assert ended.code == 0
    assert ended.out.startswith("the shipped policy is right; configuration ")
    assert "otherwise" in ended.out


def test_every_condition_is_documented(run: Any) -> None:
    listed = json.loads(run("check", "--conditions", "--json").out)
    assert [item["name"] for item in listed] == list(FEATURES)
    assert all(name in run("check", "--conditions").out for name in FEATURES)


def test_what_a_file_means_can_be_read(run: Any) -> None:
    found = json.loads(run("check", SYSTEMS / "source_policy.yaml", "--json").out)
    assert found["limits"] == {"max_hops": 3, "max_paths": 40, "max_source_spans": 18}
    assert [route["route"] for route in found["routes"]] == ["lexical", "graph_local", "graph_global", "vector"]
    assert found["fallback"]["below"] == 0.62


def test_an_ontology_is_checked_too(run: Any, dataset: Path) -> None:
    ended = run("check", "--ontology", dataset.parent / "ontology.yaml")
    assert ended.code == 0
    assert "3 types, 2 relations" in ended.out
