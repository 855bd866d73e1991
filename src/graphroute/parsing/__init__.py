"""Question text to ParsedQuery."""
