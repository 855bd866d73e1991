"""Routers over the small store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from graphroute.config.load import load_routes, parse_routes
from graphroute.models.embedders.hashing import HashingEmbedder
from graphroute.pipeline.assembly import Parts, assemble
from graphroute.pipeline.engine import GraphRoute
from graphroute.testing import world

Open = Callable[..., GraphRoute]


@pytest.fixture(scope="session")
def vector_store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small store with vectors; not to be written."""
    path = tmp_path_factory.mktemp("vectors") / "store.db"
    world.write(path, embedder=HashingEmbedder())
    return path


@pytest.fixture
def opened(small_store_path: Path, tmp_path: Path) -> Iterator[Open]:
    """Opens a router: `routes` as YAML text, `change` is given the parts before the router is made of them."""
    with ExitStack() as stack:

        def make(
            routes: str | None = None,
            *,
            store: Path | None = None,
            log: Path | None = None,
            change: Callable[[Parts], None] | None = None,
        ) -> GraphRoute:
            config = load_routes() if routes is None else parse_routes(routes)
            parts = assemble(store or small_store_path, config, ontology=None, log=log)
            if change is not None:
                change(parts)
            return stack.enter_context(GraphRoute(parts))

        yield make
