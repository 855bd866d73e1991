"""A format in one of its profiles: writes facts of a benchmark graph as text, and reads them back as the same facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphroute.errors import DataError, UsageError
from graphroute.evaluation.formats.graph import Edge, Node, PathQuery, Task
from graphroute.evaluation.formats.walk import index_of, solve
from graphroute.serialization.formats import FORMATS, Format
from graphroute.serialization.records import Profile, Records, local_ids, project


@dataclass(frozen=True, slots=True)
class Variant:
    """What is compared: a format and how much of the records it carries."""

    form: Format
    profile: Profile

    @property
    def label(self) -> str:
        """`edge_list` for the full profile, `edge_list:lean` for the lean one."""
        return self.form.name if self.profile is Profile.FULL else f"{self.form.name}:{self.profile.value}"


def variants_of(formats: Sequence[str], profiles: Sequence[str]) -> list[Variant]:
    """Every format in every profile. Raises ConfigurationError for an unknown format, UsageError for an unknown profile."""
    try:
        chosen = [Profile(name) for name in profiles]
    except ValueError:
        raise UsageError("unknown profile", allowed=", ".join(profile.value for profile in Profile)) from None
    return [Variant(FORMATS.load(name)(), profile) for name in formats for profile in chosen]


def written_ids(variant: Variant, records: Records) -> dict[str, str]:
    """The node behind each id that a text of these records may be answered with: local ids in lean ones, global ids always."""
    ids = {node.id: node.id for node in records.nodes}
    if variant.profile is Profile.LEAN:
        local, _ = local_ids(records)
        ids.update({number: id for id, number in local.items()})
    return ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """What came back of a text. `edges`: share of the graph's facts, counted as often as they stand there; `equal`: everything the profile carries is the same."""

    edges: float
    equal: bool


def fidelity(variant: Variant, text: str, records: Records) -> Fidelity:
    """Reads a text back and compares it with the records it was made of: nodes, facts with direction and multiplicity, every field."""
    wanted = project(records, variant.profile)
    try:
        found = variant.form.loads(text)
    except DataError:
        return Fidelity(edges=0.0, equal=False)
    ours, theirs = Counter(wanted.facts), Counter(found.facts)
    share = (ours & theirs).total() / ours.total() if ours else 1.0
    return Fidelity(edges=share, equal=found == wanted)


def facts_read(variant: Variant, text: str) -> tuple[list[Node], list[Edge]] | None:
    """Nodes and facts of a text, ids as it writes them; None if it is refused."""
    try:
        found = variant.form.loads(text)
    except DataError:
        return None
    nodes = [Node(id=node.id, name=node.name, type=node.types[0] if node.types else "") for node in found.nodes]
    edges = [
        Edge(
            source=fact.subject,
            relation=fact.predicate,
            target=fact.object,
            validity=fact.validity,
            negated=fact.negated,
        )
        for fact in found.facts
    ]
    return nodes, edges


class Traversal:
    """Questions answered from a text alone: parsed, walked, and compared with the gold. `ids`: the node behind each id written in it."""

    def __init__(self, variant: Variant, text: str, ids: Mapping[str, str]) -> None:
        read = facts_read(variant, text)
        self.parsed = read is not None
        nodes, edges = read if read is not None else ([], [])
        self.nodes, self.facts = len(nodes), len(edges)
        self._index = index_of(edges, {node.id: node.type for node in nodes})
        self._global = {node.id: ids.get(node.id, node.id) for node in nodes}
        self._written = {id: written for written, id in self._global.items()}

    def right(self, task: Task) -> bool:
        """True if the walk over the text's own facts gives the gold answers, which are none for a question without an answer."""
        if not self.parsed:
            return False
        starts = tuple(self._written[start] for start in task.query.starts if start in self._written)
        found = solve(self._index, PathQuery(starts=starts, steps=task.query.steps, key_step=task.query.key_step))
        if {self._global[answer] for answer in found.answers} != set(task.answers):
            return False
        mapping = {
            self._global[key]: tuple(sorted(self._global[value] for value in values))
            for key, values in found.mapping.items()
        }
        return task.kind != "mapping" or mapping == dict(task.mapping)
