"""What is left of a world: memory and files that hold no secret and stay small, and what models were paid."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from moot.bots.models.usage import usage_of
from moot.chaos.judge import Finding
from moot.host import Host
from moot.laws.calls import BudgetsHold, Key
from moot.laws.logs import secret_in
from moot.memory.bodies import InMemoryBodies, StoredBodies
from moot.memory.bodies_file import CALLS_NAME, StoredBodiesFile
from moot.memory.evidence import InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import BY_NAME
from moot.place import EVIDENCE
from moot.protocols.kernel.envelope import Envelope

FEW: Final = 256
"""What a society holds besides what may grow: at most so much of a kind."""
GROWS: Final[Mapping[str, str]] = {
    "docket.ended": "a line for each case that ended (K18)",
    "life.strategies": "a line for each strategy",
    "closed._young": "what was closed lately, 10,000 at most",
    "closed._old": "what was closed before that, 10,000 at most",
    "closed._voided": "what a RULING voided, 10,000 at most",
    "book._signals": "the last 4,096",
    "book._orders": "the last 4,096",
    "book._booked": "the last 4,096",
    "book._said": "the last 4,096",
    "book._moves": "the last 4,096",
}
"""What may grow with the log, by holder and name; never faster than it."""

ROOM: Final = 1024 * 1024
"""Bytes that a file may have however short the log is."""
TIMES: Final = 3
"""A file may have so many times the bytes of the log's messages."""

Record = Callable[[str], bytes | None]
"""Gives the record of the reply of a call, by its id."""


def left(
    log: Sequence[Envelope], directory: Path | None, bodies: Sequence[StoredBodies]
) -> Iterator[Finding]:
    """Yield what is wrong with what a world left when it was closed.

    Args:
        log: All of its log.
        directory: Where its files are; None: it had none.
        bodies: What its models were asked and answered, a life each, where it had no files.
    """
    if directory is None:
        yield from overspent(log, lambda call_id: _of_last_life(bodies, call_id))
        return
    yield from told_in_files(directory)
    yield from too_long(directory, log)
    if (directory / CALLS_NAME).is_file():
        with StoredBodiesFile(directory / CALLS_NAME) as stored:
            yield from overspent(log, stored.reply_of)


def _of_last_life(bodies: Sequence[StoredBodies], call_id: str) -> bytes | None:
    return next((found for one in reversed(bodies) if (found := one.reply_of(call_id))), None)


# ---------------------------------------------------------------- bounded


def overgrown(host: Host, messages: int) -> Iterator[Finding]:
    """Yield what a living society holds more of than it needs.

    What is about open obligations and cases goes with them; all else is few, or may grow with the log (`GROWS`).

    Args:
        host: Its host.
        messages: The length of its log.
    """
    docket, kept = host.docket, host.snapshot()
    follows: dict[str, tuple[Iterable[str], Iterable[str]]] = {
        "docket.attempts": (docket.attempts, docket.open),
        "deadlines.pinged": (docket.deadlines.pinged, docket.open),
        "deadlines.notices": (docket.deadlines.notices, docket.open),
        "host.causes": (kept["causes"], docket.open),
        "host.refusals": (kept["refusals"], docket.open),
        "docket.waiting": (docket.waiting, docket.cases),
        "host.transcripts": (kept["transcripts"], docket.cases),
        "docket.arose": (docket.arose, docket.pending),
    }
    for name, (holds, open_) in follows.items():
        if left := sorted(set(holds) - set(open_)):
            yield _bounded(docket.seq, f"{name} holds {len(left)} that are over, {left[0]} among them")
    for name, n in sizes(host):
        most = messages if name in GROWS else FEW
        if n > most:
            yield _bounded(docket.seq, f"{name} holds {n:,}, of a log of {messages:,} messages")


def sizes(host: Host) -> Iterator[tuple[str, int]]:
    """Yield how many things everything holds that folding the log has built."""
    docket = host.docket
    holders: list[tuple[str, object]] = [
        ("docket", docket),
        ("closed", docket.closed),
        ("deadlines", docket.deadlines),
        *((fold.name, fold) for fold in docket.context.folds),
    ]
    for name, holder in holders:
        for attribute, value in vars(holder).items():
            if isinstance(value, dict | list | set | deque):
                yield f"{name}.{attribute}", len(value)


def _bounded(seq: int, says: str) -> Finding:
    return Finding("bounded", seq, says)


def too_long(directory: Path, log: Sequence[Envelope]) -> Iterator[Finding]:
    """Yield the files of a world that are long for its log, or that nobody finished."""
    text = sum(len(env.line) for env in log)
    for path in _files(directory):
        size = path.stat().st_size
        if size > ROOM + TIMES * text:
            yield _bounded(len(log), f"{path.name} has {size:,} bytes, the log's messages {text:,}")
        if path.name.startswith(".") and EVIDENCE in path.parts:
            yield _bounded(len(log), f"{path.name} was left behind unfinished")


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())


# ---------------------------------------------------------------- secrets


def told_in_memory(host: Host, evidence: object, bodies: Iterable[object]) -> Iterator[Finding]:
    """Yield the secrets in what a world keeps in memory alone: its records, its evidence, what models were asked."""
    store = host.store
    if isinstance(store, InMemoryStore):
        for shelf in BY_NAME.values():
            for record in store.tables[shelf].versions():
                yield from _secret(f"{shelf.name} {record.key}", shelf.encode(record))
    if isinstance(evidence, InMemoryEvidence):
        for ref in evidence:
            yield from _secret(ref, json.dumps(evidence.get(ref)))
    for kept in bodies:
        if isinstance(kept, InMemoryBodies):
            for sha256 in kept:
                yield from _secret(f"the body {sha256}", kept.get(sha256).decode("utf-8", "replace"))


def told_in_files(directory: Path) -> Iterator[Finding]:
    """Yield the secrets in the files of a world, whatever they are packed in."""
    for path in _files(directory):
        for text in _texts(path):
            yield from _secret(str(path.relative_to(directory)), text)


def _secret(where: str, text: str) -> Iterator[Finding]:
    if found := secret_in(text):
        yield Finding("secret", 0, f"{where} holds {found[:4]}…, which looks like a secret")


def _texts(path: Path) -> Iterator[str]:
    """Yield what a file says: each value of each row of a database, or all of it."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in db.execute(f'SELECT * FROM "{table}"'):
                    yield from (_text(value) for value in row if isinstance(value, str | bytes))
    except sqlite3.DatabaseError:
        yield _text(path.read_bytes())


def _text(value: str | bytes) -> str:
    if isinstance(value, str):
        return value
    for unpack in (zlib.decompress, gzip.decompress):
        with suppress(zlib.error, OSError, EOFError):
            return unpack(value).decode("utf-8", "replace")
    return value.decode("utf-8", "replace")


# ---------------------------------------------------------------- money


def overspent(log: Sequence[Envelope], record: Record) -> Iterator[Finding]:
    """Yield the budgets that hold less than models were paid, by the replies that were kept and not by what was booked.

    A budget is what it was at its widest; nothing is judged once an admin chose to raise one.

    Args:
        log: All of it.
        record: Gives the records of replies.
    """
    limits, widest = BudgetsHold(), dict[str, list[float | None]]()
    paid: dict[str, Counter[Key]] = {"micro-USD": Counter(), "tokens": Counter()}
    prices: Mapping[str, Any] = {}
    for env in log:
        if env.body.type not in HEARD:
            continue
        message = json.loads(env.line)
        body = message["body"]
        match body["type"]:
            case "CALL_RESERVED":
                used = _used(record(body["call_id"]))
                day = message["sent_at"][:10]
                for scope, which in (
                    ("society", ""),
                    ("day", day),
                    ("seat", body["seat"]),
                    ("case", body["case"]),
                ):
                    key = scope, which or ""
                    paid["tokens"][key] += sum(used)
                    paid["micro-USD"][key] += _cost(used, prices.get(body["model"]))
            case "ESCALATION_RESOLVED":
                if body["effect"] == "raise_budget":
                    return
            case "BUDGET_SET":
                limits.limited(message)
            case _:
                prices = _prices(body) or prices
                limits.configured(message)
        _widen(widest, limits.limits)
    for place, (unit, sums) in enumerate(paid.items()):
        for (scope, which), value in sums.items():
            most = widest.get(scope, [None, None])[place]
            if most is not None and value > most:
                name = f"{scope} {which}".strip()
                yield Finding(
                    "overspent", len(log), f"{value:,} {unit} were paid of {name}, it holds {most:,.0f}"
                )


HEARD: Final = frozenset(
    {"CALL_RESERVED", "ESCALATION_RESOLVED", "BUDGET_SET", "SOCIETY_STARTED", "CONFIG_CHANGED"}
)


def _prices(body: Mapping[str, Any]) -> dict[str, Any]:
    models = (body.get("config") or body.get("changes") or {}).get("models", {})
    return {name: model.get("price") for name, model in models.items()}


def _widen(widest: dict[str, list[float | None]], limits: Mapping[str, Sequence[float | None]]) -> None:
    for scope, now in limits.items():
        before = widest.setdefault(scope, list(now))
        widest[scope] = [
            None if one is None or other is None else max(one, other)
            for one, other in zip(before, now, strict=True)
        ]


def _used(record: bytes | None) -> tuple[int, int]:
    """Return the tokens of prompt and output that a reply tells; none where it tells none."""
    if record is None:
        return 0, 0
    try:
        told = usage_of(json.loads(json.loads(record)["body"]))
    except (ValueError, AttributeError):
        return 0, 0
    return (told.input, told.output) if told is not None else (0, 0)


def _cost(used: tuple[int, int], price: Mapping[str, Any] | None) -> int:
    """Return micro-dollars; a price is of a million tokens."""
    if price is None:
        return 0
    return round(used[0] * float(price["input"]) + used[1] * float(price["output"]))
