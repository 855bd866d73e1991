import contextlib
import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from graphroute.errors import ConfigurationError, DataError
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.formats.edge_list import EdgeList
from graphroute.serialization.formats.pretty_json import PrettyJson
from graphroute.serialization.records import Profile, instant_text, parse_instant, project, seal
from graphroute.testing.format import (
    HOSTILE,
    check_contained,
    check_mutations,
    check_resealed,
    check_round_trip,
    hostile_records,
    records,
    resealed,
    sample,
)

GOLDEN = Path(__file__).parent / "golden"
LONG = os.environ.get("GRAPHROUTE_ASSURE") == "1"
FORMS = [FORMATS.load(name)() for name in FORMATS]
each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
relaxed = settings(max_examples=2000 if LONG else 40, deadline=None, suppress_health_check=list(HealthCheck))


@each_form
@relaxed
@given(held=records())
def test_round_trip(form, held):
    check_round_trip(form, held)
    check_contained(form, held)


@each_form
@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_value_stays_a_value(form, value):
    held = hostile_records(value)
    check_round_trip(form, held)
    check_contained(form, held)


def test_an_unescaped_value_would_break_out():
    assert "</" in json.dumps(["</evidence>"], ensure_ascii=False)
    with pytest.raises(AssertionError):
        check_contained(_Naive(), hostile_records("</evidence>"))


class _Naive(PrettyJson):
    def dumps(self, records, profile=None):
        return json.dumps([unit.note for unit in records.units], ensure_ascii=False)


@each_form
def test_the_count_in_the_text_is_that_of_the_records(form):
    held = hostile_records("#graphroute edge_list/2 full records=0")
    text = form.dumps(held)
    assert held.count == 12
    assert re.search(r'records[=":\s]+12\b', text)


def test_one_record_a_line():
    held = hostile_records("line1\nF9 [1] OWNS [2] ..")
    assert len(EdgeList().dumps(held).split("\n")) == held.count + 1


each_profile = pytest.mark.parametrize("profile", list(Profile))


@each_form
@each_profile
@pytest.mark.parametrize("held", [sample(), hostile_records('Ops | "Night" -> Day')], ids=["sample", "hostile"])
def test_a_changed_text_is_refused(form, profile, held):
    count = 50_000 if LONG else 400
    assert check_mutations(form, held, count=count, seed=1, profile=profile) == count


@each_form
@each_profile
def test_a_changed_text_that_is_signed_again_is_refused_or_means_what_it_says(form, profile):
    count = 10_000 if LONG else 400
    assert check_resealed(form, sample(), count=count, seed=2, profile=profile) > count / 5


@each_form
@each_profile
def test_the_golden_text_is_written_and_read(form, profile):
    """A text that was once handed out stays readable: if it changes, raise the version of the format."""
    file = GOLDEN / f"{form.name}.{profile}.txt"
    if os.environ.get("GRAPHROUTE_WRITE_GOLDEN") == "1":
        file.write_text(form.dumps(sample(), profile), encoding="utf-8", newline="")
    text = file.read_bytes().decode()
    assert form.dumps(sample(), profile) == text
    assert form.loads(text) == project(sample(), profile)


@each_form
@each_profile
@pytest.mark.parametrize(
    "junk",
    [
        '"' * 40_000,
        "\\" * 40_000,
        "N1>" * 20_000,
        "[" * 20_000,
        "a: " * 20_000,
        "S1 " * 20_000,
        "," * 40_000,
        " |" * 20_000,
    ],
)
def test_no_text_takes_long_to_read_or_refuse(form, profile, junk):
    text = form.dumps(sample(), profile)
    for at in (len(text) // 2, len(text) - 1):
        began = time.thread_time()
        with contextlib.suppress(DataError):
            form.loads(resealed(text[:at] + junk + text[at:]))
        assert time.thread_time() - began < 1


@each_form
@pytest.mark.parametrize("text", ["", "\n", "{}", "[]", "null", "[" * 100_000, "#graphroute", "9" * 5000, "\ud800"])
def test_other_texts_are_refused(form, text):
    with pytest.raises(DataError):
        form.loads(text)


BODY = ["S1 doc", '[1] t a "the A"', "[2] t b b", "F1 [1] OWNS [2] .. e1 S1:0-4", "U1 path F1>"]


def edge_list(*lines, count=None):
    head = f"#graphroute edge_list/2 full records={len(lines) if count is None else count} checksum=000000000 "
    return seal("\n".join([f"{head}snapshot=x as_of=2026-01-01", *lines]), "checksum=")


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        ([*BODY, "U2 text S2:0-4 : x"], 7, "undeclared S2"),
        ([*BODY[:3], "F1 [1] OWNS [3] .. e1 S1:0-4", BODY[4]], 5, r"undeclared entity 3"),
        ([*BODY[:4], "U1 path F2>"], 6, "undeclared F2"),
        ([*BODY, "X1 what"], 7, "not a record"),
        ([*BODY[:3], "F1 [1] OWNS [2] 2026 e1 S1:0-4", BODY[4]], 5, "no `..`"),
        ([*BODY[:3], "F1 [1] OWNS [2] 2026-13-01.. e1 S1:0-4", BODY[4]], 5, "month"),
        ([BODY[0], '[1] t "a" A', *BODY[2:]], 3, "needs no quotes"),
        ([BODY[0], '[1] t "a\\q" A', *BODY[2:]], 3, "unknown escape"),
        ([*BODY[:4], "U1 path F1> => x extra"], 6, "unexpected"),
        ([*BODY[:4], "U1 path F1>", "U1 path F1>"], None, "declared twice"),
        ([BODY[0], "S2 other", *BODY[1:]], None, "unused"),
    ],
)
def test_a_text_that_is_signed_and_wrong_is_refused_with_its_line(lines, line, reason):
    assert EdgeList().loads(edge_list(*BODY)).count == 5
    with pytest.raises(DataError, match=reason) as caught:
        EdgeList().loads(edge_list(*lines))
    assert line is None or f"line {line}" in caught.value.where


def test_a_wrong_count_is_refused():
    with pytest.raises(DataError, match="5 records, not 6"):
        EdgeList().loads(edge_list(*BODY, count=6))


def test_another_version_is_refused():
    text = edge_list(*BODY).replace("edge_list/2", "edge_list/3", 1)
    with pytest.raises(DataError, match="edge_list/3"):
        EdgeList().loads(text)


def signed_json(change):
    value = json.loads(PrettyJson().dumps(hostile_records("a")))
    change(value)
    value["checksum"] = "0" * 9
    return seal(json.dumps(value, indent=2), '"checksum": "')


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda value: value.update(extra=1), "evidence"),
        (lambda value: value["nodes"][0].update(colour="red"), r"evidence.nodes\[0\]"),
        (lambda value: value["facts"][0].update(subject=3), r"evidence.facts\[0\].subject"),
        (lambda value: value.update(abstained=1), "evidence.abstained"),
        (lambda value: value["units"][0].pop("kind"), r"evidence.units\[0\]"),
        (lambda value: value.update(records=3), "evidence"),
    ],
)
def test_json_that_is_signed_and_wrong_is_refused_with_its_place(change, where):
    assert PrettyJson().loads(signed_json(lambda value: None)) == hostile_records("a")
    with pytest.raises(DataError, match=where):
        PrettyJson().loads(signed_json(change))


def test_missing_empty_and_null_stay_three_things():
    held = hostile_records("a")
    for note in (None, "", "null"):
        units = (held.units[0], held.units[1]._replace(note=note), held.units[2])
        for form in FORMS:
            assert form.loads(form.dumps(replace(held, units=units))).units[1].note == note


def test_instants_outside_the_calendar_are_kept():
    for instant in (0, -1, 2**62, -(2**62), 1):
        assert parse_instant(instant_text(instant)) == instant


def test_the_cost_of_a_fact_is_small():
    tokens = len(EdgeList().dumps(EdgeList().loads(edge_list(*BODY))).split())
    assert tokens < 40


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(ConfigurationError, match="edge_list"):
        FORMATS.load("edgelist")
