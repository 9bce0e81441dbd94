"""The hash chain: every hash fits its line and its predecessor, and the file `head` is reached (K15)."""

from __future__ import annotations

from moot.channels.bus import Head
from moot.protocols.kernel.envelope import GENESIS, link
from moot.verify.reading import Read
from moot.verify.report import Findings


class Chain:
    """Follows the chain from line to line.

    A line without a hash among lines with one is a finding; a log without any is judged by the rules alone.
    After a break it goes on from what the broken line states, so that one alteration is one finding.

    Attributes:
        hashed: How many lines had a hash.
    """

    def __init__(self, findings: Findings, head: Head | None) -> None:
        """Start at the genesis."""
        self._findings = findings
        self._head = head
        self._bare: int | None = None
        self._previous: tuple[bytes, ...] = (GENESIS,)
        self.hashed = 0

    def take(self, read: Read, seq: int) -> None:
        """Check the next line in the order of seq.

        Args:
            read: What it says.
            seq: The place it has in the log, whatever it says itself.
        """
        stated = read.hash
        if not stated:
            if self.hashed:
                self._findings.add(seq, "hash", "K15", "has no hash, other messages have one")
                self._previous = tuple(link(previous, read.text) for previous in self._previous)
            elif self._bare is None:
                self._bare = seq
            return
        if self._bare is not None:
            first, self._bare = self._bare, None
            odd = first if seq == first + 1 else seq
            why = (
                "has no hash, other messages have one" if odd == first else "has a hash, the others have none"
            )
            self._findings.add(odd, "hash", "K15", why)
            self._previous = ()
        self.hashed += 1
        self._follow(read, seq, bytes.fromhex(stated))

    def _follow(self, read: Read, seq: int, stated: bytes) -> None:
        previous = self._previous
        if len(previous) == 1 and (previous[0] == read.follows or link(previous[0], read.text) == stated):
            self._previous = (stated,)
        else:
            self._break(read, seq, stated)
        if self._head is not None and self._head.seq == seq and self._head.hash != stated:
            self._findings.add(seq, "head", "K15", "its hash is not the one in the file head")

    def _break(self, read: Read, seq: int, stated: bytes) -> None:
        """Go on behind a break from what the line states, or from what it should have stated."""
        computed = [link(previous, read.text) for previous in self._previous]
        if computed and stated not in computed:
            self._findings.add(seq, "hash", "K15", "its hash does not fit its text and the message before it")
            self._previous = (stated, computed[-1])
        else:
            self._previous = (stated,)

    def lost(self) -> None:
        """Go on after a gap, or after a line that cannot be read: the next hash is taken as it is."""
        self._previous = ()

    def end(self, last_seq: int) -> None:
        """Check that the log reaches as far as the file `head` says, and that there were hashes to check at all."""
        if not self.hashed and last_seq:
            self._findings.skip(
                "hash", 1, "no message has a hash: what is prose may have been altered unseen"
            )
        if self._head is not None and self._head.seq > last_seq:
            self._findings.add(
                last_seq + 1,
                "head",
                "K15",
                f"the tail is cut: the file head knows seq {self._head.seq}, the log ends at {last_seq}",
                line=0,
            )
