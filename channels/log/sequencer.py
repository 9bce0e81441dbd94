"""The sequencer: the one place that turns drafts into the next envelopes of the chain (K3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from moot.channels.bus import Admission, Head, Receipt
from moot.channels.errors import Refused
from moot.protocols.kernel.discretion import discreet
from moot.protocols.kernel.envelope import Draft, Envelope, seal
from moot.protocols.kernel.errors import Malformed, Violation
from moot.protocols.kernel.message import body_json
from moot.protocols.kernel.officers import ClockSet
from moot.protocols.kernel.redact import may_hold_secret

MAX_ID: Final = 500
"""Characters of an envelope id; a longer one could not be read back from the log."""


Stored = tuple[int, str, str, str, bytes]
"""A row of the table `log`: seq, id, digest, text, hash."""


class Entry(NamedTuple):
    """A sealed envelope with what a backend stores beside it.

    Attributes:
        envelope: What the log holds.
        hash: Its 32 hash bytes.
        digest: The hash of the draft as it was sent, but for secrets (K1); "" from a sequencer that keeps drafts.
        draft: The draft as it was sent, but for secrets, to sequence it anew when its batch was not stored; None for
            an entry that is stored.
    """

    envelope: Envelope
    hash: bytes
    digest: str
    draft: Draft | None

    @property
    def row(self) -> Stored:
        """Return the columns of the table `log`."""
        return (self.envelope.seq, self.envelope.id, self.digest, self.envelope.json, self.hash)


Known = tuple[int, str]
"""Of an id that stands in the log, or is on its way to the disk: its seq and the digest of its draft."""

Kept = tuple[int, str | Draft]
"""The same in the sequencer's memory: with the draft itself where digests are not stored."""


class Sequencer:
    """Admit, deduplicate, number, stamp and seal drafts, one after the other.

    Secrets: what a draft says of them is redacted before it is numbered, hashed or kept, so that log, memory and
    surfaces never hold one; an id that looks like one is refused (R-A9).

    Order: an entry's `seq` is that of its predecessor + 1, its `sent_at` = max(now, that of its predecessor),
    its hash chains them (K3, K15). The sequencer runs ahead of the disk: a backend that could not store
    entries gives them back by `rewind`, and the chain goes on from what is durable (K17).

    Args:
        admission: The rules.
        now: The injected clock; aware instants.
        head: Where the log ends.
        last_sent_at: `sent_at` at the head, None while the log is empty.
        window: How many ids are remembered at least; None: all. A backend whose sequencer forgets must find
            older ids itself.
        keeps_drafts: Remember drafts instead of their digests, and hash one only when its id comes again; for
            a bus that stores no digests.
    """

    def __init__(
        self,
        admission: Admission,
        now: Callable[[], datetime],
        *,
        head: Head | None = None,
        last_sent_at: datetime | None = None,
        window: int | None = None,
        keeps_drafts: bool = False,
    ) -> None:
        self._admission = admission
        self._now = now
        self._seq, self._hash = head or Head()
        self.last_sent_at = last_sent_at
        self._window = window
        self._keeps_drafts = keeps_drafts
        self._young: dict[str, Kept] = {}
        self._old: dict[str, Kept] = {}

    @property
    def head(self) -> Head:
        """Return the end of the chain; it may run ahead of the disk."""
        return Head(self._seq, self._hash)

    def take(self, draft: Draft) -> tuple[Receipt, Entry | None]:
        """Give a draft the next place in the log.

        The permission check comes before deduplication (K1).

        Returns:
            The receipt to hand out once the entry is durable, and the entry; None for a draft whose id is
            known (`duplicate` or `superseded`).

        Raises:
            Refused: The admission refused the draft, or it cannot be written; nothing has changed.
        """
        try:
            admitted = self._admission.admit(draft)
        except Violation as violation:
            raise Refused(violation) from violation
        envelope_id = _identify(draft)
        known = self._young.get(envelope_id) or self._old.get(envelope_id)
        if known is not None:
            return _known_receipt(envelope_id, known, draft), None
        text, digest = (None, "") if self._keeps_drafts else _digested(draft)
        sent_at = self._now() + _skipped(draft)
        if self.last_sent_at is not None and sent_at < self.last_sent_at:
            sent_at = self.last_sent_at
        try:
            body = self._admission.mint(admitted, sent_at)
        except Violation as violation:
            raise Refused(violation) from violation
        seq = self._seq + 1
        try:
            envelope, link = seal(
                admitted,
                seq=seq,
                envelope_id=envelope_id,
                sent_at=sent_at,
                previous=self._hash,
                body=body,
                body_text=text if body is draft.body else None,
            )
        except ValueError as exc:
            self._admission.unmint(draft, body)
            raise _unwritable(exc) from exc
        if may_hold_secret(envelope.json):
            try:
                clean = _discreet(draft)
            except Refused:
                self._admission.unmint(draft, body)
                raise
            if clean is not draft:
                self._admission.unmint(draft, body)
                return self.take(clean)
        self._seq, self._hash = seq, link
        self.last_sent_at = sent_at
        self._learn(envelope_id, (seq, digest or draft))
        return Receipt(seq, envelope_id), Entry(envelope, link, digest, draft)

    def seq_of(self, envelope_id: str) -> int | None:
        """Return the seq of an id, None when it is not remembered; the envelope may not be durable yet."""
        known = self._young.get(envelope_id) or self._old.get(envelope_id)
        return known[0] if known is not None else None

    def _learn(self, envelope_id: str, known: Kept) -> None:
        if self._window is not None and len(self._young) >= self._window:
            self._old, self._young = self._young, {}
        self._young[envelope_id] = known

    def resume(self, entries: Sequence[Entry]) -> None:
        """Go on behind what was taken before, by another sequencer; before anything is taken."""
        for entry in entries:
            envelope = entry.envelope
            self._seq, self._hash, self.last_sent_at = envelope.seq, entry.hash, envelope.sent_at
            known = entry.digest or entry.draft
            assert known is not None, "a stored entry has its digest"
            self._learn(envelope.id, (envelope.seq, known))

    def rewind(self, entries: Sequence[Entry], head: Head, last_sent_at: datetime | None) -> None:
        """Forget the entries after `head`, all there are, in seq order: the disk did not take them (K17).

        Args:
            entries: Everything taken after `head`.
            head: Where the durable log ends.
            last_sent_at: `sent_at` there.
        """
        for entry in reversed(entries):
            self._young.pop(entry.envelope.id, None)
            self._old.pop(entry.envelope.id, None)
            assert entry.draft is not None, "what is stored is not rewound"
            self._admission.unmint(entry.draft, entry.envelope.body)
        self._seq, self._hash = head
        self.last_sent_at = last_sent_at


def _skipped(draft: Draft) -> timedelta:
    """Return what a message that ends an outage of real time jumps over; the clock follows once it is durable (K6)."""
    body = draft.body
    return body.held if type(body) is ClockSet else timedelta(0)


def receipt_of(envelope_id: str, known: Known, digest: str) -> Receipt:
    """Return the receipt of a draft whose id is taken (K1); one that cannot be compared is taken for the same."""
    seq, first = known
    is_same = first == digest or first.partition(":")[0] != digest.partition(":")[0]
    return Receipt(seq, envelope_id, "duplicate" if is_same else "superseded")


def _known_receipt(envelope_id: str, known: Kept, draft: Draft) -> Receipt:
    """Compare a draft with the one that took its id."""
    seq, first = known
    text, digest = _digested(draft)
    if may_hold_secret(text):
        digest = _discreet(draft).digest()
    return receipt_of(envelope_id, (seq, first if isinstance(first, str) else first.digest()), digest)


def _discreet(draft: Draft) -> Draft:
    try:
        return discreet(draft)
    except Malformed as exc:
        raise Refused(exc) from exc


def _identify(draft: Draft) -> str:
    """Return the id of a draft (K1)."""
    try:
        envelope_id = draft.identity()
    except ValueError as exc:
        raise Refused(Malformed("K1", str(exc), field="key")) from exc
    if len(envelope_id) > MAX_ID:
        raise Refused(
            Malformed("K1", f"an id of {len(envelope_id)} characters: at most {MAX_ID}", field="key")
        )
    return envelope_id


def _digested(draft: Draft) -> tuple[str, str]:
    """Return the body's text and the digest of a draft as it was sent (K1)."""
    try:
        text = body_json(draft.body)
        return text, draft.digest(text)
    except ValueError as exc:
        raise _unwritable(exc) from exc


def _unwritable(exc: ValueError) -> Refused:
    return Refused(Malformed("K15", f"cannot be written as UTF-8 JSON: {exc}"))
