"""A log in a list, as a stream of lines: what outbox and gateway see of a society."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from moot.protocols.kernel.envelope import BOT, GENESIS, Actor, Draft, Envelope, seal
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.seats import CRITIC

START = datetime(2026, 2, 23, 10, 0, tzinfo=UTC)


class SmallLog:
    """Appends, and wakes whoever reads; also a `Source` and a `Publish` for the gateway's server."""

    def __init__(self, batch: int = 7) -> None:
        self.envelopes: list[Envelope] = []
        self.receipts: dict[str, int] = {}
        self.batch = batch
        self._hash = GENESIS
        self._news: list[asyncio.Future[None]] = []

    @property
    def head(self) -> int:
        return len(self.envelopes)

    def append(
        self,
        body: Message,
        *,
        channel: str = "#a-arena",
        author: Seat = CRITIC,
        actor: Actor = BOT,
        case_id: str | None = None,
        key: str = "",
        in_reply_to: str | None = None,
    ) -> Envelope:
        seq = len(self.envelopes) + 1
        draft = Draft(
            channel=channel, author=author, actor=actor, body=body, case_id=case_id, in_reply_to=in_reply_to,
            key=key or f"m{seq}",
        )  # fmt: skip
        envelope, self._hash = seal(
            draft, seq=seq, envelope_id=draft.identity(), sent_at=START + timedelta(seconds=seq),
            previous=self._hash,
        )  # fmt: skip
        self.envelopes.append(envelope)
        for future in self._news:
            if not future.done():
                future.set_result(None)
        self._news.clear()
        return envelope

    def say(self, text: str, channel: str = "#a-arena", **more: Any) -> Envelope:
        return self.append(Note(text=text), channel=channel, **more)

    async def subscribe(self, cursor: int) -> AsyncGenerator[Sequence[str], None]:
        while True:
            lines = [envelope.line for envelope in self.envelopes[cursor : cursor + self.batch]]
            if lines:
                cursor += len(lines)
                yield lines
            else:
                news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._news.append(news)
                await news

    async def publish(self, draft: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Append a person's note once per key, as the sequencer would."""
        if key in self.receipts:
            return {"seq": self.receipts[key], "id": key, "status": "duplicate"}
        body = draft["body"]
        text = body.get("text") or body["type"]
        envelope = self.say(
            text, draft["channel"], key=key, author=Seat(draft["author"]), actor=Actor(**draft["actor"])
        )
        self.receipts[key] = envelope.seq
        return {"seq": envelope.seq, "id": key, "status": "accepted"}
