"""Ports and adapters for everything that persists: catalog, graph, lexical and vector."""
