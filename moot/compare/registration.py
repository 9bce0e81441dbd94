"""Preregistration: all that fixes a study is hashed into a log of its own before the first call.

The log lies in the study's directory, as any other: `moot log` and `moot verify` read it. Its SOCIETY_STARTED names the
hash of `registration.json`, its SOCIETY_STOPPED that of the results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from moot.bots.officers import timekeeper
from moot.channels.log.sqlite import SqliteBus
from moot.clock import Clock, RealClock
from moot.compare import results
from moot.compare.hashes import hashes_of
from moot.compare.known import dotted_scorer
from moot.compare.study import Study
from moot.host import Host
from moot.logs import open_log
from moot.memory.inmemory import InMemoryStore
from moot.place import LOG_NAME
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.officers import SocietyStarted, SocietyStopped
from moot.protocols.kernel.rules import Gate
from moot.protocols.rulebook import VERSION, rules
from moot.stored import stored_envelopes
from moot.version import MOOT_VERSION

FILE: Final = "registration.json"

EXPORTED: Final = "log.jsonl"
"""The log of a study that is published: a few lines of text instead of a database."""

STOPPING: Final = "every arm answers every case, as often as repetitions says; nothing ends it earlier"


def registered(study: Study, folder: Path, planned: int) -> dict[str, Any]:
    """Return all that fixes a study, as JSON data.

    Args:
        study: The study.
        folder: Of its file.
        planned: Answers in all.

    Raises:
        BadInput: A module that it names is not there.
    """
    said = study.model_dump(by_alias=True)
    said["score"] = dotted_scorer(study)
    return {
        **said,
        "planned": planned,
        "stopping": STOPPING,
        "hashes": hashes_of(study, folder),
        "moot": MOOT_VERSION,
    }


def digest(registration: Mapping[str, Any]) -> str:
    """Return the hash of a registration as canonical JSON, in hex."""
    return hashlib.sha256(canonical_json(registration).encode()).hexdigest()


def register(registration: Mapping[str, Any], directory: Path) -> bool:
    """Register a study in a directory, or find it there.

    Returns:
        Whether it was there already.

    Raises:
        BadInput: The directory holds something else, or a study that differs; the first difference is named.
        LeaseHeld: The study runs already.
        ChannelError: The log cannot be written.
    """
    if (directory / FILE).exists():
        refuse_difference(read_registration(directory), registration, f"the study in {directory}")
        return True
    if directory.exists() and any(one.name not in ("lock", LOG_NAME) for one in directory.iterdir()):
        raise BadInput(f"{directory} holds something else: name another --out")
    directory.mkdir(parents=True, exist_ok=True)
    RealClock().run(lambda clock: _said(directory, registration, clock))
    text = json.dumps(registration, indent=1, ensure_ascii=False) + "\n"
    # Comes after the log: what is registered twice, after a crash in between, stands there twice and is the same.
    temporary = directory / f".{FILE}"
    temporary.write_text(text, encoding="utf-8")
    temporary.rename(directory / FILE)
    return False


def refuse_difference(before: Mapping[str, Any], now: Mapping[str, Any], what: str) -> None:
    """Refuse a study that is not the one that was registered.

    Raises:
        BadInput: It differs; the first difference is named.
    """
    if (found := first_difference(before, now)) is not None:
        where, was, is_ = found
        raise BadInput(
            f"{what} was registered with {where} {_shown(was)}, and that is {_shown(is_)} now: "
            "a study that has changed needs another --out"
        )


def read_registration(directory: Path) -> dict[str, Any]:
    """Read what was registered, and hold it against the log.

    Raises:
        BadInput: There is none, or it is not what the log says.
    """
    try:
        found: dict[str, Any] = json.loads((directory / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f"{directory} holds no study: moot compare STUDY.yaml --out {directory} makes one"
        ) from None
    except (OSError, ValueError) as exc:
        raise BadInput(f"{directory / FILE}: cannot be read: {' '.join(str(exc).split())[:200]}") from None
    said = [
        env.body.data.get("study_sha256")
        for env in log_of(directory)
        if isinstance(env.body, SocietyStarted) and isinstance(env.body.data, Mapping)
    ]
    if not said or said[0] != digest(found):
        raise BadInput(f"{directory / FILE} is not what was registered: the log names {str(said[:1])[2:14]}…")
    return found


def log_of(directory: Path) -> Iterator[Envelope]:
    """Yield the log of a study; that of a published one is a file of JSON Lines.

    Raises:
        BadInput: There is none.
        ChannelError: It cannot be read.
        LogError: Nor can the file.
    """
    exported = directory / EXPORTED
    if (directory / LOG_NAME).exists():
        yield from stored_envelopes(directory)
    elif exported.exists():
        with open_log(exported) as source:
            yield from source.envelopes()
    else:
        raise BadInput(
            f"{directory} has no {LOG_NAME}, which says what {FILE} has to be: copy it from where the study ran"
        )


def finish(directory: Path) -> None:
    """Say in the log that the study is over, and what came of it; once."""
    if results_said(directory) is None:
        RealClock().run(lambda clock: _over(directory, sha256_of_results(directory), clock))


def sha256_of_results(directory: Path) -> str:
    """Return the hash of the results that lie there, in hex."""
    whole = hashlib.sha256()
    with (directory / results.FILE).open("rb") as file:
        while part := file.read(1 << 20):
            whole.update(part)
    return whole.hexdigest()


def results_said(directory: Path) -> str | None:
    """Return the hash of the results that the log names; None while the study goes on."""
    for env in log_of(directory):
        if isinstance(env.body, SocietyStopped):
            return env.body.reason.rpartition(" ")[2]
    return None


def first_difference(before: Any, now: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """Find where two registrations differ first: the dotted path, what it was, what it is."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in dict.fromkeys((*now, *before)):
            path = f"{where}.{name}" if where else str(name)
            if (found := first_difference(before.get(name), now.get(name), path)) is not None:
                return found
        return None
    if isinstance(before, list | tuple) and isinstance(now, list | tuple) and len(before) == len(now):
        for place, pair in enumerate(zip(before, now, strict=True)):
            if (found := first_difference(*pair, f"{where}.{place}")) is not None:
                return found
        return None
    same = canonical_json(before) == canonical_json(now)
    return None if same else (where, before, now)


def _shown(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


async def _said(directory: Path, registration: Mapping[str, Any], clock: Clock) -> None:
    async with AsyncExitStack() as exits:
        host = await _host(directory, clock, exits)
        await host.publish(
            timekeeper.started(
                society_id=f"study/{registration['study']}",
                config={"schedules": {}},
                rules_version=VERSION,
                moot_version=MOOT_VERSION,
                seed=registration["seed"],
                data={"study_sha256": digest(registration), "hashes": registration["hashes"]},
                speed=1.0,
                paused=False,
                clock=clock.kind,
                durability="power",
                warm_up=False,
                after_seq=host.bus.head.seq,
            )
        )


async def _over(directory: Path, results_sha256: str, clock: Clock) -> None:
    async with AsyncExitStack() as exits:
        host = await _host(directory, clock, exits)
        reason = f"the study is over, its results are {results_sha256}"
        await host.publish(timekeeper.stopped(reason, host.bus.head.seq))


async def _host(directory: Path, clock: Clock, exits: AsyncExitStack) -> Host:
    rulebook = rules()
    gate = Gate(rulebook)
    bus = await SqliteBus.open(
        directory / LOG_NAME, admission=gate, now=clock.now, decode=decode_stored, hold=clock.hold
    )
    exits.push_async_callback(bus.close)
    host = Host(rules=rulebook, gate=gate, bus=bus, store=InMemoryStore(), clock=clock)
    host.catch_up(stored_envelopes(directory))
    host.attach()
    return host
