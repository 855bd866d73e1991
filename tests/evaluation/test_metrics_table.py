from __future__ import annotations

from pathlib import Path

import graphroute.evaluation.metrics as table


def test_the_table_lists_its_folder() -> None:
    folder = Path(table.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "base"}
    assert set(table.TABLE) == files


def test_each_metric_is_known_by_its_own_name() -> None:
    assert [metric.name for metric in table.all_metrics()] == list(table.TABLE)
