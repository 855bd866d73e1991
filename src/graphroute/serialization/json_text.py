"""Drafts as JSON text; shared by the formats that are JSON. Objects of which there are many are filled into templates that the JSON library laid out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from json.encoder import encode_basestring
from typing import Any

from graphroute.serialization.draft import Draft, PathDraft, Proof, UnitDraft, Written, bounds, lean_sets, numbered
from graphroute.serialization.escaping import MAX_CACHED
from graphroute.serialization.json_tree import JsonObject, shown
from graphroute.serialization.records import PassageRecord, Profile, instant_text
from graphroute.serialization.visible import harmless
from graphroute.types.source import SourceSpan

_HOLE = "%s"
_TYPE = re.compile(r'"%%([0-9]+)"')


def _string(value: str) -> str:
    return shown(encode_basestring(value))


_kept = lru_cache(maxsize=32_768)(_string)


def string(value: str) -> str:
    """A JSON string without a suspect character. Raises DataError for a lone surrogate."""
    return _kept(value) if len(value) <= MAX_CACHED else _string(value)


def strings(values: Sequence[str]) -> list[str]:
    """JSON strings, tested together where they are many."""
    found = list(map(encode_basestring, values))
    return found if harmless("".join(found)) else list(map(string, values))


class JsonLayout:
    """How objects are written: with which keys, on one line or indented, and at what depth an object of a table stands."""

    def __init__(self, keys: Mapping[str, str], *, indent: bool = False, kind_first: bool = False) -> None:
        self.keys = keys
        self.indent = indent
        self.kind_first = kind_first

    def named(self, pairs: Mapping[str, Any]) -> JsonObject:
        """An object with the layout's keys; what is missing, false or an empty list is left out."""
        keys = self.keys
        return {
            keys.get(key, key): value
            for key, value in pairs.items()
            if value is not None and value is not False and value != []
        }

    def text(self, value: Any, depth: int) -> str:
        """A value that stands `depth` levels deep."""
        if not self.indent:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n" + "  " * depth)

    def row(self, kind: str, pairs: Mapping[str, Any]) -> str:
        """An object of a table, with its kind where objects have one."""
        value = self.named(pairs)
        return shown_lines(self.text({"k": kind, **value} if self.kind_first else value, 2))

    def template(self, kind: str, pairs: Mapping[str, Any], depth: int = 2) -> str:
        """The same with holes for `%` where a value is `%s`, with the strings around them in JSON already."""
        value = self.named(pairs)
        text = self.text({"k": kind, **value} if self.kind_first and kind else value, depth)
        return _holes(text)


def _filled(template: str, types: Sequence[str]) -> str:
    return _TYPE.sub(lambda match: types[int(match.group(1))], template)


def _holes(text: str) -> str:
    return text.replace(f'"{_HOLE}"', "\0").replace("%", "%%").replace("\0", "%s")


def shown_lines(text: str) -> str:
    """JSON text of several lines without a suspect character."""
    return "\n".join(map(shown, text.split("\n"))) if "\n" in text else shown(text)


class JsonProofs:
    """Lists of assertions with their support sets; lean: sets of sources."""

    def __init__(self, layout: JsonLayout, profile: Profile) -> None:
        self._layout = layout
        self._lean = profile is Profile.LEAN
        self._template, self._lean_template = _proof_templates(layout)

    def single(self, ids: Sequence[str], numbers: Sequence[int], spans: Sequence[SourceSpan]) -> list[str]:
        if self._lean:
            shown = {number: self._lean_template % number for number in set(numbers)}
            return [shown[number] for number in numbers]
        template = self._template
        sources = {id: string(id) for id in {span.source_id for span in spans}}
        found = []
        for id, assertion, number, span in zip(strings(ids), ids, numbers, spans, strict=True):
            start, end = span.start, span.end
            if start is None or end is None or not 0 <= start <= end:
                found.append(self.many([(assertion, [[(number, span)]])]))
            else:
                found.append(template % (id, sources[span.source_id], start, end))
        return found

    def many(self, proof: Proof) -> str:
        layout = self._layout
        if self._lean:
            sets = lean_sets(proof)
            return layout.text([[f"S{number}" for number in one] for one in sets], 3) if sets else ""
        value = []
        for id, supports in proof:
            sets_of = []
            for support in supports:
                for _, span in support:
                    bounds(span)
                sets_of.append(
                    [
                        layout.named({"source": span.source_id, "start": span.start, "end": span.end})
                        for _, span in support
                    ]
                )
            value.append(layout.named({"id": id, "supports": sets_of}))
        return shown_lines(layout.text(value, 3))


@cache
def _proof_templates(layout: JsonLayout) -> tuple[str, str]:
    span = layout.named({"source": _HOLE, "start": _HOLE, "end": _HOLE})
    value = [layout.named({"id": _HOLE, "supports": [[span]]})]
    return _holes(layout.text(value, 3)), layout.text([["S%d"]], 3)


class JsonWriter:
    """The tables of a draft, each object as text."""

    def __init__(self, draft: Draft, layout: JsonLayout) -> None:
        self.draft = draft
        self.layout = layout
        self.ids = numbered('"N', len(draft.node_ids)) if draft.lean else strings(draft.node_ids)
        if draft.lean:
            self.ids = [f'{one}"' for one in self.ids]

    def header(self) -> JsonObject:
        """What holds for all records."""
        draft = self.draft
        return self.layout.named(
            {
                "snapshot": draft.snapshot or None,
                "access": draft.access or None,
                "as_of": None if draft.as_of is None else instant_text(draft.as_of),
                "abstained": draft.abstained,
                "reason": draft.reason or None,
                "truncated": draft.truncated,
                "evidence_truncated": draft.evidence_truncated,
                "left_out": draft.left_out or None,
                "total_answers": draft.total_answers if draft.total_answers != len(draft.answers) else None,
            }
        )

    def degraded(self) -> list[str]:
        return [self.layout.row("degraded", {"stage": one.stage, "reason": one.reason}) for one in self.draft.degraded]

    def omissions(self) -> list[str]:
        return [
            self.layout.row("omitted", {"stage": one.stage, "what": one.what, "reason": one.reason})
            for one in self.draft.omissions
        ]

    def answers(self) -> list[str]:
        draft, layout = self.draft, self.layout
        plain = layout.template("answer", {"display": _HOLE})
        named = layout.template("answer", {"id": _HOLE, "display": _HOLE})
        return [
            plain % string(display) if index is None else named % (self.ids[index], string(display))
            for index, display in draft.answers
        ]

    def sources(self) -> dict[int, str]:
        draft, layout = self.draft, self.layout
        if not draft.lean and not draft.cited:
            template = layout.template("source", {"id": _HOLE})
            return dict(enumerate([template % id for id in strings(draft.source_ids)]))
        found = {}
        for index in draft.stated_sources():
            id = f"S{index + 1}" if draft.lean else draft.source_ids[index]
            title, moment = draft.cited.get(index, (None, None))
            date = None if moment is None else instant_text(moment)
            found[index] = layout.row("source", {"id": id, "title": title, "date": date})
        return found

    def nodes(self) -> list[str]:
        draft, layout = self.draft, self.layout
        templates = {}
        for types in dict.fromkeys(draft.types):
            held = layout.template(
                "node", {"id": _HOLE, "types": [f"%{number}" for number in range(len(types))], "name": _HOLE}
            )
            shown_types = [string(one).replace("%", "%%") for one in types]
            templates[types] = _filled(held, shown_types)
        return [
            templates[types] % (id, name)
            for types, id, name in zip(draft.types, self.ids, strings(draft.names), strict=True)
        ]

    def facts(self) -> list[str]:
        draft, ids = self.draft, self.ids
        relations = [string(predicate) for predicate, _ in draft.relations]
        denied = [one for _, one in draft.relations]
        whole = [self._fact_template(one, timed=True, proven=True) for one in denied]
        found = []
        for number, ((start, relation, end, time), proof) in enumerate(
            zip(draft.facts, draft.proofs, strict=True), start=1
        ):
            if time and proof:
                found.append(whole[relation] % (number, ids[start], relations[relation], ids[end], time, proof))
                continue
            values = [
                number,
                ids[start],
                relations[relation],
                ids[end],
                *([time] if time else ()),
                *([proof] if proof else ()),
            ]
            template = self._fact_template(denied[relation], timed=bool(time), proven=bool(proof))
            found.append(template % tuple(values))
        return found

    def _fact_template(self, denied: bool, *, timed: bool, proven: bool) -> str:
        return _fact_template(self.layout, denied, timed, proven)

    def units(self) -> list[str]:
        layout = self.layout
        path = _path_templates(layout)
        found = []
        for unit in self.draft.units:
            if not isinstance(unit, PathDraft):
                found.append(self._text_unit(unit))
            elif unit.binding is None and unit.note is None and not unit.conflict:
                hops = unit.hops
                if len(hops) == 1:
                    walked = path[1] % (hops[0] + 1) if hops[0] >= 0 else path[2] % -hops[0]
                else:
                    walked = path[3].join([path[1] % (one + 1) if one >= 0 else path[2] % -one for one in hops])
                found.append(path[0] % (unit.id, walked))
            else:
                found.append(self._path(unit))
        return found

    def _path(self, unit: PathDraft) -> str:
        draft, layout = self.draft, self.layout
        binding = unit.binding
        if draft.lean and binding in draft.node_at:
            binding = f"N{draft.node_at[binding] + 1}"
        hops = [
            layout.named(
                {
                    "fact": f"F{index + 1 if index >= 0 else -index}",
                    "direction": "forward" if index >= 0 else "backward",
                }
            )
            for index in unit.hops
        ]
        pairs = {"id": unit.id, "kind": "path", "hops": hops, "binding": binding, "conflict": unit.conflict}
        return self._unit({**pairs, "note": unit.note})

    def _text_unit(self, unit: UnitDraft) -> str:
        draft, lean = self.draft, self.draft.lean
        if isinstance(unit, PassageRecord):
            return self._unit(
                {
                    "id": unit.id,
                    "kind": "text",
                    "source": f"S{draft.source_at[unit.source_id]}" if lean else unit.source_id,
                    "start": None if lean else unit.start,
                    "end": None if lean else unit.end,
                    "conflict": unit.conflict,
                    "note": unit.note,
                    "text": unit.text,
                }
            )
        assert not isinstance(unit, PathDraft)
        cited = [f"S{draft.source_at[id]}" if lean else id for id in unit.source_ids]
        return self._unit(
            {
                "id": unit.id,
                "kind": "report",
                "community": None if lean else unit.community,
                "title": unit.title,
                "sources": cited,
                "note": unit.note,
                "text": unit.text,
            }
        )

    def _unit(self, pairs: Mapping[str, Any]) -> str:
        value = self.layout.named(pairs)
        if self.layout.kind_first:
            value = {"k": value.pop("k"), **value}
        return shown_lines(self.layout.text(value, 2))


@cache
def _fact_template(layout: JsonLayout, denied: bool, timed: bool, proven: bool) -> str:
    text = layout.template(
        "fact",
        {
            "id": _HOLE,
            "subject": _HOLE,
            "predicate": _HOLE,
            "object": _HOLE,
            "negated": denied,
            "valid": _HOLE if timed else None,
            "assertions": _HOLE if proven else None,
        },
    )
    at = text.index("%s")
    text = f'{text[:at]}"F%d"{text[at + 2 :]}'
    if not timed:
        return text
    at = text.rindex("%s", 0, text.rindex("%s")) if proven else text.rindex("%s")
    return f'{text[:at]}"%s"{text[at + 2 :]}'


@cache
def _path_templates(layout: JsonLayout) -> tuple[str, str, str, str]:
    """A path, a hop forward, a hop backward, and what stands between hops."""
    pairs = {"id": _HOLE, "kind": "path", "hops": [_HOLE]}
    value = layout.named(pairs)
    if layout.kind_first:
        value = {"k": value.pop("k"), **value}
    text = _holes(layout.text(value, 2))
    text = text.replace("%s", '"%s"', 1)
    hops = [
        _holes(layout.text(layout.named({"fact": "F%d", "direction": way}), 4)).replace("%%d", "%d")
        for way in ("forward", "backward")
    ]
    return text, hops[0], hops[1], ",\n" + "  " * 4 if layout.indent else ","


def whole(draft: Draft, layout: JsonLayout, name: str, blank: Any) -> Written:
    """All records as one object, not sealed. `name`: of the format, with its version; `blank`: what stands for the checksum."""
    writer = JsonWriter(draft, layout)
    head = {
        "format": name,
        "profile": draft.profile.value,
        "records": draft.count,
        "checksum": blank,
        **writer.header(),
    }
    written = Written(
        "", writer.answers(), writer.sources(), writer.nodes(), writer.facts(), writer.units(), writer.omissions(), ","
    )
    tables: dict[str, Sequence[str]] = {
        "degraded": writer.degraded(),
        "flags": strings(draft.flags),
        "answers": written.answers,
        "sources": list(written.sources.values()),
        "nodes": written.nodes,
        "facts": written.facts,
        "units": written.units,
        "omissions": written.omissions,
    }
    parts = [shown_lines(layout.text(head, 0)).removesuffix("}").rstrip("\n")]
    start, between, end, last = (": [\n    ", ",\n    ", "\n  ]", "\n}") if layout.indent else (":[", ",", "]", "}")
    for key, table in tables.items():
        if table:
            opened = f',\n  "{layout.keys.get(key, key)}"' if layout.indent else f',"{layout.keys.get(key, key)}"'
            parts.append(f"{opened}{start}{between.join(table)}{end}")
    parts.append(last)
    written.text = "".join(parts)
    written.end = between
    written.graph_end = between
    return written
