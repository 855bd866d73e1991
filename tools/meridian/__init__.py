"""The world of the bundled corpus: hand-written YAML, and the code that makes documents, facts and questions of it."""
