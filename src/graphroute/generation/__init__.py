"""An answer from the evidence, and the check of its citations."""
