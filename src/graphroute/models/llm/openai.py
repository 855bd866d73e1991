"""ChatModel on an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from graphroute.errors import BackendError
from graphroute.models.llm.base import Message, Reply
from graphroute.models.openai_client import KEY_VARIABLES, api_key, call, clean, make_client
from graphroute.types.answer import Usage


class OpenAIChat:
    """`model` at `base_url`. The key is read from the environment at the first call and is held nowhere else.

    `seed` and `top_p` are sent where they are given. `schema`: a JSON schema that the endpoint is asked to hold the reply to.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key_variable: str | None = None,
        max_tokens: int = 800,
        temperature: float = 0.0,
        seed: int | None = None,
        top_p: float | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._variables = (api_key_variable,) if api_key_variable else KEY_VARIABLES
        self._max_tokens = max_tokens
        self._options: dict[str, Any] = {"temperature": temperature}
        if seed is not None:
            self._options["seed"] = seed
        if top_p is not None:
            self._options["top_p"] = top_p
        if schema is not None:
            form = {"name": "answer", "schema": dict(schema)}
            self._options["response_format"] = {"type": "json_schema", "json_schema": form}

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r})"

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._model

    @cached_property
    def _client(self) -> Any:
        return make_client(self._base_url, api_key(*self._variables))

    def complete(self, messages: Sequence[Message], *, timeout: float) -> Reply:
        """One completion within `timeout` seconds in all.

        Raises DeadlineError, BackendUnavailableError, or BackendError, also for an answer without text.
        """
        where = f"openai:{self._model}"
        client = self._client

        def request() -> Reply:
            answer = client.chat.completions.create(
                model=self._model,
                messages=[{"role": message.role, "content": clean(message.content)} for message in messages],
                max_tokens=self._max_tokens,
                timeout=timeout,
                **self._options,
            )
            usage, choice = answer.usage, answer.choices[0]
            return Reply(
                text=choice.message.content or "",
                model=str(answer.model or self._model),
                usage=Usage(
                    prompt_tokens=getattr(usage, "prompt_tokens", None),
                    completion_tokens=getattr(usage, "completion_tokens", None),
                ),
                fingerprint=_text(getattr(answer, "system_fingerprint", None)),
                finish_reason=_text(getattr(choice, "finish_reason", None)),
            )

        reply = call(request, timeout=timeout, where=where)
        if not reply.text.strip():
            raise BackendError("the endpoint answered without text", where=where)
        return reply


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
