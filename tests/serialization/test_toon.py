"""TOON against the implementation that its authors publish."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from graphroute.serialization.formats.toon import Toon, _back
from graphroute.serialization.records import Profile
from graphroute.testing.format import HOSTILE, hostile_records, records, sample

oracle = pytest.importorskip("toon_format", reason="the published implementation is not installed")
TABLES = ("degraded", "flags", "answers", "sources", "nodes", "facts", "paths", "texts", "reports", "omitted")


def check_against_the_oracle(held, profile):
    text = Toon().dumps(held, profile)
    value = oracle.decode(text)
    assert value["records"] == sum(len(value.get(table, [])) for table in TABLES)
    if "\\u" not in text:
        assert oracle.encode(value) == text
    return value


@pytest.mark.parametrize("profile", list(Profile))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(held=records())
def test_the_published_decoder_reads_what_is_written(profile, held):
    value = check_against_the_oracle(held, profile)
    assert [_back(node["name"]) for node in value.get("nodes", [])] == [node.name for node in held.nodes]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_reach_the_published_decoder_as_they_are(value):
    found = check_against_the_oracle(hostile_records(value), Profile.FULL)
    assert _back(found["nodes"][0]["name"]) == value
    assert _back(found["texts"][0]["text"]) == value


def test_the_published_encoder_writes_the_same_text():
    held = sample()
    held = type(held)(nodes=held.nodes, facts=held.facts[2:])
    text = Toon().dumps(held)
    assert oracle.encode(oracle.decode(text)) == text
    assert json.loads(json.dumps(oracle.decode(text)))["nodes"][4]["name"] == "1.10"


@pytest.mark.parametrize(
    "value",
    ["\U000e0041", "\\\U000e0041", "\\u{e0041}", "\\\\u{e0041}", "u{", "\\u{", "\\\\\\u{3c}", "a\\b\U000e0041u{"],
)
def test_what_the_notation_cannot_escape_is_told_apart_from_what_looks_like_it(value):
    held = hostile_records(value)
    assert Toon().loads(Toon().dumps(held)) == held
