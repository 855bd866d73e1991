"""ParsedQuery to RouteDecision: conditions, the router, and the test of whether evidence suffices."""
