"""The `graphroute` command."""
