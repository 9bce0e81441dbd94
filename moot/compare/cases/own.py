"""Cases of one's own: JSON Lines, one case a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moot.compare.cases.case import QUESTION, Case
from moot.protocols.kernel.errors import BadInput

KEYS: Final = ("id", "kind", "truth", "shown", "question", "options", "context")
QUESTIONS: Final = ("question", "options", "context")
"""What is shown of a question may stand beside its id instead of under `shown`."""

EXAMPLE: Final = '{"id": "capital-1", "question": "What is the capital of Norway?", "truth": "Oslo"}'


@dataclass(frozen=True, slots=True)
class Own:
    """The cases of a file.

    Attributes:
        name: Of the file.
        cases: In its order.
        places: Where each stands, as file and line, by its id.
    """

    name: str
    cases: tuple[Case, ...]
    places: Mapping[str, str]
    seed: int = 0

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __getitem__(self, place: int) -> Case:
        return self.cases[place]


def read_cases(path: Path, count: int | None = None) -> Own:
    """Read cases.

    Args:
        path: The file; blank lines count as none.
        count: The first so many; None: all.

    Raises:
        BadInput: A line is no case, has no truth, or an id that came before; the message names file and line.
    """
    cases: list[Case] = []
    places: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if not text.strip():
                    continue
                if count is not None and len(cases) == count:
                    break
                where = f"{path}:{number}"
                case = _case(text, where)
                if case.id in places:
                    raise BadInput(
                        f"{where}: the id {case.id!r:.60} is that of {places[case.id]}: give another"
                    )
                places[case.id] = where
                cases.append(case)
    except OSError as exc:
        raise BadInput(f"{path}: cannot be read: {exc.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8") from None
    if not cases:
        raise BadInput(f"{path}: holds no case; a line is such as {EXAMPLE}")
    return Own(path.name, tuple(cases), places)


def _case(text: str, where: str) -> Case:
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise BadInput(f"{where}: is not JSON: {str(exc).splitlines()[0]}") from None
    if not isinstance(given, dict):
        raise BadInput(f"{where}: a case is an object such as {EXAMPLE}")
    if unknown := sorted(given.keys() - set(KEYS)):
        raise BadInput(f"{where}: {unknown[0]!r:.60} is no key of a case: {', '.join(KEYS)}")
    name = given.get("id")
    if not isinstance(name, str) or not name.strip():
        raise BadInput(f"{where}: id is missing: give each case a text of its own")
    if given.get("truth") is None:
        raise BadInput(f"{where}: case {name!r:.60} has no truth: say under truth what is right")
    kind = given.get("kind", QUESTION)
    if not isinstance(kind, str):
        raise BadInput(f"{where}: kind is a text, such as {QUESTION}")
    shown = given.get("shown", {key: given[key] for key in QUESTIONS if key in given})
    if not isinstance(shown, dict) or not shown:
        raise BadInput(f"{where}: nothing is shown: give a question, or an object under shown")
    if kind == QUESTION and not isinstance(shown.get("question"), str):
        raise BadInput(f"{where}: question is missing, or no text")
    return Case(name, kind, shown, given["truth"])
