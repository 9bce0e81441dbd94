"""What the models of the seats are told: one Markdown file for each seat, `general.md` for all of them.

A file begins with what the seat is; each `## TYPE` below says how a message of that type is written. Moot's own files
lie beside this module; a folder may replace any of them, whole.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from moot.protocols.kernel.errors import BadInput
from moot.protocols.rulebook import rulebook

FOLDER: Final = Path(__file__).with_name("prompts")

GENERAL: Final = "general"
"""The file that all seats are told, and what a seat or a type without words of its own is."""

ANY_STEP: Final = "any message"
"""The section of `general.md` for types that a seat's file says nothing of."""

MOST_CHARS: Final = 40_000
"""A longer file is no prompt."""

_HEADING: Final = re.compile(r"^(#{1,2}) +(.+?) *$", re.MULTILINE)


class PromptSettings(BaseModel):
    """Where the prompts of models are.

    Attributes:
        folder: Holds files that replace Moot's own of the same name; "" for none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Annotated[str, Field(max_length=4_096)] = ""

    @field_validator("folder")
    @classmethod
    def _can_be_used(cls, value: str) -> str:
        try:
            load_prompts(Path(value) if value else None)
        except WrongPrompt as exc:
            raise ValueError(str(exc)) from None
        return value

    def load(self) -> Prompts:
        """Load the prompts.

        Raises:
            WrongPrompt: The folder cannot be used any more.
        """
        return load_prompts(Path(self.folder) if self.folder else None)

    def as_log(self, prompts: Prompts, seats: Collection[str]) -> dict[str, Any]:
        """Return where the prompts of some seats come from, and the SHA-256 of each."""
        used = {name: digest for name, digest in prompts.hashes().items() if name in {GENERAL, *seats}}
        return {"folder": self.folder, "sha256": used}


class WrongPrompt(BadInput):
    """Say in one line which prompt file cannot be used, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """All prompts of a society.

    Attributes:
        texts: The files by name, without `.md`.
    """

    texts: Mapping[str, str]

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of each file, in hex, by name."""
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(self.texts.items())}

    def instructions(self, seat: str, kinds: Iterable[str], case: str = "") -> str:
        """Return what the model of a seat is told; the same for every duty of these types.

        Args:
            seat: The seat.
            kinds: The types of message, any of which answers.
            case: What people call the kind of case.
        """
        general, own = _sections(self.texts[GENERAL]), _sections(self.texts.get(seat, ""))
        parts = [general[""], own.get("", "")]
        for kind in kinds:
            parts.append(own.get(kind) or general.get(kind) or general[ANY_STEP].replace("{type}", kind))
        whole = "\n\n".join(dict.fromkeys(part for part in parts if part))
        return whole.replace("{seat}", seat).replace("{case}", case or "case")


def load_prompts(folder: Path | None = None) -> Prompts:
    """Load Moot's prompts, and over them those of a folder.

    Raises:
        WrongPrompt: The folder cannot be read, or a file in it is of no seat, or cannot be used.
    """
    texts = {path.stem: _read(path) for path in sorted(FOLDER.glob("*.md"))}
    if folder is None:
        return Prompts(texts)
    if not folder.is_dir():
        raise WrongPrompt(f"{folder}: there is no such folder of prompts")
    known = sorted({*texts, *rulebook().bots})
    for path in sorted(folder.glob("*.md")):
        if path.stem not in known:
            close = difflib.get_close_matches(path.stem, known, n=1)
            hint = f"did you mean {close[0]}.md?" if close else f"name it after one of {', '.join(known)}"
            raise WrongPrompt(f"{path}: there is no such seat: {hint}")
        texts[path.stem] = _read(path)
    return Prompts(texts)


def _read(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise WrongPrompt(f"{path}: is no file: write what the seat is told into one")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise WrongPrompt(f"{path}: is no UTF-8 text: save it as that") from None
    except OSError as exc:
        raise WrongPrompt(f"{path}: cannot be read: {exc.strerror or exc}") from None
    if len(text) > MOST_CHARS:
        raise WrongPrompt(f"{path}: has {len(text):,} characters, {MOST_CHARS:,} are the most: shorten it")
    if not text.strip():
        raise WrongPrompt(f"{path}: is empty: write what the seat is told, or remove it")
    if path.stem == GENERAL and {"", ANY_STEP} - set(_sections(text)):
        raise WrongPrompt(f"{path}: needs a text before its first section, and a section '## {ANY_STEP}'")
    return text


def _sections(text: str) -> dict[str, str]:
    """Return the sections by their headings; under "" what stands before the first, its title left out."""
    found: dict[str, str] = {}
    name, start = "", 0
    for match in (*_HEADING.finditer(text), None):
        end = len(text) if match is None else match.start()
        if body := text[start:end].strip():
            found[name] = body
        if match is not None:
            name, start = (match[2] if match[1] == "##" else ""), match.end()
    return found
