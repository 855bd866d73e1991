"""Evidence bundle to the text a generator reads, within a token budget."""
