"""A study's report on the disk: a page with pictures, the same as Markdown, and pages of its cases."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from moot.compare.markdown import markdown
from moot.compare.page import case_pages, report_page
from moot.compare.registration import read_registration
from moot.compare.results import FILE, read_results
from moot.compare.summary import Summary

PAGE: Final = "report.html"


def write_pages(study: Path, found: Summary, folder: Path, *, with_cases: bool = True) -> None:
    """Write a report, over one that is there.

    Args:
        study: The study's directory.
        found: What it found.
        folder: Takes report.html, report.md, cases-001.html and so on.
        with_cases: Whether it takes the latter, which hold every answer.

    Raises:
        BadInput: Something in the study's directory is damaged.
        OSError: The folder cannot be written.
    """
    registration = read_registration(study)
    folder.mkdir(parents=True, exist_ok=True)
    place = Path(os.path.relpath(study, folder)).as_posix()
    names = []
    for name, page in case_pages(read_results(study / FILE), place, found.labels) if with_cases else ():
        (folder / name).write_text(page, encoding="utf-8")
        names.append(name)
    for name, text in pages(found, registration, names):
        (folder / name).write_text(text, encoding="utf-8")


def pages(
    found: Summary, registration: Mapping[str, Any], cases: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the names of the files of a report, but those of its cases, and what is in each.

    Args:
        found: What the study found.
        registration: What was registered before the first call.
        cases: The names of the pages of its cases.
    """
    yield PAGE, report_page(found, registration, cases)
    yield "report.md", markdown(found, registration)
