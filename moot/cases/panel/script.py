"""The scripts of `moot panel run`: a folder of raw outputs, named by role and phase."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from moot.protocols.kernel.errors import MootError
from moot.protocols.panel.contract import ROLES
from moot.protocols.panel.messages import MAX_OUTPUT

MOST: Final = 9
"""Attempts that a folder may hold of one output."""

PHASES: Final = ("phase1", "phase2")

Texts = Mapping[tuple[str, str], tuple[str, ...]]
"""Raw outputs by role and phase, first attempt first; the synthesizer's phase is `synthesis`."""


class PanelScriptError(MootError):
    """A folder cannot be used as a script; its text is one line that says which file and why."""


def read_script(folder: Path) -> Texts:
    """Read `<role>.phase1.md`, `<role>.phase2.md`, `synthesizer.synthesis.md`, further attempts as `….2.md`.

    Raises:
        PanelScriptError: It is no folder, holds none of these files, or one of them is no text.
    """
    if not folder.is_dir():
        raise PanelScriptError(f"{folder}: is no folder")
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    roles = sorted({role for roles in ROLES.values() for role in roles})
    for role, phase in [*((r, p) for r in roles for p in PHASES), ("synthesizer", "synthesis")]:
        first = folder / f"{role}.{phase}.md"
        further = [folder / f"{role}.{phase}.{n}.md" for n in range(2, MOST + 1)]
        texts = [_text(path) for path in (first, *further) if path.exists()]
        if texts:
            found[role, phase] = tuple(texts)
    if not found:
        raise PanelScriptError(f"{folder}: holds no <role>.phase1.md or <role>.phase2.md")
    return found


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise PanelScriptError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise PanelScriptError(f"{path}: is not UTF-8 at byte {error.start}") from None
    if len(text) > MAX_OUTPUT:
        raise PanelScriptError(f"{path}: longer than {MAX_OUTPUT:,} characters")
    return text
