"""What a host of several knew last of all of them, in a file of its data directory, which `moot status` reads."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

NAME: Final = "hosts.json"


def hosts_of(directory: Path) -> dict[str, Any] | None:
    """Return what the host of a directory knew last, as `presence.hosts_json` gives it; None where it is none."""
    try:
        found = json.loads((directory / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def note_hosts(directory: Path, text: str) -> None:
    """Write it down; a disk that does not take it costs nothing else."""
    with suppress(OSError):
        fresh = directory / f"{NAME}.new"
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.replace(directory / NAME)
