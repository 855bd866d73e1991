"""Which characters a format may not write as they are: what is invisible, and what could open or close a tag."""

from __future__ import annotations

import re
from collections.abc import Callable

# Printable by category, and yet they show nothing or change how their neighbours look.
_BLANKS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef\U0001d159\U0001d173-\U0001d17a"
)
# A tag, comment or control token of a model could end the evidence block or pass for a part of the prompt.
_OPENER = r"<(?=\s*[/|!?#]|\s*(?i:evidence|system|user|assistant))"
_SUSPECT = re.compile(f"[{_BLANKS}]|{_OPENER}")
_BLANK = re.compile(f"[{_BLANKS}]")


def harmless(text: str) -> bool:
    """True if `visible` would leave the text as it is."""
    return (
        text.isprintable()
        and (text.isascii() or not _BLANK.search(text))
        and not ("<" in text and _SUSPECT.search(text))
    )


def visible(text: str, write: Callable[[str], str]) -> str:
    """`text` with `write(character)` in place of every suspect or unprintable character."""
    text = _SUSPECT.sub(lambda match: write(match.group()), text)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else write(character) for character in text)
