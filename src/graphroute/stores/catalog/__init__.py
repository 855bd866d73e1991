"""Catalogs: sources, entities, supports and snapshots."""
