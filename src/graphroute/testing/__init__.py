"""Conformance suites and strategies for authors of new parts."""
