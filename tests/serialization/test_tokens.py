"""What the formats cost on the research-project graph, counted as o200k_base counts; all of a text is counted, header included."""

import json

import pytest

from graphroute.models.tokenizers import load_tokenizer
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.orderings import Hints, ordering
from graphroute.serialization.records import FactRecord, NodeRecord, Profile, Records

NODES = (
    ("person_irina", "Ирина", "person"),
    ("person_maxim", "Максим", "person"),
    ("project_orion", "Орион", "project"),
    ("project_atlas", "Атлас", "project"),
    ("project_pulse", "Пульс", "project"),
    ("method_graph", "Графовый поиск", "method"),
    ("method_compress", "Семантическое сжатие", "method"),
    ("method_vector", "Векторный поиск", "method"),
    ("method_hybrid", "Гибридный обход", "method"),
    ("org_vector", "Институт Вектор", "organization"),
    ("org_siberia", "Центр Сибирь", "organization"),
    ("org_north", "Лаборатория Север", "organization"),
    ("city_kazan", "Казань", "city"),
    ("city_tomsk", "Томск", "city"),
)
FACTS = (
    ("person_irina", "LEADS", "project_orion"),
    ("person_irina", "MEMBER_OF", "org_north"),
    ("person_maxim", "LEADS", "project_pulse"),
    ("project_orion", "USES", "method_graph"),
    ("project_atlas", "USES", "method_compress"),
    ("project_pulse", "USES", "method_vector"),
    ("method_graph", "DEVELOPED_BY", "org_vector"),
    ("method_compress", "DEVELOPED_BY", "org_north"),
    ("method_vector", "DEVELOPED_BY", "org_siberia"),
    ("method_hybrid", "DEVELOPED_BY", "org_north"),
    ("org_vector", "LOCATED_IN", "city_kazan"),
    ("org_siberia", "LOCATED_IN", "city_tomsk"),
    ("org_north", "RUNS", "project_atlas"),
)
GRAPH = Records(
    nodes=tuple(NodeRecord(id=id, types=(kind,), name=name) for id, name, kind in NODES),
    facts=tuple(FactRecord(subject=subject, predicate=named, object=target) for subject, named, target in FACTS),
)
COUNT = load_tokenizer("o200k_base").count


def tokens(name: str, profile: Profile) -> int:
    form = FORMATS.load(name)()
    text = form.dumps(ordering(form.ordering)(GRAPH, Hints()), profile)
    assert len(form.loads(text).facts) == len(FACTS)
    return COUNT(text)


def test_the_lean_adjacency_list_takes_about_a_quarter_of_the_published_json():
    published = {
        "nodes": [{"id": id, "name": name, "type": kind} for id, name, kind in NODES],
        "edges": [{"source": subject, "relation": named, "target": target} for subject, named, target in FACTS],
    }
    pretty = COUNT(json.dumps(published, ensure_ascii=False, indent=2, sort_keys=True))
    assert pretty == 829
    assert tokens("adjacency", Profile.LEAN) <= 0.27 * pretty
    assert tokens("adjacency", Profile.LEAN) == min(tokens(name, Profile.LEAN) for name in FORMATS)


def test_the_full_adjacency_list_takes_less_than_six_tenths_of_compact_json():
    assert tokens("adjacency", Profile.FULL) <= 0.60 * tokens("compact_json", Profile.FULL)


@pytest.mark.parametrize("name", list(FORMATS))
def test_lean_takes_less_than_full(name):
    assert tokens(name, Profile.LEAN) < tokens(name, Profile.FULL)
