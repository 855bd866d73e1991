"""Tables of implementations by name, imported when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Generic, TypeVar

from graphroute.errors import ConfigurationError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names of one kind of thing and where each is implemented, as "module:attribute". Nothing is imported before `load`."""

    def __init__(self, kind: str, table: Mapping[str, str]) -> None:
        self.kind = kind
        self._table = dict(table)
        self._loaded: dict[str, T] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Known names, sorted."""
        return tuple(sorted(self._table))

    def check(self, name: str, *, where: str | None = None) -> None:
        """Raises ConfigurationError for an unknown name, with the nearest known ones."""
        if name in self._table:
            return
        near = get_close_matches(name, self.names, n=3, cutoff=0.6)
        raise ConfigurationError(
            f"unknown {self.kind} {name!r}",
            where=where,
            allowed=", ".join(self.names),
            hint=f"did you mean {' or '.join(near)}?" if near else None,
        )

    def load(self, name: str, *, where: str | None = None) -> T:
        """The object of that name. Raises ConfigurationError if unknown."""
        found = self._loaded.get(name)
        if found is None:
            self.check(name, where=where)
            module, _, attribute = self._table[name].partition(":")
            self._loaded[name] = found = getattr(import_module(module), attribute)
        return found
