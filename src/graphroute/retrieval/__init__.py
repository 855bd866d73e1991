"""Retrievers by name."""
