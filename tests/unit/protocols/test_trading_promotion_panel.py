"""A promotion before a panel: when it is asked, what binds, what silence and shrinking lead to (R-B2, R-B3)."""

from __future__ import annotations

from typing import Any

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel.contract import ROLES, as_json, contract_from
from moot.protocols.panel.messages import PanelOpened, Phase1, Phase2, Synthesis
from moot.protocols.panel.seats import SYNTHESIZER
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles import bodies
from tests.doubles.life_table import LifeTable, notice
from tests.doubles.panel_samples import FOCUS, phase1, report, synthesis
from tests.unit.protocols.test_trading_promotion import decision, guardian, proposal, trader

OPERATOR, GUARDIAN, TRADER = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT

ACCEPT, MINOR = "editorial_decision=accept", "editorial_decision=minor_revision"
MAJOR, REJECT = "editorial_decision=major_revision", "editorial_decision=reject"
EITHER = "editorial_decision=reject_or_major_revision"


def contract_that_says(action: str) -> dict[str, Any]:
    """Make a contract for strategies by which a block of D1 leads to this action."""
    plain = as_json(FOCUS)
    plain["contract_id"] = "strategy/reviewer_methodology_focus/v1"
    plain["failure_conditions"][0]["action"] = action
    return plain


class PanelledTable(LifeTable):
    """A desk whose promotions may go before a panel."""

    def __init__(self, say: str, extensions: int = 0) -> None:
        self.config = {"panel": {"promotions": say}}
        super().__init__()
        self.deploy()
        self.trade_days(5)
        for n in range(extensions):
            self.review("approve", "extend_validation")
            self.say(OPERATOR, decision("EXTEND", 3, n + 1))
            self.trade_days(3)

    def review(self, guardians: str = "approve", traders: str = "approve") -> None:
        assert self.broke(self.tell(OPERATOR, proposal(self))) == ""
        self.say(GUARDIAN, guardian(guardians))
        self.say(TRADER, trader(traders))

    def convene(self, contract: dict[str, Any] | None = None, **how: Any) -> Any:
        promotion = self.last("PROMOTION_PROPOSAL").case_id or ""
        body = PanelOpened(
            parent_id=promotion,
            contract=contract_that_says(REJECT) if contract is None else contract,
            title="Promotion of strat_1",
            field="trading strategies",
            word_count=500,
            content_ref="dossier/0123456789abcdef",
        )
        return self.say(how.pop("seat", OPERATOR), body, **how)

    def judge(self, action: str) -> None:
        """Open a panel and let it come to this decision."""
        plain = contract_that_says(action)
        contract = contract_from(plain)
        self.convene(plain)
        scores: Any = {} if action == ACCEPT else {"D1": "block"}
        for role in ROLES[contract.mode]:
            self.say(Seat(role), Phase1(text=phase1(contract)))
            self.say(Seat(role), Phase2(text=report(role, scores, contract=contract)))
        rows = dict.fromkeys(ROLES[contract.mode], scores)
        self.say(SYNTHESIZER, Synthesis(text=synthesis(rows, contract)))
        assert self.last("PANEL_DECIDED").body.decision == action  # type: ignore[attr-defined]

    def decide(self, what: str, row: int = 2, extensions: int = 0) -> str:
        return self.broke(self.say(OPERATOR, decision(what, row, extensions)))

    def too_early(self) -> str:
        """Decide before anybody asks for it."""
        (promotion,) = self.promotions
        env = self.say(OPERATOR, decision("PROMOTE", 2), channel="#b-ops", case_id=promotion)
        return self.broke(env)

    @property
    def promotions(self) -> set[str]:
        return {key for key, state in self.docket.cases.items() if state.kind == "promotion"}

    @property
    def shown(self) -> dict[str, Any]:
        obligation = next(o for o in self.docket.owed_by(OPERATOR) if o.case_id in self.promotions)
        brief = self.rules.types["promotion"].brief
        return brief(self.docket.cases[obligation.case_id], obligation, self.docket.context)


def asked(say: str = "binding", extensions: int = 0) -> PanelledTable:
    table = PanelledTable(say, extensions)
    table.review()
    return table


# ---------------------------------------------------------------- when a panel is asked


@pytest.mark.parametrize("config", [{}, {"panel": {}}, {"panel": {"promotions": "off"}}])
def test_without_a_word_in_the_configuration_nobody_opens_a_panel(config):
    table = PanelledTable("off")
    table.docket.context.config = config
    table.review()
    assert table.obligations() == {("operator", "PROMOTION_DECISION")}
    assert "panel" not in table.shown
    assert table.broke(table.convene(channel="#r-panel")) == "4.3"


@pytest.mark.parametrize("say", ["advisory", "binding"])
def test_the_operator_owes_a_panel_once_both_have_approved(say):
    table = asked(say)
    assert table.obligations() == {("operator", "PANEL_OPENED")}
    assert table.shown["panel"] == {"say": say}
    assert table.too_early() == "4.3"
    env = table.convene()
    assert table.broke(env) == ""
    assert table.docket.cases[env.case_id].parent == table.last("PROMOTION_PROPOSAL").case_id
    assert table.obligations() == set(), "the decision waits for the panel"
    assert table.too_early() == "4.3"


@pytest.mark.parametrize(
    ("guardians", "row", "what"), [("reject", 1, "REJECT"), ("extend_validation", 3, "EXTEND")]
)
def test_what_the_table_does_not_promote_needs_no_panel(guardians, row, what):
    table = PanelledTable("binding")
    table.review(guardians)
    assert table.obligations() == {("operator", "PROMOTION_DECISION")}
    assert table.decide(what, row, int(what == "EXTEND")) == ""


def test_a_dossier_is_judged_under_a_contract_for_strategies():
    table = asked()
    assert table.broke(table.convene(as_json(FOCUS))) == "R-P6"
    assert table.broke(table.convene()) == ""


def test_only_the_operator_opens_the_panel_of_a_promotion_and_only_one():
    table = asked()
    assert table.broke(table.convene(seat=ADMIN, channel="#r-panel")) == "4.3"
    assert table.broke(table.convene(seat=EVOLVER, channel="#r-panel")) == "4.3"
    assert table.broke(table.convene()) == ""
    assert table.broke(table.convene(channel="#r-panel")) == "4.3"


# ---------------------------------------------------------------- what binds


@pytest.mark.parametrize("action", [ACCEPT, MINOR])
def test_a_panel_that_accepts_lets_the_promotion_pass(action):
    table = asked()
    table.judge(action)
    assert table.shown["panel"]["decision"] == action
    assert table.decide("EXTEND", 2, 1) == "R-B3"
    assert table.decide("PROMOTE") == ""
    table.say(OPERATOR, bodies.moved(from_="staging", to="production"))
    table.say(OPERATOR, notice("PROMOTE", "production"))
    assert table.standing().stage == "production"


def test_a_binding_panel_that_wants_a_revision_extends():
    table = asked()
    table.judge(MAJOR)
    assert table.decide("PROMOTE") == "R-B3"
    assert table.decide("REJECT") == "R-B3"
    assert table.decide("EXTEND", 2, 1) == ""
    assert (table.standing().stage, table.standing().extensions) == ("staging", 1)


@pytest.mark.parametrize("action", [REJECT, EITHER])
def test_a_binding_panel_that_rejects_sends_the_strategy_back(action):
    table = asked()
    table.judge(action)
    assert table.decide("PROMOTE") == "R-B3"
    assert table.decide("EXTEND", 2, 1) == "R-B3"
    assert table.decide("REJECT") == ""
    table.say(OPERATOR, bodies.moved(from_="staging", to="candidates"))
    table.say(OPERATOR, notice("WITHDRAW", "candidates"))
    assert table.standing().stage == "candidates"


@pytest.mark.parametrize("action", [MAJOR, REJECT])
def test_an_advisory_panel_is_shown_and_forbids_nothing(action):
    table = asked("advisory")
    table.judge(action)
    assert table.shown["panel"]["decision"] == action
    assert table.shown["decision"] == "PROMOTE"
    assert table.decide("PROMOTE") == ""


@pytest.mark.rule("R-B3")
def test_r_b3_a_third_extension_by_the_panel_is_a_rejection():
    table = asked(extensions=2)
    table.judge(MAJOR)
    assert table.decide("EXTEND", 2, 3) == "R-B3"
    assert table.decide("REJECT", 2, 2) == ""


@pytest.mark.rule("K4")
def test_k4_what_the_panel_has_to_say_is_settled_when_it_is_asked():
    table = asked()
    table.docket.context.config = {"panel": {"promotions": "off"}}
    table.judge(REJECT)
    assert table.decide("PROMOTE") == "R-B3"


# ---------------------------------------------------------------- silence and shrinking


@pytest.mark.rule("R-B2")
@pytest.mark.parametrize(("say", "what"), [("binding", "EXTEND"), ("advisory", "PROMOTE")])
def test_r_b2_a_shrunk_panel_is_no_consent(say, what):
    table = asked(say)
    table.convene()
    table.wait(minutes=41)
    assert table.last("PANEL_ABORTED").body.tag.startswith("[PANEL-SHRUNK")
    assert table.shown["panel"]["why"].startswith("[PANEL-SHRUNK")
    assert table.decide(what, 2, int(what == "EXTEND")) == ""


@pytest.mark.rule("R-B2")
@pytest.mark.parametrize(("say", "what"), [("binding", "EXTEND"), ("advisory", "PROMOTE")])
def test_r_b2_an_operator_that_opens_no_panel_gets_no_consent(say, what):
    table = asked(say)
    table.wait(minutes=20)
    assert table.last("RULING").body.rule == "R-B2"
    assert table.shown["panel"]["why"] == "no panel was opened"
    assert table.decide(what, 2, int(what == "EXTEND")) == ""


@pytest.mark.parametrize(("say", "what"), [("binding", "EXTEND"), ("advisory", "PROMOTE")])
def test_a_promotion_does_not_wait_for_ever_and_a_late_verdict_changes_nothing(say, what):
    table = asked(say)
    table.convene()
    contract = contract_from(contract_that_says(REJECT))
    roles = ROLES[contract.mode]
    # Each uses all of its time, and both attempts of Phase 1.
    for text in ("nothing", phase1(contract)):
        table.wait(minutes=39)
        for role in roles:
            table.say(Seat(role), Phase1(text=text))
    table.wait(minutes=51)
    assert table.obligations() == set()
    table.wait(minutes=1)
    ruling = table.last("RULING").body
    assert (ruling.outcome, ruling.reason, ruling.rule) == ("void", "panel_late", "R-B2")
    assert table.shown["panel"]["why"] == "the panel took too long"
    for role in roles:
        table.say(Seat(role), Phase2(text=report(role, contract=contract)))
    table.say(SYNTHESIZER, Synthesis(text=synthesis(None, contract)))
    assert table.last("PANEL_DECIDED").body.decision == ACCEPT
    assert table.shown["panel"]["decision"] == ""
    assert table.decide(what, 2, int(what == "EXTEND")) == ""


@pytest.mark.rule("R-B3")
def test_r_b3_a_silent_operator_does_not_soften_what_the_panel_rejected():
    table = asked()
    table.judge(REJECT)
    table.wait(minutes=20)
    assert table.last("RULING").body.outcome == "REJECT"
    assert table.obligations() == {("operator", "STRATEGY_MOVED")}


@pytest.mark.rule("R-B3")
def test_r_b3_a_silent_operator_does_not_promote_what_the_panel_accepted():
    table = asked()
    table.judge(ACCEPT)
    table.wait(minutes=20)
    assert (table.standing().stage, table.standing().extensions) == ("staging", 1)


@pytest.mark.rule("K21")
def test_k21_a_stop_ends_the_promotion_while_its_panel_sits():
    table = asked()
    table.convene()
    table.say(ADMIN, Stop(scope="B", why="enough"), channel="#admin")
    assert [e.outcome for e in table.docket.ended.values() if e.kind == "promotion"] == ["stopped"]
