"""Anchors: hashes that somebody kept elsewhere, which an edited log does not reach however well it is mended (K15)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from moot.protocols.kernel.envelope import GENESIS, Envelope, link
from moot.protocols.kernel.officers import SocietyStarted
from moot.verify.reading import Read
from moot.verify.report import Findings

if TYPE_CHECKING:
    from moot.anchor import Anchor


class Anchored:
    """Holds messages against the anchors.

    A message without a hash has the one that follows from all texts so far. Whether stated hashes follow from the texts
    is the chain's to say.

    Attributes:
        held: The last message that an anchor fits, 0 for none.
        fits: How many anchors fit.
    """

    def __init__(self, findings: Findings, anchors: Iterable[Anchor]) -> None:
        """Sort the anchors by message."""
        self._findings = findings
        self._wanted: dict[int, list[Anchor]] = {}
        for anchor in dict.fromkeys(anchors):
            self._wanted.setdefault(anchor.seq, []).append(anchor)
        self._computed = GENESIS
        self._is_told = False
        self.held = 0
        self.fits = 0

    def take(self, read: Read, env: Envelope, seq: int) -> None:
        """Check the next message in the order of seq."""
        if not self._wanted:
            return
        if not read.hash:
            self._computed = link(self._computed, read.text)
        if seq == 1 and isinstance(env.body, SocietyStarted):
            self._identify(env.body.society_id)
        for anchor in self._wanted.pop(seq, ()):
            if anchor.hash == (read.hash or self._computed.hex()):
                self.fits += 1
                self.held = seq
            elif not self._is_told:
                self._is_told = True
                since = (
                    f"since message {self.held}, which is as it was,"
                    if self.held
                    else "in what came up to here"
                )
                why = f"its hash is not the anchored one: something {since} was altered, taken out or put in"
                self._findings.add(seq, "anchor", "K15", why)

    def _identify(self, society: str) -> None:
        named = {anchor.society for anchors in self._wanted.values() for anchor in anchors} - {""}
        if others := sorted(named - {society}):
            why = f"the log is of society {society}, an anchor of {others[0][:80]}"
            self._findings.add(1, "anchor", "K15", why)

    def end(self, last_seq: int) -> None:
        """Name anchors that the log does not reach."""
        if missing := [seq for seq in self._wanted if seq > last_seq]:
            why = f"the tail is cut: message {max(missing)} was anchored, the log ends at {last_seq}"
            self._findings.add(last_seq + 1, "anchor", "K15", why, line=0)
