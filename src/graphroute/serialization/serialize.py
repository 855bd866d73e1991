"""Chooses the format, packs the bundle into the budget, and signs the result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from graphroute.errors import ConfigurationError, UsageError
from graphroute.models.tokenizers.base import Tokenizer
from graphroute.serialization.budget import pack
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.orderings import ordering as ordering_of
from graphroute.serialization.records import Profile
from graphroute.types.evidence import EvidenceBundle
from graphroute.types.prompt import SerializedEvidence

_PROFILES: Mapping[str, Profile] = {one.value: one for one in Profile}


def serialize(
    bundle: EvidenceBundle,
    *,
    format: str,
    budget: int,
    tokenizer: Tokenizer,
    profile: str = Profile.FULL,
    ordering: str | None = None,
    seed: int = 0,
) -> SerializedEvidence:
    """Evidence text of at most `budget` tokens, counted on the finished text.

    `ordering`: of nodes and facts, by default the one that suits the format; `seed` is that of the shuffle. Raises ConfigurationError for an unknown
    format, profile or ordering, UsageError for a budget below 1, DataError for a bundle that no format can carry.
    """
    if budget < 1:
        raise UsageError(f"budget of {budget} tokens", allowed="1 or more")
    kept = _PROFILES.get(profile)
    if kept is None:
        raise ConfigurationError(f"unknown profile {profile!r}", allowed=", ".join(Profile))
    form = FORMATS.load(format)()
    order = ordering or form.ordering
    ordering_of(order)
    packed = pack(bundle, form=form, budget=budget, tokenizer=tokenizer, profile=kept, ordering=order, seed=seed)
    included = tuple([unit.id for unit in packed.units])
    omitted: tuple[str, ...] = ()
    if len(included) < len(bundle.units):
        held = set(included)
        omitted = tuple([unit.id for unit in bundle.units if unit.id not in held])
    return SerializedEvidence(
        format=form.name,
        format_version=form.version,
        text=packed.text,
        tokens=packed.tokens,
        tokenizer=tokenizer.identity,
        budget=budget,
        included=included,
        omitted=omitted,
        sha256=hashlib.sha256(packed.text.encode()).hexdigest(),
        grammar=form.grammar,
        profile=kept.value,
        ordering=order,
        nodes=packed.nodes,
        facts=packed.facts,
        references=packed.references,
    )
