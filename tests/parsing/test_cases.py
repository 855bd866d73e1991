"""Cue cases a domain expert can read: tests/parsing/cases/*.yaml."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _load() -> ModuleType:
    name = "parsing_cues"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("cues.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


cues = _load()
CASES = list(cues.load_cases())
GIVEN = frozenset({"ask", "asked_on", "order", "language", "patterns", "mentions"})
EXPECTED = frozenset(cues.read({"ask": "x"}))


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 120


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_cues(case: Mapping[str, Any]) -> None:
    expected = {key: value for key, value in case.items() if key not in GIVEN}
    assert expected, "a case without an expectation proves nothing"
    assert set(expected) <= EXPECTED
    found = cues.read(case)
    assert {key: found[key] for key in expected} == expected
