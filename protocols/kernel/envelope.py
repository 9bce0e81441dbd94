"""Envelopes: what the log holds, the text that is stored of them, and their hash chain (K15)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from json.encoder import encode_basestring as _quoted
from typing import Final, Literal, NamedTuple

from moot.protocols.kernel.message import Message, body_json
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.times import rfc3339

SCHEMA_VERSION: Final = 2
"""`v` of the envelopes that this code writes; older ones pass upcasters (K4).

1: bodies in canonical JSON, keys sorted. 2: bodies as pydantic writes them, fields in their order, `hash` last (K15).
"""

DIGEST_VERSION: Final = 1
"""Digests of drafts say by which code they were made: those of another version cannot be compared (K1)."""

GENESIS: Final = bytes(32)
"""The hash before the first envelope: 32 zero bytes (K15)."""

ActorKind = Literal["bot", "human", "officer"]


class Actor(NamedTuple):
    """Who really wrote: a bot, an officer, or a human with platform and user id."""

    kind: ActorKind
    platform: str = "moot"
    user_id: str = ""

    @property
    def name(self) -> str:
        """Return what a person is called among people of all platforms."""
        return f"{self.user_id} on {self.platform}"

    def own(self, key: str) -> str:
        """Put a key that was chosen into the space of who chose it: two people never share one (K1).

        A person's space is `PLATFORM/USER/`; a slash within either is written `%2F`, so that no other person's
        space begins like it. A key that stands in it already stays. Bots and officers derive theirs.
        """
        if self.kind != "human":
            return key
        space = f"{_segment(self.platform)}/{_segment(self.user_id)}/"
        return key if key.startswith(space) else f"{space}{key}"

    def as_json(self) -> dict[str, str]:
        """Return the `actor` object of an envelope."""
        return {"kind": self.kind, "platform": self.platform, "user_id": self.user_id}


def _segment(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


BOT: Final = Actor("bot")
OFFICER: Final = Actor("officer")


@dataclass(slots=True, unsafe_hash=True)
class Draft:
    """A message on its way to the log; the sequencer adds `id`, `seq` and `sent_at`.

    `key` is the idempotency key of a message that settles no obligation: the platform's message id, a
    schedule's nominal instant, or one that the client chose (K1). A person's counts among that person's only.
    `display_name` is what the platform calls the person: no part of the message, the log has it once (PERSON_NAMED).
    """

    channel: Final[str]
    author: Final[Seat]
    body: Final[Message]
    actor: Final[Actor] = BOT
    case_id: Final[str | None] = None
    obligation_id: Final[str | None] = None
    attempt: Final[int] = 0
    tenure: Final[int] = 0
    in_reply_to: Final[str | None] = None
    hops: Final[int] = 0
    key: Final[str] = ""
    display_name: Final[str] = ""

    def identity(self) -> str:
        """Derive the envelope id: from the key and the person who chose it, else from obligation and attempt (K1).

        Raises:
            ValueError: The draft has neither.
        """
        if self.key:
            return self.actor.own(self.key)
        if self.obligation_id is None:
            raise ValueError(f"a {self.body.type} that settles no obligation needs a key")
        return f"{self.obligation_id}/{self.attempt}"

    def digest(self, body_text: str | None = None) -> str:
        """Hash the draft as it was sent, to tell a duplicate from a superseded answer (K1).

        Args:
            body_text: `body_json(self.body)`, when it is at hand.
        """
        body = body_json(self.body) if body_text is None else body_text
        text = f"{self.channel}\n{self.author}\n{self.case_id}\n{self.in_reply_to}\n{body}"
        return f"{DIGEST_VERSION}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(slots=True, unsafe_hash=True)
class Envelope:
    """One logged message. Nobody changes one, as its fields say; equal bytes mean equal envelopes.

    `json` holds the stored text, which is without `hash`; `hash` the hex SHA-256 of the chain up to here.
    """

    v: Final[int]
    seq: Final[int]
    id: Final[str]
    channel: Final[str]
    author: Final[Seat]
    actor: Final[Actor]
    case_id: Final[str | None]
    obligation_id: Final[str | None]
    attempt: Final[int]
    tenure: Final[int]
    in_reply_to: Final[str | None]
    hops: Final[int]
    sent_at: Final[datetime]
    body: Final[Message]
    json: Final[str] = ""
    hash: Final[str] = ""

    @property
    def line(self) -> str:
        """Return the envelope as one line of JSON Lines: its stored text, and its `hash` last if it has one."""
        return with_hash(self.json, self.hash) if self.hash else self.json


def seal(
    draft: Draft,
    *,
    seq: int,
    envelope_id: str,
    sent_at: datetime,
    previous: bytes,
    body: Message | None = None,
    body_text: str | None = None,
) -> tuple[Envelope, bytes]:
    """Turn a draft into the envelope with this place in the chain.

    Args:
        draft: What was sent.
        seq: Its dense sequence number, from 1.
        envelope_id: Its id (K1).
        sent_at: Aware UTC instant, not before that of seq - 1.
        previous: The 32 hash bytes of seq - 1, `GENESIS` for the first.
        body: The body with the ids that the sequencer counted, when they differ from the draft's (K20).
        body_text: `body_json` of the body that is logged, when it is at hand.

    Returns:
        The envelope and its own 32 hash bytes.
    """
    body = draft.body if body is None else body
    case_id = draft.case_id
    if case_id is None and body.case_field:
        case_id = getattr(body, body.case_field) or None
    head = (
        SCHEMA_VERSION,
        seq,
        envelope_id,
        draft.channel,
        draft.author,
        draft.actor,
        case_id,
        draft.obligation_id,
        draft.attempt,
        draft.tenure,
        draft.in_reply_to,
        draft.hops,
        sent_at,
    )
    text = stored_text(*head, body_json(body) if body_text is None else body_text)
    digest = link(previous, text)
    return Envelope(*head, body, text, digest.hex()), digest


def stored_text(
    v: int,
    seq: int,
    id: str,
    channel: str,
    author: Seat,
    actor: Actor,
    case_id: str | None,
    obligation_id: str | None,
    attempt: int,
    tenure: int,
    in_reply_to: str | None,
    hops: int,
    sent_at: datetime,
    body_text: str,
) -> str:
    """Write the text that is stored of an envelope, without `hash`: its fields in their order, then its body (K15)."""
    kind, platform, user_id = actor
    return (
        f'{{"v":{v},"seq":{seq},"id":{_quoted(id)},"channel":{_quoted(channel)},"author":{_quoted(author)},'
        f'"actor":{{"kind":"{kind}","platform":{_quoted(platform)},"user_id":{_quoted(user_id)}}},'
        f'"case_id":{_text(case_id)},"obligation_id":{_text(obligation_id)},"attempt":{attempt},'
        f'"tenure":{tenure},"in_reply_to":{_text(in_reply_to)},"hops":{hops},'
        f'"sent_at":"{rfc3339(sent_at)}","body":{body_text}}}'
    )


def _text(value: str | None) -> str:
    return "null" if value is None else _quoted(value)


def link(previous: bytes, text: str) -> bytes:
    """Return SHA-256(previous hash bytes, then the stored text as UTF-8), 32 bytes (K15)."""
    return hashlib.sha256(previous + text.encode()).digest()


def with_hash(text: str, digest: str) -> str:
    """Put `hash` behind the stored text, as its last key."""
    return f'{text[:-1]},"hash":"{digest}"}}'
