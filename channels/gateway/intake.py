"""Takes in what people do on a surface: read it, hand it to the society, tell the person.

The platform's message id as key keeps an act single in the log however often platform and gateway repeat it (K1).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

import structlog

from moot.channels.backoff import PATIENT, Backoff
from moot.channels.chat.commands import Asked, CommandError, parse, usage
from moot.channels.gateway.client import Requests
from moot.channels.gateway.handing import Handing
from moot.channels.gateway.link import SocietyAway
from moot.channels.guests.drafts import draft_to_json
from moot.channels.inbound import Authority, draft_of, key_of
from moot.channels.outbox.store import OutboxStore
from moot.channels.showing.person_duties import case_field
from moot.channels.showing.wording import clean
from moot.channels.surface import ActReply, InboundAct
from moot.protocols.kernel.acts import LINE
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.seats import VIEWER
from moot.protocols.rulebook import rulebook

REPLY_S: Final = 2.5
"""A person hears within this time, also that the society is away; platforms give three seconds."""

MOST_WAITING: Final = 10_000
"""Acts that are kept for a society that is away; more are turned down."""

MOST_TOLD: Final = 1_000
"""Acts whose answers are remembered for platforms that deliver them again."""

_KEPT: Final = ActReply("Kept: the society is away and gets it when it is back.")
_WHICH: Final = (
    "Which escalation? That message is none that is known here: /escalations lists what waits, /reply ID OPTION or"
    " /ack ID answers."
)
_NO_ANSWER: Final = (
    "A note answers nothing: write an option's number to answer, or ack to say that you have seen it."
)
_REFUSED: Final = "Refused: "
_NOT_TAKEN: Final = ActReply("That could not be taken in; the gateway's log says why.", ok=False)
_AWAY: Final = ActReply("The society is away; ask again later.", ok=False)


class Intake:
    """The `inbound` of one surface. `run` hands over what was kept; call it as long as the surface runs."""

    def __init__(
        self,
        store: OutboxStore,
        requests: Requests,
        *,
        authority: Authority,
        backoff: Backoff = PATIENT,
        reply_s: float = REPLY_S,
    ) -> None:
        """Connect.

        Args:
            store: Keeps acts; open.
            requests: The way to the society.
            authority: What a person on a platform is.
            backoff: The pauses while the society cannot take what was kept.
            reply_s: Wall time after which a person hears that it was kept.
        """
        self._store = store
        self._requests = requests
        self._authority = authority
        self._reply_s = reply_s
        self._handing = Handing(store, requests, backoff=backoff)
        self._told: dict[tuple[str, str], asyncio.Future[ActReply]] = {}
        self._log = structlog.get_logger()

    async def __call__(self, act: InboundAct) -> ActReply:
        """Take one act and say what became of it; never raises but for cancellation."""
        try:
            return await self._take(act)
        except CommandError as exc:
            return ActReply(str(exc), ok=False)
        except Malformed as exc:
            return ActReply(f"Not taken: {exc.field}: {exc.why}" if exc.field else exc.why, ok=False)
        except Exception as exc:
            self._log.error("act not taken", platform=act.platform, why=f"{type(exc).__name__}: {exc}")
            return _NOT_TAKEN

    async def run(self) -> NoReturn:
        """Hand over what was kept, now and whenever something is left; until cancelled."""
        await self._handing.run()

    async def _take(self, act: InboundAct) -> ActReply:
        about = None if act.reply_to is None else await self._store.case_of(act.reply_to)
        escalation = about if await self._is_escalation(about) else None
        is_aside = False
        if act.kind == LINE:
            text = str(act.fields.get("text", ""))
            said = parse(text, escalation)
            if isinstance(said, Asked):
                return await self._ask(said.question, act)
            is_aside = escalation is not None and not text.lstrip().startswith("/") and said.kind == "note"
            act = replace(act, kind=said.kind, fields=said.fields)
        elif act.kind in ("ack", "answer") and not act.fields.get("escalation_id"):
            if escalation is None:
                return ActReply(_WHICH, ok=False)
            act = replace(act, fields={**act.fields, "escalation_id": escalation})
        elif about is not None:
            act = _with_case(act, about)
        draft = await self._draft(act, about)
        if not self._requests.is_connected and await self._store.count_acts() >= MOST_WAITING:
            return ActReply("Too much waits for the society already; try again later.", ok=False)
        reply = await self._once(draft.key, draft_to_json(draft))
        if is_aside and reply.ok and reply.seq is not None:
            # Silence or chat is never consent, and nobody should think it was.
            return ActReply(f"{reply.text} {_NO_ANSWER}")
        if reply.text.startswith(_REFUSED) and draft.author == VIEWER and act.kind != "note":
            who = f'{act.platform} = ["{clean(act.user_id, 60)}"]'
            return replace(reply, text=f"{reply.text}. Who runs this society can let you: [admins] {who}")
        return reply

    async def _is_escalation(self, case_id: str | None) -> bool:
        return case_id is not None and await self._store.opened_by(case_id) == "ESCALATION"

    async def _once(self, key: str, text: str) -> ActReply:
        # Platforms repeat themselves; a repeated act gets the first one's answer and bothers nobody again.
        told = self._told.get((key, text))
        if told is not None:
            return await asyncio.shield(told)
        told = self._told[key, text] = asyncio.get_running_loop().create_future()
        reply = _NOT_TAKEN
        try:
            reply = await self._keep_and_hand_over(key, text)
        finally:
            told.set_result(reply)
            if reply in (_KEPT, _NOT_TAKEN):
                self._told.pop((key, text), None)
            while len(self._told) > MOST_TOLD:
                del self._told[next(iter(self._told))]
        return reply

    async def _keep_and_hand_over(self, key: str, text: str) -> ActReply:
        # Nobody hears that it is kept before it is.
        await self._handing.keep(key, text)
        try:
            async with asyncio.timeout(self._reply_s):
                return _reply_to(await self._handing.hand_over(key, text))
        except (SocietyAway, TimeoutError):
            return _KEPT

    async def _ask(self, question: str, act: InboundAct) -> ActReply:
        if question == "help":
            return ActReply(usage())
        seat = self._authority(act.platform, act.user_id)
        args = {"platform": act.platform, "user_id": act.user_id, "seat": seat, "channel": act.channel}
        try:
            async with asyncio.timeout(self._reply_s):
                return ActReply(await self._requests.ask(question, args))
        except (SocietyAway, TimeoutError):
            return _AWAY

    async def _draft(self, act: InboundAct, about: str | None) -> Draft:
        key_of(act)
        case_id = _case_of(act)
        channel = await self._store.channel_of(case_id) if isinstance(case_id, str) else None
        seat = self._authority(act.platform, act.user_id)
        return draft_of(act, seat, about_case_id=about, case_channel=channel)


def _with_case(act: InboundAct, about: str) -> InboundAct:
    """Fill in the case of a press whose button had no room for its id: that of the message under which it stands."""
    declared = rulebook().acts.get(act.kind)
    takes = case_field(declared) if declared is not None else ""
    return replace(act, fields={**act.fields, takes: about}) if takes and act.fields.get(takes) == "" else act


def _case_of(act: InboundAct) -> object:
    """Return the case in whose channel an act is said, None for one that is said elsewhere."""
    declared = rulebook().acts.get(act.kind)
    return act.fields.get(declared.about) if declared is not None and declared.in_case else None


def _reply_to(receipt: Mapping[str, Any]) -> ActReply:
    seq = receipt.get("seq")
    match receipt.get("status"):
        case "accepted" | "duplicate" if note := receipt.get("note"):
            return ActReply(f"Message {seq} is in the log and changes nothing: {note}.", ok=False, seq=seq)
        case "accepted" | "duplicate":
            opens = f", which opens {opened}" if (opened := receipt.get("opened")) else ""
            return ActReply(f"Noted as message {seq}{opens}.", seq=seq)
        case "superseded":
            return ActReply(f"Message {seq} stands as it was first said.", ok=False, seq=seq)
        case "refused" if receipt.get("rule") == "R-G13":
            return ActReply(f"Not taken: {receipt['why']}.", ok=False, is_private=True)
        case _:
            return ActReply(f"{_REFUSED}{receipt.get('why', 'no reason given')}", ok=False)
