"""The logs of answers: JSON Lines where nobody was paid, data directories where models were."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from moot.compare.arms.arm import Trial
from moot.minds.model_choice import Seated
from moot.place import LOG_NAME
from moot.protocols.calls.messages import CallSettled
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import Seat
from moot.recording import Recording
from moot.stored import last_envelope
from moot.workshop import Options


class Holding(Options, Protocol):
    """The options of what is held, a data class."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=Holding)


def kept(log: Sequence[Envelope], path: Path | None) -> str:
    """Keep a log where one is wanted.

    Returns:
        The hash of its last message, which stands for all of it; "" for an empty log.

    Raises:
        OSError: It cannot be written.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{env.line}\n" for env in log), encoding="utf-8")
    return log[-1].hash if log else ""


def spent(log: Sequence[Envelope], seats: Collection[Seat]) -> tuple[int, float]:
    """Count what an answer took: calls of models where some were asked, else what the seats said.

    Returns:
        Calls, and US dollars.
    """
    settled = [env.body for env in log if isinstance(env.body, CallSettled)]
    said = sum(env.author in seats for env in log)
    return len(settled) or said, sum(one.cost or 0 for one in settled) / 1_000_000


def directory_of(path: Path) -> Path:
    """Return the data directory that stands for a file of a log where models are called."""
    return path.with_suffix("")


def begun(path: Path) -> tuple[Path, Path | None]:
    """Return the directory for the log of an answer that models give, and the log of one that was killed in its middle.

    What is settled there is answered from it, so that nothing is paid twice.
    """
    place = directory_of(path)
    before = place.with_name(f"{place.name}.before")
    if _messages(place) > _messages(before):
        shutil.rmtree(before, ignore_errors=True)
        place.rename(before)
    shutil.rmtree(place, ignore_errors=True)
    return place, before if _messages(before) else None


def held(
    trial: Trial,
    *,
    filled: Seated,
    again: Callable[[Recording, Path | None], T],
    anew: Callable[[Path | None], T],
) -> T:
    """Return what an answer is given with: anew, as it was given before, or as it was when a kill came.

    Args:
        trial: What is asked for.
        filled: Who sits where. What models say is kept; what no log says of them and of minds, such as where keys
            are, is said here.
        again: Makes it of a recording, and the directory that takes the new log.
        anew: Makes it of that directory; None: it takes none.
    """
    if not filled.models:
        return anew(None)
    directory, before = begun(trial.log) if trial.log is not None else (None, None)
    if trial.past is not None:
        recording = Recording(directory_of(trial.past))
    elif before is not None:
        recording = Recording(before, goes_on=True)
    else:
        return anew(directory)
    return replace(again(recording, directory), minds=filled.minds, models=filled.models)


def _messages(directory: Path) -> int:
    if not (directory / LOG_NAME).exists():
        return 0
    last = last_envelope(directory)
    return 0 if last is None else last.seq
