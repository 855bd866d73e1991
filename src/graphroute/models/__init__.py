"""Ports and adapters for learned models: embedders, tokenizers, chat models."""
