"""A bundle is written as its records are, whichever way the text comes about."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphroute.errors import DataError
from graphroute.serialization.draft import ARRANGED, draft_of_bundle
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.orderings import ORDERINGS, Hints
from graphroute.serialization.records import Profile, project, records_of
from graphroute.testing.format import HOSTILE
from graphroute.types.evidence import Degradation, EvidenceBundle, EvidenceUnit, Omission
from graphroute.types.graph import Direction, Entity, Fact, Hop, Path, Support
from graphroute.types.retrieval import Binding, CommunityReport, ScoreKind
from graphroute.types.source import Passage, SourceSpan
from graphroute.types.time import ALWAYS, Interval

VALUES = st.sampled_from(
    [
        *HOSTILE,
        "svc:1",
        "плaтежи 7",
        "结账服务",
        "N1",
        "%s",
        "%0",
        '"%1"',
        "a b",
        "-1",
        "true",
        "12",
        "x,y",
        "<",
        "",
        "u{",
    ]
)
NODES = ("n1", "n2", "узел", "节 点", 'n"5', "N7")
INTERVALS = (ALWAYS, Interval(0, None), Interval(None, 86_400_000_000), Interval(1, 2))


@st.composite
def bundles(draw):
    """Walks over a few nodes, passages and reports, with everything that a bundle may hold."""
    ids = st.sampled_from(NODES)
    units = []
    for number in range(1, draw(st.integers(0, 7)) + 1):
        kind = draw(st.sampled_from(("path", "path", "path", "passage", "report")))
        more = {"note": draw(st.none() | VALUES), "conflict": draw(st.booleans())}
        if kind == "path":
            at, hops = draw(ids), []
            for _ in range(draw(st.integers(1, 3))):
                other, forward = draw(ids), draw(st.booleans())
                fact = Fact(
                    subject=at if forward else other,
                    predicate=draw(st.sampled_from(("OWNS", "владеет", "a b"))),
                    object=other if forward else at,
                    validity=draw(st.sampled_from(INTERVALS)),
                    assertion_ids=draw(st.sampled_from(((), ("e:1",), ("e 2",), ("e:1", "e3"), ("e4",)))),
                    negated=draw(st.booleans()),
                )
                hops.append(Hop(fact, Direction.FORWARD if forward else Direction.BACKWARD))
                at = other
            more |= {"path": Path(tuple(hops)), "binding": draw(st.sampled_from((None, at, "n1", "elsewhere", "a b")))}
        elif kind == "passage":
            text = draw(VALUES)
            start = draw(st.integers(0, 9))
            more["passage"] = Passage(
                id="p", source_id=draw(st.sampled_from(("doc", "s,2"))), start=start, end=start + len(text), text=text
            )
        else:
            more["report"] = CommunityReport(
                id=draw(VALUES),
                entity_ids=(),
                title=draw(VALUES),
                text=draw(VALUES),
                source_ids=draw(st.sampled_from(((), ("doc", "r")))),
            )
        units.append(
            EvidenceUnit(id=f"U{number}", rank=number, retrievers=(), score=0.0, score_kind=ScoreKind.PATH, **more)
        )
    spans = st.builds(SourceSpan, st.sampled_from(("doc", "s,2", "src")), st.just(3), st.just(9)) | st.just(
        SourceSpan("doc")
    )
    supports = {
        id: tuple(
            Support(assertion_id=id, span=draw(spans), group=group)
            for group in draw(st.sampled_from(((0,), (0, 0, 1), ())))
        )
        for id in ("e:1", "e 2", "e3")
    }
    known = draw(st.lists(ids, unique=True))
    answers = draw(st.lists(st.builds(Binding, id=st.none() | ids, display=VALUES), max_size=3))
    return EvidenceBundle(
        question="q",
        reader="r",
        route="graph",
        retrievers=(),
        snapshot=draw(VALUES),
        access=draw(VALUES),
        as_of=0,
        units=tuple(units),
        answers=tuple(answers),
        entities={
            id: Entity(id=id, types=draw(st.sampled_from(((), ("t",), ("a:b", "%0")))), name=draw(VALUES))
            for id in known
        },
        supports=supports,
        source_titles={"doc": draw(VALUES)},
        omissions=tuple(draw(st.lists(st.builds(Omission, what=VALUES, stage=VALUES, reason=VALUES), max_size=1))),
        degraded=tuple(draw(st.lists(st.builds(Degradation, stage=VALUES, reason=VALUES), max_size=1))),
        flags=tuple(draw(st.lists(VALUES, max_size=2))),
        truncated=draw(st.booleans()),
        abstained=draw(st.booleans()),
        reason=draw(VALUES),
    )


def written(form, bundle, profile, ordering):
    draft = draft_of_bundle(
        bundle,
        profile,
        form.proofs(profile),
        units=bundle.units,
        answers=len(bundle.answers),
        omissions=bundle.omissions,
    )
    ARRANGED[ordering](draft)
    return form.write(draft), draft


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("profile", list(Profile))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(bundle=bundles(), ordering=st.sampled_from(sorted(ARRANGED)))
def test_a_bundle_is_written_as_its_records(name, profile, bundle, ordering):
    form = FORMATS.load(name)()
    records = ORDERINGS[ordering](records_of(bundle), Hints())
    try:
        text = form.dumps(records, profile)
    except DataError:
        with pytest.raises(DataError):
            written(form, bundle, profile, ordering)
        return
    found, draft = written(form, bundle, profile, ordering)
    assert found.text == text
    assert form.loads(text) == project(records, profile)
    assert draft.count == project(records, profile).count
    assert draft.node_ids == [node.id for node in records.nodes]
    assert draft.source_ids == [source.id for source in records.sources]
    for parts, items in ((found.nodes, records.nodes), (found.facts, records.facts), (found.units, records.units)):
        assert len(parts) == len(items)
    assert all(part in text for part in (*found.nodes, *found.facts, *found.units, *found.sources.values()))


def one_hop(**more):
    fact = Fact(subject="a", predicate="R", object="b", assertion_ids=("e",))
    hop = Hop(fact, Direction.FORWARD)
    given = {"id": "U1", "rank": 1, "path": Path((hop,)), **more}
    return EvidenceUnit(retrievers=(), score=0.0, score_kind=ScoreKind.PATH, **given)


def jumping():
    hops = [Hop(Fact(subject=a, predicate="R", object=b, assertion_ids=()), Direction.FORWARD) for a, b in ("ab", "cd")]
    return Path(tuple(hops))


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([one_hop(id="X1")], "unit id"),
        ([one_hop(), one_hop(rank=2)], "declared twice"),
        ([one_hop(path=jumping())], "jumps"),
        ([one_hop(path=None)], "neither path"),
    ],
)
def test_units_that_do_not_fit_together_are_refused(name, units, reason):
    held = EvidenceBundle(question="q", reader="r", route="g", retrievers=(), snapshot="s", as_of=0)
    form = FORMATS.load(name)()
    written(form, replace(held, units=(one_hop(),)), Profile.FULL, "given")
    with pytest.raises(DataError, match=reason):
        written(form, replace(held, units=tuple(units)), Profile.FULL, "given")


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_span_that_ends_before_it_starts_is_refused(name):
    held = EvidenceBundle(question="q", reader="r", route="g", retrievers=(), snapshot="s", as_of=0, units=(one_hop(),))
    for start, end in ((9, 3), (-1, 3), (None, 3)):
        supports = {"e": (Support(assertion_id="e", span=SourceSpan("doc", start, end)),)}
        with pytest.raises(DataError, match="span"):
            written(FORMATS.load(name)(), replace(held, supports=supports), Profile.FULL, "given")
