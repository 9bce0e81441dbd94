"""The files of a run, read line by line and held against the committed schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from jsonschema.exceptions import ValidationError, best_match

from moot.arbiter import schemas
from moot.arbiter.run_files import DOCUMENTS, LINES, schema_name
from moot.arbiter.verify import foreign
from moot.arbiter.verify.report import Findings
from moot.config.json_files import BadJson, parsed
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.record import SCHEMA_VERSION

MOST_BYTES: Final = 64_000_000
"""A longer document or line is none of Arbiter's."""


class Line(NamedTuple):
    """A record.

    Attributes:
        number: The line that it stands in, from 1.
        value: The record as the checks read it.
        raw: The record as it stands there: that is what is hashed.
    """

    number: int
    value: dict[str, Any]
    raw: dict[str, Any]


class Files:
    """What the files of a run say.

    Records of other programs are mended, so that each check finds them in one form; see `foreign`.

    Attributes:
        folder: The run's.
        raw: Documents as they stand there: that is what is hashed.
        documents: By file; those that are there and hold against their schema.
        lines: By file; those in which each line does.
        counts: How many lines each file has, also one with faults.
    """

    def __init__(self, folder: Path, findings: Findings) -> None:
        """Read all of them; what is wrong with one is a finding."""
        self.folder = folder
        self.documents: dict[str, dict[str, Any]] = {}
        self.raw: dict[str, dict[str, Any]] = {}
        self.lines: dict[str, list[Line]] = {}
        self.counts: dict[str, int] = {}
        self._findings = findings
        for file in DOCUMENTS:
            if self.has(file):
                self._document(file)
        for file in LINES:
            if self.has(file):
                self._lines(file)
        if not findings.failed("readable"):
            findings.made("readable", "every file is JSON in UTF-8, and whole")
        records = len(self.documents) + sum(map(len, self.lines.values()))
        findings.made("schemas", f"{records:,} records hold against their schemas ({SCHEMA_VERSION})")

    def has(self, file: str) -> bool:
        """Whether a file is there."""
        try:
            return (self.folder / file).is_file()
        except OSError:
            return False

    def _document(self, file: str) -> None:
        try:
            with (self.folder / file).open("rb") as opened:
                raw = opened.read(MOST_BYTES + 1)
                value = json_of(raw)
        except (BadJson, OSError) as error:
            self._unreadable(file, error)
            return
        if (held := self._held(file, value, 0, raw)) is not None:
            self.documents[file] = held
            self.raw[file] = value

    def _lines(self, file: str) -> None:
        found: list[Line] = []
        number = faulty = 0
        try:
            with (self.folder / file).open("rb") as opened:
                while raw := opened.readline(MOST_BYTES + 1):
                    number += 1
                    if not raw.endswith(b"\n"):
                        faulty += 1
                        self._findings.fail("readable", file, "is cut off in the middle", line=number)
                        continue
                    try:
                        value = json_of(raw)
                    except BadJson as error:
                        faulty += 1
                        self._findings.fail("readable", file, _first_line(error), line=number)
                        continue
                    if (held := self._held(file, value, number, raw)) is not None:
                        found.append(Line(number, held, value))
        except OSError as error:
            self._unreadable(file, error)
            return
        self.counts[file] = number
        if len(found) == number and not faulty:
            self.lines[file] = found

    def _unreadable(self, file: str, error: BadJson | OSError) -> None:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self._findings.fail("readable", file, f"cannot be read: {why}" if isinstance(error, OSError) else why)

    def _held(self, file: str, value: Any, line: int, raw: bytes) -> dict[str, Any] | None:
        """Return a record as the checks read it; None when it breaks its schema."""
        name = schema_name(file)
        if b"\\u" not in raw or _is_whole(value):
            if schema_fault(name, value) is None:
                return value  # type: ignore[no-any-return]  # a schema of an object holds
        else:
            why = "holds half of a surrogate pair, read as U+FFFD"
            self._findings.note("readable", file, why, line=line)
            value = _whole(value)
        part = _part(name, value)
        mended = foreign.mended(name, part, value)
        fault = _fault(foreign.validator(name, part).iter_errors(mended.value))
        if fault is not None:
            self._findings.fail("schemas", file, fault.why, line=line, field=fault.field)
            return None
        for field in mended.lacks:
            self._findings.note("schemas", file, "is missing, though Moot writes it", line=line, field=field)
        return mended.value  # type: ignore[no-any-return]


class Fault(NamedTuple):
    """What a schema says against a record: the dotted path of the field, and why."""

    field: str
    why: str


def json_of(raw: bytes) -> Any:
    """Return what JSON bytes say.

    Raises:
        BadJson: They say nothing, or what no file of Arbiter holds: a key twice, a number beyond all.
    """
    if len(raw) > MOST_BYTES:
        raise BadJson(f"is longer than {MOST_BYTES:,} bytes")
    try:
        return parsed(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadJson(f"is not UTF-8: see byte {error.start}") from None


def _is_whole(value: object) -> bool:
    """Return whether a value holds no half of a surrogate pair: a cut by UTF-16 code units may leave one."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {well_formed(name): _whole(one) for name, one in value.items()}
    return value


def schema_fault(name: str, value: object) -> Fault | None:
    """Hold a record against a schema.

    Args:
        name: As in `protocols/arbiter/schemas/NAME.schema.json`.

    Returns:
        The fault that says most, or None.
    """
    return _fault(schemas.validator(name, _part(name, value)).iter_errors(value))


def _fault(faults: Iterable[ValidationError]) -> Fault | None:
    errors = list(faults)
    if not errors:
        return None
    # A part that is faulty leaves its fields to nobody: they are named as surplus besides.
    errors = [one for one in errors if one.validator != "unevaluatedProperties"] or errors
    found = best_match(errors)
    assert isinstance(found, ValidationError)
    place = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in found.absolute_path)
    return Fault(place.removeprefix("."), found.message)


def _part(name: str, value: object) -> str:
    """Name the part of a schema that a record claims to be, so that one fault is told and not all alternatives."""
    told = schemas.schema(name).get("discriminator")
    if told is None or not isinstance(value, dict):
        return ""
    found = value.get(told["propertyName"])
    part = told["mapping"].get(found, "") if isinstance(found, str) else ""
    return str(part).removeprefix("#/$defs/")


def _first_line(error: BadJson) -> str:
    """Say of a line what is wrong, without the number 1 that the parser counts it as."""
    return str(error).removesuffix(", line 1")


def version_of(path: Path) -> str | None:
    """Return the schema_version that a document names; None when it cannot be read or names none."""
    try:
        with path.open("rb") as opened:
            value = json_of(opened.read(MOST_BYTES + 1))
    except (BadJson, OSError):
        return None
    found = value.get("schema_version") if isinstance(value, dict) else None
    return well_formed(found[:40]) if isinstance(found, str) else None
