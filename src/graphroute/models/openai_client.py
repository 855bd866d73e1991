"""Client of an OpenAI-compatible endpoint, with our deadlines and our errors."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from graphroute.errors import BackendError, BackendUnavailableError, ConfigurationError, DeadlineError

T = TypeVar("T")

KEY_VARIABLES = ("GRAPHROUTE_API_KEY", "OPENAI_API_KEY")
CONNECT_TIMEOUT = 3.0


def api_key(*variables: str) -> str:
    """The first key found in the environment, or a placeholder for endpoints that ask for none."""
    for variable in variables or KEY_VARIABLES:
        value = os.environ.get(variable, "").strip()
        if value:
            return value
    return "none"


def clean(text: str) -> str:
    """`text` with lone surrogates replaced, which have no form in UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def make_client(base_url: str, key: str) -> Any:
    """A client that does not retry; retries and waits are the caller's. Raises ConfigurationError without the library."""
    try:
        import openai
    except ImportError as error:
        raise ConfigurationError(
            "the openai library is not installed", hint="pip install 'graphroute[openai]'"
        ) from error
    try:
        return openai.OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=CONNECT_TIMEOUT)
    except (ValueError, TypeError) as error:
        raise ConfigurationError("the endpoint's address is not a URL", allowed="http://HOST[:PORT]/PATH") from error


def call(request: Callable[[], T], *, timeout: float, where: str) -> T:
    """The result of `request`, within `timeout` seconds in all.

    Raises DeadlineError, BackendUnavailableError if nobody answers, BackendError for an answer that is an error. The
    endpoint's own words are left out: they may repeat the question or the key.
    """
    if timeout <= 0:
        raise DeadlineError("no time is left for the endpoint", where=where)
    import openai

    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(request())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failure.append(error)

    # The library's timeout bounds each read; a server that drips bytes is only stopped by a bound on the whole.
    worker = threading.Thread(target=run, daemon=True, name="graphroute-endpoint")
    worker.start()
    worker.join(timeout)
    if outcome:
        return outcome[0]
    if not failure:
        raise DeadlineError(f"no answer within {timeout:g} s", where=where)
    error = failure[0]
    if isinstance(error, openai.APITimeoutError):
        raise DeadlineError(f"no answer within {timeout:g} s", where=where) from None
    if isinstance(error, openai.APIConnectionError):
        raise BackendUnavailableError(
            "the endpoint cannot be reached", where=where, hint="check its address and that it runs"
        ) from None
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        if status in (401, 403):
            raise BackendError(
                f"the endpoint refused the key (HTTP {status})", where=where, hint="set the key's environment variable"
            ) from None
        if status in (502, 503, 504):
            raise BackendUnavailableError(f"the endpoint is not available (HTTP {status})", where=where) from None
        wait = error.response.headers.get("retry-after")
        hint = f"it asks to wait {wait[:20]} s" if status == 429 and wait else None
        raise BackendError(f"the endpoint answered HTTP {status}", where=where, hint=hint) from None
    if isinstance(error, (openai.OpenAIError, ValueError, TypeError, LookupError, AttributeError)):
        raise BackendError(f"the endpoint's answer cannot be read ({type(error).__name__})", where=where) from None
    raise error
