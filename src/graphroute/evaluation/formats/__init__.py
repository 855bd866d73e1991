"""Benchmark of evidence formats: what each costs in tokens, what survives a budget, and whether a model answers from it."""
