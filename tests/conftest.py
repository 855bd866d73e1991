"""A small store for all tests: nine documents, readers who may and may not, one proof each way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphroute.stores.database import Database
from graphroute.testing import world

pytest_plugins = ["neo4j_fixtures"]


LONGEST_ID = 120
"""Characters of a parameter that may stand in a test's name."""


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes and long texts are named by their argument: workers must agree on names, and a name is to be read."""
    if isinstance(val, bytes) or (isinstance(val, str) and len(val) > LONGEST_ID):
        return argname
    return None


@pytest.fixture(scope="session")
def small_store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store file with the world of `graphroute.testing.world`; not to be written."""
    path = tmp_path_factory.mktemp("small") / "store.db"
    world.write(path)
    return path


@pytest.fixture
def small_store(small_store_path: Path) -> Iterator[Database]:
    """The small store, opened for reading."""
    with Database(small_store_path, read_only=True) as db:
        yield db
