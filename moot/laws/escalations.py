"""Laws of asking the admin: what is asked is answered, or expires, and silence is no consent."""

from __future__ import annotations

from typing import Final

from moot.laws.instants import Uptime, minutes
from moot.laws.law import OVERTAKEN, Findings, Memory, Message, hears
from moot.laws.recent import Recent

FOUR_HOURS: Final = 240
LATE: Final = 0.1
"""Minutes: the page before may have been seconds late, and this one is not."""
SLACK: Final = 10
"""Minutes."""


def _within(message: Message) -> float:
    """Return the minutes for an answer that an ESCALATION gives: four hours where it says nothing else (R-G16)."""
    return (message["body"].get("within_s") or FOUR_HOURS * 60) / 60


class EscalationsEndOnce(Memory, source="5.3, R-E2"):
    """An escalation ends once: answered by an admin, expired after its time without an answer, or withdrawn."""

    def __init__(self) -> None:
        self.within: Recent[str, float] = Recent()
        self.open: Recent[str, str] = Recent()
        self.answered: Recent[str, int] = Recent()

    @hears("ESCALATION")
    def opened(self, message: Message) -> Findings:
        """Note one that opens."""
        self.open[message["case_id"]] = message["sent_at"]
        self.within[message["case_id"]] = _within(message)
        return ()

    @hears("ESCALATION_ANSWER")
    def replied(self, message: Message) -> Findings:
        """Note an answer."""
        if message["case_id"] in self.open:
            self.answered.setdefault(message["case_id"], message["seq"])
        return ()

    @hears("ESCALATION_RESOLVED")
    def resolved(self, message: Message) -> Findings:
        """Hold an end against what came before it."""
        case, how = message["case_id"], message["body"]["how"]
        since, answer = self.open.pop(case, None), self.answered.pop(case, None)
        if since is None:
            return ("it was not open",)
        if how == "answered" and answer is None:
            return ("is called answered, and no answer stands",)
        if how == "expired" and answer is not None and message["seq"] <= answer + OVERTAKEN:
            self.open[case], self.answered[case] = since, answer
            return ()
        if how == "expired" and answer is not None:
            return (f"is called expired, and seq {answer} answers it",)
        within = self.within.get(case, FOUR_HOURS)
        if how == "expired" and minutes(since, message["sent_at"]) < within:
            return (f"expired less than {within:g} minutes after {since}",)
        return ()


class AnswersChoose(Memory, source="R-E2, R-E4"):
    """An answer that counts comes while it is asked for, and chooses one of the options or is a text."""

    def __init__(self) -> None:
        self.options: Recent[str, set[int]] = Recent()

    @hears("ESCALATION")
    def opened(self, message: Message) -> Findings:
        """Note what there is to choose."""
        self.options[message["case_id"]] = {one["n"] for one in message["body"]["options"]}
        return ()

    @hears("ESCALATION_ANSWER")
    def answered(self, message: Message) -> Findings:
        """Hold an answer against the options."""
        options, chosen = self.options.get(message["case_id"]), message["body"]["option"]
        if options is None:
            return ("nothing is asked, or no longer",)
        return () if chosen is None or chosen in options else (f"chooses {chosen} of {sorted(options)}",)

    @hears("ESCALATION_RESOLVED")
    def resolved(self, message: Message) -> Findings:
        """Note an end."""
        self.options.pop(message["case_id"], None)
        return ()


class NobodyIsAskedForEver(Memory, source="5.3, R-E2"):
    """An escalation is over after four hours, or what else it gives, in which the society ran."""

    def __init__(self) -> None:
        self.within: Recent[str, float] = Recent()
        self.open: Recent[str, str] = Recent()
        self.spoke: Recent[str, int] = Recent()

    @hears()
    def spoken(self, message: Message) -> Findings:
        """Note when a seat spoke last."""
        self.spoke[message["author"]] = message["seq"]
        return ()

    @hears("ESCALATION")
    def opened(self, message: Message) -> Findings:
        """Note one that opens; one about a silent seat opens nothing when that seat has spoken since (K5)."""
        body = message["body"]
        spoke = self.spoke.get(body["subject"], 0) if body.get("trigger_code") == "timeouts" else 0
        if spoke <= max(body.get("evidence_seqs") or [spoke]):
            self.open[message["case_id"]] = message["sent_at"]
            self.within[message["case_id"]] = _within(message)
        return ()

    @hears("ESCALATION_RESOLVED")
    def resolved(self, message: Message) -> Findings:
        """Note an end."""
        self.open.pop(message["case_id"], None)
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note one that a person stopped (K21)."""
        if message["body"]["outcome"] == "stop":
            self.open.pop(message["case_id"], None)
        return ()

    @hears("SOCIETY_STARTED", "CLOCK_SET")
    def shifted(self, message: Message) -> Findings:
        """Begin to count anew: time in which the society could do nothing is nobody's (K6)."""
        for case in self.open:
            self.open[case] = message["sent_at"]
        return ()

    @hears("HEALTH_CHECK", "CYCLE_TRIGGER", "RISK_CHECK", "ANCHOR", "SOCIETY_STOPPED")
    def passing(self, message: Message) -> Findings:
        """Look at what is open as time passes."""
        if not self.open:
            return
        for case, since in list(self.open.items()):
            if minutes(since, message["sent_at"]) > self.within.get(case, FOUR_HOURS) + SLACK:
                del self.open[case]
                yield f"{case} is open since {since}"


class NobodyIsHurried(Memory, source="K6, R-E2", is_raw=True):
    """An escalation expires after the time that it gives, in which the society ran: an outage is nobody's silence."""

    def __init__(self) -> None:
        self.open: Recent[str, tuple[float, float]] = Recent()
        self.up = Uptime()

    @hears()
    def any(self, message: Message) -> Findings:
        """Follow the time, and note when one opens."""
        self.up.take(message)
        if message["body"]["type"] == "ESCALATION":
            self.open[message["case_id"]] = self.up.at(message), _within(message)
        return ()

    @hears("ESCALATION_RESOLVED")
    def resolved(self, message: Message) -> Findings:
        """Hold the time that it was open against what it gave."""
        found = self.open.pop(message["case_id"], None)
        if message["body"]["how"] != "expired" or found is None:
            return ()
        since, within = found
        ran = self.up.at(message) - since
        if ran < within - LATE:
            return (f"expired after {ran:.1f} minutes in which the society ran",)
        return ()


class SilenceIsNoConsent(Memory, source="5.3, R-B1, R-E2"):
    """Silence takes an escalation's first option, or its default; it never deploys or approves anything."""

    def __init__(self) -> None:
        self.first: Recent[str, str] = Recent()
        self.ends: Recent[int, tuple[str, str]] = Recent(512)

    @hears("ESCALATION")
    def opened(self, message: Message) -> Findings:
        """Note what comes of silence."""
        body = message["body"]
        chosen = [one for one in body["options"] if one["n"] == body.get("default")]
        self.first[message["case_id"]] = (chosen or body["options"])[0]["effect"]
        return ()

    @hears("ESCALATION_RESOLVED")
    def resolved(self, message: Message) -> Findings:
        """Note how it ended, and hold silence against the first option."""
        case, how, effect = message["case_id"], message["body"]["how"], message["body"]["effect"]
        self.ends[message["seq"]] = case, how
        first = self.first.pop(case, effect)
        if how == "expired" and (effect in CONSENTS or effect != first):
            return (f"expired, and its effect is {effect}, the first option's {first}",)
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Hold a ruling that allows something against the answer it rests on."""
        body = message["body"]
        if body["outcome"] not in ("DEPLOY", "APPROVE", "PROMOTE"):
            return ()
        case, how = self.ends.get(body["of_seq"], ("", "no answer"))
        return () if how == "answered" else (f"says {body['outcome']} on {case or 'nothing'}: {how}",)


CONSENTS: Final = frozenset({"deploy", "deploy_modified", "resume", "raise_budget"})
"""Effects that let something happen."""


class PagedWithMeasure(Memory, source="R-E2"):
    """Only what is URGENT is paged again: every 30 minutes until it is acknowledged, five times at most."""

    def __init__(self) -> None:
        self.urgent: Recent[str, tuple[int, str]] = Recent()
        self.seen: Recent[str, int] = Recent()

    @hears("ESCALATION")
    def opened(self, message: Message) -> Findings:
        """Note one that is urgent."""
        if message["body"]["level"] == "URGENT":
            self.urgent[message["case_id"]] = 0, message["sent_at"]
        return ()

    @hears("ESCALATION_ACK", "ESCALATION_RESOLVED")
    def over(self, message: Message) -> Findings:
        """Note what a person has seen, or what is over."""
        self.seen.setdefault(message["case_id"], message["seq"])
        return ()

    @hears("ESCALATION_PAGED")
    def paged(self, message: Message) -> Findings:
        """Hold a page against the one before it."""
        case = message["case_id"]
        if case not in self.urgent:
            return ("is not urgent",)
        if message["body"].get("added"):
            return ()
        seen = self.seen.get(case)
        if seen is not None and message["seq"] > seen + OVERTAKEN:
            return (f"is acknowledged or over since seq {seen}",)
        pages, before = self.urgent[case]
        self.urgent[case] = pages + 1, message["sent_at"]
        if pages == 5:
            return ("is paged a sixth time",)
        if minutes(before, message["sent_at"]) < 30 - LATE:
            return (f"is paged again less than 30 minutes after {before}",)
        return ()
