"""Check 13: nothing excluded in the artifacts (12.13, R-A9), and no secret anywhere in the record (10.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final

from moot.protocols.arena.conformance.report import Findings, show
from moot.protocols.arena.conformance.texts import placed_texts, texts_in
from moot.protocols.arena.conformance.walk import Walk
from moot.protocols.arena.relevance import excess
from moot.protocols.kernel.figures import NEWEST
from moot.protocols.kernel.redact import redact

_SHORT: Final = 10_000
"""Texts up to this length are looked at together first."""


def check_content(walk: Walk, record: object, found: Findings) -> None:
    """Check 13. The evidence names the place and the rule; it never repeats the text."""
    version = _version(record)
    artifacts: dict[str, str] = {}
    for path, text in _protocol_texts(walk):
        artifacts.setdefault(text, path)
    for text in _suspects(artifacts, lambda text: bool(excess(text, version))):
        for one in excess(text, version):
            what = f"line {one.line} is excluded content: {one.category}, rule {one.rule} (R-A9)"
            found.wrong(artifacts[text], what)
    # A verdict line is never taken for a secret; the filter knows that, plain redaction does not.
    others = dict.fromkeys(text for text in texts_in(record) if text not in artifacts)
    secrets = set(_suspects(others, lambda text: redact(text) != text))
    for path, text in placed_texts(record, "record") if secrets else ():
        if text in secrets:
            found.wrong(path.removeprefix("record."), "holds what looks like a secret (10.3)")
    found.saw(f"{len(artifacts)} artifacts, prompts, outputs and issues without excluded content")
    found.saw(f"{len(artifacts) + len(others)} texts without anything like a secret")


def _version(record: object) -> int:
    """Return the rules version that a record names; one without is older than those that name it."""
    found = record.get("rules_version") if isinstance(record, dict) else None
    if found is None:
        return 0
    return int(found) if isinstance(found, str) and found.isascii() and found.isdecimal() else NEWEST


def _suspects(texts: Collection[str], is_suspect: Callable[[str], bool]) -> Iterator[str]:
    """Yield the texts in which something is found. Short ones are first looked at as one, which mostly does."""
    short = [text for text in texts if len(text) <= _SHORT]
    is_clean = not is_suspect("\n\n".join(short))
    for text in texts:
        if not (is_clean and len(text) <= _SHORT) and is_suspect(text):
            yield text


def _protocol_texts(walk: Walk) -> Iterator[tuple[str, str]]:
    """Yield what the run was given and what it made, with its place."""
    reading = walk.reading
    for ref, text in reading.artifacts.items():
        yield f"artifacts[{show(ref)}]", text
    for path, value in (
        ("final_output", reading.final_output),
        ("task.initial_prompt", reading.field("task", "initial_prompt")),
        *((f"rounds[{index}].issues", said.issues) for index, said in enumerate(reading.rounds)),
    ):
        yield from placed_texts(value, path)
