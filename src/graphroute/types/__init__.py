"""The data that flows between stages: frozen dataclasses, no behaviour that needs a store or a model."""
