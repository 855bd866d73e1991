"""Routes files: the printed policy, the shipped one, and hostile ones."""

import time
from pathlib import Path

import pytest

from graphroute.config.load import load_routes, parse_routes
from graphroute.config.model import DEFAULT_STRATEGIES, RoutesConfig
from graphroute.errors import ConfigurationError
from graphroute.retrieval import RETRIEVERS
from graphroute.types.route import Limits

SYSTEMS = Path(__file__).parents[2] / "evals" / "systems"
BASE = "routes:\n  - otherwise: vector\n"

PRINTED = """\
routes:
  - when: has_exact_id
    use: lexical
  - when: relation_count >= 2 and entity_count >= 1
    use: graph_local
  - when: corpus_scope and asks_for_aggregation
    use: graph_global
  - otherwise: vector
fallback:
  if_evidence_below: 0.62
  use: vector_plus_graph
limits:
  max_hops: 3
  max_paths: 40
  max_source_spans: 18
"""


def steps(config: RoutesConfig) -> list[tuple[str, str | None, tuple[str, ...]]]:
    return [
        (rule.name, str(rule.condition) if rule.condition else None, tuple(step.retriever for step in rule.steps))
        for rule in config.rules()
    ]


def test_the_printed_policy_loads_and_means_what_it_says() -> None:
    config = parse_routes(PRINTED)
    assert steps(config) == [
        ("lexical", "has_exact_id", ("lexical",)),
        ("graph_local", "relation_count >= 2 and entity_count >= 1", ("local_graph",)),
        ("graph_global", "corpus_scope and asks_for_aggregation", ("global_community",)),
        ("vector", None, ("vector",)),
    ]
    assert config.fallback is not None
    assert config.fallback.if_evidence_below == 0.62
    assert config.joined(tuple(config.fallback.use))[0].retriever == "local_graph"
    assert config.bounds() == Limits(max_hops=3, max_paths=40, max_source_spans=18)


def test_the_printed_policy_is_the_compared_system() -> None:
    stored = (SYSTEMS / "source_policy.yaml").read_text(encoding="utf-8")
    assert stored.endswith(PRINTED)
    assert load_routes(SYSTEMS / "source_policy.yaml").config_hash == parse_routes(PRINTED).config_hash


@pytest.mark.parametrize("name", ["lexical", "vector_lexical", "graph_only", "routed_hybrid", "source_policy"])
def test_compared_systems_load_with_equal_budgets(name: str) -> None:
    assert load_routes(SYSTEMS / f"{name}.yaml").budget == 4000


def test_the_shipped_default_ends_with_passages() -> None:
    config = load_routes()
    assert config.routes[-1].otherwise == ["vector_lexical"]
    assert config.model is None
    assert config.log.question_text is False


@pytest.mark.parametrize("given", ["99", "-1", "0", "2.5", '"3"', "true", "1e9", "~", "[3]", "three", "7"])
@pytest.mark.parametrize(
    ("key", "allowed"), [("max_hops", "1..6"), ("max_paths", "1..10000"), ("max_source_spans", "1..200")]
)
def test_limits_are_whole_numbers_in_range(key: str, allowed: str, given: str) -> None:
    text = f"{BASE}limits:\n  {key}: {given}\n"
    fits = given.isdigit() and 1 <= int(given) <= int(allowed.split("..")[1])
    if fits:
        assert getattr(parse_routes(text).limits, key) == int(given)
        return
    with pytest.raises(ConfigurationError) as caught:
        parse_routes(text, "r.yaml")
    assert caught.value.exit_code == 3
    assert str(caught.value).startswith(f"r.yaml:4:{len(key) + 5}: limits.{key}: ")
    assert str(caught.value).endswith(f"allowed: a whole number {allowed}")


HOSTILE = [
    ("", "no routes"),
    ("# nothing\n", "no routes"),
    ("routes: []", "routes"),
    ("routes: ~", "routes"),
    ("[]", "a mapping"),
    ("just text", "a mapping"),
    (BASE + "routes:\n  - otherwise: lexical\n", "line 1"),
    (BASE + "limits: {max_hopz: 9}", "did you mean 'max_hops'?"),
    (BASE + "limitz: {}", "did you mean 'limits'?"),
    (BASE + "fallback: {if_evidence_below: .nan, use: vector}", "fallback.if_evidence_below"),
    (BASE + "fallback: {if_evidence_below: 1.2, use: vector}", "0.0..1.0"),
    (BASE + "fallback: {if_evidence_below: true, use: vector}", "a number"),
    (BASE + "fallback: {if_evidence_below: 0.5, use: vectr}", "did you mean 'vector'?"),
    (BASE + "fallback: {use: vector}", "missing"),
    (BASE + "limits: &l {max_hops: 2}\nfallback: *l", "aliases"),
    (BASE + "<<: {budget: 1}", "merge"),
    (BASE + "budget: !!int 5", "tag"),
    (BASE + "---\n" + BASE, "second document"),
    (BASE + "budget: 0", "1..1000000"),
    (BASE + "format: 1.10", "'1.10' in quotes"),
    (BASE + "tokenizer: 12:30", "quotes"),
    (BASE + "strategies: {mine: [lexcal]}", "did you mean 'lexical'?"),
    (BASE + "strategies: {mine: [lexical, lexical]}", "already"),
    (BASE + "strategies: {mine: [{lexical: {}, vector: {}}]}", "not one retriever"),
    (BASE + "strategies: {none: [lexical]}", "cannot name a strategy"),
    ("routes:\n  - otherwise: vektor\n", "did you mean 'vector'?"),
    ("routes:\n  - {when: has_exact_id, use: lexical}\n", "apply always"),
    ("routes:\n  - otherwise: vector\n  - {when: has_exact_id, use: lexical}\n", "never reached"),
    ("routes:\n  - {when: has_exactid, use: lexical}\n  - otherwise: vector\n", "did you mean 'has_exact_id'?"),
    ("routes:\n  - {when: true, use: lexical}\n  - otherwise: vector\n", "text"),
    ("routes:\n  - {when: relation_count, use: lexical}\n  - otherwise: vector\n", "relation_count >= 1"),
    ("routes:\n  - {when: '__import__(\"os\")', use: lexical}\n  - otherwise: vector\n", "routes[0].when"),
    ("routes:\n  - {when: has_exact_id}\n  - otherwise: vector\n", "names no strategy"),
    ("routes:\n  - {use: lexical}\n  - otherwise: vector\n", "no condition"),
    (
        "routes:\n  - {when: quoted, use: lexical}\n  - {when: (quoted), use: vector}\n  - otherwise: vector\n",
        "same condition",
    ),
    ("routes:\n  - {name: a b, when: quoted, use: lexical}\n  - otherwise: vector\n", "not a name"),
    ("routes:\n  - {name: a, when: quoted, use: lexical}\n  - {name: a, otherwise: vector}\n", "another name"),
]


@pytest.mark.parametrize(("text", "reason"), HOSTILE, ids=[str(place) for place in range(len(HOSTILE))])
def test_hostile_files_are_refused_with_place_and_reason(text: str, reason: str) -> None:
    started = time.process_time()
    with pytest.raises(ConfigurationError) as caught:
        parse_routes(text, "r.yaml")
    assert time.process_time() - started < 1
    assert reason in str(caught.value)
    assert str(caught.value).startswith("r.yaml")
    assert "\n" not in str(caught.value)


CANARY = "sk-c4n4ryc4n4ryc4n4ry"


@pytest.mark.parametrize(
    "block",
    [
        f"model: {{base_url: 'http://h/v1', model: m, api_key: {CANARY}}}",
        f"model: {{base_url: 'http://h/v1', model: m, key: {CANARY}}}",
        f"api_key: {CANARY}",
        f"model: {{base_url: 'http://u:{CANARY}@h/v1', model: m}}",
        f"model: {{base_url: 'http://{CANARY}@h/v1', model: m}}",
        f"model: {{base_url: 'http://h/v1', model: {CANARY}}}",
        f"format: {CANARY}",
        f"log: {{path: x, password: {CANARY}}}",
    ],
)
def test_a_secret_is_refused_and_not_echoed(block: str) -> None:
    with pytest.raises(ConfigurationError, match="environment") as caught:
        parse_routes(BASE + block)
    assert "c4n4ry" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "h/v1", "gopher://h", "http://", "http://[::1", "http://h:x/", "http://h/?q=1"]
)
def test_an_endpoint_is_an_http_address(url: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url"):
        parse_routes(f"{BASE}model: {{base_url: '{url}', model: m}}")


CIRCLES = """\
routes:
  - {when: has_exact_id, use: graph_local, fallback: vector}
  - {when: quoted, use: vector, fallback: graph_local}
  - {when: corpus_scope, use: graph_global, fallback: graph_global}
  - otherwise: lexical
fallback: {if_evidence_below: 0.5, use: vector}
"""


def test_circular_fallbacks_are_reported_when_loading() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_routes(CIRCLES, "r.yaml")
    text = str(caught.value)
    assert "r.yaml:2:" in text
    assert "graph_local -> vector -> graph_local" in text
    assert "r.yaml:4:" in text
    assert "graph_global -> graph_global" in text
    straight = CIRCLES.replace("fallback: graph_local", "fallback: none").replace(
        "fallback: graph_global", "fallback: vector"
    )
    assert len(parse_routes(straight).rules()) == 4


def test_hash_is_stable_over_layout_and_changes_with_meaning() -> None:
    one = parse_routes(PRINTED)
    other = parse_routes(
        "limits: {max_source_spans: 18, max_paths: 40}\n"  # max_hops left out: 3 is the default
        "fallback: {use: [vector_plus_graph], if_evidence_below: 0.620}\n"
        "routes:\n"
        "- {use: lexical, when: '(has_exact_id)'}\n"
        "- {use: graph_local, when: 'relation_count>=2   and (entity_count >= 1)'}\n"
        "- {use: graph_global, when: corpus_scope and asks_for_aggregation}\n"
        "- {otherwise: [vector]}\n"
    )
    assert one.config_hash == other.config_hash
    for old, new in [
        (">= 2", ">= 3"),
        ("0.62", "0.63"),
        ("max_hops: 3", "max_hops: 2"),
        ("use: lexical", "use: identifier"),
    ]:
        assert parse_routes(PRINTED.replace(old, new)).config_hash != one.config_hash


def test_a_file_may_redefine_and_join_strategies() -> None:
    config = parse_routes(
        "strategies: {mine: [identifier, lexical]}\nroutes:\n  - {when: quoted, use: [mine, vector_lexical]}\n  - otherwise: mine\n"
    )
    assert steps(config)[0] == ("mine+vector_lexical", "quoted", ("identifier", "lexical", "vector"))


def test_one_file_in_every_encoding_form(tmp_path: Path) -> None:
    text = "# Фёдор, Relay → Ledger\n" + PRINTED
    hashes = set()
    for name, raw in {
        "plain": text.encode(),
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "crlf": text.replace("\n", "\r\n").encode(),
    }.items():
        (tmp_path / name).write_bytes(raw)
        hashes.add(load_routes(tmp_path / name).config_hash)
    assert len(hashes) == 1


def test_the_log_is_opened_as_configured(tmp_path: Path) -> None:
    config = parse_routes(f"{BASE}log: {{path: {tmp_path / 'a.jsonl'}, question_text: true, keep_days: 3}}")
    log = config.log.open()
    assert log is not None
    assert log.path == tmp_path / "a.jsonl"
    other = config.log.open(tmp_path / "b.jsonl")
    assert other is not None
    assert other.path == tmp_path / "b.jsonl"
    assert parse_routes(BASE).log.open() is None


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("format: prety_json", "did you mean 'pretty_json'?"),
        ("tokenizer: gpt9", "unknown tokenizer 'gpt9'"),
        ("merging: {max_source_shar: 0.5}", "did you mean 'max_source_share'?"),
        ("merging: {max_source_share: 2.0}", "merging.max_source_share"),
        ("strategies: {mine: [lexical: {tpo: 5}]}", "strategies.mine[0].lexical.tpo: unknown key"),
    ],
)
def test_parts_are_checked_against_what_they_declare(block: str, reason: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_routes(f"{BASE}{block}", "r.yaml")
    assert reason in str(caught.value)
    assert str(caught.value).startswith("r.yaml:3:")


def test_the_usual_strategies_name_retrievers_that_exist() -> None:
    for strategy, retrievers in DEFAULT_STRATEGIES.items():
        for name in retrievers:
            RETRIEVERS.check(name, where=strategy)
