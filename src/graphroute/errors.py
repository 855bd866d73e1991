"""Every exception the package raises, as one tree.

    GraphRouteError
    |-- UsageError            a call or command with wrong arguments (exit 2)
    |-- ConfigurationError    routes.yaml, ontology or environment is wrong (exit 3)
    |-- DataError             a data file or stored value is wrong (exit 4)
    |   `-- SnapshotError     the snapshot asked for is not there any more
    |-- BackendError          a store, model or endpoint failed (exit 5)
    |   |-- BackendUnavailableError
    |   |-- DeadlineError
    |   |-- OutcomeUnknownError  a write was sent, and whether it was kept is not known
    |   `-- ModelMismatchError  an index was built with another model than the one configured
    |-- ReaderError           the reader is missing or invalid (exit 6)
    `-- CancelledError        whoever asked does not wait any more (exit 130)

An error says where, what was found, what is allowed and what to do next.
"""

from __future__ import annotations


class GraphRouteError(Exception):
    """Base of all errors. `exit_code` is the process exit code of the command line."""

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.where = where
        self.allowed = allowed
        self.hint = hint
        super().__init__(self.describe())

    def describe(self) -> str:
        """One line: place, what was found, what is allowed, what to do."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        if self.hint:
            text += f"; {self.hint}"
        return text


class UsageError(GraphRouteError):
    """A call or command with wrong arguments."""

    exit_code = 2


class ConfigurationError(GraphRouteError):
    """routes.yaml, the ontology or the environment is wrong."""

    exit_code = 3


class DataError(GraphRouteError):
    """A data file or a stored value is wrong."""

    exit_code = 4


class SnapshotError(DataError):
    """The snapshot asked for is not there any more."""


class BackendError(GraphRouteError):
    """A store, model or endpoint failed."""

    exit_code = 5


class BackendUnavailableError(BackendError):
    """A backend cannot be reached."""


class DeadlineError(BackendError):
    """A backend did not answer within the deadline."""


class OutcomeUnknownError(BackendError):
    """A write was sent and no answer came: it was kept or it was not. Look before writing again."""


class ModelMismatchError(BackendError):
    """An index was built with another model, revision or size than the one configured."""


class ReaderError(GraphRouteError):
    """The reader is missing or invalid."""

    exit_code = 6


class CancelledError(GraphRouteError):
    """Whoever asked does not wait any more. No failure of a stage: nothing is tried instead."""

    exit_code = 130
