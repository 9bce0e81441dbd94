"""What people do at a page, on its way into the log: kept until the log answered for it, done once (K1, K3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import structlog

from moot.channels.gateway.client import Requests
from moot.channels.gateway.intake import Intake
from moot.channels.guests.drafts import draft_to_json
from moot.channels.inbound import Authority
from moot.channels.outbox.store import OutboxStore
from moot.channels.surface import ActReply, InboundAct, PlatformMessageId
from moot.console.model.interface import PLATFORM, Person
from moot.protocols.codec import decode_body
from moot.protocols.escalation.messages import is_case_duty
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import PEOPLE
from moot.protocols.rulebook import rulebook

MOST_ACT: Final = 190
"""Characters of the key that a page gives an act."""

REPLY_S: Final = 8.0
"""A society that is slow is not away: who waits at a page hears only after so long that an act is merely kept."""

NOT_KEPT: Final = "Not taken: the console's disk refuses it"

Lookup = Callable[[str], Awaitable[str | None]]

_log = structlog.get_logger("moot.console")


class ActStore(OutboxStore):
    """Keeps acts like any surface's outbox; what an act is about is looked up in the index instead of in posts."""

    def __init__(self, directory: Path, log_id: str, *, case_of: Lookup, channel_of: Lookup) -> None:
        """Remember where.

        Args:
            directory: The data directory.
            log_id: Which log it is for.
            case_of: Returns the case of a message by its seq, as text.
            channel_of: Returns the channel in which a case was opened.
        """
        super().__init__(directory, PLATFORM, log_id)
        self._case_of = case_of
        self._channel_of = channel_of

    async def case_of(self, platform_id: PlatformMessageId) -> str | None:
        return await self._case_of(platform_id)

    async def channel_of(self, case_id: str) -> str | None:
        return await self._channel_of(case_id)


class Acts(Intake):
    """The intake of the console; `answer` hands in what a person says from a seat."""

    def __init__(self, store: ActStore, requests: Requests, *, authority: Authority) -> None:
        """Connect."""
        super().__init__(store, requests, authority=authority, reply_s=REPLY_S)

    async def hand_in(self, draft: Draft) -> ActReply:
        """Publish a draft that settles an obligation, once, and say what became of it."""
        keyed = replace(draft, key=draft.actor.own(draft.identity()))
        return await self._once(keyed.key, draft_to_json(keyed))

    async def _take(self, act: InboundAct) -> ActReply:
        try:
            return await super()._take(act)
        except sqlite3.Error as exc:
            return _not_kept(exc)

    async def _once(self, key: str, text: str) -> ActReply:
        reply = await super()._once(key, text)
        if reply.text.startswith(NOT_KEPT):
            # It may be tried again with its key.
            self._told.pop((key, text), None)
        return reply

    async def _keep_and_hand_over(self, key: str, text: str) -> ActReply:
        try:
            return await super()._keep_and_hand_over(key, text)
        except sqlite3.Error as exc:
            return _not_kept(exc)


def _not_kept(exc: sqlite3.Error) -> ActReply:
    _log.warning("act not kept", why=str(exc))
    return ActReply(f"{NOT_KEPT} ({exc}). Nothing was done; try again when there is room.", ok=False)


def check_key(key: str) -> None:
    """Refuse a key that is no id.

    Raises:
        Malformed: It is empty or too long.
    """
    if not 1 <= len(key) <= MOST_ACT:
        raise Malformed("K1", f"an act needs a key of 1 to {MOST_ACT} characters", field="key")


def owed_to(docket: Docket, person: Person, obligation_id: str) -> Obligation | str:
    """Return what a person in a seat may answer, or why not, in one line (K14)."""
    owed = docket.open.get(obligation_id)
    if owed is None:
        return f"nobody owes {obligation_id}, or not any more"
    if owed.seat in PEOPLE:
        if not is_case_duty(owed.seat, owed.expects):
            return f"this is an escalation: answer {owed.case_id} instead"
        return owed if person.seat == owed.seat else f"only the {owed.seat} answers this"
    if owed.seat not in rulebook().bots:
        return f"the {owed.seat} is an officer: nobody can answer for it"
    holder = docket.context.holders.get(owed.seat)
    if holder is None:
        return f"nobody sits in the seat of the {owed.seat}: take it first"
    if holder != person.actor:
        return f"{holder.name} sits in the seat of the {owed.seat}, not {person.actor.name}"
    return owed


def answer_draft(docket: Docket, person: Person, owed: Obligation, body: dict[str, Any]) -> Draft:
    """Make the draft of an answer from a seat that a person holds.

    Raises:
        Malformed: The body is not what is owed, or a field is wrong; the field is named.
    """
    if "type" not in body and len(owed.expects) == 1:
        body = {**body, "type": owed.expects[0]}
    kind = body.get("type")
    if kind not in owed.expects:
        raise Malformed("K1", f"owed is {' or '.join(owed.expects)}, not {str(kind)[:60]!r}", field="type")
    try:
        text = canonical_json(body)
    except (TypeError, ValueError) as exc:
        raise Malformed("messages", f"is no JSON: {exc}", field="body") from None
    message = decode_body(text)
    channel = owed.channel
    if not docket.rules.matrix.may_write(owed.seat, channel, message.type):
        channel = rulebook().channel_of.get(message.type, channel)
    return Draft(
        channel=channel,
        author=owed.seat,
        body=message,
        actor=person.actor,
        case_id=None if message.type in docket.rules.openers else owed.case_id,
        obligation_id=owed.id,
        attempt=docket.attempts.get(owed.id, 0),
        tenure=docket.context.tenures.get(owed.seat, 0),
    )
