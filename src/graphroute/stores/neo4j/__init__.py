"""Neo4j over Bolt: connection, query texts, migrations and replica; the ports on it stand beside their embedded twins."""
