"""The dataset reader: what it keeps of a row, and how it refuses bad ones, with file and line."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphroute.errors import DataError
from graphroute.indexing.dataset import BadRow, DocumentRow, read_dataset
from graphroute.indexing.jsonl import MAX_LINE_BYTES, read_lines
from graphroute.types.source import SourceSpan
from graphroute.types.time import Interval, format_instant, instant_of

CASES = yaml.safe_load((Path(__file__).parent / "bad_rows.yaml").read_text(encoding="utf-8"))
GOOD = '{"doc_id": "d", "text": "t"}'


def write(root: Path, **files: str | bytes) -> Path:
    """Writes `docs="..."` as docs.jsonl, and so on; a dot is written as two underscores."""
    for name, content in files.items():
        file = root / (name.replace("__", ".") + ("" if "yaml" in name or "gz" in name else ".jsonl"))
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return root


def documents(root: Path, **options: tuple[str, ...]) -> list[DocumentRow]:
    return list(read_dataset(root, **options).documents())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_bad_row_is_refused_with_its_line(tmp_path: Path, case: dict[str, str]) -> None:
    kind = case.get("file", "docs")
    good = {"docs": GOOD, "edges": '{"s": "a", "r": "R", "o": "b", "source_id": "d"}', "entities": '{"id": "a"}'}
    rows = {name: f"{row}\n" for name, row in good.items()}
    rows[kind] = f"{good[kind]}\n\n{case['row']}\n{good[kind]}\n"
    dataset = read_dataset(write(tmp_path, **rows))
    read = {"docs": dataset.documents, "edges": dataset.edges, "entities": dataset.entities}[kind]
    with pytest.raises(DataError) as caught:
        list(read())
    assert str(caught.value).startswith(f"{tmp_path / kind}.jsonl:3: ")
    assert case["says"] in str(caught.value)
    assert caught.value.allowed or caught.value.hint
    bad: list[BadRow] = []
    assert len(list(read(on_bad=bad.append))) == 2
    assert [row.place.line for row in bad] == [3]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b'{"doc_id": "d", "text": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"doc_id": "d", "text": "caf\xe9"}', "not UTF-8 at byte 29"),
        ('{"doc_id": "d", "text": "t"}'.encode("utf-16"), "not UTF-8"),
        (b'{"doc_id": "d", "text": "' + b"x" * MAX_LINE_BYTES + b'"}', "line is too long"),
        (b'{"doc_id": "d", "text": "t", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nesting depth > 64"),
        (b'{"doc_id": "d", "text": "t", "x": ' + b"9" * 5000 + b"}", "out of range"),
        (b'{"doc_id": "d", "text": "t", "x": [' + b"{}," * 200_000 + b"0]}", "more than 200000 values"),
        (b'{"doc_id": "d", "text": "t", "x": ' + b"[" * 5_000_000, "more than 200000 values"),
    ],
)
def test_hostile_line_is_refused(tmp_path: Path, raw: bytes, says: str) -> None:
    write(tmp_path, docs=GOOD.encode() + b"\n" + raw + b"\n")
    with pytest.raises(DataError, match=r"docs\.jsonl:2: ") as caught:
        documents(tmp_path)
    assert says in str(caught.value)


def test_brackets_inside_text_are_no_depth(tmp_path: Path) -> None:
    text = "[" * 500 + '\\"' + "{" * 500
    (row,) = documents(write(tmp_path, docs=f'{{"doc_id": "d", "text": "{text}"}}'))
    assert row.source.text == text.replace("\\", "")


def test_all_problems_of_the_first_lines_come_together(tmp_path: Path) -> None:
    lines = [GOOD] * 30
    lines[2] = lines[7] = lines[25] = "{"
    with pytest.raises(DataError) as caught:
        documents(write(tmp_path, docs="\n".join(lines)))
    assert [f"docs.jsonl:{number}:" in str(caught.value) for number in (3, 8, 26)] == [True, True, False]
    assert "2 bad rows" in str(caught.value)


def test_truncated_last_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"docs\.jsonl:2: not JSON"):
        documents(write(tmp_path, docs=GOOD + '\n{"doc_id": "e", "te'))


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1d", "\x1e"])
def test_only_a_newline_ends_a_line(tmp_path: Path, separator: str) -> None:
    escaped = separator if ord(separator) > 31 else f"\\u{ord(separator):04x}"
    (row,) = documents(write(tmp_path, docs=f'{{"doc_id": "d", "text": "a{escaped}b"}}\n'))
    assert row.source.text == f"a{separator}b"


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5), st.booleans(), st.booleans()
)
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], ascii_only: bool, windows: bool
) -> None:
    root = tmp_path_factory.mktemp("d")
    rows = [json.dumps({"doc_id": f"d{n}", "text": text}, ensure_ascii=ascii_only) for n, text in enumerate(texts)]
    content = ("\r\n" if windows else "\n").join(rows)
    write(root, docs=("\ufeff" if windows else "") + content)
    with gzip.open(root / "docs.2.jsonl.gz", "wb") as stream:
        stream.write(content.encode())
    found = [row.source.text for row in documents(root)]
    assert sorted(found) == sorted(texts * 2)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"not gzip", "not a whole gzip stream"),
        (gzip.compress(GOOD.encode() * 1000, mtime=0)[:-20], "not a whole gzip stream"),
        (gzip.compress(b" " * 40_000_000 + b"\n" + GOOD.encode(), mtime=0), "gzip expands more than 200 times"),
        (gzip.compress((b" " * 1000 + b"\n") * 100_000, mtime=0), "gzip expands more than 200 times"),
    ],
)
def test_bad_gzip_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(DataError, match=r"docs\.jsonl\.gz:\d+: ") as caught:
        documents(write(tmp_path, docs__jsonl__gz=content))
    assert says in str(caught.value)


def test_directory_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").mkdir()
    with pytest.raises(DataError, match="not a regular file"):
        documents(tmp_path)


def test_directory_without_documents(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no documents"):
        read_dataset(tmp_path)
    with pytest.raises(DataError, match="no such directory"):
        read_dataset(tmp_path / "absent")


def test_oracles_are_never_read(tmp_path: Path) -> None:
    write(tmp_path, docs=GOOD, edges__gold="broken", edges__gold__dev="broken", questions__dev="broken")
    (tmp_path / "edges.1.jsonl").write_text('{"s": "a", "r": "R", "o": "b", "source_id": "d"}', encoding="utf-8")
    dataset = read_dataset(tmp_path)
    assert [path.name for path in dataset.edge_files] == ["edges.1.jsonl"]
    assert len(list(dataset.edges())) == 1


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ("null", "labels is null"),
        ('"public"', "labels is a string"),
        ("{}", "labels is an object"),
        ("[]", "labels is an empty list"),
        ('["public", ["public"]]', "labels holds a list"),
        ('["public", null]', "labels holds null"),
        ('["public", 1]', "labels holds a number"),
        ('[" "]', "labels holds an empty string"),
    ],
)
def test_unusable_labels_hide_the_document(tmp_path: Path, labels: str, problem: str) -> None:
    write(
        tmp_path, docs=f'{{"doc_id": "d", "text": "t", "labels": {labels}}}', dataset__yaml="default_labels: [public]"
    )
    (row,) = documents(tmp_path)
    assert row.source.labels == frozenset()
    assert row.label_problem is not None
    assert problem in row.label_problem


def test_labels_default(tmp_path: Path) -> None:
    write(tmp_path, docs=GOOD)
    assert documents(tmp_path)[0].label_problem is not None
    assert documents(tmp_path)[0].source.labels == frozenset()
    write(tmp_path, dataset__yaml="default_labels: [public, NO]")
    assert documents(tmp_path)[0].source.labels == {"public", "NO"}
    assert documents(tmp_path, default_labels=("given",))[0].source.labels == {"given"}
    write(tmp_path, docs='{"doc_id": "d", "text": "t", "labels": ["Own"]}')
    assert documents(tmp_path, default_labels=("given",))[0].source.labels == {"Own"}


def test_document_fields(tmp_path: Path) -> None:
    row = {
        "doc_id": "rec:1",
        "source_id": "book",
        "title": "T",
        "text": "x",
        "kind": "record",
        "table": "account",
        "node": "acct:1",
        "lang": "ru",
        "valid_from": "2024-01-31",
        "valid_to": None,
        "source_timestamp": "2024-02-01T00:00:00+02:00",
        "origin": "file@1",
        "para": 3,
        "draft": False,
        "empty": None,
        "tree": {"a": 1},
    }
    dataset = read_dataset(write(tmp_path, docs=json.dumps(row)))
    (found,) = dataset.documents()
    source = found.source
    assert (source.parent, source.kind, source.node, source.lang, source.origin) == (
        "book",
        "account",
        "acct:1",
        "ru",
        "file@1",
    )
    assert source.extra == {"draft": "false", "kind": "record", "para": "3"}
    assert format_instant(source.validity.start) == "2024-01-31"
    assert source.validity.end is None
    assert format_instant(source.timestamp) == "2024-01-31T22:00:00Z"
    assert dataset.ignored == {"tree": 1}


def edges(root: Path, *rows: object) -> list[object]:
    write(root, docs=GOOD, edges="\n".join(json.dumps(row) for row in rows))
    return [row.assertion.supports for row in read_dataset(root).edges()]


def test_supports_in_every_shape(tmp_path: Path) -> None:
    fact = {"edge_id": "e", "s": "a", "r": "R", "o": "b"}
    found = edges(
        tmp_path,
        fact | {"source_id": "d"},
        fact | {"source_id": "d", "source_span": [1, 4]},
        fact | {"src": ["x", "d"], "span": [0, 1]},
        fact | {"supports": [[{"source": "z", "span": [2, 3]}, "d"], "y", [{"source_id": "x"}]]},
    )
    assert found == [
        ((SourceSpan("d"),),),
        ((SourceSpan("d", 1, 4),),),
        ((SourceSpan("d", 0, 1),), (SourceSpan("x"),)),
        ((SourceSpan("d"), SourceSpan("z", 2, 3)), (SourceSpan("x"),), (SourceSpan("y"),)),
    ]


def test_edge_without_id_is_named_by_its_content(tmp_path: Path) -> None:
    fact = {"s": "a", "r": "R", "o": "b", "source_id": "d", "amount": 5}
    write(
        tmp_path,
        docs=GOOD,
        edges="\n".join(
            json.dumps(row)
            for row in (fact, dict(reversed(fact.items())), fact | {"amount": 6}, fact | {"edge_id": "e"})
        ),
    )
    first, same, other, named = [row.assertion for row in read_dataset(tmp_path).edges()]
    assert first == same
    assert first.id != other.id
    assert other.attributes == {"amount": "6"}
    assert named.id == "e"


def test_one_rule_for_zones_and_fractions(tmp_path: Path) -> None:
    moments = [
        "2024-03-01T00:00:00+02:00",
        "2024-03-01T00:00:00",
        "2024-03-01",
        "2024-03",
        "2024-03-01 00:00:00.123456789Z",
        "2024-03-01T01:00",
    ]
    fact = {"s": "a", "r": "R", "o": "b", "source_id": "d"}
    write(tmp_path, docs=GOOD, edges="\n".join(json.dumps(fact | {"valid_from": moment}) for moment in moments))
    starts = [row.assertion.validity.start for row in read_dataset(tmp_path).edges()]
    assert starts[1] == starts[2] == starts[3]
    assert starts[0] == starts[1] - 2 * 3600 * 10**6
    assert starts[4] == starts[1] + 123456
    assert sorted(starts) == [starts[0], starts[1], starts[1], starts[1], starts[4], starts[5]]


@given(st.datetimes(timezones=st.timezones()))
def test_aware_moments_keep_their_instant(moment) -> None:
    from graphroute.text.dates import parse_moment

    text = moment.isoformat()
    offset = moment.utcoffset()
    if offset.total_seconds() % 60:
        return
    try:
        expected = instant_of(moment)
        format_instant(expected)
    except OverflowError:
        with pytest.raises(ValueError, match="no day or time"):
            parse_moment(text)
        return
    assert parse_moment(text) == expected


def test_dataset_yaml(tmp_path: Path) -> None:
    text = "name: Банк\r\nlicence: MIT\r\ndefault_labels: [public]\r\nas_of: 2026-08-21\r\nreaders:\r\n  user:*: [<reader>]\r\n"
    write(tmp_path, docs=GOOD, dataset__yaml="\ufeff" + text)
    dataset = read_dataset(tmp_path)
    assert (dataset.name, dataset.licence, dataset.default_labels) == ("Банк", "MIT", ("public",))
    assert format_instant(dataset.as_of) == "2026-08-21"
    assert dataset.readers == {"user:*": ("<reader>",)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("default_labels: public", "dataset.yaml:1:17: default_labels: is not a list"),
        ("default_labels: [public, [x]]", "is not a label"),
        ("default_labels: [0010]", "dataset.yaml:1:18"),
        ("default_labels: [1]", "is not a label"),
        ("default_label: [public]", "did you mean 'default_labels'?"),
        ("name: a\nname: b", "dataset.yaml:2:1"),
        ("name: &a x\nlicence: *a", "aliases"),
        ("name: !!python/object/apply:os.system [ls]", "tag"),
        ("as_of: 2024-02-30", "2024-02-30"),
        ("as_of: [1]", "is not text"),
        ("readers: [a]", "is not a mapping"),
        ("- a", "is not a mapping"),
        ("name: [", "not valid YAML"),
        ("---\nname: a\n---\nname: b", "second document"),
    ],
)
def test_bad_dataset_yaml(tmp_path: Path, text: str, says: str) -> None:
    write(tmp_path, docs=GOOD, dataset__yaml=text)
    with pytest.raises(DataError) as caught:
        read_dataset(tmp_path)
    assert says in str(caught.value)
    assert "dataset.yaml:" in str(caught.value)


def test_unused_keys_of_dataset_yaml_are_warned_of(tmp_path: Path) -> None:
    write(tmp_path, docs=GOOD, dataset__yaml="description: x\nname: y")
    assert read_dataset(tmp_path).warnings == (f"{tmp_path}/dataset.yaml:1:1: 'description' is not used",)


def test_reading_streams(tmp_path: Path) -> None:
    """The first rows come before the file's end is read: a broken line far behind does not stop them."""
    write(tmp_path, docs="\n".join([GOOD] * 50 + ["{"]))
    rows = read_dataset(tmp_path).documents()
    assert next(rows).source.id == "d"
    assert len(list(read_lines(tmp_path / "docs.jsonl"))) == 51


def test_interval_bounds(tmp_path: Path) -> None:
    write(tmp_path, docs='{"doc_id": "d", "text": "", "valid_from": "2024-01-01", "valid_to": "2024-01-01"}')
    validity = documents(tmp_path)[0].source.validity
    assert validity.start == validity.end
    assert not validity.contains(validity.low)
    assert isinstance(validity, Interval)


HOSTILE = """
import json, resource, sys
from pathlib import Path
from graphroute.errors import DataError
from graphroute.indexing.dataset import read_dataset

size = 16 * 1024 * 1024 - 100
rows = {
    "deep": lambda: b"[" * 9_999_000,
    "dicts": lambda: b'{"doc_id": "d", "text": "t", "x": [' + b"{}," * (size // 3) + b"0]}",
    "keys": lambda: b'{"doc_id": "d", "text": "t"' + b"".join(b',"%d":1' % n for n in range(1_500_000)) + b"}",
    "numbers": lambda: b'{"doc_id": "d", "text": "t", "x": [' + b"1.5," * (size // 4) + b"0]}",
    "escapes": lambda: b'{"doc_id": "d", "text": "' + b"\\\\n" * (size // 2) + b'"}',
    "unended": lambda: b'{"doc_id": "d", "x": [[' + b"[" * 70 + b'"' + b"\\\\," * (size // 2),
    "text": lambda: b'{"doc_id": "d", "text": "' + b"[," * (size // 2) + b'"}',
    "line": lambda: b"x" * (size * 2),
}
root = sys.argv[1]
for name in sorted(rows):
    with open(f"{root}/docs.jsonl", "wb") as stream:
        stream.write(rows[name]())
    try:
        for _ in read_dataset(root).documents():
            pass
        print(name, "read")
    except DataError as error:
        assert "docs.jsonl:1" in str(error), error
        print(name, "refused")
# Where the system tells of this program alone: `ru_maxrss` begins with what the one that started it held.
status = Path("/proc/self/status")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if status.exists():
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0])
print(peak // 1024)
"""


def test_hostile_rows_take_little_memory(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", HOSTILE, str(tmp_path)], check=True, capture_output=True, text=True)
    *results, megabytes = done.stdout.split("\n")[:-1]
    assert dict(line.split() for line in results) == {
        "deep": "refused",
        "dicts": "refused",
        "escapes": "read",
        "keys": "refused",
        "line": "refused",
        "numbers": "refused",
        "text": "read",
        "unended": "refused",
    }
    assert int(megabytes) <= 300
