"""What a decision record keeps, and that it holds no word of people or evidence."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from graphroute.decision_log.record import KEY_VARIABLE, SCHEMA, record_of
from graphroute.types.reader import Reader
from graphroute.types.trace import Trace

PRIVATE = ("jonas", "beispiel", "example.org", "0151", "555", "0101", "evidence about", "r-17", "inc_2024")


def test_no_private_word_is_kept(trace: Trace) -> None:
    text = json.dumps(record_of(trace, log_question=False, key=b"k")).casefold()
    assert [word for word in PRIVATE if word in text] == []


def test_control_the_words_are_there_with_the_switch(trace: Trace) -> None:
    text = json.dumps(record_of(trace, log_question=True, key=b"k"), ensure_ascii=False).casefold()
    assert [word for word in ("jonas", "beispiel", "example.org", "0151", "r-17", "inc_2024") if word not in text] == []
    assert "evidence about" not in text
    record = record_of(trace, log_question=True, key=b"k")
    del record["text"]
    assert record == record_of(trace, log_question=False, key=b"k")


def test_route_cues_ids_counts_and_times_are_kept(trace: Trace) -> None:
    record = record_of(trace, log_question=False, key=b"k")
    assert record["schema"] == SCHEMA
    assert record["route"] == "facts"
    assert record["question"]["cues"] == [
        {"kind": "mention", "rule": "alias", "span": [4, 18]},
        {"kind": "identifier", "rule": "pattern", "span": [60, 71]},
    ]
    assert record["attempts"][0]["rejected"] == [["record", "has_exact_id is false"]]
    assert record["attempts"][0]["results"][0]["verdict"] == "absent"
    assert record["evidence"]["edges"] == ["edge-1"]
    assert record["evidence"]["sources"][1] == "doc-1"
    assert re.fullmatch("[0-9a-f]{20}", record["evidence"]["sources"][0]), "an id that is an address is hashed"
    assert record["evidence"]["units"] == {"passage": 1, "path": 1}
    assert record["evidence"]["omissions"] == {"merge": 1}
    assert record["degraded"][0]["stage"] == "vector"
    assert record["degraded"][0]["reason"].startswith("timed out for ")
    assert record["answer"]["citations"] == 2
    assert record["answer"]["invalid_citations"] == 1
    assert record["seconds"] == {"parse": 0.001235}


def test_the_reader_sees_nothing_that_is_the_operators(trace: Trace) -> None:
    record = record_of(trace, log_question=True, key=b"k", operator=False)
    assert "operator" not in record
    assert "stale_paths" not in json.dumps(record)
    assert record_of(trace, log_question=False, key=b"k")["operator"]["hidden_paths"] == 2


def test_hashes_depend_on_the_key_alone(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    one = record_of(trace, log_question=False, key=b"k")
    assert one == record_of(trace, log_question=False, key=b"k")
    other = record_of(trace, log_question=False, key=b"other")
    assert one["question"]["hash"] != other["question"]["hash"]
    assert one["reader"] != other["reader"]
    monkeypatch.setenv(KEY_VARIABLE, "k")
    assert record_of(trace, log_question=False) == one


def test_two_readers_differ(trace: Trace) -> None:
    other = replace(trace, reader=Reader("r-18", []))
    assert (
        record_of(trace, log_question=False, key=b"k")["reader"]
        != record_of(other, log_question=False, key=b"k")["reader"]
    )


def test_the_stored_sample_is_what_this_version_writes(trace: Trace) -> None:
    """If this fails, the shape has changed: raise SCHEMA, add an upgrade and a new sample; never edit the old one."""
    stored = Path(__file__).parent / "records" / f"v{SCHEMA}.jsonl"
    assert json.loads(stored.read_text()) == record_of(trace, log_question=True, key=b"k")
