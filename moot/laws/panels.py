"""Laws of review panels."""

from __future__ import annotations

from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent

Seat = tuple[str, str]
"""A panel, and a reviewer's role in it."""


class StandardsBeforeTheWork(Memory, source="sprint contracts 2, 4, 5"):
    """A reviewer sees the work only once its own standard has passed; it has two tries, and starts anew once."""

    def __init__(self) -> None:
        self.committed: Recent[Seat, int] = Recent()
        self.failed: Recent[Seat, int] = Recent()
        self.reviewed: Recent[Seat, int] = Recent()

    @hears("LINT")
    def linted(self, message: Message) -> Findings:
        """Note what passed."""
        body = message["body"]
        seat = message["case_id"], body["role"]
        if body["phase"] == 1 and body["is_passed"]:
            self.committed[seat] = message["seq"]
        elif body["phase"] == 2:
            self.committed.pop(seat, None)
            self.failed.pop(seat, None)
        return ()

    @hears("PHASE1")
    def standard(self, message: Message) -> Findings:
        """Count the standards."""
        seat = message["case_id"], message["author"]
        times = self.failed[seat] = self.failed.get(seat, 0) + 1
        if seat in self.committed:
            return (f"{seat[1]} commits again after seq {self.committed[seat]} passed",)
        return (f"{seat[1]} is asked a third time",) if times > 2 else ()

    @hears("PHASE2")
    def review(self, message: Message) -> Findings:
        """Hold a review against the standard."""
        seat = message["case_id"], message["author"]
        times = self.reviewed[seat] = self.reviewed.get(seat, 0) + 1
        if seat not in self.committed:
            return (f"{seat[1]} reviews without a standard that passed",)
        return (f"{seat[1]} reviews a third time",) if times > 2 else ()


class ReviewersAreAlone(Memory, source="sprint contracts 6, K12"):
    """No reviewer answers what another one wrote."""

    def __init__(self) -> None:
        self.written: Recent[str, str] = Recent()

    @hears("PHASE1", "PHASE2")
    def wrote(self, message: Message) -> Findings:
        """Hold what a reviewer answers against the others' words."""
        author = message["author"]
        self.written[message["id"]] = author
        other = self.written.get(message["in_reply_to"], author)
        return () if other == author else (f"{author} answers what {other} wrote",)


class PanelsAreWhole(Memory, source="sprint contracts 6, 8"):
    """A panel concludes when every reviewer's review has passed, and decides once, on the scores of all."""

    def __init__(self) -> None:
        self.sizes: Recent[str, int] = Recent()
        self.usable: Recent[str, set[str]] = Recent()
        self.over: Recent[str, int] = Recent()

    @hears("PANEL_OPENED")
    def opened(self, message: Message) -> Findings:
        """Note how many are to review."""
        size = message["body"]["contract"].get("panel_size")
        self.sizes[message["case_id"]] = size if isinstance(size, int) else 0
        self.usable[message["case_id"]] = set()
        return ()

    @hears("LINT")
    def linted(self, message: Message) -> Findings:
        """Note a review that passed."""
        body = message["body"]
        if body["phase"] == 2 and body["is_passed"]:
            self.usable.setdefault(message["case_id"], set()).add(body["role"])
        return ()

    @hears("SYNTHESIS", "PANEL_DECIDED")
    def concluded(self, message: Message) -> Findings:
        """Hold a conclusion against the reviews."""
        case, body = message["case_id"], message["body"]
        usable, size = self.usable.get(case, set()), self.sizes.get(case, 0)
        if len(usable) < size:
            return (f"{len(usable)} of {size} reviews have passed",)
        for dimension, scores in body.get("matrix", {}).items():
            if set(scores) != usable:
                return (f"{dimension} is decided by {', '.join(sorted(scores)) or 'nobody'}",)
        return self.ended(message) if body["type"] == "PANEL_DECIDED" else ()

    @hears("PANEL_ABORTED")
    def ended(self, message: Message) -> Findings:
        """Note an end."""
        before = self.over.get(message["case_id"])
        self.over[message["case_id"]] = message["seq"]
        return () if before is None else (f"the panel ended with seq {before}",)
