"""Laws of the log itself: they hear every message, also what a VIOLATION refuses."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable
from typing import Any, Final

from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent

RECENT_IDS: Final = 200_000

SECRETS: Final = re.compile(
    r"\bsk-[A-Za-z0-9_-]{20}|\bgh[pousr]_[A-Za-z0-9]{30}|\bgithub_pat_\w{20}|\bxox[abprs]-[A-Za-z0-9-]{10}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
"""Keys and tokens by the forms that their makers give them."""

MARKS: Final = (
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "xox",
    "AKIA",
    "AIza",
    ".eyJ",
    "-----BEGIN",
)
"""No text without one of these holds what `SECRETS` looks for; looking for them is much quicker."""


class Dense(Memory, source="K3", is_raw=True):
    """Messages are numbered from 1 without a gap."""

    def __init__(self) -> None:
        self.last = 0

    @hears()
    def any(self, message: Message) -> Findings:
        """Compare the number with the one before it."""
        expected, self.last = self.last + 1, message["seq"]
        if self.last != expected:
            return (f"seq {expected} should come here",)
        return ()


class TimeNeverGoesBack(Memory, source="K3, K7", is_raw=True):
    """No message was sent before the one in front of it."""

    def __init__(self) -> None:
        self.last = ""

    @hears()
    def any(self, message: Message) -> Findings:
        """Compare the instant with the one before it."""
        # All instants are UTC with six decimals and a Z, so that texts compare as instants do.
        before, self.last = self.last, message["sent_at"]
        if self.last < before:
            return (f"was sent at {self.last}, the message before it at {before}",)
        return ()


class IdsOnce(Memory, source="K1", is_raw=True):
    """What was acknowledged stands in the log once: no two messages have the same id."""

    def __init__(self) -> None:
        self.seqs: Recent[int, int] = Recent(RECENT_IDS)

    @hears()
    def any(self, message: Message) -> Findings:
        """Look the id up among those before it."""
        key = hash(message["id"])
        before = self.seqs.get(key)
        if before is not None:
            return (f"has the id {message['id']}, as seq {before} has",)
        self.seqs[key] = message["seq"]
        return ()


class NoSecrets(Memory, source="R-A9", is_raw=True):
    """No message holds what looks like a key, a token or a password, nor do the bytes that an AUDIT keeps."""

    @hears()
    def any(self, message: Message) -> Findings:
        """Look at all of the body."""
        texts: list[str] = []
        if message["body"]["type"] == "AUDIT" and (kept := message["body"]["bytes"]):
            texts.append(b64decode(kept).decode("utf-8", "replace"))
        _collect(message["body"].values(), texts)
        found = secret_in("\n".join(texts))
        return (f"holds {found[:4]}…, which looks like a secret",) if found else ()


def secret_in(text: str) -> str:
    """Return the first key or token in a text, "" where there is none."""
    for mark in MARKS:
        if mark in text and (found := SECRETS.search(text)):
            return found[0]
    return ""


def _collect(values: Iterable[Any], texts: list[str]) -> None:
    """Add the texts that are long enough to hold a secret."""
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > 15:
                texts.append(value)
        elif kind is dict:
            _collect(value.values(), texts)
        elif kind is list:
            _collect(value, texts)


class StartsAndStops(Memory, source="K4, K6", is_raw=True):
    """A log begins with SOCIETY_STARTED, and after SOCIETY_STOPPED nothing is said until the next one."""

    def __init__(self) -> None:
        self.is_down = True

    @hears()
    def any(self, message: Message) -> Findings:
        """Follow whether the society runs."""
        kind = message["body"]["type"]
        was_down, self.is_down = self.is_down, kind == "SOCIETY_STOPPED"
        if was_down and kind != "SOCIETY_STARTED":
            return ("was said while the society did not run",)
        return ()


class RehearsedFromTheStart(Memory, source="K4"):
    """A log is a rehearsal's from its first message on, or never."""

    def __init__(self) -> None:
        self.is_rehearsal: bool | None = None

    @hears("SOCIETY_STARTED")
    def started(self, message: Message) -> Findings:
        """Hold each start against the first."""
        told = message["body"].get("rehearsal") is not None
        if self.is_rehearsal is None:
            self.is_rehearsal = told
        if told != self.is_rehearsal:
            return ("goes on as no rehearsal" if self.is_rehearsal else "makes a rehearsal of what was none",)
        return ()


class AnchorsHold(Memory, source="K9, K15", is_raw=True):
    """An ANCHOR names the hash of the message that it names, the last one before its instant."""

    def __init__(self) -> None:
        self.hashes: Recent[int, tuple[str, str]] = Recent(512)

    @hears()
    def any(self, message: Message) -> Findings:
        """Keep the latest hashes, and hold an anchor against them."""
        seq, body, found = message["seq"], message["body"], ""
        if body["type"] == "ANCHOR":
            sent_at, digest = self.hashes.get(body["seq"], ("", body["hash"]))
            follows = self.hashes.get(body["seq"] + 1)
            if digest != body["hash"]:
                found = f"names {body['hash']}, the hash of seq {body['seq']} is {digest}"
            elif sent_at >= body["nominal_at"]:
                found = f"seq {body['seq']} was sent at {sent_at}, not before {body['nominal_at']}"
            elif follows is not None and follows[0] < body["nominal_at"]:
                found = f"seq {body['seq'] + 1} was sent before {body['nominal_at']} too"
        self.hashes[seq] = message["sent_at"], message["hash"]
        return (found,) if found else ()


class NoRunaway(Memory, source="K21"):
    """What bots cause each other to say is counted on, and ends after 64 messages."""

    def __init__(self) -> None:
        self.hops: Recent[str, int] = Recent(1024)

    @hears()
    def any(self, message: Message) -> Findings:
        """Compare the count with that of the message it answers."""
        hops, kind = message["hops"], message["actor"]["kind"]
        if kind != "bot":
            return ()
        self.hops[message["id"]] = hops
        before = self.hops.get(message["in_reply_to"])
        if hops > 64:
            return (f"is the {hops}th of a chain",)
        if before is not None and hops != before + 1:
            return (f"counts {hops}, what it answers counts {before}",)
        return ()
