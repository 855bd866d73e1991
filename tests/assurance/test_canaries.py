"""Every source carries a token of its own: no output holds a foreign one, and the decision log holds none at all."""

import json
from pathlib import Path
from typing import Any

from graphroute.decision_log.record import record_of
from graphroute.pipeline.engine import GraphRoute
from graphroute.testing.rows import NAMES, token_of


def test_the_decision_log_holds_no_token_no_name_and_no_reader(
    seed: int, corpus_of: Any, readers: Any, tmp_path: Path
) -> None:
    corpus = corpus_of(seed)
    log = tmp_path / "decisions.jsonl"
    tokens = [token_of(seed, document["doc_id"]) for document in corpus.rows.documents]
    asked = [
        *corpus.questions,
        *(f"What is known of {token}?" for token in tokens[:5]),
        "Is jonas@example.org known on 0151 555 0101?",
    ]
    asked += [f"Who is {name}?" for name in NAMES]
    with GraphRoute.open(corpus.folder / "full" / "store.sqlite", log=log) as router:
        for reader in readers:
            for question in asked if reader.id in ("all", "one") else asked[::9]:
                router.ask(question, reader=reader)
    text = log.read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.splitlines()]
    assert len(records) >= len(asked)
    plain = json.dumps(records, ensure_ascii=False)
    for found in (*tokens, *NAMES, "jonas@example.org", "0151 555"):
        assert found not in plain, found
        assert found.casefold() not in plain.casefold(), found
    assert not any(f'"{reader.id}"' in plain for reader in readers if reader.id != "all")


def test_with_the_question_logged_the_same_check_fails(corpus_of: Any, readers: Any) -> None:
    corpus = corpus_of(0)
    trace = corpus.full.explain(f"Who is {NAMES[0]}?", reader=readers[2])
    assert NAMES[0] in json.dumps(record_of(trace, log_question=True))
    assert NAMES[0] not in json.dumps(record_of(trace, log_question=False))


def test_the_command_line_shows_no_foreign_token(seed: int, corpus_of: Any, readers: Any, run: Any) -> None:
    corpus = corpus_of(seed)
    store = corpus.folder / "full" / "store.sqlite"
    one = next(reader for reader in readers if reader.id == "one")
    foreign = corpus.foreign(one)
    assert foreign
    options = [
        "--store",
        store,
        "--reader",
        one.id,
        *(part for label in sorted(one.labels) for part in ("--label", label)),
    ]
    for question in corpus.questions[::3]:
        for command in (["explain"], ["ask"], ["explain", "--json"], ["ask", "--json"]):
            ended = run(*command, question, *options)
            assert ended.code == 0, ended.err
            said = ended.out + ended.err
            assert not [token for token in foreign if token in said and token not in question], question
