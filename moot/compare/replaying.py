"""A study answered again, and whether it is the same, byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

from moot.compare.reading import study_in
from moot.compare.registration import read_registration
from moot.compare.results import FILE
from moot.compare.running import Progress, Run, run


def replayed(directory: Path, out: Path | None, at_once: int, told: Progress) -> tuple[int, str]:
    """Answer a study again.

    Args:
        directory: Of the study.
        out: Keeps what comes of it; None: nothing does.
        at_once: Processes.
        told: Told how it goes on.

    Returns:
        How many results are the same from the first on, and where the next differs, "" for nowhere.

    Raises:
        BadInput: There is no study, or Moot has changed since it was registered.
    """
    registration = read_registration(directory)
    with _kept(out) as place:
        run(
            Run(
                study=study_in(registration),
                folder=directory,
                directory=place,
                at_once=at_once,
                like=registration,
                past=directory,
            ),
            told,
        )
        with (directory / FILE).open("rb") as before, (place / FILE).open("rb") as now:
            for number, (was, is_) in enumerate(zip_longest(before, now), 1):
                if was is None:
                    return number - 1, ""  # it was not over; what there is, is the same
                if was != is_:
                    return number - 1, f"see line {number} of {FILE}"
            return number, ""


@contextmanager
def _kept(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="moot-replay-") as place:
        yield Path(place)
