"""The research-project graph with six questions that the formats are compared on: 14 nodes, 13 facts, names in Russian."""

from graphroute.serialization.records import FactRecord, NodeRecord, Records

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


def research_graph() -> Records:
    """Its nodes and facts, and nothing else."""
    return Records(
        nodes=tuple(NodeRecord(id=id, types=(kind,), name=name) for id, name, kind in NODES),
        facts=tuple(FactRecord(subject=subject, predicate=named, object=target) for subject, named, target in FACTS),
    )


def plain() -> dict[str, list[dict[str, str]]]:
    """The graph as the JSON that it is published as."""
    return {
        "nodes": [{"id": id, "name": name, "type": kind} for id, name, kind in NODES],
        "edges": [{"source": subject, "relation": named, "target": target} for subject, named, target in FACTS],
    }
