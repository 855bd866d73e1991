"""Makes the documents and facts of the corpus from the hand-written YAML files. Nothing depends on the machine or the day."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from meridian.model import Document, World

SEED = 20260615
TODAY = "2026-06-15"
COMPANY = "Meridian Lane"
MAX_AGE_DAYS = {"CONNECTS_TO": 365, "USED_BY": 365}
"""As in schema/ontology.yaml; the test compares the two."""

STAFF = ("staff",)
ON_CALL_TEAMS = ("payments", "identity", "storefront", "data-platform", "reliability")
OFFICES = ("Dublin", "Berlin", "Tbilisi", "Singapore", "Shanghai")
TRAININGS = {
    "TR-1": ("Handling card data", ("staff",)),
    "TR-2": ("Anti-bribery", ("staff",)),
    "TR-3": ("Phishing and how not to bite", ("staff",)),
    "TR-4": ("Export control", ("people", "compliance")),
    "TR-5": ("Interviewing without prejudice", ("people",)),
}


def read(name: str) -> Any:
    """A hand-written file."""
    return yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))


def terms_of(entries: list[str]) -> Iterator[tuple[str, str, str | None]]:
    """Entries "who from" as (who, from, to): each ends where the next begins."""
    parts = [entry.split() for entry in entries]
    ends: list[str | None] = [*(start for _, start in parts[1:]), None]
    for (who, start), end in zip(parts, ends, strict=False):
        yield who, start, end


def spoken(day: str) -> str:
    """12 June 2026."""
    value = date.fromisoformat(day)
    return f"{value.day} {value:%B} {value.year}"


def day_after(day: str, days: int) -> str:
    """The day so many days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


class Builder:
    """Fills a world, area by area; names first, since documents name one another's things."""

    def __init__(self) -> None:
        self.world = World(MAX_AGE_DAYS, TODAY)
        self.random = random.Random(SEED)
        self.people = read("people")
        self.services = read("services")
        self.supply = read("supply")
        self.customers = read("customers")
        self.events = read("events")
        self.texts = read("texts")

    def build(self) -> World:
        """Everything."""
        self._entities()
        self._directories()
        self._catalogue()
        self._customers()
        self._supply()
        self._changes()
        self._releases()
        self._incidents()
        self._projects()
        self._compliance()
        self._texts()
        return self.world

    # Helpers

    def name(self, entity_id: str) -> str:
        """The name shown."""
        return self.world.display(entity_id)

    def person(self, local: str) -> str:
        """The name of a person."""
        return self.name(f"person:{local}")

    def _entities(self) -> None:
        world, add = self.world, self.world.entity
        for local, team in self.people["teams"].items():
            add("team", local, team["name"])
        for local, person in self.people["people"].items():
            add("person", local, person["name"], person.get("also"))
        for local, project in self.people["projects"].items():
            add("project", local, project["name"], project.get("also"))
        for local, service in self.services["services"].items():
            add(
                "service",
                local,
                local,
                service["title"] if service["title"].casefold() != local else None,
                service.get("also"),
                criticality=f"tier {service['tier']}",
                language=service["lang"],
            )
        for local in self.services["clusters"]:
            add("cluster", local, local)
        for local, plan in self.customers["plans"].items():
            add("plan", local, plan["name"])
        for local, customer in self.customers["customers"].items():
            add(
                "customer",
                local,
                customer["name"],
                customer.get("also"),
                status=customer["status"],
                tier=customer["tier"],
                country=customer["country"],
                customer_since=customer["since"],
            )
        for local, package in self.supply["packages"].items():
            add("package", local, package["name"])
        for local, issue in self.supply["issues"].items():
            add("issue", local, local, status=issue["status"], severity=issue["severity"], disclosed=issue["found"])
        for local, vendor in self.supply["vendors"].items():
            add("vendor", local, vendor["name"], vendor.get("also"), status=vendor["status"], country=vendor["country"])
        for local, release in self.events["releases"].items():
            add("release", local, local, approved_on=release["approved"], deployed_on=release["deployed"])
        for local, change in self.events["changes"].items():
            add("change", local, local, risk=change["risk"])
        for local, incident in self.events["incidents"].items():
            add("incident", local, local, severity=incident["sev"], minutes=str(incident["mins"]))
        for policy in self.texts["policies"]:
            add("policy", policy["id"], policy["id"], policy["title"])
        for ticket in self.texts["tickets"]:
            add("ticket", ticket["id"], ticket["id"])
        for local, (title, _) in TRAININGS.items():
            add("training", local, local, title)
        places = [*OFFICES, *(cluster["region"] for cluster in self.services["clusters"].values())]
        for place in sorted(set(places)):
            add("place", place.casefold(), place)
        assert world.entities

    # Who is who

    def _directories(self) -> None:
        """Editions of the directory: teams, people and owners as of a day, and the facts they state over time."""
        world, people = self.world, self.people["people"]
        offices = {local: self.random.choice(OFFICES) for local in people}
        lines: dict[str, dict[str, list[tuple[str, str | None, str]]]] = {
            "Teams": {},
            "People": {},
            "Service owners": {},
        }

        def line(part: str, key: str, start: str, end: str | None, text: str) -> tuple[str, str | None, str]:
            entry = (start, end, text)
            lines[part].setdefault(key, []).append(entry)
            return entry

        stated: list[tuple[str, str, str, tuple[str, str | None, str]]] = []
        for local, leads in self.people["leads"].items():
            team = self.name(f"team:{local}")
            for who, start, end in terms_of(leads):
                entry = line("Teams", local, start, end, f"{team}: led by {self.person(who)} since {start}")
                stated.append((f"person:{who}", "LEADS", f"team:{local}", entry))
        for local, person in people.items():
            for team, start, end in terms_of(person["member"]):
                text = f"{person['name']}: {self.name(f'team:{team}')} since {start}, {offices[local]}"
                if "boss" in person:
                    text += f", reports to {self.person(person['boss'])}"
                entry = line("People", local, start, end, text)
                stated.append((f"person:{local}", "MEMBER_OF", f"team:{team}", entry))
        for local, service in self.services["services"].items():
            for who, start, end in terms_of(service["owners"]):
                entry = line("Service owners", local, start, end, f"{local}: {self.person(who)} since {start}")
                stated.append((f"service:{local}", "OWNED_BY", f"person:{who}", entry))
        days = ["2024-06-10", *self.people["directories"]]
        for day, following in pairwise([*days, None]):
            assert day is not None
            parts = [f"Directory of {COMPANY}, edition of {spoken(day)}. It is in force until the next edition."]
            for part, entries in lines.items():
                rows = [
                    text
                    for key in entries
                    for start, end, text in entries[key]
                    if start <= day and (end is None or day < end)
                ]
                parts.append("\n".join([part, *rows]))
            world.document(
                Document(
                    id=f"directory:{'current' if following is None else day}",
                    kind="directory",
                    title=f"Directory, edition of {spoken(day)}",
                    text="\n\n".join(parts) + "\n",
                    labels=STAFF,
                    at=day,
                    valid_from=day,
                    valid_to=following,
                )
            )
        editions = [(f"directory:{'current' if day == days[-1] else day}", day) for day in days]
        for s, r, o, (start, end, text) in stated:
            supports = [[(d, text)] for d, day in editions if start <= day and (end is None or day < end)]
            world.fact(s, r, o, *supports, start=start, end=end)
        for local, person in people.items():
            last = list(terms_of(person["member"]))[-1]
            text = next(text for start, _, text in lines["People"][local] if start == last[1])
            supports = [[(d, text)] for d, day in editions if day >= last[1]]
            world.fact(f"person:{local}", "BASED_IN", f"place:{offices[local].casefold()}", *supports)
            if "boss" in person:
                world.fact(f"person:{local}", "REPORTS_TO", f"person:{person['boss']}", *supports)

    # Services and clusters

    def _catalogue(self) -> None:
        world = self.world
        for local, cluster in self.services["clusters"].items():
            text = (
                f"cluster: {local}\nengine: {cluster['engine']}\nsite: {cluster['region']}\nkept_by: Data Platform\n\n"
                f"{local} is a cluster of three nodes in {cluster['region']}. Backups are taken every night and one of them "
                "is restored every month to see that it can be.\n"
            )
            document = world.document(
                Document(
                    id=f"catalog:{local}",
                    kind="catalog_cluster",
                    title=f"Cluster {local}",
                    text=text,
                    labels=STAFF,
                    node=f"cluster:{local}",
                    at="2026-02-01",
                )
            )
            world.fact(
                f"cluster:{local}",
                "HOSTED_IN",
                f"place:{cluster['region'].casefold()}",
                [(document.id, f"site: {cluster['region']}")],
            )
        for local, service in self.services["services"].items():
            head = [
                f"service: {local}",
                f"title: {service['title']}",
                *([f"title_en: {service['also']}"] if "also" in service else []),
                f"team: {self.name('team:' + service['team'])}",
                *([f"owner: {self.person(service['says'])}"] if "says" in service else []),
                f"criticality: tier {service['tier']}",
                f"language: {service['lang']}",
                f"clusters: [{', '.join(service['clusters'])}]",
                f"depends_on: [{', '.join(service['needs'])}]",
                f"packages: [{', '.join(service['packages'])}]",
                f"reviewed: {service['reviewed']}",
            ]
            document = world.document(
                Document(
                    id=f"catalog:{local}",
                    kind="catalog_service",
                    title=f"{service['title']} ({local})",
                    text="---\n" + "\n".join(head) + f"\n---\n{service['text']}\n",
                    labels=STAFF,
                    node=f"service:{local}",
                    lang=service.get("doc_lang", "en"),
                    at=service["reviewed"],
                )
            )
            at = {line.partition(":")[0]: line for line in head}
            service_id = f"service:{local}"
            world.fact(service_id, "MAINTAINED_BY", f"team:{service['team']}", [(document.id, at["team"])])
            for cluster in service["clusters"]:
                world.fact(service_id, "CONNECTS_TO", f"cluster:{cluster}", [(document.id, at["clusters"])])
            for other in service["needs"]:
                world.fact(service_id, "DEPENDS_ON", f"service:{other}", [(document.id, at["depends_on"])])
            for package in service["packages"]:
                world.fact(service_id, "INCLUDES", f"package:{package}", [(document.id, at["packages"])])
            if "says" in service:
                world.fact(
                    service_id,
                    "OWNED_BY",
                    f"person:{service['says']}",
                    [(document.id, at["owner"])],
                    start=service["reviewed"],
                    tag="catalogue",
                )

    # Customers

    def _customers(self) -> None:
        world = self.world
        for number, (local, plan) in enumerate(self.customers["plans"].items()):
            world.document(
                Document(
                    id=f"plan-sheet:{local}",
                    kind="plan_sheet",
                    title=f"Plan {plan['name']}",
                    text=f"plan: {plan['name']}\nmonthly_price: {plan['price']} EUR\n\n{plan['name']} costs {plan['price']} euro a month: "
                    f"{plan['note']}. Prices hold for twelve months from the day of signing.\n",
                    labels=("public",),
                    node=f"plan:{local}",
                    at=f"202{3 + number // 2}-01-02",
                )
            )
        for number, (local, customer) in enumerate(self.customers["customers"].items()):
            entity = f"customer:{local}"
            tenant = f"T-{4010 + 7 * number}"
            world.entities[entity].fields["tenant"] = tenant
            plans = list(terms_of(customer["plans"]))
            managers = list(terms_of(customer["managers"]))
            head = [f"customer_id: {local}", f"name: {customer['name']}"]
            head += [f"name_en: {customer['also']}"] if "also" in customer else []
            head += [f"tenant: {tenant}", f"status: {customer['status']}", f"tier: {customer['tier']}"]
            plan_lines, manager_lines = {}, {}
            for plan, start, end in plans:
                name = self.name(f"plan:{plan}")
                plan_lines[start] = (
                    f"plan: {name} since {start}" if end is None else f"former_plan: {name}, {start} to {end}"
                )
            for who, start, end in managers:
                said = f"account_manager: {self.person(who)} since {start}"
                manager_lines[start] = said if end is None else f"former_{said.replace(' since', ',')} to {end}"
            head += [*plan_lines.values(), *manager_lines.values()]
            head += [f"customer_since: {customer['since']}", f"country: {customer['country']}"]
            account = world.document(
                Document(
                    id=f"account:{local}",
                    kind="account",
                    title=f"Account of {customer['name']}",
                    text="\n".join(head) + "\n",
                    labels=("support", f"customer:{local}"),
                    node=entity,
                    lang="en",
                    at=max([customer["since"], *plan_lines, *manager_lines]),
                )
            )
            for plan, start, end in plans:
                world.fact(entity, "ON_PLAN", f"plan:{plan}", [(account.id, plan_lines[start])], start=start, end=end)
            for who, start, end in managers:
                world.fact(
                    entity, "MANAGED_BY", f"person:{who}", [(account.id, manager_lines[start])], start=start, end=end
                )
            uses = []
            for entry in customer["uses"]:
                service, start, end = [*entry.split(), None][:3]
                uses.append((service, start, end, f"uses: {service} since {start}" + (f" until {end}" if end else "")))
            usage = world.document(
                Document(
                    id=f"catalog:usage:{local}",
                    kind="catalog_usage",
                    title=f"Services used by {customer['name']}",
                    text=f"customer: {customer['name']}\n"
                    + "".join(f"{line}\n" for _, _, _, line in uses)
                    + f"verified: {customer['usage']}\n",
                    labels=STAFF,
                    node=entity,
                    at=customer["usage"],
                )
            )
            for service, start, end, line in uses:
                assert service is not None
                world.fact(f"service:{service}", "USED_BY", entity, [(usage.id, line)], start=start, end=end)

    # Vendors, packages, issues

    def _supply(self) -> None:
        world = self.world
        for local, issue in self.supply["issues"].items():
            entity, package = f"issue:{local}", issue["package"]
            versions = [entry.split() for entry in issue.get("was", [])] or [[issue["found"], issue["status"]]]
            supports = []
            for (start, status), following in pairwise([*versions, [None, None]]):
                suffix = "" if following[0] is None else f"@{start}"
                for kind, labels in _advisories(issue["access"]):
                    line = f"package: {package}"
                    text = (
                        f"issue: {local}\n{line}\nseverity: {issue['severity']}\nstatus: {status}\ndisclosed: {issue['found']}\n\n"
                        + _advisory_text(issue, package, status, kind)
                    )
                    document = world.document(
                        Document(
                            id=f"{kind}:{local}{suffix}",
                            kind=kind,
                            title=f"{local}: {issue['title']}",
                            text=text,
                            labels=labels,
                            node=entity,
                            lang=issue.get("lang", "en"),
                            at=start,
                            valid_from=start,
                            valid_to=following[0],
                        )
                    )
                    supports.append([(document.id, line)])
            world.fact(f"package:{package}", "HAS_ISSUE", entity, *supports, start=issue["found"])
        for local, vendor in self.supply["vendors"].items():
            entity = f"vendor:{local}"
            joint = vendor.get("joint")
            listed = [package for package in vendor["packages"] if package != joint]
            head = [
                f"vendor: {vendor['name']}",
                *([f"name_en: {vendor['also']}"] if "also" in vendor else []),
                f"country: {vendor['country']}",
                f"status: {vendor['status']}",
                f"assessed_by: {self.person(vendor['by'])}",
                f"assessed_on: {vendor['assessed']}",
                *([f"packages: {', '.join(listed)}"] if listed else []),
                *([f"supplies: {', '.join(vendor['supplies'])}"] if vendor["supplies"] else []),
                *(["component: c-17"] if joint else []),
            ]
            at = {line.partition(":")[0]: line for line in head}
            document = world.document(
                Document(
                    id=f"assessment:{local}",
                    kind="vendor_assessment",
                    title=f"Vendor assessment: {vendor['name']}",
                    text="\n".join(head) + "\n\n" + _assessment_text(vendor),
                    labels=("security", "procurement"),
                    node=entity,
                    lang=vendor.get("lang", "en"),
                    at=vendor["assessed"],
                )
            )
            world.fact(
                entity,
                "ASSESSED_BY",
                f"person:{vendor['by']}",
                [(document.id, at["assessed_by"])],
                start=vendor["assessed"],
            )
            for package in listed:
                world.fact(entity, "USES", f"package:{package}", [(document.id, at["packages"])])
            if joint:
                bill = world.document(
                    Document(
                        id=f"sbom:{local}",
                        kind="bill_of_materials",
                        title=f"Bill of materials of {vendor['name']}",
                        text=f"Bill of materials, as delivered by {vendor['name']}. Components are numbered.\n\ncomponent c-16: zlib\n"
                        f"component c-17: {joint}\ncomponent c-18: sqlite\n",
                        labels=("staff", "security"),
                        node=entity,
                        at=day_after(vendor["assessed"], -6),
                    )
                )
                world.fact(
                    entity,
                    "USES",
                    f"package:{joint}",
                    [(document.id, at["component"]), (bill.id, f"component c-17: {joint}")],
                    review="extracted",
                )
            for service in vendor["supplies"]:
                world.fact(entity, "SUPPLIES", f"service:{service}", [(document.id, at["supplies"])])

    # Changes, releases, incidents

    def _changes(self) -> None:
        world = self.world
        for local, change in self.events["changes"].items():
            entity = f"change:{local}"
            approved = day_after(change["at"], -1)
            head = [
                f"change: {local}",
                f"risk: {change['risk']}",
                f"requested_by: {self.person(change['asked'])}",
                f"approved_by: {self.person(change['by'])} on {approved}",
                f"carried_out: {change['at']} {change.get('hour', '09:00')} UTC",
                *([f"clusters: {', '.join(change['clusters'])}"] if change["clusters"] else []),
            ]
            why, how = {"ru": ("Зачем", "Как"), "zh": ("原因", "做法")}.get(change.get("lang", ""), ("Why", "How"))
            document = world.document(
                Document(
                    id=f"change-ticket:{local}",
                    kind="change_ticket",
                    title=f"{local}: {change['title']}",
                    text="\n".join(head) + f"\n\n{why}. {change['why']}\n\n{how}. {change['how']}\n",
                    labels=STAFF,
                    node=entity,
                    lang=change.get("lang", "en"),
                    at=f"{change['at']}T{change.get('hour', '09:00')}:00Z",
                )
            )
            world.fact(entity, "REQUESTED_BY", f"person:{change['asked']}", [(document.id, head[2])], start=approved)
            world.fact(entity, "APPROVED_BY", f"person:{change['by']}", [(document.id, head[3])], start=approved)
            for cluster in change["clusters"]:
                world.fact(entity, "TOUCHED", f"cluster:{cluster}", [(document.id, head[5])], start=change["at"])

    def _releases(self) -> None:
        world = self.world
        for local, release in self.events["releases"].items():
            entity = f"release:{local}"
            head = [
                f"release: {local}",
                f"title: {release['title']}",
                f"approved_by: {self.person(release['by'])}",
                f"approved_on: {release['approved']}",
                f"deployed_on: {release['deployed']}",
                f"services: {', '.join(release['changed'])}",
            ]
            document = world.document(
                Document(
                    id=f"deploy:{local}",
                    kind="deployment",
                    title=f"Deployment record of {local}",
                    text="\n".join(head) + "\n",
                    labels=STAFF,
                    node=entity,
                    at=release["deployed"],
                )
            )
            world.fact(
                entity, "APPROVED_BY", f"person:{release['by']}", [(document.id, head[2])], start=release["approved"]
            )
            fixed = [key for key, issue in self.supply["issues"].items() if issue.get("fixed_in") == local]
            repaired = "".join(f" Fixes {key}." for key in fixed)
            note = world.document(
                Document(
                    id=f"note:{local}",
                    kind="release_note",
                    title=f"{local}: {release['title']}",
                    text=f"{release['note']}{repaired}\n",
                    labels=("public",),
                    node=entity,
                    lang=release.get("lang", "en"),
                    at=release["deployed"],
                )
            )
            for service in release["changed"]:
                world.fact(entity, "CHANGED", f"service:{service}", [(document.id, head[5])], start=release["deployed"])
            for key in fixed:
                world.fact(
                    f"issue:{key}",
                    "FIXED_IN",
                    entity,
                    [(note.id, f"Fixes {key}.")],
                    start=release["deployed"],
                    review="extracted",
                )

    def _incidents(self) -> None:
        world = self.world
        for local, incident in self.events["incidents"].items():
            entity = f"incident:{local}"
            tenants = [world.entities[f"customer:{c}"].fields["tenant"] for c in incident["affected"]]
            head = [
                f"incident: {local}",
                f"severity: {incident['sev']}",
                f"started: {incident['start']}",
                f"minutes: {incident['mins']}",
                f"led_by: {self.person(incident['lead'])}",
                f"services: {', '.join(incident['impacted'])}",
            ]
            head += [f"tenants: {', '.join(tenants)}"] if tenants else []
            head += [f"after_release: {incident['after']}"] if "after" in incident else []
            head += [f"caused_by: {incident['change']}"] if "change" in incident else []
            at = {line.partition(":")[0]: line for line in head}
            cause, lesson = {"ru": ("Причина", "Вывод"), "zh": ("原因", "教训")}.get(
                incident.get("lang", ""), ("Cause", "Lesson")
            )
            document = world.document(
                Document(
                    id=f"write-up:{local}",
                    kind="incident_review",
                    title=f"{local}: {incident['title']}",
                    text="\n".join(head) + f"\n\n{cause}. {incident['cause']}\n\n{lesson}. {incident['lesson']}\n",
                    labels=STAFF,
                    node=entity,
                    lang=incident.get("lang", "en"),
                    at=day_after(incident["start"], 3),
                )
            )
            start = incident["start"]
            world.fact(entity, "LED_BY", f"person:{incident['lead']}", [(document.id, at["led_by"])], start=start)
            for service in incident["impacted"]:
                world.fact(entity, "IMPACTED", f"service:{service}", [(document.id, at["services"])], start=start)
            if "after" in incident:
                world.fact(
                    entity,
                    "STARTED_AFTER",
                    f"release:{incident['after']}",
                    [(document.id, at["after_release"])],
                    start=start,
                )
            if "change" in incident:
                world.fact(
                    entity, "CAUSED_BY", f"change:{incident['change']}", [(document.id, at["caused_by"])], start=start
                )
            for customer, tenant in zip(incident["affected"], tenants, strict=True):
                supports = [[(document.id, tenant), (f"account:{customer}", f"tenant: {tenant}")]]
                entry = world.entities[f"customer:{customer}"]
                if entry.fields["tier"] == "enterprise" and incident["mins"] > 30:
                    # POL-06: enterprise customers get a summary, which names them without the write-up.
                    words = f"{entry.names[0]} was affected by {local}"
                    summary = world.document(
                        Document(
                            id=f"summary:{local}:{customer}",
                            kind="customer_summary",
                            title=f"Summary of {local} for {entry.names[0]}",
                            text=f"{words} on {spoken(start)} for {incident['mins']} minutes. The services concerned were "
                            f"{', '.join(incident['impacted'])}. The full review is available on request.\n",
                            labels=("support", f"customer:{customer}"),
                            node=entity,
                            at=day_after(start, 5),
                        )
                    )
                    supports.append([(summary.id, words)])
                world.fact(entity, "AFFECTED", f"customer:{customer}", *supports, start=start, review="extracted")

    # Projects

    def _projects(self) -> None:
        world = self.world
        allocations = ["harbour", "lantern"]
        rows = [
            f"{self.person(who)}: {self.name(f'project:{key}')}"
            for key in allocations
            for who in self.people["projects"][key]["people"]
        ]
        world.document(
            Document(
                id="hr:allocations-2026",
                kind="memo",
                title="Time set aside for projects in 2026",
                text="Half of the working time of these people is set aside until September.\n\n"
                + "\n".join(rows)
                + "\n",
                labels=("people",),
                at="2026-02-16",
            )
        )
        for local, project in self.people["projects"].items():
            entity, labels = f"project:{local}", ("lyra",) if project.get("secret") else STAFF
            lang = project.get("lang", "en")
            about, staffed, sponsored = {
                "ru": ("Цель", "Участник", "Заказчик"),
                "zh": ("目标", "成员", "发起人"),
            }.get(lang, ("Aim", "Works on it", "Sponsor"))
            rows = [f"{staffed}: {self.person(who)}" for who in project["people"]]
            sponsor = f"{sponsored}: {self.person(project['sponsor'])}"
            stop = "。" if lang == "zh" else "."
            document = world.document(
                Document(
                    id=f"plan:{local}",
                    kind="planning",
                    title=f"{project['name']}: plan" if lang == "en" else project["name"],
                    text=f"{project['name']}\n{about}: {project['about']}{stop}\n{sponsor}\n" + "\n".join(rows) + "\n",
                    labels=labels,
                    node=entity,
                    lang=lang,
                    at="2026-02-09",
                )
            )
            world.fact(f"person:{project['sponsor']}", "SPONSORS", entity, [(document.id, sponsor)], start="2026-02-09")
            for who, row in zip(project["people"], rows, strict=True):
                supports = [[(document.id, row)]]
                if local in allocations:
                    supports.append([("hr:allocations-2026", f"{self.person(who)}: {project['name']}")])
                world.fact(f"person:{who}", "WORKS_ON", entity, *supports, start="2026-02-09", review="extracted")
            if project.get("quiet"):
                quiet = [f"{self.person(who)}: {project['name']}" for who in project["quiet"]]
                document = world.document(
                    Document(
                        id=f"plan:{local}-security",
                        kind="planning",
                        title=f"{project['name']}: проверка безопасности"
                        if lang == "ru"
                        else f"{project['name']}: security review",
                        text="Независимую проверку ведут:\n" + "\n".join(quiet) + "\n",
                        labels=("security",),
                        node=entity,
                        lang=lang,
                        at="2026-03-02",
                    )
                )
                for who, row in zip(project["quiet"], quiet, strict=True):
                    world.fact(
                        f"person:{who}",
                        "WORKS_ON",
                        entity,
                        [(document.id, row)],
                        start="2026-03-02",
                        review="extracted",
                    )
        world.document(
            Document(
                id="plan:lyra-risks",
                kind="planning",
                title="Project Lyra: risks",
                text="The seller's licence ends in December and the regulator in Lisbon takes five months. If the name of the seller "
                "becomes known before signing, the price is open again.\n",
                labels=("lyra",),
                node="project:lyra",
                at="2026-04-20",
            )
        )

    # Rotas, trainings, access

    def _compliance(self) -> None:
        self._rotas()
        self._trainings()
        self._access()

    def _members(self, team: str, day: str) -> list[str]:
        return [
            local
            for local, person in self.people["people"].items()
            for name, start, end in terms_of(person["member"])
            if name == team and start <= day and (end is None or day < end)
        ]

    def _rotas(self) -> None:
        world = self.world
        months: dict[str, list[tuple[str, list[tuple[str, str]]]]] = {}
        monday = "2025-07-07"
        turn = 0
        while monday < "2026-07-01":
            months.setdefault(monday[:7], []).append(
                (monday, [(team, self._on_turn(team, monday, turn)) for team in ON_CALL_TEAMS])
            )
            monday, turn = day_after(monday, 7), turn + 1
        for month, weeks in months.items():
            blocks = []
            for week, turns in weeks:
                rows = [self._turn(team, who, week) for team, who in turns]
                blocks.append("\n".join([f"Week from {spoken(week)}", *rows]))
            document = world.document(
                Document(
                    id=f"rota:{month}",
                    kind="rota",
                    title=f"On-call rota of {date.fromisoformat(month + '-01'):%B %Y}",
                    text="The pager passes on Mondays at 09:00 UTC.\n\n" + "\n\n".join(blocks) + "\n",
                    labels=STAFF,
                    at=f"{month}-01",
                )
            )
            for week, turns in weeks:
                for team, who in turns:
                    world.fact(
                        f"person:{who}",
                        "ON_CALL_FOR",
                        f"team:{team}",
                        [(document.id, self._turn(team, who, week))],
                        start=week,
                        end=day_after(week, 7),
                    )

    def _on_turn(self, team: str, monday: str, turn: int) -> str:
        members = self._members(team, monday)
        return members[turn % len(members)]

    def _turn(self, team: str, who: str, week: str) -> str:
        return f"{self.name(f'team:{team}')}: {self.person(who)} ({week})"

    def _trainings(self) -> None:
        world = self.world
        for local, (title, labels) in TRAININGS.items():
            done = []
            for who in self.people["people"]:
                if self.random.random() < 0.85:
                    day = day_after("2025-07-01", self.random.randrange(330))
                    joined = self.people["people"][who]["member"][0].split()[1]
                    done.append((max(day, joined), who))
            done.sort()
            rows = {who: f"{day} {self.person(who)}" for day, who in done}
            document = world.document(
                Document(
                    id=f"training:{local}",
                    kind="training_record",
                    title=f"{local} {title}: who has passed",
                    text=f"{title} is repeated every two years. Passed so far:\n\n" + "\n".join(rows.values()) + "\n",
                    labels=labels,
                    node=f"training:{local}",
                    at="2026-06-01",
                )
            )
            for day, who in done:
                world.fact(f"person:{who}", "PASSED", f"training:{local}", [(document.id, rows[who])], start=day)

    def _access(self) -> None:
        """Quarterly reviews of who may log in to a cluster."""
        world = self.world
        quarters = ["2025-04-01", "2025-07-01", "2025-10-01", "2026-01-01", "2026-04-01"]
        candidates = [
            who
            for who, person in self.people["people"].items()
            if person["member"][-1].split()[0] in {"payments", "identity", "logistics", "data-platform", "reliability"}
        ]
        grants: dict[tuple[str, str], tuple[int, int]] = {}
        for who in candidates:
            for cluster in sorted(self.random.sample(sorted(self.services["clusters"]), 6)):
                first = self.random.randrange(len(quarters))
                joined = self.people["people"][who]["member"][0].split()[1]
                while quarters[first] < joined:
                    first += 1
                last = min(first + 1 + self.random.randrange(5), len(quarters))
                grants[cluster, who] = (first, last)
        for number, quarter in enumerate(quarters):
            blocks = []
            for cluster in self.services["clusters"]:
                names = [who for who in candidates if _within(grants.get((cluster, who)), number)]
                blocks.append("\n".join([f"Access to {cluster}", *(f"{cluster}: {self.person(who)}" for who in names)]))
            following = quarters[number + 1] if number + 1 < len(quarters) else None
            world.document(
                Document(
                    id=f"access-review:{quarter}",
                    kind="access_review",
                    title=f"Access review of the quarter from {spoken(quarter)}",
                    text="Checked by Security against the log-in records of the quarter.\n\n"
                    + "\n\n".join(blocks)
                    + "\n",
                    labels=("security",),
                    at=quarter,
                    valid_from=quarter,
                    valid_to=following,
                )
            )
        for (cluster, who), (first, last) in sorted(grants.items()):
            supports = [
                [(f"access-review:{quarters[n]}", f"{cluster}: {self.person(who)}")] for n in range(first, last)
            ]
            world.fact(
                f"person:{who}",
                "HAS_ACCESS_TO",
                f"cluster:{cluster}",
                *supports,
                start=quarters[first],
                end=quarters[last] if last < len(quarters) else None,
            )

    # Prose

    def _texts(self) -> None:
        world, texts = self.world, self.texts
        for policy in texts["policies"]:
            self._policy(policy)
        for runbook in texts["runbooks"]:
            kind = "cluster" if runbook["node"] in self.services["clusters"] else "service"
            self._prose(runbook, f"runbook:{runbook['id']}", "runbook", STAFF, f"{kind}:{runbook['node']}")
        for note in texts["notes"]:
            kind = "customer" if note["node"] in self.customers["customers"] else "service"
            signed = {"ru": "Записал(а)", "zh": "记录人："}.get(note.get("lang", ""), "Noted by")
            entity = f"{kind}:{note['node']}"
            entry = note | {
                "title": f"Note on {self.name(entity)}",
                "text": f"{note['text']}\n\n{signed} {self.person(note['by'])}",
            }
            self._prose(entry, f"note:{note['id']}", "note", (note["access"],), entity)
        for ticket in texts["tickets"]:
            entity = f"ticket:{ticket['id']}"
            head = [
                f"ticket: {ticket['id']}",
                f"customer: {self.name('customer:' + ticket['customer'])}",
                f"service: {ticket['service']}",
            ]
            entry = ticket | {
                "title": f"{ticket['id']}: {ticket['title']}",
                "text": "\n".join(head) + f"\n\n{ticket['text']}",
            }
            labels = ("support", f"customer:{ticket['customer']}")
            document = self._prose(entry, f"support:{ticket['id']}", "support_ticket", labels, entity)
            world.fact(
                entity, "RAISED_BY", f"customer:{ticket['customer']}", [(document.id, head[1])], start=ticket["at"]
            )
            world.fact(entity, "CONCERNS", f"service:{ticket['service']}", [(document.id, head[2])], start=ticket["at"])
        for memo in texts["memos"]:
            self._prose(memo, memo["id"], "memo", (memo["access"],), None)
        moved = "Priya Raman moves from Payments to Data Platform"
        for who, team, words in (
            ("priya-raman", "data-platform", moved),
            ("eun-ji-park", "reliability", "Eun-ji Park joins Reliability"),
        ):
            world.fact(
                f"person:{who}",
                "MEMBER_OF",
                f"team:{team}",
                [("hr:reorg-2026-07", words)],
                start="2026-07-01",
                review="extracted",
            )
        for post in texts["posts"]:
            self._prose(post, post["id"], "status_post", ("public",), f"incident:{post['incident']}")
        for guide in texts["guides"]:
            self._prose(guide, guide["id"], "guide", ("public",), None)
        for number, talk in enumerate(texts["concerns"], 1):
            self._prose(
                talk | {"title": f"Interview {number} on the purchase of Fennel"},
                talk["id"],
                "interview",
                ("staff",),
                None,
            )

    def _prose(
        self, entry: Mapping[str, Any], document_id: str, kind: str, labels: tuple[str, ...], node: str | None
    ) -> Document:
        return self.world.document(
            Document(
                id=document_id,
                kind=kind,
                title=entry["title"],
                text=entry["text"] + "\n",
                labels=labels,
                node=node,
                lang=entry.get("lang", "en"),
                at=entry["at"],
            )
        )

    def _policy(self, policy: Mapping[str, Any]) -> None:
        world = self.world
        entity = f"policy:{policy['id']}"
        labels = (policy["access"],)
        versions = [(policy["from"], None, policy["text"])]
        if "old" in policy:
            versions.insert(0, (policy["old"]["from"], policy["from"], policy["old"]["text"]))
        governed = [self.name(f"service:{service}") for service in policy["governs"]]
        for start, end, text in versions:
            head = [f"policy: {policy['id']}", f"owner: {self.person(policy['owner'])}"]
            head += [f"applies_to: {', '.join(governed)}"] if governed else []
            document = world.document(
                Document(
                    id=f"policy:{policy['id']}" + (f"@{start}" if end else ""),
                    kind="policy",
                    title=f"{policy['id']} {policy['title']}" + (f" ({start[:4]})" if end else ""),
                    text="\n".join(head) + f"\n\n{text}\n",
                    labels=labels,
                    node=entity,
                    lang=policy.get("lang", "en"),
                    at=start,
                    valid_from=start,
                    valid_to=end,
                )
            )
        for service in policy["governs"]:
            world.fact(entity, "GOVERNS", f"service:{service}", [(document.id, head[2])], start=policy["from"])
        world.fact(entity, "KEPT_BY", f"person:{policy['owner']}", [(document.id, head[1])], start=policy["from"])


def _advisories(access: str) -> list[tuple[str, tuple[str, ...]]]:
    kinds = {"public": ["bulletin"], "security": ["finding"], "both": ["bulletin", "finding"]}[access]
    return [(kind, ("public",) if kind == "bulletin" else ("security",)) for kind in kinds]


def _advisory_text(issue: Mapping[str, Any], package: str, status: str, kind: str) -> str:
    if issue.get("lang") == "ru":
        return f"{issue['title']}. Ошибка найдена в пакете {package}. Пока исправления нет, перенесите задания с двух до четырёх часов ночи.\n"
    if issue.get("lang") == "zh":
        return f"{issue['title']}。受影响的软件包是 {package}。在升级之前，请只加载自己签名的模型文件。\n"
    state = {
        "open": "No corrected version exists yet.",
        "fixed": "A corrected version is out and in use with us.",
        "mitigated": "The flaw remains, but the way to it is closed by configuration.",
    }[status]
    more = (
        " Our own test reached it from a staging host; the trace is kept with the finding."
        if kind == "finding"
        else " Merchants need not do anything themselves."
    )
    return f"{issue['title']}, in {package}. {state}{more}\n"


def _assessment_text(vendor: Mapping[str, Any]) -> str:
    if vendor.get("lang") == "ru":
        return f"{vendor['name']} хранит резервные копии в двух центрах и раз в квартал проверяет восстановление. Замечаний, мешающих работе, нет.\n"
    if vendor.get("lang") == "zh":
        return (
            f"{vendor['name']}按合同只接收去除姓名和电话后的订单数据。现场检查未发现重大问题，下次评估在一年后进行。\n"
        )
    return {
        "approved": f"{vendor['name']} answered all questions and let us read its last audit. Nothing stands against working with it for another year.\n",
        "conditional": f"{vendor['name']} builds on a package with an open critical issue and owes us a plan. Until it comes, no new data is sent.\n",
        "suspended": f"{vendor['name']} did not answer two reminders. Running work may finish; it receives no new data.\n",
    }[vendor["status"]]


def _within(grant: tuple[int, int] | None, number: int) -> bool:
    return grant is not None and grant[0] <= number < grant[1]


def build() -> World:
    """The world of the corpus, the same on every machine."""
    return Builder().build()
