"""The guests' inbox: drafts of other processes, in a table beside the log (K3).

One row a draft: `key` is its idempotency key, `receipt` what became of it, null while it waits. The guest
writes the draft, the host's pump the receipt. A draft that was posted to a stopped society waits for the next
one, and is logged exactly once, for its key is the envelope's id. What waits holds no secret (R-A9).

The table lives in `log.sqlite` (K24), so guests and host take turns at one write lock. Measured: a post to an
idle host has its receipt after 50 ms, the pump's pause; beside 64 publishers that never rest it takes 70 ms,
and four guests that post seven times a second each slow those publishers by less than a half.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, NotRequired, TypedDict

from moot.channels.bus import Receipt
from moot.channels.errors import NotALog, Refused
from moot.channels.guests.drafts import MAX_DRAFT, DecodeBody, draft_from_json
from moot.channels.log.file import BUSY_S, check_schema, connect, disk_errors
from moot.channels.log.lease import holder
from moot.channels.log.reader import connect_to_read
from moot.channels.log.sequencer import MAX_ID
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.discretion import without_secrets
from moot.protocols.kernel.envelope import BOT, Actor, Draft
from moot.protocols.kernel.errors import Malformed, Violation
from moot.protocols.kernel.redact import may_hold_secret, redact
from moot.protocols.rulebook import rulebook

LOOK_S: Final = 0.02
"""A guest looks for its receipt this often."""

SELECT_WAITING: Final = "SELECT n, key, draft FROM inbox WHERE receipt IS NULL AND n > ? ORDER BY n LIMIT 100"
UPDATE_RECEIPT: Final = "UPDATE inbox SET receipt = ? WHERE n = ?"
DELETE_OLD: Final = "DELETE FROM inbox WHERE receipt IS NOT NULL AND n <= (SELECT max(n) FROM inbox) - 10000"
"""Receipts that no guest waits for any more (K18); a repeated post still meets its id in the log."""

_ANSWER_ID: Final = re.compile(r"/([a-z0-9_-]+)/\d+$")


class InboxReceipt(TypedDict):
    """What a guest learns: where its message stands and which case it opened, a note, or which rule it breaks."""

    status: Literal["accepted", "duplicate", "superseded", "refused"]
    id: str
    seq: NotRequired[int]
    rule: NotRequired[str]
    why: NotRequired[str]
    field: NotRequired[str | None]
    note: NotRequired[str]
    opened: NotRequired[str]


def post(
    path: Path | str, draft: Mapping[str, object] | str, key: str, wait_s: float = 5.0
) -> InboxReceipt | None:
    """Post a draft as a guest, and wait for its receipt while a host runs.

    The draft is on the disk when this returns. Posting the same key again as the same person posts nothing: it
    returns the receipt there is, `superseded` when the drafts differ (K1). A draft that was refused may be posted anew.

    Args:
        path: `log.sqlite` of the society.
        draft: As `drafts` writes it, JSON text or what it stands for.
        key: The idempotency key, at most 500 characters; for an answer, `Draft.identity()`.
        wait_s: How long to wait, in wall time; nobody waits for a society that does not run.

    Returns:
        The receipt, or None: the draft is queued.

    Raises:
        Refused: The key or the draft is too long, or no JSON; nothing was posted.
        NotALog: There is no society.
        StorageError: The disk did not take it.
    """
    place = Path(path)
    text, key = checked(draft, key)
    if not place.exists():
        raise NotALog(f"there is no society in {place.parent}: start one with moot up")
    with disk_errors(place), closing(connect(place)) as db:
        if check_schema(db, place) == 0:
            raise NotALog(f"there is no society in {place.parent}: start one with moot up")
        same = _insert(db, key, text)
        for look in range(max(1, math.ceil(wait_s / LOOK_S))):
            if look:
                time.sleep(LOOK_S)
            (found,) = db.execute("SELECT receipt FROM inbox WHERE key = ?", (key,)).fetchone() or (None,)
            if found is not None:
                receipt: InboxReceipt = json.loads(found)
                return receipt if same else {**receipt, "status": "superseded"}
            if holder(place.parent) is None:
                break
    return None if same else {"status": "superseded", "id": key, "why": "another draft of this key waits"}


def waiting(path: Path) -> int:
    """Count the posts that no host has answered yet.

    Args:
        path: `log.sqlite` of the society.

    Raises:
        CorruptLog: It is damaged.
        StorageError: It cannot be read.
    """
    with disk_errors(path), closing(connect_to_read(path, busy_s=BUSY_S)) as db:
        (count,) = db.execute("SELECT count(*) FROM inbox WHERE receipt IS NULL").fetchone()
    return int(count)


def keyed(draft: Draft, key: str) -> Draft:
    """Give a guest's draft the id it was posted under; an answer keeps that of its obligation (K1).

    Raises:
        Malformed: The key has the form of an answer's id, but settles no obligation.
    """
    if draft.obligation_id is not None:
        return replace(draft, key="")
    ends = _ANSWER_ID.search(key)
    if ends is not None and ends[1] in rulebook().seats:
        raise Malformed("K1", f"{key!r} has the form of an answer's id: choose another", field="key")
    return replace(draft, key=key)


def read_draft(text: str, key: str, decode_body: DecodeBody) -> Draft:
    """Read a posted draft.

    Raises:
        Malformed: It is none.
    """
    return keyed(draft_from_json(text, decode_body), key)


def accepted(receipt: Receipt) -> InboxReceipt:
    """Return what the guest is told of a receipt of the bus."""
    told: InboxReceipt = {"status": receipt.status, "id": receipt.id, "seq": receipt.seq}
    if receipt.note:
        told["note"] = receipt.note
    if receipt.opened:
        told["opened"] = receipt.opened
    return told


def refused(key: str, violation: Violation) -> InboxReceipt:
    """Return what the guest is told of a violation."""
    return {
        "status": "refused",
        "id": key,
        "rule": violation.rule,
        "why": violation.why,
        "field": violation.field,
    }


def checked(draft: Mapping[str, object] | str, key: str) -> tuple[str, str]:
    """Return the draft as it is kept, and its key in the space of who wrote it (K1).

    Raises:
        Refused: The key or the draft is too long, or no JSON.
    """
    try:
        given = json.loads(draft) if isinstance(draft, str) else dict(draft)
        text = canonical_json(given)
        text.encode()
        if may_hold_secret(text):
            text = canonical_json(without_secrets(given))
    except (ValueError, TypeError, RecursionError) as exc:
        raise Refused(Malformed("messages", f"is not JSON: {exc}", field="draft")) from exc
    if len(text) > MAX_DRAFT:
        raise Refused(Malformed("K3", f"more than {MAX_DRAFT} characters", field="draft"))
    if key:
        key = _writer(given).own(key)
    if not 1 <= len(key) <= MAX_ID or not key.isprintable():
        raise Refused(Malformed("K1", f"1 to {MAX_ID} printable characters", field="key"))
    if redact(key) != key:
        raise Refused(Malformed("R-A9", "looks like a secret: choose another", field="key"))
    return text, key


def _writer(draft: object) -> Actor:
    """Return whose a draft is, as far as it says so; the host judges it when it reads it."""
    actor = draft.get("actor") if isinstance(draft, Mapping) else None
    if not isinstance(actor, Mapping) or actor.get("kind") != "human":
        return BOT
    return Actor("human", str(actor.get("platform", BOT.platform)), str(actor.get("user_id", "")))


def _insert(db: sqlite3.Connection, key: str, text: str) -> bool:
    """Put a draft into the inbox unless its key is there; return whether it is the draft of this key."""
    db.execute("BEGIN IMMEDIATE")
    try:
        found = db.execute("SELECT draft, receipt FROM inbox WHERE key = ?", (key,)).fetchone()
        if found is not None and found[1] is not None and json.loads(found[1])["status"] == "refused":
            db.execute("DELETE FROM inbox WHERE key = ?", (key,))
            found = None
        if found is None:
            db.execute("INSERT INTO inbox(key, draft) VALUES (?, ?)", (key, text))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return found is None or found[0] == text
