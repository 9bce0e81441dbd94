"""What models were asked and answered: each body that the log names is there, and is what it is named by (K26)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from moot.bots.models.errors import one_line
from moot.bots.models.reading import text_of
from moot.bots.models.usage import readings
from moot.memory.bodies import StoredBodies
from moot.memory.bodies_file import CALLS_NAME, StoredBodiesFile
from moot.memory.errors import CorruptEvidence, CorruptStore, MemoryStoreError, UnknownEvidence
from moot.protocols.calls.messages import CallReserved, CallSettled
from moot.protocols.kernel.envelope import Envelope
from moot.verify.report import Findings

NAMING: Final = frozenset({"CALL_RESERVED", "CALL_SETTLED"})
"""Types that name bodies."""


class CallBodies:
    """Looks for the bodies that a log names, beside it. Close it at the end."""

    def __init__(self, findings: Findings, directory: Path | None, *, is_trusting: bool) -> None:
        """Open nothing before a message names a body.

        Args:
            findings: Where to say what is found.
            directory: The data directory that the log stands in, None for one that stands in none.
            is_trusting: Whether bodies are believed instead.
        """
        self._findings = findings
        self._directory = directory
        self._stored: StoredBodies | None = None
        self._why = "what models were asked and answered was believed, as asked for" if is_trusting else ""

    def take(self, env: Envelope, version: int) -> None:
        """Check the bodies that a message names.

        Args:
            env: The message.
            version: Rules version that is in force.
        """
        body = env.body
        if isinstance(body, CallReserved):
            self._look(env, body.call_id, "request", body.request_sha256)
        elif isinstance(body, CallSettled) and body.reply_sha256 is not None:
            found = self._look(env, body.call_id, "reply", body.reply_sha256)
            if found is not None and (why := _differs(found, body, version)):
                self._add(env, f"the reply of call {body.call_id}, body {body.reply_sha256}, {why}")

    def close(self) -> None:
        """Close the file."""
        if self._stored is not None:
            self._stored.close()

    def _look(self, env: Envelope, call_id: str, what: str, sha256: str) -> bytes | None:
        """Return a body, if it is there; else say what is wrong with it."""
        if self._stored is None and not self._why:
            self._open(env)
        if self._stored is None:
            self._findings.skip("bodies", env.seq, self._why)
            return None
        try:
            return self._stored.get(sha256)
        except UnknownEvidence:
            self._add(env, f"the {what} of call {call_id} is missing: {CALLS_NAME} holds no body {sha256}")
        except CorruptEvidence:
            self._add(
                env, f"the {what} of call {call_id} was altered: what is kept as body {sha256} is another"
            )
        except CorruptStore as exc:
            self._add(env, f"the {what} of call {call_id} cannot be read: {exc}")
        except MemoryStoreError as exc:
            self._findings.skip(
                "bodies", env.seq, f"what models were asked and answered cannot be read: {exc}"
            )
        return None

    def _open(self, env: Envelope) -> None:
        try:
            if self._directory is None:
                raise UnknownEvidence(f"{CALLS_NAME} is not beside a file of messages")
            self._stored = StoredBodiesFile(self._directory / CALLS_NAME)
        except CorruptStore as exc:
            self._why = f"what models were asked and answered cannot be read: {exc}"
            self._add(env, self._why)
        except MemoryStoreError as exc:
            self._why = f"what models were asked and answered cannot be read: {exc}"

    def _add(self, env: Envelope, why: str) -> None:
        self._findings.add(env.seq, "evidence", "K26", why)


def _differs(record: bytes, settled: CallSettled, version: int) -> str:
    """Say in which way the record of a reply is not that of a settlement; "" when it is."""
    try:
        kept: Any = json.loads(record)
        call_id, outcome, raw = kept["call_id"], kept["outcome"], kept["body"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return "is no record of a reply"
    if call_id != settled.call_id:
        return f"is that of {call_id}"
    if outcome != settled.outcome:
        return f"ended as {outcome}, and was settled as {settled.outcome}"
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError, TypeError):
        reply = None
    told: Any = reply if isinstance(reply, dict) else {}
    named = one_line(text_of(told.get("model")))
    if settled.model_reported not in ("", named):
        return f"names the model {named or 'not'}, and was settled as that of {settled.model_reported}"
    used = readings(told, version)
    if used and settled.usage is not None and settled.usage not in used:
        first = used[0]
        return f"tells {first.input:,} tokens in and {first.output:,} out, which is not what was settled"
    return ""
