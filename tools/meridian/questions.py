"""The question set: texts by hand, gold worked out from the world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from meridian.build import TODAY
from meridian.gold import Found, Hop, Knowledge, Trail, back, out
from meridian.model import World

READERS: Mapping[str, tuple[str, ...]] = {
    "public": ("public",),
    "engineer": ("public", "staff"),
    "support-agent": ("public", "staff", "support"),
    "analyst": ("public", "staff", "support", "security", "procurement"),
    "people-partner": ("public", "staff", "people"),
    "controller": ("public", "staff", "finance"),
    "compliance-officer": ("public", "staff", "people", "compliance", "security"),
    "director": ("public", "staff", "support", "security", "procurement", "people", "compliance", "finance", "lyra"),
    "customer:*": ("public", "<reader>"),
}
LYRA = ("plan:lyra", "plan:lyra-risks")


def labels_of(reader: str) -> tuple[str, ...]:
    """The labels a reader holds."""
    held = READERS["customer:*"] if reader.startswith("customer:") else READERS[reader]
    return tuple(reader if label == "<reader>" else label for label in held)


class Questions:
    """Collects the rows of questions.dev.jsonl."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rows: list[dict[str, Any]] = []
        self._numbers: Counter[str] = Counter()

    def build(self) -> list[dict[str, Any]]:
        """All questions, family by family."""
        self._single_fragment()
        self._exact_id()
        self._neighbourhood()
        self._bounded_path()
        self._temporal_path()
        self._multi_document()
        self._aggregation()
        self._unanswerable()
        return self.rows

    # Kinds of rows

    def _add(self, family: str, subtype: str, question: str, reader: str, **gold: Any) -> None:
        self._numbers[family] += 1
        row: dict[str, Any] = {
            "qid": f"ml:{family}:{self._numbers[family]}",
            "split": "dev",
            "family": family,
            "subtype": subtype,
            "hops": 0,
            "question": question,
            "answer": [],
            "answerable": True,
            "asked_on": TODAY,
            "reader": reader,
            "topic_entities": [],
            "required_edges": [],
            "required_sources": [],
            "stale_sources": [],
            "forbidden_sources": [],
        }
        self.rows.append(row | gold)

    def text(
        self,
        question: str,
        *sources: str,
        reader: str = "engineer",
        subtype: str = "en",
        family: str = "single_fragment",
        **gold: Any,
    ) -> None:
        """A question that one passage answers; several sources: any of them does."""
        for source in sources:
            assert self.world.readable(source, labels_of(reader)), (question, source)
        required: list[Any] = [sources[0]] if len(sources) == 1 else [{"any_of": list(sources)}]
        self._add(family, subtype, question, reader, required_sources=required, **gold)

    def value(self, question: str, answer: str, source: str, topic: str, reader: str = "engineer", **gold: Any) -> None:
        """A question for a field of one record."""
        self.text(
            question,
            source,
            reader=reader,
            subtype="value",
            family="exact_id",
            answer=[answer],
            topic_entities=[topic],
            **gold,
        )

    def path(
        self,
        family: str,
        question: str,
        starts: Sequence[str] | str,
        hops: Sequence[Hop],
        *,
        reader: str = "engineer",
        subtype: str = "path",
        day: str | None = None,
        within: tuple[str, str] | None = None,
        also: tuple[str, Sequence[Hop]] | None = None,
        **gold: Any,
    ) -> Found:
        """A question for what lies at the end of a path; `also`: a second path to the same ends."""
        starts = [starts] if isinstance(starts, str) else list(starts)
        known = Knowledge(self.world, labels_of(reader), day or TODAY, within)
        found = known.find(starts, hops)
        topics = list(starts)
        trails = list(found.trails)
        length = len(hops)
        if also is not None:
            other = known.find([also[0]], also[1])
            ends = set(found.ends) & set(other.ends)
            trails = [trail for trail in (*trails, *other.trails) if trail.nodes[-1] in ends]
            topics.append(also[0])
            length += len(also[1])
        ends_now = sorted({trail.nodes[-1] for trail in trails})
        assert ends_now, question
        self._add(
            family,
            subtype,
            question,
            reader,
            hops=length,
            answer=[self.world.display(end) for end in ends_now],
            answer_ids=ends_now,
            topic_entities=topics if len(topics) <= 3 else [],
            **self._proof(known, trails, one_path=also is None and len(trails) > len(ends_now))
            | ({"as_of": day} if day else {})
            | gold,
        )
        return found

    def _proof(self, known: Knowledge, trails: Sequence[Trail], *, one_path: bool = False) -> dict[str, Any]:
        edges = list(dict.fromkeys(edge.id for trail in trails for edge in trail.edges))
        required: list[Any] = []
        for edge in edges:
            for source in known.sources(self.world.assertions[edge]):
                if source not in required:
                    required.append(source)
        gold: dict[str, Any] = {
            "required_edges": edges,
            "required_sources": required,
            "stale_sources": known.superseded(self.world.assertions[edge] for edge in edges),
        }
        if one_path:
            gold["one_path_per_answer"] = {}
            for trail in trails:
                gold["one_path_per_answer"].setdefault(
                    self.world.display(trail.nodes[-1]), [edge.id for edge in trail.edges]
                )
        return gold

    def count(
        self,
        question: str,
        starts: Sequence[str] | str,
        hops: Sequence[Hop],
        *,
        reader: str = "engineer",
        within: tuple[str, str] | None = None,
    ) -> None:
        """How many distinct things lie at the end."""
        starts = [starts] if isinstance(starts, str) else list(starts)
        known = Knowledge(self.world, labels_of(reader), TODAY, within)
        found = known.find(starts, hops)
        proof = self._proof(known, found.trails) if hops else {}
        # The number follows from all of them; a budget of evidence shows some. So the sources are not required one by one.
        proof["required_sources"] = []
        self._add(
            "aggregation",
            "count",
            question,
            reader,
            hops=len(hops),
            answer=[str(len(found.ends))],
            topic_entities=starts if len(starts) == 1 else [],
            **proof,
        )

    def most(self, question: str, kind: str, hop: Hop, *, reader: str = "engineer") -> None:
        """Which entity has the most neighbours; the hop leads from what is counted for to what is counted."""
        known = Knowledge(self.world, labels_of(reader), TODAY)
        counted = {
            entity.id: known.find([entity.id], [hop]) for entity in self.world.entities.values() if entity.type == kind
        }
        ranked = sorted(counted, key=lambda entity: -len(counted[entity].ends))
        best, second = ranked[:2]
        assert len(counted[best].ends) > len(counted[second].ends), (question, best, second)
        self._add(
            "aggregation",
            "most",
            question,
            reader,
            hops=1,
            answer=[self.world.display(best)],
            answer_ids=[best],
            **self._proof(known, counted[best].trails) | {"required_sources": []},
        )

    def extreme(self, question: str, start: str, hops: Sequence[Hop], *, last: bool, reader: str = "engineer") -> None:
        """The end that is reached first or last."""
        known = Knowledge(self.world, labels_of(reader), TODAY)
        trails = sorted(known.find([start], hops).trails, key=lambda trail: trail.edges[-1].start or "")
        trail = trails[-1] if last else trails[0]
        self._add(
            "aggregation",
            "last" if last else "first",
            question,
            reader,
            hops=len(hops),
            answer=[self.world.display(trail.nodes[-1])],
            answer_ids=[trail.nodes[-1]],
            topic_entities=[start],
            **self._proof(known, [trail]) | {"stale_sources": []},
        )

    def none(self, subtype: str, question: str, reader: str = "engineer", **gold: Any) -> None:
        """A question that this reader cannot have answered."""
        self._add("unanswerable", subtype, question, reader, answerable=False, **gold)

    # Families

    def _single_fragment(self) -> None:
        ask = self.text
        ask("What should I do when the payout file is late?", "runbook:payouts-late")
        ask("Why were shoppers signed out in a loop?", "write-up:INC-2006")
        ask(
            "How long is order data kept after the last delivery?",
            "policy:POL-02",
            reader="public",
            stale_sources=["policy:POL-02@2023-05-01"],
        )
        ask(
            "What happens to a payout whose payee matches a sanctions list?", "policy:POL-08", "catalog:sanctions-check"
        )
        ask("For how many days a year may staff work from another country?", "policy:POL-11")
        ask("Why did checkout freeze in older browsers?", "write-up:INC-2034", "status:2026-05-19")
        ask("What is the request limit of the programming interface?", "guide:api-limits", reader="public")
        ask(
            "What service credit is due when availability falls below 99.9 per cent?",
            "policy:POL-07",
            reader="public",
            stale_sources=["policy:POL-07@2024-01-01"],
        )
        ask("Why should nobody reset a consumer group to the latest offset?", "runbook:bus-lag")
        ask("How do I add a passkey?", "guide:passkeys", reader="public")
        ask("How do stacked vouchers work?", "note:R13", reader="public")
        ask("How is a webhook signed?", "guide:webhooks", reader="public")
        ask("What do the database clusters cost a month?", "finance:db-cost", reader="controller")
        ask("How many weeks of parental leave do parents take?", "hr:leave-2026")
        ask(
            "What does Oakhollow Outfitters expect after its summer sale?",
            "note:oakhollow-refunds",
            reader="support-agent",
        )
        ask(
            "Why were forty orders of regular customers held?", "support:TKT-8823", reader="customer:castellane-parfums"
        )
        ask("What are the salary bands of 2026?", "hr:bands-2026", reader="people-partner")
        ask("What happens in checkout when fraud screening does not answer in time?", "catalog:fraud-screen")
        for question, *sources in (
            ("Сколько лет хранятся записи о платёжных операциях?", "policy:POL-09", "catalog:audit-log"),
            ("Что делать, если в журнале аудита пробел?", "runbook:audit-gap"),
            ("Почему журнал аудита терял записи о входе по ключу?", "write-up:INC-2030"),
            ("Зачем отключили устаревшие шифры?", "change-ticket:CHG-452"),
            ("Что беспокоит в дежурствах после покупки Fennel?", "interview:04"),
        ):
            ask(question, *sources, subtype="ru")
        ask("Когда вернутся деньги за возврат?", "guide:vozvrat", reader="public", subtype="ru")
        ask("Как выбрать день недели для выплаты?", "note:R19", reader="public", subtype="ru")
        ask(
            "Почему «Северный экспресс» просит предупреждать о работах?",
            "note:severny-tracking",
            reader="support-agent",
            subtype="ru",
        )
        for question, *sources in (
            ("亚太区客户的订单数据可以保存在哪里？", "policy:POL-10"),
            ("库存不一致时应该怎么处理？", "runbook:stock-mismatch"),
            ("为什么会发生库存超卖？", "write-up:INC-2027"),
            ("仓库同步多久读取一次库存？", "catalog:warehouse-sync"),
        ):
            ask(question, *sources, subtype="zh")
        ask("如何设置低库存提醒？", "guide:peizhi", reader="public", subtype="zh")
        ask("青岚物流要求维护避开什么时间？", "note:qinglan-labels", reader="support-agent", subtype="zh")

    def _exact_id(self) -> None:
        def ask(question: str, source: str, reader: str = "engineer", subtype: str = "record") -> None:
            node = self.world.documents[source].node
            self.text(
                question,
                source,
                reader=reader,
                subtype=subtype,
                family="exact_id",
                topic_entities=[node] if node else [],
            )

        ask("What was done in CHG-470?", "change-ticket:CHG-470")
        ask("Show me INC-2036.", "write-up:INC-2036")
        ask("What is VUL-312 about?", "bulletin:VUL-312", "public")
        ask("What does POL-05 say?", "policy:POL-05")
        ask("What is ticket TKT-8838 about?", "support:TKT-8838", "support-agent")
        ask("What is new in R18?", "note:R18", "public")
        ask("chg 441", "change-ticket:CHG-441")
        for question, source, reader in (
            ("What does error X509-2217 mean?", "runbook:cert-rotation", "engineer"),
            ("What does error EP-4091 mean?", "runbook:proxy-hosts", "engineer"),
            ("I get error RL-0600, what now?", "guide:api-limits", "public"),
            ("Where was error CK-1188 reported?", "support:TKT-8801", "support-agent"),
        ):
            self.text(question, source, reader=reader, subtype="code", family="exact_id")
        self.value("What is the risk of CHG-436?", "high", "change-ticket:CHG-436", "change:CHG-436")
        self.value("What is the severity of INC-2003?", "SEV1", "write-up:INC-2003", "incident:INC-2003")
        self.value("When was R17 approved?", "2026-05-14", "deploy:R17", "release:R17")
        self.value("When was R15 deployed?", "2026-03-03", "deploy:R15", "release:R15")
        tenant = self.world.entities["customer:kinross-distillers"].fields["tenant"]
        self.value(
            "What is the tenant number of Kinross Distillers?",
            tenant,
            "account:kinross-distillers",
            "customer:kinross-distillers",
            "support-agent",
        )
        self.value(
            "What is the status of VUL-308?",
            "fixed",
            "bulletin:VUL-308",
            "issue:VUL-308",
            "public",
            stale_sources=["bulletin:VUL-308@2025-07-08"],
        )
        self.value(
            "What was the status of VUL-308 on 1 August 2025?",
            "open",
            "bulletin:VUL-308@2025-07-08",
            "issue:VUL-308",
            "public",
            as_of="2025-08-01",
            stale_sources=["bulletin:VUL-308"],
        )
        ask("Что сделали в CHG-452?", "change-ticket:CHG-452", subtype="ru")
        ask("О чём обращение TKT-8812?", "support:TKT-8812", "support-agent", "ru")
        ask("Что сказано в POL-09?", "policy:POL-09", subtype="ru")
        ask("CHG-447 做了什么？", "change-ticket:CHG-447", subtype="zh")
        ask("工单 TKT-8830 说了什么？", "support:TKT-8830", "customer:haoyu-toys", "zh")
        ask("VUL-318 是什么漏洞？", "bulletin:VUL-318", "public", "zh")

    def _neighbourhood(self) -> None:
        def ask(question: str, start: str, hop: Hop, **more: Any) -> None:
            self.path("neighbourhood", question, start, [hop], **{"subtype": "direct"} | more)

        ask("Which services depend on the event bus?", "service:event-bus", back("DEPENDS_ON"))
        ask("Which services does checkout depend on?", "service:checkout", out("DEPENDS_ON"))
        ask("Which packages does identity include?", "service:identity", out("INCLUDES"))
        ask("Who is in the Security team?", "team:security", back("MEMBER_OF"))
        ask("Who reports to Chiara Monti?", "person:chiara-monti", back("REPORTS_TO"))
        ask("Which clusters are hosted in Dublin?", "place:dublin", back("HOSTED_IN"))
        ask("Which vendors supply notifications?", "service:notifications", back("SUPPLIES"), reader="analyst")
        ask("Which customers does 周安宁 manage?", "person:zhou-anning", back("MANAGED_BY"), reader="support-agent")
        ask("Which services did R18 change?", "release:R18", out("CHANGED"))
        ask("Who works on Project Harbour?", "project:harbour", back("WORKS_ON"))
        ask("Who works on Project Kedr?", "project:kedr", back("WORKS_ON"), subtype="mixed_labels")
        ask("Who works on Project Kedr?", "project:kedr", back("WORKS_ON"), reader="analyst", subtype="mixed_labels")
        ask("Who works on Project Lyra?", "project:lyra", back("WORKS_ON"), reader="director", subtype="confidential")
        ask(
            "Which customers were affected by INC-2012?",
            "incident:INC-2012",
            out("AFFECTED"),
            reader="support-agent",
            subtype="joint",
        )
        ask("Which policies apply to payouts?", "service:payouts", back("GOVERNS"))
        ask(
            "What plan is Brightwater Foods on?",
            "customer:brightwater-foods",
            out("ON_PLAN"),
            reader="customer:brightwater-foods",
        )
        ask(
            "Which clusters does Petr Losev have access to?",
            "person:petr-losev",
            out("HAS_ACCESS_TO"),
            reader="analyst",
        )
        ask("Who owns ledger?", "service:ledger", out("OWNED_BY"), subtype="contradiction")
        ask("Who owns storefront-web?", "service:storefront-web", out("OWNED_BY"), subtype="contradiction")
        ask(
            "Which customers were affected by INC-2003?",
            "incident:INC-2003",
            out("AFFECTED"),
            reader="customer:kinross-distillers",
            subtype="mixed_labels",
        )

    def _bounded_path(self) -> None:
        def ask(question: str, starts: Sequence[str] | str, *hops: Hop, **more: Any) -> Found:
            return self.path("bounded_path", question, starts, hops, **more)

        active = {"status": "active", "tier": "enterprise"}
        found = ask(
            "Which active enterprise customers depend on services touched by last Friday's database certificate change?",
            "change:CHG-482",
            out("TOUCHED"),
            back("CONNECTS_TO"),
            out("USED_BY", **active),
            reader="support-agent",
            subtype="walk_through",
            # The article's own figures: seven paths, two of them stale.
            expected={
                "anchors": ["change:CHG-482", "cluster:db-eu-3"],
                "paths_returned": 7,
                "paths_rejected_as_stale": 2,
            },
        )
        assert (len(found.trails), found.stale, len(found.ends)) == (5, 2, 5), found
        critical = [
            e.id
            for e in self.world.entities.values()
            if e.type == "issue" and (e.fields["status"], e.fields["severity"]) == ("open", "critical")
        ]
        ask(
            "Which vendors use a package with an open critical issue?",
            critical,
            back("HAS_ISSUE"),
            back("USES"),
            reader="analyst",
            subtype="contract",
        )
        ask(
            "Which services connect to clusters hosted in Stockholm?",
            "place:stockholm",
            back("HOSTED_IN"),
            back("CONNECTS_TO"),
        )
        ask(
            "Which customers use services that connect to db-us-2?",
            "cluster:db-us-2",
            back("CONNECTS_TO"),
            out("USED_BY"),
        )
        ask("Who owns the services that R18 changed?", "release:R18", out("CHANGED"), out("OWNED_BY"))
        ask(
            "Which teams maintain services that include xml-anvil?",
            "package:xml-anvil",
            back("INCLUDES"),
            out("MAINTAINED_BY"),
        )
        self.path(
            "bounded_path",
            "Which customers on Legacy Unlimited use fax-relay?",
            "plan:legacy-unlimited",
            [back("ON_PLAN")],
            also=("service:fax-relay", [out("USED_BY")]),
            reader="support-agent",
            subtype="join",
        )
        self.path(
            "bounded_path",
            "Which incidents started after releases that changed identity and affected customers on Legacy Unlimited?",
            "service:identity",
            [back("CHANGED"), back("STARTED_AFTER")],
            also=("plan:legacy-unlimited", [back("ON_PLAN"), back("AFFECTED")]),
            reader="support-agent",
            subtype="join",
        )
        ask(
            "Which vendors supply services that connect to db-eu-3?",
            "cluster:db-eu-3",
            back("CONNECTS_TO"),
            back("SUPPLIES"),
            reader="analyst",
        )
        ask(
            "Which issues affect packages that checkout includes?",
            "service:checkout",
            out("INCLUDES"),
            out("HAS_ISSUE"),
            reader="analyst",
        )
        ask(
            "Which issues affect packages that checkout includes?",
            "service:checkout",
            out("INCLUDES"),
            out("HAS_ISSUE"),
            subtype="mixed_labels",
        )
        ask(
            "Which incidents were caused by changes that Chiara Monti approved?",
            "person:chiara-monti",
            back("APPROVED_BY", "change"),
            back("CAUSED_BY"),
        )
        ask(
            "Which active enterprise customers use payouts?",
            "service:payouts",
            out("USED_BY", **active),
            reader="support-agent",
            subtype="filter",
        )
        ask(
            "Which tier 1 services connect to db-us-2?",
            "cluster:db-us-2",
            back("CONNECTS_TO", criticality="tier 1"),
            subtype="filter",
        )
        ask(
            "Who has access to clusters touched by CHG-464?",
            "change:CHG-464",
            out("TOUCHED"),
            back("HAS_ACCESS_TO"),
            reader="analyst",
        )
        ask(
            "Which projects do people who report to Henrik Solberg work on?",
            "person:henrik-solberg",
            back("REPORTS_TO"),
            out("WORKS_ON"),
        )
        ask(
            "Which vendors use the package that VUL-310 affects?",
            "issue:VUL-310",
            back("HAS_ISSUE"),
            back("USES"),
            reader="analyst",
            subtype="joint",
        )
        ask(
            "Which customers use services maintained by the Logistics team?",
            "team:logistics",
            back("MAINTAINED_BY"),
            out("USED_BY"),
        )
        ask(
            "Which services are owned by members of the Storefront team?",
            "team:storefront",
            back("MEMBER_OF"),
            back("OWNED_BY"),
        )

    def _temporal_path(self) -> None:
        def ask(question: str, start: str, *hops: Hop, **more: Any) -> None:
            self.path("temporal_path", question, start, hops, **{"subtype": "at"} | more)

        self._event(
            "Who owned checkout when release R17 was approved?",
            "service:checkout",
            out("OWNED_BY"),
            "APPROVED_BY:R17:ines-carvalho:2026-05-14",
            required_sources=["deploy:R17", "directory:2026-05-12"],
            forbidden_sources=["directory:current"],
        )
        ask("Who owned secrets-vault on 1 March 2025?", "service:secrets-vault", out("OWNED_BY"), day="2025-03-01")
        ask("Who owned payouts on 2025-09-15?", "service:payouts", out("OWNED_BY"), day="2025-09-15")
        ask(
            "Who led the Logistics team in January 2025?",
            "team:logistics",
            back("LEADS"),
            within=("2025-01-01", "2025-02-01"),
            day="2025-01-01",
            subtype="during",
        )
        ask(
            "Which plan was Brightwater Foods on in 2023?",
            "customer:brightwater-foods",
            out("ON_PLAN"),
            within=("2023-01-01", "2024-01-01"),
            day="2023-01-01",
            reader="support-agent",
            subtype="during",
        )
        ask(
            "Who managed Oakhollow Outfitters on 1 May 2024?",
            "customer:oakhollow-outfitters",
            out("MANAGED_BY"),
            day="2024-05-01",
            reader="support-agent",
        )
        ask("Who was on call for Payments on 19 May 2026?", "team:payments", back("ON_CALL_FOR"), day="2026-05-19")
        ask("Who is on call for the Identity team now?", "team:identity", back("ON_CALL_FOR"))
        self._event(
            "Who owned ledger when INC-2003 started?",
            "service:ledger",
            out("OWNED_BY"),
            "LED_BY:INC-2003:gareth-pryce:2025-06-24",
            edge_required=False,
        )
        ask(
            "Which team was Rafael Duarte in on 1 October 2025?",
            "person:rafael-duarte",
            out("MEMBER_OF"),
            day="2025-10-01",
        )
        ask(
            "Which releases changed checkout in 2026?",
            "service:checkout",
            back("CHANGED"),
            within=("2026-01-01", "2027-01-01"),
            subtype="during",
        )
        ask(
            "Which incidents hit checkout between December 2025 and February 2026?",
            "service:checkout",
            back("IMPACTED"),
            within=("2025-12-01", "2026-03-01"),
            subtype="during",
        )
        ask(
            "Who had access to db-eu-2 on 15 August 2025?",
            "cluster:db-eu-2",
            back("HAS_ACCESS_TO"),
            day="2025-08-15",
            reader="analyst",
        )
        ask(
            "Which changes did Gareth Pryce approve in June 2026?",
            "person:gareth-pryce",
            back("APPROVED_BY", "change"),
            within=("2026-06-01", "2026-07-01"),
            subtype="during",
            stale_sources=[],
        )
        ask(
            "Which services did Mara Okafor own in 2025?",
            "person:mara-okafor",
            back("OWNED_BY"),
            within=("2025-01-01", "2026-01-01"),
            day="2025-01-01",
            subtype="during",
        )
        ask(
            "Which changes touched db-eu-3 before June 2026?",
            "cluster:db-eu-3",
            back("TOUCHED"),
            within=("0001", "2026-06-01"),
            subtype="before",
        )
        ask("Which customers used refunds on 1 March 2026?", "service:refunds", out("USED_BY"), day="2026-03-01")
        self._when("When did Dmitri Saveliev join the Payments team?", "MEMBER_OF:dmitri-saveliev:payments:2026-05-26")

    def _event(
        self, question: str, start: str, hop: Hop, event: str, *, edge_required: bool = True, **gold: Any
    ) -> None:
        """What held when something happened."""
        happened = self.world.assertions[event]
        known = Knowledge(self.world, labels_of("engineer"), happened.start or "")
        trails = known.find([start], [hop]).trails
        proof = self._proof(known, trails)
        if edge_required:
            proof["required_edges"].append(event)
        ends = sorted({trail.nodes[-1] for trail in trails})
        self._add(
            "temporal_path",
            "event",
            question,
            "engineer",
            **{
                "hops": 2,
                "answer": [self.world.display(end) for end in ends],
                "answer_ids": ends,
                "topic_entities": [start, happened.s],
                "as_of": happened.start,
            }
            | proof
            | gold,
        )

    def _when(self, question: str, edge: str) -> None:
        """The day a fact began."""
        assertion = self.world.assertions[edge]
        known = Knowledge(self.world, labels_of("engineer"), TODAY)
        trail = Trail(nodes=(assertion.s, assertion.o), edges=(assertion,))
        self._add(
            "temporal_path",
            "when",
            question,
            "engineer",
            hops=1,
            answer=[assertion.start],
            topic_entities=[assertion.s],
            **self._proof(known, [trail]) | {"stale_sources": []},
        )

    def _multi_document(self) -> None:
        def ask(question: str, start: str, *hops: Hop, **more: Any) -> None:
            self.path("multi_document", question, start, hops, **{"subtype": "chain"} | more)

        ask("Who owns the service that INC-2038 impacted?", "incident:INC-2038", out("IMPACTED"), out("OWNED_BY"))
        ask(
            "Which team maintains the service that TKT-8823 concerns?",
            "ticket:TKT-8823",
            out("CONCERNS"),
            out("MAINTAINED_BY"),
            reader="support-agent",
        )
        ask(
            "Who manages the customer that raised TKT-8819?",
            "ticket:TKT-8819",
            out("RAISED_BY"),
            out("MANAGED_BY"),
            reader="support-agent",
        )
        ask(
            "Who leads the team that maintains catalogue-search?",
            "service:catalogue-search",
            out("MAINTAINED_BY"),
            back("LEADS"),
        )
        ask("Who approved the release that fixed VUL-308?", "issue:VUL-308", out("FIXED_IN"), out("APPROVED_BY"))
        ask("Who led the incident that CHG-436 caused?", "change:CHG-436", back("CAUSED_BY"), out("LED_BY"))
        ask(
            "What plan is the customer that raised TKT-8844 on?",
            "ticket:TKT-8844",
            out("RAISED_BY"),
            out("ON_PLAN"),
            reader="support-agent",
        )
        ask("Who is the line manager of the owner of payouts?", "service:payouts", out("OWNED_BY"), out("REPORTS_TO"))
        ask(
            "In which office does the owner of the event bus work?",
            "service:event-bus",
            out("OWNED_BY"),
            out("BASED_IN"),
        )
        ask(
            "Which clusters do the services that INC-2024 impacted connect to?",
            "incident:INC-2024",
            out("IMPACTED"),
            out("CONNECTS_TO"),
        )
        ask(
            "Who assessed the vendor that supplies reporting?",
            "service:reporting",
            back("SUPPLIES"),
            out("ASSESSED_BY"),
            reader="analyst",
        )
        ask(
            "Who leads the team that maintains the service that R11 changed?",
            "release:R11",
            out("CHANGED"),
            out("MAINTAINED_BY"),
            back("LEADS"),
        )
        self.path(
            "multi_document",
            "Which customers that use payouts were affected by INC-2012?",
            "service:payouts",
            [out("USED_BY")],
            also=("incident:INC-2012", [out("AFFECTED")]),
            reader="support-agent",
            subtype="join",
        )
        self.path(
            "multi_document",
            "Which services that include quorum-json connect to db-eu-3?",
            "package:quorum-json",
            [back("INCLUDES")],
            also=("cluster:db-eu-3", [back("CONNECTS_TO")]),
            subtype="join",
        )

    def _aggregation(self) -> None:
        self.count("How many services connect to db-eu-3?", "cluster:db-eu-3", [back("CONNECTS_TO")])
        self.count("How many customers use checkout?", "service:checkout", [out("USED_BY")])
        self.count("How many incidents did Gareth Pryce lead?", "person:gareth-pryce", [back("LED_BY")])
        self.count("How many people are in the Reliability team?", "team:reliability", [back("MEMBER_OF")])
        self.count("How many services does the Payments team maintain?", "team:payments", [back("MAINTAINED_BY")])
        self.count(
            "How many customers are on Enterprise 2024?",
            "plan:enterprise-2024",
            [back("ON_PLAN")],
            reader="support-agent",
        )
        self.count("How many people have passed TR-4?", "training:TR-4", [back("PASSED")], reader="compliance-officer")
        self.count("How many vendors use xml-anvil?", "package:xml-anvil", [back("USES")], reader="analyst")
        self.count(
            "How many active enterprise customers use storefront-web?",
            "service:storefront-web",
            [out("USED_BY", status="active", tier="enterprise")],
            reader="support-agent",
        )
        self.count(
            "How many changes did Chiara Monti approve in 2026?",
            "person:chiara-monti",
            [back("APPROVED_BY", "change")],
            within=("2026-01-01", "2027-01-01"),
        )
        for reader in ("public", "analyst"):
            self._issues("How many open critical issues are there?", reader)
        self.most("Which service was impacted by the most incidents?", "service", back("IMPACTED"))
        self.most("Which cluster do the most services connect to?", "cluster", back("CONNECTS_TO"))
        self.most(
            "Which customer was affected by the most incidents?", "customer", back("AFFECTED"), reader="support-agent"
        )
        self.extreme("Which release changed checkout first?", "service:checkout", [back("CHANGED")], last=False)
        self.extreme(
            "What was the latest incident that hit identity?", "service:identity", [back("IMPACTED")], last=True
        )
        self.path(
            "aggregation",
            "List all services that include tlskit.",
            "package:tlskit",
            [back("INCLUDES")],
            subtype="list",
        )
        self.path(
            "aggregation",
            "List all incidents that Noor Haddad led.",
            "person:noor-haddad",
            [back("LED_BY")],
            subtype="list",
        )
        interviews = sorted(d for d in self.world.documents if d.startswith("interview:"))
        self._add(
            "aggregation",
            "theme",
            "What concerns recur across all interviews about the purchase of Fennel?",
            "engineer",
            required_sources=interviews,
        )
        reviews = sorted(d.id for d in self.world.documents.values() if d.kind == "incident_review")
        self._add(
            "aggregation",
            "theme",
            "What are the recurring themes across all incident reviews?",
            "engineer",
            required_sources=[{"any_of": reviews}],
        )

    def _issues(self, question: str, reader: str) -> None:
        known = [
            entity.id
            for entity in self.world.entities.values()
            if entity.type == "issue"
            and (entity.fields["status"], entity.fields["severity"]) == ("open", "critical")
            and any(
                d.node == entity.id and self.world.readable(d.id, labels_of(reader))
                for d in self.world.documents.values()
            )
        ]
        self._add("aggregation", "count", question, reader, answer=[str(len(known))])

    def _unanswerable(self) -> None:
        none = self.none
        for question in (
            "Who works on Project Lyra?",
            "Who sponsors Project Lyra?",
            "What are the risks of Project Lyra?",
        ):
            none("denied", question, forbidden_sources=list(LYRA))
        none("denied", "Who works on Project Lyra?", "analyst", forbidden_sources=list(LYRA))
        none("denied", "Which projects does Leo Castellan work on?", forbidden_sources=list(LYRA))
        none("denied", "Which vendors use xml-anvil?", "public")
        none("denied", "What is VUL-301 about?", "public", forbidden_sources=["finding:VUL-301"])
        none(
            "denied",
            "What plan is Kinross Distillers on?",
            "engineer",
            forbidden_sources=["account:kinross-distillers"],
        )
        none(
            "denied",
            "What plan is Kinross Distillers on?",
            "customer:brightwater-foods",
            forbidden_sources=["account:kinross-distillers"],
        )
        none("denied", "Who had access to db-eu-2 on 15 August 2025?", "support-agent")
        none("denied", "Which customers were affected by INC-2012?", "engineer")
        none("absent", "Which incidents did CHG-470 cause?")
        none("absent", "Which customers use secrets-vault?")
        none("absent", "Which vendors supply payouts?", "analyst")
        none("absent", "Which releases changed refunds?")
        none("absent", "Which policies apply to recommendations?")
        none("unknown_id", "What is CHG-999?")
        none("unknown_id", "Which customers were affected by INC-2999?", "support-agent")
        none("unknown_id", "Who approved R42?")
        none("unknown_id", "What does POL-44 say?")
        none("unknown_id", "Кто утвердил CHG-998?")
        none("outside_lifetime", "Who owned checkout on 1 May 2021?")
        none("outside_lifetime", "Which plan was Granite Run on in 2023?", "support-agent")
        none("outside_lifetime", "Who was on call for Payments on 24 December 2024?")
        none("outside_lifetime", "Who led the Storefront team in 2019?")


def questions(world: World) -> list[dict[str, Any]]:
    """The rows of questions.dev.jsonl."""
    return Questions(world).build()
