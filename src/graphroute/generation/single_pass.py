"""One prompt, one answer."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

from graphroute.generation.citations import citations_of
from graphroute.generation.prompts import INSUFFICIENT_DATA, messages_of, prompt_text
from graphroute.models.llm.base import ChatModel
from graphroute.types.answer import Answer
from graphroute.types.evidence import EvidenceBundle
from graphroute.types.prompt import SerializedEvidence

NO_MODEL = "no chat model is configured"
NO_EVIDENCE = "no evidence fits the budget"

_ABSTAINS = re.compile(rf"[\s\W]*{INSUFFICIENT_DATA}\b")


class GenerationParams(BaseModel):
    """`send_abstaining`: send a bundle that abstains to the model, for the context it may hold."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    send_abstaining: bool = False


_DEFAULT = GenerationParams()


def answer(
    bundle: EvidenceBundle,
    serialized: SerializedEvidence,
    *,
    model: ChatModel | None,
    timeout: float,
    params: GenerationParams = _DEFAULT,
) -> Answer:
    """The model's answer with its citations checked; `timeout` in seconds.

    A bundle that abstains, or whose text holds neither units nor answers, is not sent: the answer is INSUFFICIENT_DATA with the reason. Without a model
    the prompt is all there is. `unsupported`: no citation of a unit that was sent. Raises BackendError or DeadlineError.
    """
    messages = messages_of(bundle.question, serialized)
    prompt = prompt_text(messages)
    if bundle.abstained and not params.send_abstaining:
        return Answer(text=INSUFFICIENT_DATA, prompt=prompt, generated=False, abstained=True, reason=bundle.reason)
    if not serialized.text or not (serialized.included or bundle.answers):
        return Answer(text=INSUFFICIENT_DATA, prompt=prompt, generated=False, abstained=True, reason=NO_EVIDENCE)
    if model is None:
        return Answer(text="", prompt=prompt, generated=False, abstained=False, reason=NO_MODEL)
    reply = model.complete(messages, timeout=timeout)
    abstained = bool(_ABSTAINS.match(reply.text))
    citations = citations_of(reply.text, serialized.included)
    return Answer(
        text=reply.text,
        prompt=prompt,
        generated=True,
        abstained=abstained,
        citations=citations,
        unsupported=not abstained and not any(citation.valid for citation in citations),
        model=reply.model,
        usage=reply.usage,
        reason="the model found the evidence insufficient" if abstained else "",
    )
