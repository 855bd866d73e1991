"""ChatModel on an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from graphroute.errors import BackendError
from graphroute.models.llm.base import Message, Reply
from graphroute.models.openai_client import KEY_VARIABLES, api_key, call, clean, make_client
from graphroute.types.answer import Usage


class OpenAIChat:
    """`model` at `base_url`. The key is read from the environment at the first call and is held nowhere else."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key_variable: str | None = None,
        max_tokens: int = 800,
        temperature: float = 0.0,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._variables = (api_key_variable,) if api_key_variable else KEY_VARIABLES
        self._max_tokens = max_tokens
        self._temperature = temperature

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
                temperature=self._temperature,
                timeout=timeout,
            )
            usage = answer.usage
            return Reply(
                text=answer.choices[0].message.content or "",
                model=str(answer.model or self._model),
                usage=Usage(
                    prompt_tokens=getattr(usage, "prompt_tokens", None),
                    completion_tokens=getattr(usage, "completion_tokens", None),
                ),
            )

        reply = call(request, timeout=timeout, where=where)
        if not reply.text.strip():
            raise BackendError("the endpoint answered without text", where=where)
        return reply
