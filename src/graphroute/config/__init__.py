"""Routes file to validated configuration."""
