"""Random dataset directories whose every source carries a token, and the rules of visibility on their raw rows."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphroute.testing.strategies import LABELS, seeded

Document = dict[str, Any]
Edge = dict[str, Any]

ONTOLOGY = """
types:
  service: {nouns: [service, сервис], prefix: svc}
  team: {nouns: [team, команда], agent: true, prefix: team}
  person: {nouns: [person, people], agent: true, prefix: person}
  change: {nouns: [change, change request], display: "CHG-{local}", prefix: chg, patterns: ["CHG-[0-9]+"]}
  company: {nouns: [company, companies], prefix: co}
  site: {nouns: [site], prefix: site, place: true}
relations:
  OWNED_BY: {from: service, to: team, kind: state, complete: true, functional: true, inverse: [own], object_nouns: [owner],
    precedence: [catalogue, wiki]}
  MEMBER_OF: {from: person, to: team, kind: state, object_nouns: [team], subject_nouns: [member]}
  MANAGED_BY: {from: person, to: person, kind: state, functional: true, inverse: [manage], object_nouns: [manager]}
  DEPENDS_ON: {from: service, to: service, kind: state, forward: [depend on]}
  TOUCHES: {from: change, to: service, kind: event, forward: [touch]}
  APPROVED_BY: {from: change, to: person, kind: event, inverse: [approve], object_nouns: [approver]}
  ACQUIRED: {from: company, to: company, kind: event, complete: true, forward: [acquire]}
  PARTNER_OF: {from: company, to: company, kind: state, symmetric: true, object_nouns: [partner]}
  RUNS_AT: {from: service, to: site, kind: state, forward: [run at], max_age_days: 400}
attributes:
  change: {risk: {nouns: [risk], enumerated: true}, planned: {nouns: [planned date], kind: date}}
  service: {tier: {nouns: [tier], kind: number}}
records:
  - {kind: change, type: change, id_field: change, names: [headline], attributes: {risk: risk, planned: planned, note: note}}
  - {kind: catalogue, names: [name], attributes: {tier: tier, note: note}}
"""
"""Types and relations of every random dataset; held fixed when two corpora are compared."""

AS_OF = "2026-06-01"
NAMES = (
    "Sam Ortiz",
    "Relay",
    "Mail Gateway",
    "Фёдор Ким",
    "кассовый узел",
    "结账服务",
    "李雷",
    "Zoë Brandt",
    "Obsidian Hub",
)
_PREFIX = {"service": "svc", "team": "team", "person": "person", "change": "chg", "company": "co", "site": "site"}
_RELATIONS = {
    "OWNED_BY": ("service", "team", "{s} is owned by {o}."),
    "MEMBER_OF": ("person", "team", "{s} is a member of {o}."),
    "MANAGED_BY": ("person", "person", "{s} reports to {o}."),
    "DEPENDS_ON": ("service", "service", "{s} depends on {o}."),
    "TOUCHES": ("change", "service", "{s} touched {o}."),
    "APPROVED_BY": ("change", "person", "{s} was approved by {o}."),
    "ACQUIRED": ("company", "company", "{s} acquired {o}."),
    "PARTNER_OF": ("company", "company", "{s} is a partner of {o}."),
    "RUNS_AT": ("service", "site", "{s} runs at {o}."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of a dataset directory: documents, edges and entities, as a user would write them."""

    documents: tuple[Document, ...] = ()
    edges: tuple[Edge, ...] = ()
    entities: tuple[dict[str, Any], ...] = ()

    def shuffled(self, seed: int) -> Rows:
        """The same rows in another order."""
        rng = seeded(seed)

        def mix(rows: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(rng.sample(list(rows), len(rows)))

        return Rows(documents=mix(self.documents), edges=mix(self.edges), entities=mix(self.entities))


def token_of(seed: int, document_id: str) -> str:
    """The token that stands in a document and nowhere else."""
    return "zq" + hashlib.blake2b(f"{seed} {document_id}".encode(), digest_size=7).hexdigest()


def write(rows: Rows, folder: Path) -> Path:
    """Write a dataset directory; returns it."""
    folder.mkdir(parents=True)
    meta = f"name: random\nlicence: CC0-1.0\nas_of: {AS_OF}\n"
    (folder / "dataset.yaml").write_text(meta, encoding="utf-8")
    for name, part in (("docs", rows.documents), ("edges", rows.edges), ("entities", rows.entities)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


# Rules of visibility, on raw rows -------------------------------------------------------------------------------------------


def readable(document: Document, labels: frozenset[str]) -> bool:
    """A document is readable if the reader holds one of its labels as it is written."""
    return any(label in labels for label in document.get("labels") or ())


def readable_sets(edge: Edge, held: frozenset[str]) -> list[list[Any]]:
    """The support sets of an edge whose every document is among `held`."""
    return [group for group in edge["supports"] if group and all(_document(member) in held for member in group)]


def _document(member: Any) -> str:
    return str(member["source"] if isinstance(member, dict) else member)


def described_by(document: Document) -> str | None:
    """The entity that a document is the record of, by its own content alone."""
    if document.get("kind") == "change":
        for line in document["text"].split("\n"):
            if line.startswith("change: "):
                return f"chg:{line.removeprefix('change: ')}"
    node = document.get("node")
    return node if isinstance(node, str) else None


def visible(rows: Rows, labels: frozenset[str]) -> Rows:
    """The dataset without everything that a reader of these labels may not see.

    An entity stays if one of its facts or a record or prose about it is readable; its listed names only with one of its facts.
    """
    documents = tuple(document for document in rows.documents if readable(document, labels))
    held = frozenset(document["doc_id"] for document in documents)
    edges = []
    for edge in rows.edges:
        sets = readable_sets(edge, held)
        if sets:
            edges.append({**edge, "supports": sets})
    in_facts = {end for edge in edges for end in (edge["s"], edge["o"])}
    described = {entity for entity in map(described_by, documents) if entity is not None}
    entities = []
    for row in rows.entities:
        if row["id"] in in_facts:
            entities.append(row)
        elif row["id"] in described:
            entities.append({**row, "names": []})
    return Rows(documents=documents, edges=tuple(edges), entities=tuple(entities))


# Random datasets ------------------------------------------------------------------------------------------------------------


def random_rows(seed: int, *, size: int = 5, untyped: bool = False) -> Rows:
    """A dataset of about 6 * `size` entities and 10 * `size` edges; two fifths of the edges have joint or mixed supports.

    `untyped`: some ids without a type prefix and without an entities row, so that only facts tell what they are.
    """
    rng = seeded(seed)
    ids: dict[str, list[str]] = {}
    for kind, prefix in _PREFIX.items():
        count = size if kind in ("service", "change", "person") else max(2, size - 2)
        for number in range(count):
            if kind == "change":
                local = str(400 + 7 * number)
            else:
                local = f"{rng.choice(('alder', 'birch', 'cedar', 'dune', 'elm', 'fern'))}{number}"
            bare = untyped and kind in ("service", "team", "company") and number % 2 == 0
            ids.setdefault(kind, []).append(local if bare else f"{prefix}:{local}")
    names = {entity: rng.sample(NAMES, rng.choice((0, 1, 1, 2))) for kind in ids for entity in ids[kind]}
    documents = [_prose(seed, rng, number, ids) for number in range(3 * size)]
    documents += list(_records(seed, rng, ids))
    document_ids = [document["doc_id"] for document in documents]
    edges = [_edge(rng, number, ids, document_ids) for number in range(10 * size)]
    sayers = {document["doc_id"]: document for document in documents if document["kind"] in ("wiki", "chat")}
    for edge in edges:
        sentence = _RELATIONS[edge["r"]][2].format(s=_called(edge["s"], names, rng), o=_called(edge["o"], names, rng))
        for group in edge["supports"]:
            said = sayers.get(_document(group[0]))
            if said is not None and rng.random() < 0.7:
                said["text"] += f" {sentence}"
    entities = []
    for kind, members in ids.items():
        for entity in members:
            if (":" in entity and rng.random() < 0.85) or (":" not in entity and not untyped):
                entities.append({"id": entity, "type": kind, "names": names[entity]})
    return Rows(documents=tuple(documents), edges=tuple(edges), entities=tuple(entities))


def _called(entity: str, names: dict[str, list[str]], rng: random.Random) -> str:
    local = entity.partition(":")[2] or entity
    return f"CHG-{local}" if entity.startswith("chg:") else str(rng.choice([local, *names.get(entity, ())]))


def _labels(rng: random.Random) -> list[str]:
    return rng.sample(LABELS, rng.choice((0, 1, 1, 1, 1, 2, 3)))


def _span_of_time(rng: random.Random, chance: float = 0.5) -> dict[str, str]:
    if rng.random() > chance:
        return {}
    month = rng.randrange(1, 13)
    found = {"valid_from": f"{rng.choice((2024, 2025))}-{month:02d}-01"}
    if rng.random() < 0.3:
        found["valid_to"] = f"2026-{month:02d}-01"
    return found


def _prose(seed: int, rng: random.Random, number: int, ids: dict[str, list[str]]) -> Document:
    document_id = f"doc{number}"
    token = token_of(seed, document_id)
    about = rng.choice((None, None, rng.choice([entity for kind in ids for entity in ids[kind]])))
    document: Document = {
        "doc_id": document_id,
        "kind": rng.choice(("wiki", "chat")),
        "title": f"Note {number} {token}",
        "text": f"{token} speaks of {rng.choice(NAMES)} and the {rng.choice(('ledger', 'relay', 'outage', 'миграция', '数据库'))}.",
        "labels": _labels(rng),
        **_span_of_time(rng, 0.3),
    }
    if about is not None:
        document["node"] = about
    if rng.random() < 0.6:
        document["source_timestamp"] = f"2025-{rng.randrange(1, 13):02d}-{rng.randrange(1, 28):02d}"
    return document


def _records(seed: int, rng: random.Random, ids: dict[str, list[str]]) -> Iterator[Document]:
    for change in ids["change"]:
        local = change.partition(":")[2]
        for version in range(rng.choice((0, 1, 1, 2))):
            document_id = f"record-{local}-{version}"
            token = token_of(seed, document_id)
            lines = [
                f"change: {local}",
                f"headline: {rng.choice(NAMES)} {token}",
                f"risk: {rng.choice(('high', 'low', 'medium'))}",
                f"planned: 2026-0{rng.randrange(1, 7)}-1{rng.randrange(10)}",
                f"note: {token}n",
            ]
            yield {
                "doc_id": document_id,
                "kind": "change",
                "title": f"CHG-{local}",
                "text": "\n".join(lines),
                "labels": _labels(rng),
                "node": change,
                "source_timestamp": f"2026-0{rng.randrange(1, 6)}-0{rng.randrange(1, 9)}",
            }
    for service in ids["service"]:
        if rng.random() < 0.8:
            local = service.partition(":")[2] or service
            document_id = f"catalogue-{local}"
            token = token_of(seed, document_id)
            document: Document = {
                "doc_id": document_id,
                "kind": "catalogue",
                "title": f"{local} in the catalogue",
                "text": f"name: {rng.choice(NAMES)} {token}\ntier: {rng.randrange(1, 5)}\nnote: {token}n",
                "labels": _labels(rng),
                **_span_of_time(rng, 0.3),
            }
            if rng.random() < 0.6:
                document["node"] = service
            yield document


def _edge(rng: random.Random, number: int, ids: dict[str, list[str]], documents: Sequence[str]) -> Edge:
    predicate = rng.choice(sorted(_RELATIONS))
    left, right, _ = _RELATIONS[predicate]
    subject, target = rng.choice(ids[left]), rng.choice(ids[right])
    if predicate == "OWNED_BY" and rng.random() < 0.5:
        subject = ids[left][0]  # one service with several owners, so that sources contradict each other

    def member() -> Any:
        source = rng.choice(documents)
        return {"source": source, "span": [0, rng.choice((4, 9, 16))]} if rng.random() < 0.6 else source

    sizes = rng.choice(((1,), (1,), (1,), (1, 1), (2,), (2, 1), (3,), (1, 2, 1)))
    edge: Edge = {
        "s": subject,
        "r": predicate,
        "o": target,
        "supports": [[member() for _ in range(size)] for size in sizes],
        **_span_of_time(rng, 0.6),
    }
    if rng.random() < 0.8:
        edge["edge_id"] = f"e{number}"
    return edge


# Questions ------------------------------------------------------------------------------------------------------------------


def questions(seed: int, rows: Rows) -> list[str]:
    """Questions about the things of a dataset, hidden ones too, that reach every retriever and route."""
    rng = seeded(seed)
    by_kind: dict[str, list[str]] = {kind: [] for kind in _PREFIX}
    for edge in rows.edges:
        left, right, _ = _RELATIONS[edge["r"]]
        by_kind[left].append(edge["s"])
        by_kind[right].append(edge["o"])

    def one(kind: str) -> str:
        entity = rng.choice(sorted(set(by_kind[kind])) or ["none"])
        local = entity.partition(":")[2] or entity
        if kind == "change":
            return f"CHG-{local}"
        listed = [str(name) for row in rows.entities if row["id"] == entity for name in row["names"]]
        return rng.choice([local, entity, *listed])

    document = rng.choice(rows.documents)
    token = document["text"].split()[0] if document["kind"] in ("wiki", "chat") else document["title"]
    name = rng.choice(NAMES)
    records = [row["text"].split("\n") for row in rows.documents if row["kind"] in ("change", "catalogue")]
    stated = [
        line.partition(": ")[2] for lines in records for line in lines if line.startswith(("headline: ", "name: "))
    ]
    alias = rng.choice(stated or [name])
    return [
        f"Who owns {one('service')}?",
        f"Who owned {one('service')} in March 2025?",
        f"Which services does {one('team')} own?",
        f"How many services does {one('team')} own?",
        "Which team owns the most services?",
        f"Who approved {one('change')}?",
        f"Show {one('change')}",
        f"What is the risk of {one('change')}?",
        "Which changes have high risk?",
        f"Which of {one('change')} and {one('change')} was planned first?",
        f"Which team owns the services that {one('change')} touched?",
        f"Who is the manager of {one('person')}?",
        f"Who manages {name}?",
        f"Who acquired {one('company')}?",
        f"Who are the partners of {one('company')}?",
        f"Did {one('company')} acquire {one('company')}?",
        f"What does {one('service')} depend on?",
        f"When did {one('change')} touch {one('service')}?",
        f"Which site does {one('service')} run at?",
        f"What happened to {name}?",
        f"What do the notes say about {name} and the ledger?",
        f"What is known of {token}?",
        f"What is known of {alias}?",
        f"Which services does the high {name.split(' ')[0]} change touch?",
        "What are the main themes of the whole corpus?",
        "Summarise what the documents say overall about owners and changes.",
        f"Кому принадлежит {one('service')}?",
        f"Сколько сервисов у команды {one('team')}?",
        f"谁拥有{name}？",
        f"What is the tier of {one('service')}?",
        "Who owns the Quartz Rewards Ledger?",
        f"Compare {one('service')} and {one('service')}.",
        f"Is CHG-{rng.randrange(400, 460)} approved by {one('person')}?",
    ]


def without(rows: Rows, document_ids: Iterable[str]) -> Rows:
    """The rows with some documents relabelled so that nobody may read them."""
    gone = set(document_ids)
    documents = tuple({**d, "labels": []} if d["doc_id"] in gone else d for d in rows.documents)
    return replace(rows, documents=documents)
