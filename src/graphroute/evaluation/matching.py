"""When two names mean the same answer: normal forms of display forms, ids and local parts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_JOINERS = re.compile(r"[\s\-_:\u2010-\u2015]+")


def normal_form(text: str) -> str:
    """Trimmed, case-folded, `-`, `_`, `:` and space alike, a leading `@` dropped."""
    folded = unicodedata.normalize("NFKC", text).casefold().strip().removeprefix("@")
    return _JOINERS.sub(" ", folded).strip()


def local_part(entity_id: str) -> str:
    """What follows the last `/`, else the first `:`; the id itself if neither is there."""
    if "/" in entity_id:
        return entity_id.rsplit("/", 1)[1] or entity_id
    return entity_id.partition(":")[2] or entity_id


def forms(display: str, entity_id: str | None = None, names: Iterable[str] = ()) -> frozenset[str]:
    """Every normal form an answer may be known by."""
    texts = [display, *names]
    if entity_id is not None:
        texts += [entity_id, local_part(entity_id)]
    return frozenset(form for form in map(normal_form, texts) if form)
