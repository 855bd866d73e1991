"""What the driver and the server report, as errors of ours: one line each, without values, texts or passwords."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

from graphroute.errors import (
    BackendError,
    BackendUnavailableError,
    ConfigurationError,
    DataError,
    DeadlineError,
    GraphRouteError,
)

CREDENTIALS = frozenset(
    {
        "Neo.ClientError.Security.Unauthorized",
        "Neo.ClientError.Security.CredentialsExpired",
        "Neo.ClientError.Security.AuthenticationRateLimit",
        "Neo.ClientError.Security.TokenExpired",
        "Neo.ClientError.Security.AuthorizationExpired",
        "Neo.ClientError.Security.AuthProviderFailed",
        "Neo.ClientError.Security.AuthProviderTimeout",
    }
)
DEADLINE = frozenset(
    {
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
        "Neo.TransientError.Transaction.TransactionTimedOut",
    }
)
LOCKS = frozenset(
    {
        "Neo.TransientError.Transaction.DeadlockDetected",
        "Neo.TransientError.Transaction.LockAcquisitionTimeout",
        "Neo.ClientError.Transaction.LockAcquisitionTimeout",
        "Neo.TransientError.Transaction.LockClientStopped",
        "Neo.ClientError.Transaction.LockClientStopped",
    }
)
MEMORY = frozenset(
    {
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        "Neo.TransientError.General.TransactionOutOfMemoryError",
        "Neo.TransientError.General.OutOfMemoryError",
        "Neo.TransientError.General.StackOverFlowError",
        "Neo.ClientError.General.TransactionOutOfMemoryError",
        "Neo.ClientError.General.TransactionMemoryLimit",
        "Neo.DatabaseError.General.OutOfMemoryError",
    }
)
TEXT_IS_WRONG = frozenset(
    {"Neo.ClientError.Statement.SyntaxError", "Neo.ClientError.Statement.ParameterMissing"},
)
CREDENTIALS_HINT = "set GRAPHROUTE_NEO4J_USER and GRAPHROUTE_NEO4J_PASSWORD"
MIGRATE_HINT = "run graphroute migrate --store with its URI"


def code_of(error: BaseException) -> str:
    """The server's code, empty for what the server did not say."""
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else ""


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def is_answer(error: BaseException) -> bool:
    """Whether the server itself said so, which means that it is there."""
    return bool(code_of(error)) and not code_of(error).endswith("DatabaseUnavailable")


def may_pass(error: BaseException) -> bool:
    """Whether the same call may succeed a moment later: a lost connection, a deadlock, a change of leader."""
    from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable, SessionExpired

    if isinstance(error, Neo4jError):
        # Who has waited for a lock as long as the server allows does not wait again.
        waited = code_of(error).endswith("LockAcquisitionTimeout")
        return not waited and code_of(error) not in MEMORY | DEADLINE | CREDENTIALS and error.is_retryable()
    if _certificate(error):
        return False
    if isinstance(error, (ServiceUnavailable, SessionExpired)):
        return True
    return isinstance(error, (OSError, EOFError)) or (isinstance(error, DriverError) and error.is_retryable())


def _certificate(error: BaseException) -> bool:
    return any(isinstance(cause, ssl.SSLError) for cause in causes(error))


def translate(error: BaseException, *, where: str, query: str, entered: bool) -> GraphRouteError:
    """The error of ours for what the driver raised. `query`: its name. `entered`: whether the credentials were right before."""
    from neo4j.exceptions import ConfigurationError as DriverConfigurationError
    from neo4j.exceptions import ConnectionAcquisitionTimeoutError, DriverError, Neo4jError, UnsupportedServerProduct

    if isinstance(error, GraphRouteError):
        return error
    if isinstance(error, TimeoutError):
        return DeadlineError(f"Neo4j did not answer {query} within the deadline", where=where)
    if isinstance(error, Neo4jError):
        return _of_code(code_of(error), error, where=where, query=query, entered=entered)
    if _certificate(error):
        return ConfigurationError(
            "the server's TLS certificate or protocol is not accepted",
            where=where,
            hint="use neo4j+s:// or bolt+s:// with a certificate of a known authority, or name its authority in GRAPHROUTE_NEO4J_CA",
        )
    if isinstance(error, UnsupportedServerProduct):
        if entered:
            return BackendUnavailableError("what answers does not speak as Neo4j does", where=where)
        return ConfigurationError(
            "what answers is no Neo4j of a supported version", where=where, hint="name the port of Bolt, usually 7687"
        )
    if isinstance(error, DriverConfigurationError):
        return ConfigurationError(f"the driver refuses the settings ({type(error).__name__})", where=where)
    if isinstance(error, ConnectionAcquisitionTimeoutError):
        return BackendUnavailableError("no connection to Neo4j came free in time", where=where)
    if isinstance(error, (DriverError, OSError, EOFError)):
        # The driver wraps what it could not resolve, reach or read; which of these matters less than the address.
        return BackendUnavailableError(
            "Neo4j cannot be reached or closed the connection",
            where=where,
            hint="check host, port and scheme, and that it runs",
        )
    if isinstance(error, (TypeError, ValueError, OverflowError, ArithmeticError, RecursionError)):
        return DataError(f"a parameter of {query} has no form in Neo4j ({type(error).__name__})", where=where)
    return BackendError(f"the answer to {query} cannot be read ({type(error).__name__})", where=where)


def _of_code(code: str, error: BaseException, *, where: str, query: str, entered: bool) -> GraphRouteError:
    if code in CREDENTIALS:
        if code.endswith("AuthenticationRateLimit"):
            return BackendError(
                "Neo4j refuses log-ins for a while after wrong ones", where=where, hint=CREDENTIALS_HINT
            )
        if entered:
            return BackendError("Neo4j does not accept the credentials any more", where=where, hint=CREDENTIALS_HINT)
        return ConfigurationError("Neo4j refuses the user or password", where=where, hint=CREDENTIALS_HINT)
    if code in DEADLINE:
        return DeadlineError(f"Neo4j did not answer {query} within the deadline", where=where)
    if code in LOCKS:
        return BackendError(f"another transaction holds what {query} needs", where=where, hint="try again")
    if code in MEMORY:
        return BackendError(
            f"{query} needs more memory than a transaction may use",
            where=where,
            hint="lower the limits of the route, or raise db.memory.transaction.max",
        )
    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return ConfigurationError("the database does not exist", where=where, hint="set GRAPHROUTE_NEO4J_DATABASE")
    if "DatabaseUnavailable" in code or code.startswith("Neo.ClientError.Cluster"):
        return BackendUnavailableError(f"the database is not available ({code})", where=where)
    if code == "Neo.ClientError.Security.Forbidden":
        return BackendError(f"the account may not run {query}", where=where, hint="see graphroute doctor")
    if code == "Neo.ClientError.Statement.AccessMode":
        return BackendError(f"{query} would write, and was sent to be read", where=where)
    if code == "Neo.ClientError.Schema.ConstraintValidationFailed":
        return DataError(f"{query} breaks a constraint of the store", where=where)
    if code == "Neo.ClientError.Statement.TypeError":
        return DataError(f"a stored value has another type than {query} expects", where=where)
    if _names_missing_index(code, str(error)):
        return BackendError(f"an index that {query} needs is missing", where=where, hint=MIGRATE_HINT)
    if "Transaction.Terminated" in code:
        return BackendError(f"{query} was ended on the server", where=where)
    if code in TEXT_IS_WRONG:
        # Only the text of the query stands in these, never a value.
        said = " ".join(str(getattr(error, "message", "")).split())[:200]
        return BackendError(f"Neo4j refused {query} ({code}): {said}", where=where)
    return BackendError(f"Neo4j refused {query} ({code or 'no code'})", where=where)


def _names_missing_index(code: str, text: str) -> bool:
    known = ("Neo.ClientError.Schema.IndexNotFound", "Neo.ClientError.Procedure.ProcedureCallFailed")
    words = text.lower()
    return code in known and ("no such" in words or "not found" in words or "does not exist" in words)
