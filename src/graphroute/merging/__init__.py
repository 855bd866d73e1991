"""Retrieval results to one evidence bundle."""
