"""A study's report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from moot.channels.showing.wording import clean
from moot.compare.summary import Summary
from moot.compare.telling import arms_table, differences_table, led, sentences


def markdown(found: Summary, registration: Mapping[str, Any]) -> str:
    """Write the report of a study.

    Args:
        found: What it found.
        registration: What was registered before the first call.
    """
    return "\n".join(_lines(found, registration)) + "\n"


def _lines(found: Summary, registration: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {_text(found.question or found.study)}"
    yield ""
    yield f"Study `{found.study}`: {found.cases:,} cases whose truth is known, {found.answers:,} answers."
    yield ""
    yield f"**{_text(led(found))}**"
    yield from (f"\n{_text(one)}" for one in sentences(found))
    for head, (heads, rows) in (("Arms", arms_table(found.arms)), ("Differences", differences_table(found))):
        yield f"\n## {head}\n"
        yield from _table(heads, rows)
    yield "\n## Registered before the first call\n"
    yield from (f"- {name}: `{digest}`" for name, digest in registration["hashes"].items())


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(map(_text, row))} |" for row in rows)


def _text(plain: str) -> str:
    return clean(plain).replace("|", "\\|")
