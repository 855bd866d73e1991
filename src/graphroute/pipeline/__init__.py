"""One question through every stage."""
