"""Measures systems against question sets: per family and per route, never one number."""
