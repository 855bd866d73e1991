"""Contracts: files, parameters, rows with evidence, and what a reader may not see."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphroute.errors import ConfigurationError, DeadlineError, UsageError
from graphroute.ontology.load import load_ontology
from graphroute.retrieval.contract import Contract, contract_cypher, load_contract, load_contracts, run_contract
from graphroute.types.reader import Reader
from graphroute.types.source import SourceSpan
from graphroute.types.time import instant_of

PUBLIC, INSIDER, NOBODY = Reader("ann", ["public"]), Reader("ben", ["public", "secret"]), Reader("eve", [])
ONTOLOGY = """
types:
  svc: {nouns: [service], display: "{local}"}
  cluster: {nouns: [cluster]}
  cust: {nouns: [customer]}
relations:
  RUNS_ON: {from: svc, to: cluster, kind: state}
  USED_BY: {from: svc, to: cust, kind: state}
  TESTED: {from: cust, to: svc, kind: event}
  PEER: {from: svc, to: svc, symmetric: true}
attributes:
  cust: {plan: {nouns: [plan], enumerated: true}}
"""
FILE = """\
name: customers_on_cluster
description: Customers of a plan that use a service on a cluster.
parameters:
  cluster: null
  plan: enterprise
start: {type: cluster, name: place, where: {id: $cluster}}
path:
  - relation: RUNS_ON
    direction: backward
    to: {type: svc, name: service}
  - relation: USED_BY
    to: {type: cust, name: customer, where: {plan: $plan}}
limit: 3
"""
FACTS = [
    "svc:a RUNS_ON cluster:eu by wiki catalogue",
    "svc:b RUNS_ON cluster:eu by plan!secret",
    "svc:c RUNS_ON cluster:us",
    "svc:a USED_BY cust:acme 2026-01-01.. by crm+mail",
    "svc:a USED_BY cust:old 2025-01-01..2026-01-01",
    "svc:a USED_BY cust:basic",
    "svc:b USED_BY cust:acme 2026-01-01..",
    "cust:acme TESTED svc:a 2026-05-01..2026-05-02",
]
PLANS = [("cust:acme", "plan", "enterprise"), ("cust:old", "plan", "enterprise"), ("cust:basic", "plan", "basic")]
Build = Callable[..., Any]


def written(folder: Path, text: str = FILE, name: str = "contract.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str = FILE) -> Contract:
    return load_contract(written(folder, text), load_ontology(ONTOLOGY))


def run(made: Build, contract: Contract, arguments: dict[str, str], *, reader: Reader = PUBLIC, at: str = "2026-06-01", **more: Any) -> Any:  # fmt: skip
    from datetime import UTC, datetime

    world = made(ONTOLOGY, FACTS, PLANS, {"cust:acme": ["Acme"]})
    instant = instant_of(datetime.fromisoformat(at).replace(tzinfo=UTC))
    view = world.backends.catalog.view(reader=reader)
    return run_contract(contract, arguments, backends=world.backends, view=view, instant=instant, **more)


def decoded(cypher: str) -> str:
    """The text as Cypher's reader hands it on: each Unicode escape is the character it names."""
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), cypher)


# Files ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("RUNS_ON", "RUNS_0N", 8, "unknown relation 'RUNS_0N'"),
        ("type: svc", "type: svcs", 10, "unknown type 'svcs'"),
        ("type: cluster,", "type: clusters,", 6, "unknown type 'clusters'"),
        ("plan: $plan", "plan: $plna", 12, "$plna is not a parameter"),
        ("direction: backward", "direction: sideways", 9, "sideways"),
        ("limit: 3", "limit: 0", 13, "limit"),
        ("limit: 3", 'limit: "3"', 13, "limit"),
        ("limit: 3", "limt: 3", 13, "limt"),
        ("description:", "descripton:", 2, "descripton"),
        ("limit: 3", "limit: 3\nlimit: 4", 14, "limit"),
        ("name: customer,", "name: place,", 12, "a second node is named 'place'"),
        ("name: service", "name: place", 10, "a second node is named 'place'"),
        ("name: place", "name: 'x) DETACH DELETE (n'", 6, "'x) DETACH DELETE (n' is no name"),
        ("name: service", "name: a service", 10, "'a service' is no name"),
        ("name: customer,", "name: n`,", 12, "'n`' is no name"),
        ("  plan: enterprise", "  the plan: enterprise", 5, "'the plan' is no name"),
        ("direction: backward", "direction: forward", 8, "RUNS_ON forward does not leave 'cluster'; allowed: svc"),
        ("to: {type: cust,", "direction: backward\n    to: {type: cust,", 11, "USED_BY backward does not leave 'svc'"),
        ("type: svc", "type: cust", 10, "RUNS_ON backward does not reach 'cust'; allowed: svc"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        loaded(tmp_path, FILE.replace(old, new, 1))
    assert says in str(caught.value)
    assert re.search(rf"contract\.yaml:{line}\b", str(caught.value)), str(caught.value)


def test_a_close_name_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="RUNS_ON"):
        loaded(tmp_path, FILE.replace("RUNS_ON", "RUNS_OM"))


def test_a_path_has_one_to_six_steps(tmp_path: Path) -> None:
    there = "  - {relation: PEER, to: {type: svc, name: n%d}}\n"
    head = FILE.partition("path:\n")[0].replace("type: cluster", "type: svc")
    steps = [there % number for number in range(7)]
    loaded(tmp_path, f"{head}path:\n{''.join(steps[:6])}")
    for wrong in ("[]", "\n" + "".join(steps)):
        with pytest.raises(ConfigurationError, match="path"):
            loaded(tmp_path, f"{head}path: {wrong}")


def test_the_contracts_of_the_project_load() -> None:
    folder = Path(__file__).parents[2] / "schema"
    assert len(load_contracts(folder / "contracts", load_ontology(folder / "ontology.yaml"))) == 3


def test_a_folder_of_contracts(tmp_path: Path) -> None:
    written(tmp_path, FILE.replace("customers_on_cluster", "second"), "b.yaml")
    written(tmp_path, FILE, "a.yaml")
    written(tmp_path, "not a contract", "notes.txt")
    ontology = load_ontology(ONTOLOGY)
    assert list(load_contracts(tmp_path, ontology)) == ["customers_on_cluster", "second"]
    written(tmp_path, FILE, "c.yaml")
    with pytest.raises(ConfigurationError, match=r"c\.yaml.*second contract"):
        load_contracts(tmp_path, ontology)


# Parameters -----------------------------------------------------------------------------------------------------------------


def test_parameters_and_their_defaults(made: Build, tmp_path: Path) -> None:
    contract = loaded(tmp_path)
    assert [row.ids["customer"] for row in run(made, contract, {"cluster": "cluster:eu"}).rows] == ["cust:acme"]
    basic = run(made, contract, {"cluster": "cluster:eu", "plan": "basic"})
    assert [row.ids["customer"] for row in basic.rows] == ["cust:basic"]
    with pytest.raises(UsageError, match="needs the parameter 'cluster'"):
        run(made, contract, {})
    with pytest.raises(UsageError, match=r"no parameter 'clusters'.*cluster"):
        run(made, contract, {"clusters": "x", "cluster": "cluster:eu"})


@pytest.mark.parametrize("value", ["cluster:nowhere", "'; MATCH (n) DETACH DELETE n //", "", "$plan", "cluster:EU"])
def test_a_value_is_only_ever_a_value(made: Build, tmp_path: Path, value: str) -> None:
    result = run(made, loaded(tmp_path), {"cluster": value})
    assert result.rows == ()
    assert result.cypher == contract_cypher(loaded(tmp_path))


# Rows -----------------------------------------------------------------------------------------------------------------------


def test_a_row_names_every_node_and_proves_every_hop(made: Build, tmp_path: Path) -> None:
    result = run(made, loaded(tmp_path), {"cluster": "cluster:eu"})
    (row,) = result.rows
    assert row.ids == {"place": "cluster:eu", "service": "svc:a", "customer": "cust:acme"}
    assert row.names == {"place": "eu", "service": "a", "customer": "Acme"}
    runs, used = row.evidence
    # One of two alternatives, and both members of a joint proof.
    assert runs[0] == "RUNS_ON"
    assert len(runs[1]) == 1
    assert used == ("USED_BY", (SourceSpan("crm"), SourceSpan("mail")))
    assert (result.contract, result.truncated) == ("customers_on_cluster", False)


def test_facts_are_those_in_force(made: Build, tmp_path: Path) -> None:
    before = run(made, loaded(tmp_path), {"cluster": "cluster:eu"}, at="2025-06-01")
    assert [row.ids["customer"] for row in before.rows] == ["cust:old"]


def test_an_event_counts_from_when_it_happened(made: Build, tmp_path: Path) -> None:
    text = (
        "name: t\ndescription: Services a customer tested.\nstart: {type: cust, name: c}\n"
        "path:\n  - {relation: TESTED, to: {type: svc, name: s}}\n"
    )
    contract = loaded(tmp_path, text)
    assert [row.ids for row in run(made, contract, {}).rows] == [{"c": "cust:acme", "s": "svc:a"}]
    assert run(made, contract, {}, at="2026-04-01").rows == ()


def test_a_start_may_be_a_whole_type_or_narrowed(made: Build, tmp_path: Path) -> None:
    text = (
        "name: t\ndescription: d\nparameters: {plan: null}\nstart: {type: cust, name: c, where: {plan: $plan}}\n"
        "path:\n  - {relation: USED_BY, direction: backward, to: {type: svc, name: s}}\n"
    )
    narrowed = run(made, loaded(tmp_path, text), {"plan": "basic"})
    assert [row.ids for row in narrowed.rows] == [{"c": "cust:basic", "s": "svc:a"}]
    whole = loaded(tmp_path, text.replace(", where: {plan: $plan}", "").replace("parameters: {plan: null}\n", ""))
    assert len(run(made, whole, {}).rows) == 3


def test_the_limit_cuts_and_says_so(made: Build, tmp_path: Path) -> None:
    text = (
        "name: t\ndescription: d\nstart: {type: svc, name: s}\n"
        "path:\n  - {relation: RUNS_ON, to: {type: cluster, name: c}}\nlimit: 1\n"
    )
    result = run(made, loaded(tmp_path, text), {})
    assert (len(result.rows), result.truncated) == (1, True)
    assert result.rows[0].ids["s"] == "svc:a"


def test_hidden_support_gives_no_row(made: Build, tmp_path: Path) -> None:
    contract = loaded(tmp_path)
    arguments = {"cluster": "cluster:eu"}
    assert [row.ids["service"] for row in run(made, contract, arguments, reader=INSIDER).rows] == ["svc:a", "svc:b"]
    public = run(made, contract, arguments)
    assert [row.ids["service"] for row in public.rows] == ["svc:a"]
    assert all(span.source_id != "plan" for row in public.rows for _, spans in row.evidence for span in spans)
    assert run(made, contract, arguments, reader=NOBODY).rows == ()


def test_past_the_deadline(made: Build, tmp_path: Path) -> None:
    with pytest.raises(DeadlineError):
        run(made, loaded(tmp_path), {"cluster": "cluster:eu"}, deadline=time.monotonic() - 1)


# Cypher -----------------------------------------------------------------------------------------------------------------------


def test_cypher_with_parameters(tmp_path: Path) -> None:
    assert contract_cypher(loaded(tmp_path)) == (
        "MATCH (place:cluster)<-[:RUNS_ON]-(service:svc)-[:USED_BY]->(customer:cust)\n"
        "WHERE place.id = $cluster AND customer.plan = $plan\n"
        "RETURN place.id, service.id, customer.id\n"
        "LIMIT 3"
    )


def test_a_fixed_value_is_quoted(tmp_path: Path) -> None:
    text = FILE.replace("plan: $plan", r"""plan: "it's \\ so" """)
    assert r"customer.plan = 'it\'s \u005C\u005C so'" in contract_cypher(loaded(tmp_path, text))


HOSTILE = [
    "x) DETACH DELETE (n",
    "a node",
    "n`",
    "A\\u0060]->() DETACH DELETE n //",
    "X}) RETURN 1 //",
    "creation-date",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_quoted(name: str) -> None:
    def cypher(name: str) -> str:
        node = {"type": name, "name": name, "where": {name: f"${name}"}}
        step = {"relation": name, "to": node}
        document = {"name": name, "description": name, "start": node, "path": [step]}
        return re.sub(r"`(?:[^`]|``)*`", "NAME", decoded(contract_cypher(Contract.model_validate(document))))

    assert cypher(name) == cypher("a name")
    assert cypher(name).count("NAME") == 13


@pytest.mark.parametrize(
    "value", ["' OR 1=1 //", "\\' OR 1=1 //", "\\u0027 OR 1=1 //", "\\\\u0027", "\\", "\\u005c", "it's"]
)
def test_a_fixed_value_stays_inside_its_quotes(value: str) -> None:
    start = {"type": "svc", "name": "s", "where": {"k": value}}
    step = {"relation": "PEER", "to": {"type": "svc", "name": "t"}}
    document = {"name": "n", "description": "d", "start": start, "path": [step]}
    cypher = decoded(contract_cypher(Contract.model_validate(document)))
    literal = re.search(r"s\.k = '((?:[^'\\]|\\.)*)'\nRETURN", cypher)
    assert literal
    assert re.sub(r"\\(.)", r"\1", literal[1]) == value
