"""Reads a record of any shape: what has the form of the audit record, and what is malformed, section by section.

The form is that of sections 4 and 11. Extra keys, extra events and artifacts of any name are welcome. A check that
needs a malformed section fails with its faults; it never guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from moot.protocols.arena.conformance.instants import Instant, parse_instant
from moot.protocols.arena.conformance.report import show, show_key
from moot.protocols.arena.conformance.words import ERROR, FINE, MISSING, MULTIPLE, PHASES, STATUSES, VERDICTS

SECTIONS: Final = (
    "config", "task", "notebook", "transitions", "rounds", "hooks", "events", "parser", "artifacts",
    "terminal_state", "terminal_reason", "final_output",
)  # fmt: skip

NEVER: Final = Instant(0, "")
"""Stands for an instant that is malformed; no check looks at it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """A transition (5.1)."""

    source: str
    target: str
    at: Instant
    reason: str


@dataclass(frozen=True, slots=True)
class Round:
    """A RoundRecord (4.6)."""

    index: int
    draft_ref: str
    review_ref: str
    verdict: str
    issues: Sequence[Any]
    at: Instant


@dataclass(frozen=True, slots=True)
class Hook:
    """A NotebookHookResult (4.7)."""

    phase: str
    query: str
    evidence_refs: tuple[str, ...]
    status: str


@dataclass(frozen=True, slots=True)
class Happening:
    """An event (11)."""

    type: str
    at: Instant
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """What the parser said about one review; `code` is "" for nothing."""

    round_index: int
    attempt: int
    output_ref: str
    code: str
    line: int | None
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """A record as far as it could be read.

    Attributes:
        config: As it stands, of any shape; so are `task` and `notebook`.
        faults: What is malformed, by section.
    """

    config: Any
    task: Any
    notebook: Any
    transitions: tuple[Step, ...]
    rounds: tuple[Round, ...]
    hooks: tuple[Hook, ...]
    events: tuple[Happening, ...]
    parser: tuple[Row, ...]
    artifacts: Mapping[str, str]
    terminal_state: str
    terminal_reason: str
    final_output: str | None
    faults: Mapping[str, Sequence[str]]

    def field(self, section: str, key: str) -> Any:
        """Return a field of `config`, `task` or `notebook`, None when there is none."""
        found = getattr(self, section)
        return found.get(key) if isinstance(found, dict) else None


class Entry:
    """One object of a section, read field by field; what is malformed is noted and stands as a blank."""

    def __init__(self, value: object, path: str, faults: list[str]) -> None:
        """Take a value that should be an object."""
        self._path = path
        self._faults = faults
        self._is_object = isinstance(value, dict)
        self._found: dict[str, Any] = value if isinstance(value, dict) else {}
        if not self._is_object:
            faults.append(f"{path}: is no object but {show(value)}")

    def text(self, key: str, *, may_be_blank: bool = False) -> str:
        """Return a text."""
        value = self._found.get(key)
        if isinstance(value, str) and (may_be_blank or value.strip()):
            return value
        self._wrong(key, "is no text" if not isinstance(value, str) else "is blank")
        return ""

    def whole(self, key: str, least: int) -> int:
        """Return a whole number below a thousand million."""
        value = self._found.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value < 10**9:
            return value
        self._wrong(key, f"is no whole number from {least} on")
        return least

    def one_of(self, key: str, options: Sequence[str]) -> str:
        """Return one of some words."""
        value = self._found.get(key)
        if isinstance(value, str) and value in options:
            return value
        self._wrong(key, "is none of " + ", ".join(options))
        return ""

    def or_none(self, key: str, read: Callable[[str], T], nothing: Sequence[object] = (None,)) -> T | None:
        """Return what `read` finds, None where the value stands for nothing; the key has to be there."""
        if key in self._found and any(
            self._found[key] is none or self._found[key] == none for none in nothing
        ):
            return None
        return read(key)

    def instant(self, key: str) -> Instant:
        """Return an instant."""
        value = self._found.get(key)
        found = parse_instant(value) if isinstance(value, str) else None
        if found is None:
            self._wrong(key, "is no RFC 3339 timestamp")
        return found or NEVER

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple([value for value in self.items(key) if self._is_text(key, value)])

    def items(self, key: str) -> Sequence[Any]:
        """Return a list."""
        value = self._found.get(key)
        if isinstance(value, list | tuple):
            return value
        self._wrong(key, "is no list")
        return ()

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return an object."""
        value = self._found.get(key)
        if isinstance(value, dict):
            return value
        self._wrong(key, "is no object")
        return {}

    def _is_text(self, key: str, value: object) -> bool:
        if isinstance(value, str):
            return True
        self._wrong(key, f"holds {show(value)}, which is no text", is_told=True)
        return False

    def _wrong(self, key: str, what: str, *, is_told: bool = False) -> None:
        if not self._is_object:
            return
        if key not in self._found:
            what = "is missing"
        elif not is_told and what != "is blank":
            what = f"{what} but {show(self._found[key])}"
        self._faults.append(f"{self._path}.{key}: {what}")


def read(record: object) -> Reading:
    """Read a record of any shape."""
    faults: dict[str, list[str]] = {section: [] for section in SECTIONS}
    whole: dict[str, Any] = record if isinstance(record, dict) else {}
    for section in SECTIONS:
        if not isinstance(record, dict):
            faults[section].append(f"{section}: the record is no object but {show(record)}")
        elif section not in record:
            faults[section].append(f"{section}: is missing")

    def entries(section: str, make: Callable[[Entry], T]) -> tuple[T, ...]:
        value = whole.get(section, ())
        if not isinstance(value, list | tuple):
            faults[section].append(f"{section}: is no list but {show(value)}")
            return ()
        return tuple(
            [make(Entry(item, f"{section}[{index}]", faults[section])) for index, item in enumerate(value)]
        )

    final = whole.get("final_output")
    if final is not None and not isinstance(final, str):
        faults["final_output"].append(f"final_output: is no text but {show(final)}")
    return Reading(
        config=whole.get("config"),
        task=whole.get("task"),
        notebook=whole.get("notebook"),
        transitions=entries("transitions", _step),
        rounds=entries("rounds", _round),
        hooks=entries("hooks", _hook),
        events=entries("events", _event),
        parser=entries("parser", _row),
        artifacts=_artifacts(whole, faults["artifacts"]),
        terminal_state=_said(whole, "terminal_state", faults),
        terminal_reason=_said(whole, "terminal_reason", faults),
        final_output=final if isinstance(final, str) else None,
        faults=faults,
    )


def _step(entry: Entry) -> Step:
    target = entry.text("to")
    reason = entry.or_none("reason", entry.text, (None, "") if target != ERROR else ())
    return Step(entry.text("from"), target, entry.instant("at"), reason or "")


def _round(entry: Entry) -> Round:
    return Round(
        index=entry.whole("round_index", 1),
        draft_ref=entry.text("planner_output_ref"),
        review_ref=entry.text("reviewer_output_ref"),
        verdict=entry.one_of("verdict", VERDICTS),
        issues=entry.items("issues"),
        at=entry.instant("timestamp"),
    )


def _hook(entry: Entry) -> Hook:
    return Hook(
        phase=entry.one_of("phase", PHASES),
        query=entry.text("query", may_be_blank=True),
        evidence_refs=entry.texts("evidence_refs"),
        status=entry.one_of("status", STATUSES),
    )


def _event(entry: Entry) -> Happening:
    return Happening(entry.text("type"), entry.instant("at"), entry.mapping("data"))


def _row(entry: Entry) -> Row:
    return Row(
        round_index=entry.whole("round_index", 1),
        attempt=entry.whole("attempt", 0),
        output_ref=entry.text("output_ref"),
        code=entry.or_none("code", lambda key: entry.one_of(key, (MULTIPLE, MISSING)), FINE) or "",
        line=entry.or_none("line", lambda key: entry.whole(key, 1)),
        verdict=entry.or_none("verdict", lambda key: entry.one_of(key, VERDICTS)),
    )


def _artifacts(whole: dict[str, Any], faults: list[str]) -> dict[str, str]:
    value = whole.get("artifacts", {})
    if not isinstance(value, dict):
        faults.append(f"artifacts: is no object but {show(value)}")
        return {}
    for ref, text in value.items():
        if not isinstance(ref, str) or not isinstance(text, str):
            faults.append(f"artifacts[{show_key(ref)}]: is no text but {show(text)}")
    return {ref: text for ref, text in value.items() if isinstance(ref, str) and isinstance(text, str)}


def _said(whole: dict[str, Any], section: str, faults: dict[str, list[str]]) -> str:
    value = whole.get(section, "")
    if section in whole and not (isinstance(value, str) and value.strip()):
        faults[section].append(
            f"{section}: {'is blank' if isinstance(value, str) else 'is no text but ' + show(value)}"
        )
    return value if isinstance(value, str) else ""
