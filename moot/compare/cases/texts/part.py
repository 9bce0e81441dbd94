"""Wordings with places for errors: `<right|kind of error|wrong>`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

_PLACE: Final = re.compile(r"<([^<>|]*)\|([a-z_]+)\|([^<>|]*)>")


@dataclass(frozen=True, slots=True)
class Wording:
    """A part of a document in the wording that was drawn.

    Attributes:
        template: With places for errors and `{names}` of facts.
    """

    template: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which errors can be planted in it, each once."""
        return tuple(dict.fromkeys(match[2] for match in _PLACE.finditer(self.template)))

    def lines(self, facts: Mapping[str, object], planted: str = "") -> list[str]:
        """Return the text.

        Args:
            facts: What is filled in.
            planted: The kind of the error in it; "" for none.
        """
        text = _PLACE.sub(lambda place: place[3] if place[2] == planted else place[1], self.template)
        return text.format_map(facts).strip("\n").split("\n")


@dataclass(frozen=True, slots=True)
class Outline:
    """What documents of one sort are like.

    Attributes:
        topics: What they may be about, each a mapping of facts.
        parts: What they consist of, in order, as in TOML.
    """

    topics: Sequence[Mapping[str, Any]]
    parts: Sequence[Mapping[str, Any]]

    def wordings(self, rng: np.random.Generator, facts: dict[str, Any]) -> list[Wording]:
        """Draw parts and their wordings, and add the numbers of clauses to the facts."""
        found, clauses = [], 0
        for part in self.parts:
            is_there = rng.random() < part.get("chance", 1.0)
            heading, said = (_drawn(rng, part.get(name, [""])) for name in ("heading", "say"))
            if not is_there or part.get("when", facts["design"]) != facts["design"]:
                continue
            if name := part.get("clause"):
                clauses += 1
                facts[f"of_{name}"] = clauses
                own = part.get("number", "{no}").replace("{no}", str(clauses))
                heading = f"{own}. {heading}".replace("{before_no}", str(clauses - 1))
            found.append(Wording(f"## {heading}\n{said}" if heading else said))
        facts["beyond_clause"] = clauses + int(rng.integers(2, 9))
        return found


@lru_cache
def outline(sort: str) -> Outline:
    """Read what documents of a sort are like."""
    said = tomllib.loads((Path(__file__).parent / f"{sort}.toml").read_text(encoding="utf-8"))
    return Outline(said["topics"], said["parts"])


def _drawn(rng: np.random.Generator, texts: Sequence[str]) -> str:
    return texts[int(rng.integers(len(texts)))]
