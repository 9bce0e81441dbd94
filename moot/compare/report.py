"""A study's report on the disk: a page with pictures, the same as Markdown, and pages of its cases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

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
    for name, page in case_pages(read_results(study / FILE), place) if with_cases else ():
        (folder / name).write_text(page, encoding="utf-8")
        names.append(name)
    (folder / PAGE).write_text(report_page(found, registration, names), encoding="utf-8")
    (folder / "report.md").write_text(markdown(found, registration), encoding="utf-8")
