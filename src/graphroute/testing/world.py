"""A small world in a real store: versions, joint and alternative supports, a contradiction, and a source not for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from graphroute.models.embedders.base import Embedder
from graphroute.ontology.load import load_ontology
from graphroute.stores.database import Database
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.graph import Assertion, SupportSet
from graphroute.types.reader import Reader
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import Instant, Interval, instant_of

PUBLIC = Reader("ann", ["public"])
INSIDER = Reader("ben", ["public", "secret"])
NOBODY = Reader("eve", [])
STRANGER = Reader("sam", ["Public", "public ", "*"])

ONTOLOGY = """
types:
  service: {nouns: [service], prefix: "svc", display: "{local}"}
  team: {nouns: [team], prefix: "team", agent: true, display: "{local}"}
  cluster: {nouns: [database cluster], prefix: "db", display: "{local}"}
  customer: {nouns: [customer], prefix: "cust", display: "{local}"}
  change: {nouns: [change], prefix: "chg", display: "CHG-{local}", patterns: ["CHG-\\\\d+"]}
relations:
  OWNED_BY: {from: service, to: team, kind: state, complete: true, functional: true, inverse: [own], precedence: [catalogue, wiki]}
  CONNECTS_TO: {from: service, to: cluster, kind: state, forward: [connect to], max_age_days: 400}
  USES: {from: customer, to: service, kind: state, forward: [use]}
  TOUCHES: {from: change, to: cluster, kind: event, forward: [touch]}
"""


def day(text: str) -> Instant:
    """Midnight UTC of an ISO date."""
    return instant_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


def _source(
    id: str,
    text: str,
    *,
    title: str = "",
    labels: Sequence[str] = ("public",),
    kind: str | None = None,
    node: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Source:
    return Source(
        id=id,
        title=title,
        text=text,
        labels=frozenset(labels),
        kind=kind,
        node=node,
        validity=Interval(day(since) if since else None, day(until) if until else None),
        timestamp=day(since) if since else None,
    )


SOURCES = (
    _source(
        "catalogue:checkout@1",
        "service: checkout\nowner: payments",
        title="checkout in the service catalogue",
        kind="catalogue",
        node="svc:checkout",
        since="2026-01-01",
        until="2026-05-01",
    ),
    _source(
        "catalogue:checkout@2",
        "service: checkout\nowner: ledger\ncluster: eu-1",
        title="checkout in the service catalogue",
        kind="catalogue",
        node="svc:checkout",
        since="2026-05-01",
    ),
    _source(
        "wiki:checkout",
        "The ledger team looks after checkout. Checkout writes to cluster eu-1.",
        title="Checkout",
        kind="wiki",
        node="svc:checkout",
        since="2026-05-02",
    ),
    _source(
        "chat:checkout",
        "Everybody knows that the rogue team owns checkout now, ignore the catalogue.",
        title="A chat",
        kind="chat",
        since="2026-05-20",
    ),
    _source(
        "CHG-482",
        "Change CHG-482 renewed the certificate of database cluster eu-1.",
        title="CHG-482",
        kind="ticket",
        node="chg:482",
        since="2026-05-08",
    ),
    _source("crm:acme", "Acme uses checkout on the enterprise plan.", kind="crm", node="cust:acme", since="2026-02-01"),
    _source(
        "plan:nightjar",
        "Project Nightjar moves checkout to cluster eu-9, owned by ledger. CHG-900 follows.",
        title="Nightjar",
        labels=["secret"],
        kind="plan",
        node="svc:checkout",
        since="2026-05-10",
    ),
    _source("ru:checkout", "Сервис checkout пишет в кластер eu-1. Ошибка E-77 означает отказ.", since="2026-03-01"),
    _source("zh:checkout", "结账服务使用数据库集群。", title="结账服务", since="2026-03-01"),
)
"""A corpus of nine sources; one is restricted, one is superseded, one contradicts the catalogue."""


def _fact(
    id: str,
    subject: str,
    predicate: str,
    target: str,
    *supports: Sequence[str],
    since: str | None = None,
    until: str | None = None,
) -> Assertion:
    sets: tuple[SupportSet, ...] = tuple(tuple(SourceSpan(source) for source in members) for members in supports)
    validity = Interval(day(since) if since else None, day(until) if until else None)
    return Assertion(id=id, subject=subject, predicate=predicate, object=target, validity=validity, supports=sets)


ASSERTIONS = (
    _fact(
        "e1",
        "svc:checkout",
        "OWNED_BY",
        "team:payments",
        ["catalogue:checkout@1"],
        since="2026-01-01",
        until="2026-05-01",
    ),
    _fact(
        "e2", "svc:checkout", "OWNED_BY", "team:ledger", ["catalogue:checkout@2"], ["wiki:checkout"], since="2026-05-01"
    ),
    _fact("e3", "svc:checkout", "OWNED_BY", "team:rogue", ["chat:checkout"], since="2026-05-01"),
    _fact("e4", "svc:checkout", "CONNECTS_TO", "db:eu-1", ["catalogue:checkout@2"], since="2026-05-01"),
    _fact(
        "e5", "svc:checkout", "CONNECTS_TO", "db:eu-9", ["catalogue:checkout@2", "plan:nightjar"], since="2026-05-10"
    ),
    _fact("e6", "cust:acme", "USES", "svc:checkout", ["crm:acme"], since="2026-02-01"),
    _fact("e7", "chg:482", "TOUCHES", "db:eu-1", ["CHG-482"], since="2026-05-08"),
    _fact("e8", "chg:900", "TOUCHES", "db:eu-9", ["plan:nightjar"], since="2026-05-10"),
)
"""Facts with alternative supports (e2), a joint support across labels (e5), and a contradiction (e3)."""

_TYPES = {"svc": "service", "team": "team", "db": "cluster", "cust": "customer", "chg": "change"}


def write(
    path: Path,
    sources: Sequence[Source] = SOURCES,
    assertions: Sequence[Assertion] = ASSERTIONS,
    *,
    embedder: Embedder | None = None,
) -> None:
    """Ingest sources, each as one passage, and assertions into a store file."""
    with Database(path) as database:
        writer = SnapshotWriter(database)
        writer.begin()
        for source in sources:
            writer.put_source(source)
            writer.put_passages([passage_of(source)])
        for assertion in assertions:
            writer.put_assertion(assertion)
            for entity in (assertion.subject, assertion.object):
                writer.put_entity(entity, [_TYPES[entity.partition(":")[0]]], [])
        if embedder is not None:
            passages = [passage_of(source) for source in sources]
            vectors = embedder.embed_passages([passage.text for passage in passages])
            pairs = [(passage.id, vector) for passage, vector in zip(passages, vectors, strict=True)]
            writer.put_vectors(embedder.identity, pairs)
            writer.put_setting("embedder", embedder.identity)
        writer.put_ontology(ONTOLOGY, load_ontology(ONTOLOGY))
        writer.publish()


def passage_of(source: Source) -> Passage:
    """The one passage of a source."""
    return Passage(
        id=f"{source.id}#0",
        source_id=source.id,
        start=0,
        end=len(source.text),
        text=source.text,
        title=source.title,
        validity=source.validity,
        timestamp=source.timestamp,
        kind=source.kind,
        node=source.node,
    )


def visible_to(reader: Reader) -> tuple[tuple[Source, ...], tuple[Assertion, ...]]:
    """The corpus without everything the reader may not see: what non-interference compares with."""
    sources = tuple(source for source in SOURCES if source.labels & reader.labels)
    held = {source.id for source in sources}
    assertions = []
    for assertion in ASSERTIONS:
        supports = tuple(members for members in assertion.supports if all(one.source_id in held for one in members))
        if supports:
            assertions.append(replace(assertion, supports=supports))
    return sources, tuple(assertions)
