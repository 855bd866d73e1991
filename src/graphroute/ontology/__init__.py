"""The ontology file, read and written, and the English words that name relations and types."""
