"""What the writer keeps and the catalog reads in the same form: the ontology of a store, and what an id is known by."""

from __future__ import annotations

from graphroute.types.ontology import Ontology


def local_part(entity_id: str) -> str:
    """The id without its prefix: after the first ":", else after the last "/", else all of it."""
    head, colon, tail = entity_id.partition(":")
    if colon and head and tail and not tail.startswith("//"):
        return tail
    tail = entity_id.rpartition("/")[2]
    return tail or entity_id


def dump_ontology(ontology: Ontology) -> str:
    """The ontology as a store keeps it, JSON."""
    from pydantic import TypeAdapter

    return TypeAdapter(Ontology).dump_json(ontology).decode()


def read_ontology(text: str | None) -> Ontology:
    """The ontology from the JSON that a store keeps; an empty one from None."""
    if text is None:
        return Ontology()
    from pydantic import TypeAdapter

    return TypeAdapter(Ontology).validate_json(text)
