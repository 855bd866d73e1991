"""Property graphs as users have them, put into a server for tests, and what a reader may see of them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from graphroute.stores.neo4j.connection import Neo4jConnection, Query
from graphroute.stores.neo4j.writes import relationship_type

_NODES = Query("test_nodes", "CYPHER 5 UNWIND $rows AS row CREATE (n:$(row.labels)) SET n = row.props")
_FORGET = Query("test_forget", "CYPHER 5 MATCH (n) REMOVE n.`test id`")


@dataclass
class PropertyGraph:
    """Nodes and relationships as a user's database has them, each node under a name that the server never sees."""

    nodes: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = field(default_factory=dict)
    relations: list[tuple[str, str, str, dict[str, Any]]] = field(default_factory=list)

    def node(self, name: str, labels: Sequence[str], /, **props: Any) -> str:
        """Adds a node; returns its name."""
        self.nodes[name] = (tuple(labels), props)
        return name

    def relate(self, start: str, kind: str, end: str, /, **props: Any) -> None:
        """Adds a relationship."""
        self.relations.append((start, kind, end, props))

    def put(self, connection: Neo4jConnection) -> None:
        """Writes the graph into an empty database."""
        rows = [
            {"labels": list(labels), "props": {**props, "test id": name}}
            for name, (labels, props) in self.nodes.items()
        ]
        connection.write(_NODES, {"rows": rows})
        # One text a type: 5.26.0 creates every relationship of a cached plan with the type of the first.
        for kind in sorted({relation[1] for relation in self.relations}):
            edges = [{"start": s, "end": e, "props": props} for s, one, e, props in self.relations if one == kind]
            connection.write(_relations(kind), {"rows": edges})
        connection.write(_FORGET)


def _relations(kind: str) -> Query:
    return Query(
        "test_relations",
        f"""CYPHER 5 UNWIND $rows AS row MATCH (a {{`test id`: row.start}}) MATCH (b {{`test id`: row.end}})
CREATE (a)-[r:{relationship_type(kind)}]->(b) SET r = row.props""",
    )


def clinic() -> PropertyGraph:
    """A clinic: names in three languages, dates in ten forms, labels and properties with spaces and back-ticks, a text of 10 MB."""
    graph = PropertyGraph()
    doctors = [
        (1, "Анна", "Петрова", "cardiology", ["Doctor"]),
        (2, "Иван", "Сидоров", "surgery", ["Doctor", "Surgeon"]),
        (3, "伟", "王", "neurology", ["Doctor"]),
        (4, "Maria", "Lopez", "cardiology", ["Doctor"]),
        (5, "John", "Smith", "pediatrics", ["Doctor"]),
        (6, "Ольга", "Иванова", "surgery", ["Doctor", "Surgeon"]),
    ]
    for number, first, last, specialty, labels in doctors:
        graph.node(f"d{number}", labels, doctor_id=number, first_name=first, last_name=last, specialty=specialty)
    patients = [
        "Сергей Волков",
        "李娜",
        "Emma Stone",
        "张伟",
        "Дмитрий Орлов",
        "Lucas Meyer",
        "Наталья Крылова",
        "Chloe Martin",
    ]
    for number, name in enumerate(patients, 1):
        city = "Kazan" if number < 5 else "Lyon"
        graph.node(f"p{number}", ["Patient"], patientNumber=f"P-00{number}", fullName=name, city=city)
    for code, name in (("W1", "North Ward"), ("W2", "South Ward"), ("W3", "儿科病房")):
        graph.node(code, ["Ward"], code=code, name=name)
    dates = [
        "2024-01-15", "15.02.2024", "March 3, 2024", "2024/04/20", "2024年5月6日", "7 июня 2024", "2023-11-30",
        "2024-12-01T10:30:00Z", "2024-02-28", "not a date",
    ]  # fmt: skip
    visits = [
        (1, 1, 1),
        (1, 2, 2),
        (2, 3, 1),
        (3, 4, 1),
        (4, 3, 3),
        (5, 1, 2),
        (6, 5, 3),
        (7, 2, 2),
        (8, 4, 1),
        (3, 1, 1),
    ]
    for number, (patient, doctor, ward) in enumerate(visits):
        notes = base64.b64encode(bytes(range(250)) * 30_000).decode() if number == 0 else "short"
        props = {"visitId": 1000 + number, "visitDate": dates[number], "reason `code`": f"R{number}", "notes": notes}
        visit = graph.node(f"v{number}", ["Clinic `Visit`"], **props)
        graph.relate(visit, "OF_PATIENT", f"p{patient}")
        graph.relate(visit, "TREATED_BY", f"d{doctor}")
        graph.relate(visit, "TOOK_PLACE_IN", f"W{ward}")
    for number, title in enumerate(["Aspirin", "Ибупрофен", "阿莫西林", "Metformin"]):
        graph.node(
            f"D{number}",
            ["Drug"],
            drug_code=f"D{number}",
            title=title,
            price="unknown" if number == 3 else 1.5 * number,
        )
    for number, drug in ((0, 0), (0, 1), (1, 1), (2, 2), (3, 0), (4, 2), (5, 3)):
        graph.relate(f"v{number}", "PRESCRIBED", f"D{drug}")
    graph.relate("d2", "SUPERVISED_BY", "d1", since=2020)
    graph.relate("d4", "SUPERVISED_BY", "d1", since=2021, until=2022)
    graph.node("o1", ["Orphan"], note="dup")
    graph.node("o2", ["Orphan"], note="dup")
    return graph
