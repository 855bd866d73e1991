"""Recorded bundles come back as they were, and an evaluation records each question once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphroute.errors import DataError
from graphroute.evaluation.bundles import dump_bundle, load_bundles, recorded_qids
from graphroute.evaluation.formats.recorded import bundle_rows
from graphroute.evaluation.formats.variants import variants_of
from graphroute.evaluation.question_set import Question
from graphroute.models.tokenizers import load_tokenizer
from graphroute.types.evidence import EvidenceBundle, EvidenceUnit
from graphroute.types.graph import Direction, Entity, Fact, Hop, Support
from graphroute.types.graph import Path as Trail
from graphroute.types.retrieval import Binding, ScoreKind
from graphroute.types.source import Passage, SourceSpan
from graphroute.types.time import Interval

QUESTION = Question(qid="q1", text="Кто владелец?", required_edges=("e1",))


def bundle(text: str = "текст 文本", count: int = 12) -> EvidenceBundle:
    units = []
    supports = {}
    for number in range(count):
        fact = Fact(
            subject="svc:a",
            predicate="OWNED_BY",
            object=f"team:{number}",
            validity=Interval(5, None),
            assertion_ids=(f"e{number}",),
        )
        supports[f"e{number}"] = (Support(assertion_id=f"e{number}", span=SourceSpan(f"doc:{number}", 3, 9)),)
        units.append(
            EvidenceUnit(
                id=f"U{number + 1}",
                rank=number,
                retrievers=("local_graph",),
                score=1.0,
                score_kind=ScoreKind.PATH,
                path=Trail((Hop(fact, Direction.FORWARD),)),
            )
        )
    passage = Passage(id="p", source_id="doc:p", start=0, end=len(text), text=text)
    units.append(
        EvidenceUnit(
            id=f"U{count + 1}",
            rank=count,
            retrievers=("lexical",),
            score=0.5,
            score_kind=ScoreKind.BM25,
            passage=passage,
        )
    )
    return EvidenceBundle(
        question="?",
        reader="r",
        route="facts",
        retrievers=("local_graph", "lexical"),
        snapshot="s",
        as_of=7,
        units=tuple(units),
        answers=(Binding(id="team:1", display="Команда"),),
        entities={"team:1": Entity(id="team:1", types=("team",), name="Команда", names=("Команда", "团队"))},
        supports=supports,
    )


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_a_bundle_comes_back_as_it_was(text: str) -> None:
    import tempfile

    made = bundle(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.bundles.jsonl"
        path.write_text(dump_bundle(QUESTION, made) + "\n", encoding="utf-8")
        (found,) = load_bundles(path)
    assert found.bundle == made
    assert (found.qid, found.required_edges) == ("q1", ("e1",))


@pytest.mark.parametrize(
    "line", ['{"qid": "a"}', '{"qid": "a", "required_edges": [], "bundle": {"question": 1}}', "[]"]
)
def test_a_wrong_line_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.bundles.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.bundles\.jsonl:1"):
        list(load_bundles(path))


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "x.bundles.jsonl"
    whole = dump_bundle(QUESTION, bundle()) + "\n"
    path.write_text(whole + whole[:40], encoding="utf-8")
    assert recorded_qids(path) == {"q1"}
    assert path.read_text(encoding="utf-8") == whole
    assert recorded_qids(tmp_path / "none") == frozenset()


def test_bundles_are_spread_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.bundles.jsonl"
    lines = [dump_bundle(QUESTION, bundle(count=count)) for count in (1, 1, 0, 9, 9, 5, 5)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = bundle_rows(path, variants_of(["edge_list"], ["full"]), load_tokenizer("o200k_base"), budgets=[], limit=3)
    assert [(row.bundles, row.paths) for row in rows] == [(3, 5.0)]


def test_rows_of_recorded_bundles(tmp_path: Path) -> None:
    path = tmp_path / "x.bundles.jsonl"
    path.write_text(dump_bundle(QUESTION, bundle()) + "\n", encoding="utf-8")
    variants = variants_of(["compact_json", "edge_list"], ["full"])
    rows = bundle_rows(path, variants, load_tokenizer("o200k_base"), budgets=[200, 4000])
    found = {(row.variant, row.budget): row for row in rows}
    for variant in ("compact_json", "edge_list"):
        assert found[variant, None].paths == found[variant, 4000].paths == 12
        assert found[variant, None].round_trip_equal
        assert found[variant, 200].tokens <= 200
    assert found["edge_list", 200].paths > found["compact_json", 200].paths
    assert {found[variant, 200].pressed for variant in ("compact_json", "edge_list")} == {1}
    assert found["edge_list", 200].pressed_paths == found["edge_list", 200].paths
    assert (found["edge_list", 4000].pressed, found["edge_list", 4000].pressed_paths) == (0, None)
    assert found["edge_list", None].tokens < found["compact_json", None].tokens
    assert found["edge_list", None].required == 1.0
    path.write_text(dump_bundle(QUESTION, bundle(count=0)) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="no bundle with a path"):
        bundle_rows(path, variants, load_tokenizer("o200k_base"))
