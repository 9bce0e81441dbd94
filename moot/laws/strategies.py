"""Laws of a strategy's way from candidate to production."""

from __future__ import annotations

from typing import Any, Final

from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent
from moot.laws.trading import Desk

DEPLOYS: Final = ("DEPLOY", "DEPLOY_MODIFIED")


class MovesFollowEachOther(Memory, source="4.1, 4.3, R-D20"):
    """A strategy is moved from where it stands, along its way; what stands in staging is proposed."""

    def __init__(self) -> None:
        self.stands: Recent[str, str] = Recent()

    @hears("STRATEGY_MOVED")
    def moved(self, message: Message) -> Findings:
        """Hold a move against the one before it."""
        body = message["body"]
        name, came, to = body["strategy_id"], body["from"], body["to"]
        stood = self.stands.get(name)
        self.stands[name] = to
        if message["author"] == "admin":
            return ()
        if stood is None and message["author"] != "evolver" and to not in ("staging", "production"):
            return ()  # System B gives up what it says it holds, and the log never named: that harms nobody
        if came != stood:
            return (f"{name} is moved from {came}, it stood in {stood}",)
        if message["author"] == "evolver" and to != "candidates":
            return (f"{name} is moved to {to} by System A",)
        if to == "production" and came != "staging":
            return (f"{name} is moved from {came} to production",)
        return ()

    @hears("DEPLOY_PROPOSAL", "PROMOTION_PROPOSAL")
    def proposed(self, message: Message) -> Findings:
        """Hold a proposal against where the strategy stands."""
        name = message["body"]["strategy_id"]
        stands = self.stands.get(name, "no place")
        return () if stands == "staging" else (f"{name} stands in {stands}, not in staging",)


class DeployedByTheTable(Memory, source="4.1, R-B1, R-B2"):
    """Two reviews decide a deployment as the table says, the admin where they disagree or one is missing."""

    def __init__(self) -> None:
        self.reviews: Recent[str, dict[str, Any]] = Recent()

    @hears("DEPLOY_REVIEW")
    def reviewed(self, message: Message) -> Findings:
        """Keep a review."""
        reviews = self.reviews[message["case_id"]] = self.reviews.get(message["case_id"], {})
        reviews[message["body"]["form"]] = message["body"]
        return ()

    @hears("DEPLOY_DECISION")
    def decided(self, message: Message) -> Findings:
        """Hold a decision against the reviews."""
        reviews = self.reviews.get(message["case_id"], {})
        wanted, given = (
            _deployment(reviews.get("guardian"), reviews.get("trader")),
            message["body"]["decision"],
        )
        return () if given == wanted else (f"decides {given}, the table {wanted}",)


def _deployment(guardian: dict[str, Any] | None, trader: dict[str, Any] | None) -> str:
    if guardian is not None and guardian["risk_assessment"] == "excessive":
        return "REJECT"
    if guardian is None or trader is None:
        return "ESCALATE"
    is_ready, is_elevated = trader["executability"] == "ready", guardian["risk_assessment"] == "elevated"
    if (is_ready and trader["liquidity_concern"]) or (is_elevated and not is_ready):
        return "ESCALATE"
    return "DEPLOY" if is_ready and not is_elevated else "DEPLOY_MODIFIED"


class ProductionHasItsGates(Memory, source="4.3, R-B2, R-B3"):
    """Production takes five sessions on paper and two approving reviews; one rejects, one extends, twice at most."""

    def __init__(self) -> None:
        self.closes = 0
        self.staged: Recent[str, int] = Recent()
        self.reviews: Recent[str, list[str]] = Recent()
        self.extended: Recent[str, int] = Recent()
        self.strategies: Recent[str, str] = Recent()
        self.promoted: Recent[str, int] = Recent()
        self.before_panels: Recent[str, int] = Recent()

    @hears("PANEL_OPENED")
    def panelled(self, message: Message) -> Findings:
        """Note that a panel may say no, too."""
        self.before_panels[message["body"].get("parent_id", "")] = message["seq"]
        return ()

    @hears("MARKET_CLOSE")
    def closed(self, message: Message) -> Findings:
        """Count the sessions."""
        self.closes += 1
        return ()

    @hears("PROMOTION_PROPOSAL")
    def proposed(self, message: Message) -> Findings:
        """Hold a proposal against the sessions since staging."""
        body = message["body"]
        self.strategies[message["case_id"]] = body["strategy_id"]
        sessions = self.closes - self.staged.get(body["strategy_id"], self.closes)
        if body["days"] < 5:
            return (f"{body['strategy_id']} is proposed after {body['days']} days",)
        if body["days"] > sessions:
            return (
                f"{body['strategy_id']} is said to have {body['days']} days, and {sessions} sessions closed",
            )
        return ()

    @hears("PROMOTION_REVIEW")
    def reviewed(self, message: Message) -> Findings:
        """Keep a review."""
        case = message["case_id"]
        self.reviews[case] = [*self.reviews.get(case, ()), message["body"]["recommendation"]]
        return ()

    @hears("PROMOTION_DECISION")
    def decided(self, message: Message) -> Findings:
        """Hold a decision against the reviews."""
        case, given = message["case_id"], message["body"]["decision"]
        name, reviews = self.strategies.get(case, ""), self.reviews.get(case, [])
        wanted = "PROMOTE" if reviews == ["approve", "approve"] else "EXTEND"
        if "reject" in reviews or (wanted == "EXTEND" and self.extended.get(name, 0) >= 2):
            wanted = "REJECT"
        if given == "EXTEND":
            self.extended[name] = self.extended.get(name, 0) + 1
        elif given == "PROMOTE":
            self.promoted[name] = message["seq"]
        if given == wanted or (given != "PROMOTE" and case in self.before_panels):
            return ()
        return (f"decides {given} on {reviews}, the table {wanted}",)

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note that the Operator's silence extends too, and that a panel which nobody opened may say no."""
        name, owed = self.strategies.get(message["case_id"] or ""), message["body"]["obligation_id"] or ""
        if name is not None and "/panel/" in owed:
            self.before_panels[message["case_id"]] = message["seq"]
        if name is not None and "/decision" in owed:
            self.extended[name] = self.extended.get(name, 0) + 1
        return ()

    @hears("STRATEGY_MOVED")
    def moved(self, message: Message) -> Findings:
        """Hold a move to production against its promotion."""
        body = message["body"]
        name = body["strategy_id"]
        if body["to"] == "staging":
            self.staged[name] = self.closes
        if body["to"] != "production":
            self.extended.pop(name, None)
            return ()
        decided = self.promoted.pop(name, None)
        if message["author"] != "admin" and decided is None:
            return (f"{name} goes to production, and nobody decided to promote it",)
        return ()


class OnlyWhatIsDeployedTrades(Desk, source="4.1, R-B12", hears_facts=True):
    """No position opens or grows for a strategy that was not approved and deployed, or that was taken back."""

    def __init__(self) -> None:
        super().__init__()
        self.proposed: Recent[str, str] = Recent()
        self.deployed: set[str] = set()

    @hears("DEPLOY_PROPOSAL")
    def proposing(self, message: Message) -> Findings:
        """Note what a deployment is about."""
        self.proposed[message["case_id"]] = message["body"]["strategy_id"]
        return ()

    @hears("DEPLOY_DECISION")
    def decided(self, message: Message) -> Findings:
        """Note a deployment."""
        if message["body"]["decision"] in DEPLOYS:
            self.deployed.add(self.proposed.get(message["case_id"], ""))
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note a deployment that the admin wanted."""
        if message["body"]["outcome"] == "DEPLOY":
            self.deployed.add(self.proposed.get(message["case_id"], ""))
        return ()

    @hears("STRATEGY_MOVED")
    def moved(self, message: Message) -> Findings:
        """Note what is in production, and what is taken back."""
        body = message["body"]
        if body["to"] == "production":
            self.deployed.add(body["strategy_id"])
        else:
            self.deployed.discard(body["strategy_id"])
        return ()

    def judge(self, message: Message) -> Findings:
        """Hold what grows a position against the deployments."""
        name = self.positions.position(message)[0]
        if name in self.deployed:
            return ()
        grows = self.positions.grows(message)
        return (f"{grows}, and nobody deployed it",) if grows else ()
