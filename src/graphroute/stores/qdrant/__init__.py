"""Qdrant: the connection, the filter that every read carries, and the copy of a store's passages."""
