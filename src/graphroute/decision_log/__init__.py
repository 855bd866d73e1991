"""Decision records: what is kept of a run, written so that nothing is torn or lost, and read back."""
