"""What a person does: a draft into the inbox, and what became of it (K3, K24)."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from moot.cli.act.authority import PLATFORM, remedy, viewers_of
from moot.cli.errors import Refused
from moot.cli.output import say, write_json
from moot.cli.place import mirror_at, runner, shown
from moot.cli.reading import Log, key

if TYPE_CHECKING:
    from moot.protocols.kernel.envelope import Actor, Draft
    from moot.protocols.kernel.errors import Forbidden
    from moot.protocols.kernel.message import Message
    from moot.protocols.kernel.seats import Seat

RECEIPT_S: Final = 10.0
"""How long a person waits for a receipt; a society that is well answers in milliseconds, whatever the disk does."""
VIOLATION_S: Final = 1.0
"""How long the log is watched for a violation found in it."""
LOOK_S: Final = 0.05


def actor_of(user: str) -> Actor:
    """Return who really wrote."""
    from moot.protocols.kernel.envelope import Actor

    return Actor("human", PLATFORM, user)


def act(user: str, seat: Seat, channel: str, body: Message, *, case_id: str | None = None) -> Draft:
    """Make the draft of something that nobody owes; every call is an act of its own (K1)."""
    from moot.protocols.kernel.envelope import Draft

    fresh: Callable[[], uuid.UUID] = uuid.uuid4  # noqa: TID251  # what a person does anew derives from nothing
    return Draft(
        channel=channel,
        author=seat,
        body=body,
        actor=actor_of(user),
        case_id=case_id,
        key=f"{PLATFORM}/{user}/{fresh()}",
    )


def perform(log: Log, draft: Draft, *, as_json: bool, done: str) -> int:
    """Post a draft, wait for what becomes of it while a society runs, and tell.

    Args:
        log: The society's log.
        draft: What is posted.
        as_json: Whether the outcome is told as JSON.
        done: What was done, for people.

    Returns:
        The exit code: 0 done or queued, 3 when it broke a rule.

    Raises:
        BadInput: There is no such channel.
        Refused: The society, or the permission matrix for one that is stopped, does not take it.
    """
    from moot.channels.guests.drafts import draft_to_json
    from moot.channels.guests.inbox import post
    from moot.channels.showing.wording import derived
    from moot.logs.asking import channel

    is_running = runner(log.path.parent) is not None
    if not is_running:
        # With nobody at the door, what would be refused there is not queued for the next start.
        _check_rights(log, draft)
    identity = draft.identity()
    text = draft_to_json(replace(draft, key=draft.key or identity))
    if (mirror := mirror_at(log.path.parent)) is None:
        receipt = post(log.path, text, identity, RECEIPT_S)
    else:
        from moot.channels.nats import inbox

        receipt = inbox.post(mirror.nats, text, identity, RECEIPT_S)
    if receipt is None:
        return _tell_queued(identity, is_running, as_json)
    seq, status = receipt.get("seq"), receipt["status"]
    if status in ("refused", "superseded"):
        why = receipt.get("why") or f"message {seq} stands as it was said first"
        if as_json:
            write_json(dict(receipt))
        if receipt.get("rule") == "messages":
            channel(draft.channel)  # the society may have more of them than are known here
        raise Refused(_viewers(log, draft, why))
    found = violation_of(log, seq) if seq else None
    if as_json:
        write_json({**receipt, "violation": found})
    if found is not None:
        raise Refused(f"message {seq} is in the log, but {derived(found['why'])}")
    if not as_json:
        print(f"{done}: message {seq}" + (" (it was there already)" if status == "duplicate" else ""))
        if opened := receipt.get("opened"):
            print(f"it opens {opened}: moot case {shown(log.path.parent)} {opened}")
    return 0


def violation_of(log: Log, seq: int) -> dict[str, Any] | None:
    """Return what the referee finds wrong with a message, if it does so at once."""
    having = (key("type", "VIOLATION"), f'"of_seq":{seq},')
    for look in range(round(VIOLATION_S / LOOK_S)):
        if look:
            time.sleep(LOOK_S)
        for line in log.lines(seq + 1, having=having):
            body: dict[str, Any] = json.loads(line)["body"]
            if body.get("type") == "VIOLATION" and body.get("of_seq") == seq:
                return body
    return None


def _check_rights(log: Log, draft: Draft) -> None:
    from moot.logs.asking import channel

    if (forbidden := _forbidden(log, draft)) is not None:
        channel(draft.channel)
        raise Refused(_viewers(log, draft, forbidden.why))


def _forbidden(log: Log, draft: Draft) -> Forbidden | None:
    """Say whether the permission matrix forbids it."""
    from moot.protocols.kernel.errors import Forbidden
    from moot.protocols.rulebook import rules

    try:
        rules(viewers_of(log)).matrix.check(draft.author, draft.channel, draft.body.type)
    except Forbidden as exc:
        return exc
    return None


def _viewers(log: Log, draft: Draft, why: str) -> str:
    """Tell a viewer what was refused, and which line of the configuration would allow it."""
    from moot.protocols.kernel.seats import VIEWER

    if draft.author != VIEWER:
        return why
    user = draft.actor.user_id
    if (forbidden := _forbidden(log, draft)) is not None:
        why += remedy(log, user, draft.channel if forbidden.field == "channel" else "")
    return f"{user} is a viewer here: {why}"


def _tell_queued(identity: str, is_running: bool, as_json: bool) -> int:
    if as_json:
        write_json({"status": "queued", "id": identity})
        return 0
    print("queued: " + ("the society is busy" if is_running else "no society runs, the next one takes it"))
    if is_running:
        say("moot log DIR shows when it is in")
    return 0
