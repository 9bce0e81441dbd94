"""A disk that is really full."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.system_programs import Unavailable


@contextmanager
def mounted(place: Path) -> Iterator[Path]:
    """Mount a file system of 8 MiB.

    Raises:
        Unavailable: This user may not mount one.
    """
    place.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"cannot mount a small disk ({done.stderr.strip()}): sudo make test")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> Path:
    """Take the last byte of a disk; deleting what is returned gives it back."""
    ballast = place / "ballast"
    with pytest.raises(OSError, match="No space left"), ballast.open("wb", buffering=0) as file:
        while True:
            # At its end a write may be a short one.
            file.write(bytes(4_096))
    return ballast
