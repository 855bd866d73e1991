"""A graph that graphroute did not write: its schema, its elements and the queries that read them through a mapping."""
