"""Serialization of bundles of 10 to 10,000 facts with its token counts, against one tiktoken pass over the text that comes out.

Every fact is a unit of its own, with one support. The budget lets all of them through; one more line has the default budget, which
cuts most of them off. The pass is `Encoding.encode_ordinary` of an encoding of its own. Times are always those on a core: nothing here waits. The last lines give the slope: how many times longer it takes for ten times the facts, as a power of ten.
"""

from __future__ import annotations

import base64
import math
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import product

import tiktoken
from common import Measured, arguments, in_turn, percentile, show

from graphroute.models.tokenizers import load_tokenizer
from graphroute.models.tokenizers.base import Tokenizer
from graphroute.models.tokenizers.tiktoken import _VOCABULARIES, rank_file
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.serialize import serialize
from graphroute.types.evidence import EvidenceBundle, EvidenceUnit
from graphroute.types.graph import Direction, Entity, Fact, Hop, Path, Support
from graphroute.types.prompt import SerializedEvidence
from graphroute.types.retrieval import ScoreKind
from graphroute.types.source import SourceSpan
from graphroute.types.time import Interval

SIZES = (10, 100, 1_000, 10_000)
ALL = 100_000_000
BUDGET = 4_000
MOST_RATIO = 1.5
MOST_RATIO_FIRST = 2.0
"""Where no name, predicate or instant was ever written before, so that nothing that is kept of them helps."""
MOST_RATIO_CUT = 12.0
MOST_SLOPE = 1.3
DAY = 86_400_000_000


def bundle(facts: int, seed: int, mark: str = "") -> EvidenceBundle:
    """So many paths of one fact between half as many entities, each with a support. `mark`: of names and predicates; with one instants differ by seed too."""
    rng = random.Random(seed)
    names = ["ledger", "checkout", "storefront", "Sofia Lindqvist", "платежи", "结账服务", "Harbour Analytics"]
    entities = {}
    for number in range(max(2, facts // 2)):
        name = f"{rng.choice(names)}{mark} {number}"
        entities[f"svc:{number}"] = Entity(id=f"svc:{number}", types=("service",), name=name, names=(name,))
    units, supports = [], {}
    for number in range(facts):
        subject, target = (
            rng.sample(sorted(entities), 2)
            if facts < 100
            else (
                f"svc:{rng.randrange(len(entities))}",
                f"svc:{rng.randrange(len(entities))}",
            )
        )
        validity = Interval(1_700_000_000_000_000 + DAY * rng.randrange(500) + (1_000_000 * seed if mark else 0), None)
        fact = Fact(
            subject=subject,
            predicate=rng.choice(["OWNED_BY", "CONNECTS_TO", "USES"]) + mark,
            object=target,
            validity=validity,
            assertion_ids=(f"e{number}",),
        )
        start = rng.randrange(2_000)
        span = SourceSpan(f"catalogue:{number // 3}", start, start + 80)
        supports[f"e{number}"] = (Support(assertion_id=f"e{number}", span=span, source_timestamp=validity.start),)
        units.append(
            EvidenceUnit(
                id=f"U{number + 1}",
                rank=number + 1,
                retrievers=("local_graph",),
                score=1.0,
                score_kind=ScoreKind.PATH,
                path=Path((Hop(fact, Direction.FORWARD),)),
            )
        )
    return EvidenceBundle(
        question="Which services does it use?",
        reader="ann",
        route="graph_local",
        retrievers=("local_graph",),
        snapshot="0123456789abcdef",
        as_of=1_750_000_000_000_000,
        units=tuple(units),
        entities=entities,
        supports=supports,
    )


def write(
    cases: list[EvidenceBundle], form: str, profile: str, budget: int, tokenizer: Tokenizer, number: int
) -> SerializedEvidence:
    """Ours."""
    return serialize(cases[number], format=form, profile=profile, budget=budget, tokenizer=tokenizer)


def count(texts: list[str], encode: Callable[[str], list[int]], number: int) -> object:
    """The peer's."""
    return len(encode(texts[number]))


def first_seen(form: str, profile: str, tokenizer: Tokenizer, encode: Callable[[str], list[int]]) -> Measured:
    """The first writing of small bundles whose names, predicates and instants were never written before."""
    ours, peers = [], []
    for seed in range(1, 101):
        case = bundle(SIZES[0], seed, f"-{form}-{profile}-{seed}")
        began = time.thread_time()
        text = serialize(case, format=form, profile=profile, budget=ALL, tokenizer=tokenizer).text
        between = time.thread_time()
        encode(text)
        peers.append(1000.0 * (time.thread_time() - between))
        ours.append(1000.0 * (between - began))
    name = f"{form} {profile}, {SIZES[0]} facts, all values first seen"
    return Measured(name=name, ours=ours, peer=peers, most_ratio=MOST_RATIO_FIRST)


def peer(name: str) -> tiktoken.Encoding:
    """tiktoken's own encoding, made anew so that nothing is shared."""
    vocabulary = _VOCABULARIES[name]
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, rank_file(name).splitlines())}
    return tiktoken.Encoding(
        name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens=dict(vocabulary.special)
    )


def main() -> int:
    """Every format and profile."""
    parser = arguments(__doc__, rounds=2)
    parser.add_argument("--format", action="append", choices=sorted(FORMATS), help="this one only; may be repeated")
    parser.add_argument("--tokenizer", default="o200k_base")
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.tokenizer)
    encoding = peer(given.tokenizer)
    lines = []
    for form, profile in product(given.format or sorted(FORMATS), ("full", "lean")):
        medians = {}
        for size, budget in [*((size, ALL) for size in SIZES), (SIZES[-2], BUDGET)]:
            cases = [bundle(size, seed) for seed in range(max(1, 1_000 // size))]
            texts = [write(cases, form, profile, budget, tokenizer, number).text for number in range(len(cases))]
            times = in_turn(
                len(cases),
                partial(write, cases, form, profile, budget, tokenizer),
                partial(count, texts, encoding.encode_ordinary),
                rounds=given.rounds,
            )
            whole = budget == ALL
            limit = MOST_RATIO if whole else MOST_RATIO_CUT
            name = f"{form} {profile}, {size:,} facts" + ("" if whole else f" into {budget:,} tokens")
            lines.append(Measured(name=name, ours=times.core, peer=times.peer_core, most_ratio=limit))
            if whole:
                medians[size] = (percentile(times.core, 50), percentile(times.peer_core, 50))
        lines.append(first_seen(form, profile, tokenizer, encoding.encode_ordinary))
        slopes = [math.log10(medians[SIZES[-1]][side] / medians[SIZES[-2]][side]) for side in (0, 1)]
        lines.append(
            Measured(
                name=f"{form} {profile}, slope to {SIZES[-1]:,}",
                unit="power",
                ours=slopes[:1],
                peer=slopes[1:],
                most=MOST_SLOPE,
            )
        )
    return show("serialize: text and exact counts, against one tiktoken pass over the text; time on a core", lines)


if __name__ == "__main__":
    sys.exit(main())
