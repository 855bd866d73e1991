"""The examples run on the demo's data and keep to what their readers may see."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from graphroute import GraphRoute
from graphroute.indexing.ingest import ingest
from graphroute.ontology.load import load_ontology

ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphRoute]:
    store = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    ontology = load_ontology(ROOT / "schema" / "ontology.yaml")
    ingest(ROOT / "evals" / "datasets" / "meridian", store, ontology=ontology, vectors=False)
    with GraphRoute.open(store) as opened:
        yield opened


def test_the_support_bot_answers_its_customer_with_sources(router: GraphRoute) -> None:
    bot = load("support_bot")
    said = bot.reply(router, bot.customer("brightwater-foods"), "How many incidents affected Brightwater Foods?")
    assert said.startswith("3 (from summary:INC-2003:brightwater-foods")


@pytest.mark.parametrize(
    "question", ["Who works on Project Lyra?", "How many incidents affected Oakhollow Outfitters?", "What is CHG-482?"]
)
def test_the_support_bot_hands_over_what_a_customer_may_not_know(question: str, router: GraphRoute) -> None:
    bot = load("support_bot")
    assert "A colleague will answer" in bot.reply(router, bot.customer("brightwater-foods"), question)


def test_the_support_bot_quotes_a_passage(router: GraphRoute) -> None:
    bot = load("support_bot")
    said = bot.reply(router, bot.customer("brightwater-foods"), "What are the limits of the programming interface?")
    assert "six hundred requests a minute" in said
    assert "[guide:api-limits]" in said


@pytest.mark.parametrize(("day", "owner"), [("2026-05-13", "Mara Okafor"), ("2026-06-15", "Dmitri Saveliev")])
def test_the_compliance_bot_proves_the_owner_of_the_day(day: str, owner: str, router: GraphRoute) -> None:
    found = load("compliance_bot").finding(router, "checkout", day)
    assert found["owner"] == [owner]
    assert all(fact["stated"] for fact in found["proof"])


def test_the_compliance_bot_says_that_sources_disagree(router: GraphRoute) -> None:
    bot = load("compliance_bot")
    assert "sources disagree" in bot.finding(router, "ledger", "2026-06-15")["reservations"]
    assert bot.finding(router, "no-such-service", "2026-06-15")["owner"] == []
