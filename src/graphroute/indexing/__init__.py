"""Offline side: dataset directories to sources, records, passages, vectors and an inferred ontology."""
