"""Graph stores: facts as adjacency."""
