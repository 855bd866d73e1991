"""Ingests a dataset directory into a store: checked first, then written as one snapshot, then published."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Self

from graphroute.errors import BackendError, UsageError
from graphroute.indexing.dataset import BadRow, Dataset, OnBad, read_dataset
from graphroute.indexing.embedding import VectorCache, embed_passages, embedding_text, stored_vectors
from graphroute.indexing.ontology_inference import infer_ontology
from graphroute.indexing.passages import MAX_PASSAGE_CHARACTERS, passages_of, split
from graphroute.indexing.profile import ProfileBuilder
from graphroute.indexing.records import parse_record, record_attributes, record_id, record_names, record_type
from graphroute.indexing.survey import Survey, TypeFinder, survey_dataset
from graphroute.models.embedders.base import Embedder
from graphroute.ontology.load import dump_ontology, parse_ontology
from graphroute.stores.database import Database
from graphroute.stores.replication import Progress, Replication
from graphroute.stores.schema import LIVE
from graphroute.stores.writer import SnapshotWriter
from graphroute.types.graph import Assertion
from graphroute.types.ontology import Ontology, RecordType
from graphroute.types.source import Passage, Source, SourceSpan
from graphroute.types.time import MAX_INSTANT, MIN_INSTANT, Interval, format_instant

_QUARANTINED_BYTES = 64 * 1024
_PUT_VECTORS = 500
_DERIVATION = 1
"""Raised when passages or records of unchanged documents come out otherwise than before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an ingest did. `changed` is False if the store already held all of it.

    `hidden`: documents that nobody may read for want of labels, by reason. `unmapped`: edges left out because the
    ontology does not declare their relation, and entity types it does not declare, by name. `embedded` texts went through
    the model, `reused` ones came from the cache. `warnings`: what else the operator should know. `bookmarks`: marks of what was written to Neo4j, for `GraphRoute.open`. `sequence` is the
    published snapshot, for the operator.
    """

    dataset: str
    store: str
    changed: bool
    sequence: int
    documents: int
    documents_changed: int
    documents_removed: int
    passages: int
    assertions: int
    entities: int
    records: int
    attributes: int
    hidden: Mapping[str, int] = field(default_factory=dict)
    unmapped: Mapping[str, int] = field(default_factory=dict)
    ignored_fields: Mapping[str, int] = field(default_factory=dict)
    bad_rows: int = 0
    quarantine: str | None = None
    embedder: str | None = None
    embedded: int = 0
    reused: int = 0
    ontology_inferred: bool = False
    warnings: tuple[str, ...] = ()
    bookmarks: tuple[str, ...] = ()
    rows: int = 0
    seconds: float = 0.0

    @property
    def rows_per_second(self) -> float:
        """Rows of the dataset by the seconds of the whole run."""
        return self.rows / self.seconds if self.seconds else 0.0


def ingest(
    directory: str | Path,
    store_path: str | Path,
    *,
    ontology: Ontology | None = None,
    default_labels: Iterable[str] = (),
    vectors: bool = True,
    embedder: Embedder | None = None,
    cache: VectorCache | None = None,
    skip_bad: bool = False,
    prune: bool = False,
    progress: Progress | None = None,
    copies: Replication | None = None,
) -> IngestReport:
    """Brings a store up to date with a dataset directory, which is only read.

    The same directory again changes nothing; a run that was killed is taken up by the next one, whatever it had written;
    nothing is visible before all of it is. Documents and facts that left the directory stay in the store unless `prune`.
    Without `ontology` the written one that the store holds is kept, else one is inferred, and kept in the store. `embedder`
    makes the vectors, through `cache` (the user's, if None). With `skip_bad`, bad rows are left out and written, with the reason,
    to `<store>.quarantine.jsonl`. `copies` are brought up to date before the snapshot is published. Raises DataError,
    ConfigurationError, BackendError.
    """
    started = time.monotonic()
    if vectors and embedder is None:
        raise UsageError("no embedder", hint="give one, or ingest without vectors")
    dataset = read_dataset(directory, default_labels=default_labels)
    with Database(store_path) as database, _Quarantine(store_path, skip_bad) as quarantine:
        run = _Run(dataset, database, quarantine, progress or _Silent())
        inferred = run.check(ontology)
        if vectors and embedder is not None:
            if cache is not None:
                run.embed(embedder, cache)
                run.write(prune=prune, copies=copies)
            else:
                with VectorCache() as own:
                    run.embed(embedder, own)
                    run.write(prune=prune, copies=copies)
        else:
            run.write(prune=prune, copies=copies)
        report = run.report(started, inferred)
        return report if copies is None else replace(report, bookmarks=copies.bookmarks)


class _Run:
    """One ingest: what its steps share."""

    def __init__(self, dataset: Dataset, database: Database, quarantine: _Quarantine, progress: Progress) -> None:
        self._dataset = dataset
        self._database = database
        self._quarantine = quarantine
        self._progress = progress
        self._writer = SnapshotWriter(database)
        self._survey = Survey()
        self._ontology = Ontology()
        self._types = TypeFinder(self._ontology)
        self._counts: Counter[str] = Counter()
        self._unmapped: Counter[str] = Counter()
        self._warnings: list[str] = list(dataset.warnings)
        self._before = database.sequence()
        self._settings = dict(database.connection.execute("SELECT key, value FROM setting"))
        names = json.loads(self._settings.get("datasets", "[]"))
        self._others = sorted(set(names) - {dataset.name})
        self._inferred: str | None = None
        self._embedder: Embedder | None = None
        self._cache: VectorCache | None = None
        self._with_vector: set[str] = set()

    def check(self, ontology: Ontology | None) -> bool:
        """Reads everything once and settles the ontology; True if it was inferred."""
        self._progress.start("check", None)
        stored = self._stored_ontology()
        if ontology is None and stored is not None and not stored.inferred:
            ontology = stored
            self._warnings.append("no ontology given: the written one in the store is kept")
        profile = ProfileBuilder(default_labels=self._dataset.default_labels) if ontology is None else None
        lengths: dict[str, int | None] = {}

        def stored_length(source_id: str) -> int | None:
            if source_id not in lengths:
                row = self._database.connection.execute(
                    "SELECT text FROM source WHERE id = ? AND died = ?", (source_id, LIVE)
                ).fetchone()
                lengths[source_id] = None if row is None else len(row[0])
            return lengths[source_id]

        def add_document(source: Source) -> None:
            self._counts["passages"] += sum(1 for _ in split(source.text))
            if profile is not None:
                profile.add_source(source)

        def count_row() -> None:
            self._counts["rows"] += 1
            self._progress.advance()

        self._survey = survey_dataset(
            self._dataset,
            on_bad=self._quarantine.add if self._quarantine.active else None,
            stored_length=stored_length,
            on_document=add_document,
            on_edge=profile.add_assertion if profile else lambda assertion: None,
            on_row=count_row,
        )
        if profile is not None:
            for entity_id, notes in sorted(self._survey.entities.items()):
                if notes.rows:
                    profile.add_entity(entity_id, notes.types, notes.names)
            ontology = _ordered(infer_ontology(profile))
            self._inferred = dump_ontology(ontology)
            parts = {self._dataset.name: ontology}
            for name in self._others:
                text = self._settings.get(f"inferred:{name}")
                if text is not None:
                    parts[name] = parse_ontology(text, f"ontology in {self._database.path}")
            # In name order, so that it does not matter which dataset came first.
            ontology = parts[min(parts)]
            for name in sorted(parts)[1:]:
                ontology = _united(ontology, parts[name])
        assert ontology is not None
        ontology = _ordered(ontology)
        self._ontology = ontology
        self._types = TypeFinder(ontology)
        self._progress.finish()
        return profile is not None

    def embed(self, embedder: Embedder, cache: VectorCache) -> None:
        """Makes the vectors of all passages, in the cache only."""
        self._embedder, self._cache = embedder, cache
        connection = self._database.connection
        self._with_vector = {
            row[0]
            for row in connection.execute(
                "SELECT p.id FROM passage p JOIN vector v ON v.passage = p.key WHERE v.identity = ? AND p.died = ?",
                (embedder.identity, LIVE),
            )
        }
        self._progress.start("vectors", self._counts["passages"])

        def done(reused: int, embedded: int) -> None:
            self._counts["reused"] += reused
            self._counts["embedded"] += embedded
            self._progress.advance(reused + embedded)

        passages = (passage for source in self._documents() for passage in passages_of(source))
        for _ in embed_passages(passages, embedder, cache, held=self._vectors_of_store, on_done=done):
            pass
        self._progress.finish()

    def write(self, *, prune: bool, copies: Replication | None = None) -> None:
        """Writes sources, entities, assertions, records and vectors, and publishes them together."""
        writer = self._writer
        if prune and self._others:
            raise UsageError(
                f"the store holds other datasets too: {', '.join(self._others)}",
                allowed="prune where the store holds this dataset only",
            )
        writer.begin()
        try:
            self._write_documents()
            self._write_entities()
            self._write_edges()
            if prune:
                self._prune()
            self._write_settings()
            self._progress.start("publish", None)
            if copies is None:
                writer.publish()
            else:
                writer.publish(lambda: copies.copy(self._database, self._progress))
            self._progress.finish()
        except sqlite3.Error as error:
            writer.rollback()
            raise BackendError(
                f"the store cannot be written: {error}",
                where=str(self._database.path),
                hint="nothing was changed; run the same command again",
            ) from error
        except BaseException:
            writer.rollback()
            raise

    def report(self, started: float, inferred: bool) -> IngestReport:
        """The counts of this run."""
        sequence = self._database.sequence()
        counts = self._counts
        return IngestReport(
            dataset=self._dataset.name,
            store=str(self._database.path),
            changed=sequence != self._before,
            sequence=sequence,
            documents=self._survey.documents,
            documents_changed=counts["documents_changed"],
            documents_removed=counts["documents_removed"],
            passages=counts["passages"],
            assertions=counts["assertions"],
            entities=counts["entities"],
            records=counts["records"],
            attributes=counts["attributes"],
            hidden=dict(sorted(self._survey.hidden.items())),
            unmapped=dict(sorted((self._unmapped + self._types.unknown).items())),
            ignored_fields=dict(sorted(self._dataset.ignored.items())),
            bad_rows=self._quarantine.count,
            quarantine=str(self._quarantine.path) if self._quarantine.count else None,
            embedder=self._embedder.identity if self._embedder else None,
            embedded=counts["embedded"],
            reused=counts["reused"],
            ontology_inferred=inferred,
            warnings=tuple(self._warnings),
            rows=counts["rows"],
            seconds=time.monotonic() - started,
        )

    def _stored_ontology(self) -> Ontology | None:
        text = self._settings.get("_ontology_text")
        return parse_ontology(text, f"ontology in {self._database.path}") if text is not None else None

    def _on_bad(self) -> OnBad | None:
        # Bad rows were reported when the dataset was checked.
        return (lambda bad: None) if self._quarantine.active else None

    def _documents(self) -> Iterator[Source]:
        for row in self._dataset.documents(on_bad=self._on_bad()):
            if row.place not in self._survey.left_out:
                yield row.source

    def _edges(self) -> Iterator[Assertion]:
        for row in self._dataset.edges(on_bad=self._on_bad()):
            if row.place not in self._survey.left_out:
                yield from row.assertions

    def _vectors_of_store(self, passages: Iterable[Passage]) -> dict[str, bytes]:
        assert self._embedder is not None
        wanted = [passage for passage in passages if passage.id in self._with_vector]
        return stored_vectors(self._database.connection, self._embedder.identity, wanted)

    def _derivation(self) -> tuple[str, str, str]:
        """What passages and records of unchanged documents depend on: a setting's key, the rules, and the facts."""
        rules = f"{_DERIVATION}/{MAX_PASSAGE_CHARACTERS}/{_sha(dump_ontology(self._ontology))}"
        return f"derivation:{self._dataset.name}", rules, _sha(json.dumps(sorted(self._survey.subjects.items())))

    def _write_documents(self) -> None:
        key, rules, facts = self._derivation()
        old_rules, _, old_facts = self._settings.get(key, "").partition(" ")
        self._progress.start("documents", self._survey.documents)
        waiting: list[Passage] = []
        for source in self._documents():
            record = record_type(self._ontology, source)
            changed = self._writer.put_source(source)
            derived = record is not None or self._ontology.titles_are_names
            again = rules != old_rules or (derived and facts != old_facts)
            passages = passages_of(source)
            self._counts["documents_changed"] += changed
            if again and not changed:
                self._writer.refresh(source.id)
            if changed or again:
                self._writer.put_passages(passages)
            self._write_titles(source, put=changed or again)
            if record is not None:
                self._write_record(source, record, put=changed or again)
            if self._embedder is not None:
                waiting.extend(
                    passage for passage in passages if changed or again or passage.id not in self._with_vector
                )
                if len(waiting) >= _PUT_VECTORS:
                    self._put_vectors(waiting)
                    waiting = []
            self._progress.advance()
        if waiting:
            self._put_vectors(waiting)
        self._progress.finish()

    def _put_vectors(self, passages: Iterable[Passage]) -> None:
        assert self._embedder is not None
        assert self._cache is not None
        texts = {passage.id: embedding_text(passage) for passage in passages}
        vectors = self._cache.get(self._embedder.identity, self._embedder.size, texts.values())
        self._writer.put_vectors(
            self._embedder.identity,
            [(passage_id, vectors[text]) for passage_id, text in texts.items() if text in vectors],
        )

    def _write_titles(self, source: Source, *, put: bool) -> None:
        """A document that is itself an entity of the graph is named by its title."""
        if not self._ontology.titles_are_names:
            return
        entities = [name for name in (source.id, f"doc:{source.id}") if name in self._survey.entities]
        if not entities and source.node is None and self._types.by_prefix(source.id):
            entities = [source.id]
        for entity_id in entities:
            self._survey.entity(entity_id)
            if put:
                self._writer.put_entity_source(entity_id, source.id)
                if source.title.strip():
                    self._writer.put_name(entity_id, source.title, SourceSpan(source.id))

    def _write_record(self, source: Source, record: RecordType, *, put: bool) -> None:
        fields = parse_record(source.text, min_fields=2 if record.kind == "*" else 1)
        if not fields:
            return
        entity_id = record_id(record, fields, self._ontology) or source.node or self._survey.subjects.get(source.id)
        if entity_id is None:
            self._counts["records_without_entity"] += 1
            return
        self._counts["records"] += 1
        self._survey.entity(entity_id)
        attributes = list(record_attributes(record, fields, source, entity_id))
        self._counts["attributes"] += len(attributes)
        if not put:
            return
        told = record.type if record.type in self._ontology.types else None
        self._writer.put_entity_source(entity_id, source.id, told)
        for name, span in record_names(record, fields, source):
            self._writer.put_name(entity_id, name, span)
        for attribute in attributes:
            self._writer.put_attribute(attribute)

    def _write_entities(self) -> None:
        connection = self._database.connection
        for entity_id, notes in sorted(self._survey.entities.items()):
            types, names = self._types.of(entity_id, notes), notes.names
            if self._others:
                row = connection.execute(
                    "SELECT types, names FROM entity WHERE id = ? AND died = ?", (entity_id, LIVE)
                ).fetchone()
                if row is not None:
                    types = tuple(dict.fromkeys((*json.loads(row[0]), *types)))
                    names = tuple(dict.fromkeys((*json.loads(row[1]), *names)))
            self._writer.put_entity(entity_id, types, names)
        self._counts["entities"] = len(self._survey.entities)

    def _write_edges(self) -> None:
        self._progress.start("edges", self._survey.edges)
        for assertion in self._edges():
            if assertion.predicate in self._ontology.relations:
                self._writer.put_assertion(assertion)
                self._counts["assertions"] += 1
            else:
                self._unmapped[assertion.predicate] += 1
                self._end_assertion(assertion.id)
            self._progress.advance()
        self._progress.finish()

    def _end_assertion(self, assertion_id: str) -> None:
        """Takes the support of an assertion the store holds away, so that nobody sees it any more."""
        row = self._database.connection.execute(
            "SELECT subject, predicate, object, low, high, attributes, extraction_version, review_status FROM assertion "
            "WHERE id = ? AND died = ?",
            (assertion_id, LIVE),
        ).fetchone()
        if row is None:
            return
        subject, predicate, object_, low, high, attributes, version, review = row
        self._writer.put_assertion(
            Assertion(
                id=assertion_id,
                subject=subject,
                predicate=predicate,
                object=object_,
                validity=Interval(None if low == MIN_INSTANT else low, None if high == MAX_INSTANT else high),
                supports=(),
                attributes=json.loads(attributes),
                extraction_version=version,
                review_status=review,
            )
        )

    def _prune(self) -> None:
        """Takes out what the store holds and the directory does not."""
        connection = self._database.connection
        for (source_id,) in connection.execute("SELECT id FROM source WHERE died = ? ORDER BY id", (LIVE,)).fetchall():
            if source_id not in self._survey.lengths and self._writer.remove_source(source_id):
                self._counts["documents_removed"] += 1
        kept = {assertion.id for assertion in self._edges()}
        for (assertion_id,) in connection.execute(
            "SELECT a.id FROM assertion a WHERE a.died = ? AND EXISTS "
            "(SELECT 1 FROM support_set s WHERE s.assertion = a.key AND s.died = ?) ORDER BY a.id",
            (LIVE, LIVE),
        ).fetchall():
            if assertion_id not in kept:
                self._end_assertion(assertion_id)

    def _write_settings(self) -> None:
        dataset, put = self._dataset, self._writer.put_setting
        own = {
            "as_of": dataset.as_of,
            "default_labels": sorted(dataset.default_labels),
            "licence": dataset.licence,
            "readers": {reader: sorted(dataset.readers[reader]) for reader in sorted(dataset.readers)},
        }
        put(f"dataset:{dataset.name}", json.dumps(own))
        parts = {name: json.loads(self._settings.get(f"dataset:{name}", "{}")) for name in self._others}
        parts[dataset.name] = own
        held = [parts[name] for name in sorted(parts)]
        days = [part["as_of"] for part in held if part.get("as_of") is not None]
        readers: dict[str, set[str]] = {}
        for part in held:
            for reader, labels in part.get("readers", {}).items():
                readers.setdefault(reader, set()).update(labels)
        put("dataset", ", ".join(sorted(parts)))
        put("datasets", json.dumps(sorted(parts)))
        put("licence", "; ".join(dict.fromkeys(part["licence"] for part in held if part.get("licence"))))
        put("as_of", (format_instant(max(days)) if days else None) or "")
        put("default_labels", json.dumps(sorted({label for part in held for label in part.get("default_labels", ())})))
        put("readers", json.dumps({reader: sorted(readers[reader]) for reader in sorted(readers)}))
        key, rules, facts = self._derivation()
        self._writer.put_ontology(dump_ontology(self._ontology), self._ontology)
        if self._inferred is not None:
            put(f"inferred:{dataset.name}", self._inferred)
        put(key, f"{rules} {facts}")
        if self._embedder is not None:
            put("embedder", self._embedder.identity)


class _Quarantine:
    """The file that bad rows go to: JSON lines with file, line, problem and the row. Made only if there are any."""

    def __init__(self, store_path: str | Path, active: bool) -> None:
        self.path = Path(f"{store_path}.quarantine.jsonl")
        self.active = active
        self.count = 0
        self._stream: IO[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, bad: BadRow) -> None:
        """Keeps a bad row."""
        if self._stream is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.path.open("w", encoding="utf-8")
        self.count += 1
        record = {
            "file": bad.place.file,
            "line": bad.place.line,
            "problem": bad.error.message,
            "row": bad.raw[:_QUARANTINED_BYTES].decode("utf-8", "replace"),
        }
        self._stream.write(json.dumps(record) + "\n")


class _Silent:
    """Progress that nobody hears."""

    def start(self, stage: str, total: int | None) -> None: ...

    def advance(self, amount: int = 1) -> None: ...

    def finish(self) -> None: ...


def _ordered(ontology: Ontology) -> Ontology:
    """The same ontology with its mappings in key order, as it is read back from the store."""
    return replace(
        ontology,
        types=dict(sorted(ontology.types.items())),
        relations=dict(sorted(ontology.relations.items())),
        attributes=dict(sorted(ontology.attributes.items())),
        source_authority=dict(sorted(ontology.source_authority.items())),
    )


def _united(first: Ontology, second: Ontology) -> Ontology:
    """Both ontologies; where they declare the same thing, the second one."""
    kinds = {record.kind: record for record in (*first.records, *second.records)}
    return replace(
        second,
        types={**first.types, **second.types},
        relations={**first.relations, **second.relations},
        attributes={**first.attributes, **second.attributes},
        records=tuple(kinds[kind] for kind in sorted(kinds)),
        identifier_patterns=tuple(dict.fromkeys((*first.identifier_patterns, *second.identifier_patterns))),
        source_authority={**first.source_authority, **second.source_authority},
        titles_are_names=first.titles_are_names or second.titles_are_names,
    )


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
