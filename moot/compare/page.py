"""A study's report as pages of HTML: what was found, with pictures; and case by case, with each answer's log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import yaml

from moot.channels.showing.wording import clean
from moot.compare.arm_labels import compared, labelled
from moot.compare.cases.case import CORRECT
from moot.compare.pictures import Difference, Priced, calibrated, cost_and_quality, forest, found_by_kind
from moot.compare.results import Result
from moot.compare.summary import Summary, is_part
from moot.compare.telling import (
    FOUND,
    LESS_IS_BETTER,
    arms_table,
    differences_table,
    led,
    primary_of,
    score_of,
    sentences,
    signed,
    worded,
)
from moot.protocols.kernel.canonical import canonical_json
from moot.reports import html
from moot.reports.drawing import Picture
from moot.reports.html import table, text

CASES_A_PAGE: Final = 500

MOST_ANSWER: Final = 160
"""Characters of an answer in a table."""


def report_page(found: Summary, registration: Mapping[str, Any], cases: Sequence[str]) -> str:
    """Write the report of a study.

    Args:
        found: What it found.
        registration: What was registered before the first call.
        cases: The names of the pages of its cases.
    """
    parts = [
        *_head(found),
        '<div class="two">',
        *(html.figure(one, [one.told]) for one in _pictures(found)),
        "</div>",
    ]
    parts += [html.figure(one, [one.told]) for one in _kinds(found)]
    parts += [*_tables(found), *_registered(registration), *_links(cases)]
    return html.page(f"{found.study} · study", parts)


def case_pages(
    results: Iterable[Result], place: str, labels: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str]]:
    """Write each case's answers, with a link to the log of each; so many cases a page.

    Args:
        results: In the study's order; one page's worth of them is held at a time.
        place: Leads from the pages to the study's directory.
        labels: Labels of the arms (`Summary.labels`); None: no arm has one.

    Yields:
        The name of a page, and the page.
    """
    rows: list[tuple[str, ...]] = []
    held, number = 0, 1
    for _, answers in groupby(results, key=lambda one: one.case):
        rows += (_row(one, place, labels or {}) for one in answers)
        held += 1
        if held == CASES_A_PAGE:
            yield _cases_page(number, rows)
            rows, held, number = [], 0, number + 1
    if rows:
        yield _cases_page(number, rows)


def _cases_page(number: int, rows: Sequence[tuple[str, ...]]) -> tuple[str, str]:
    first, last = rows[0][0], rows[-1][0]
    heads = ("case", "time", "arm", "answer", "sure", "calls", "scores", "log")
    shown = "".join(
        f'<tr><th scope="row">{text(one[0])}</th>'
        f"{''.join(f'<td>{text(cell)}</td>' for cell in one[1:-1])}<td>{_link(one[-1])}</td></tr>"
        for one in rows
    )
    named = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = (
        f'<header><p class=kicker><a href="report.html">The report</a></p><h1>{text(first)} to {text(last)}</h1>'
        "<p class=soft>Each answer, how it was scored (part of whole), and the log that it came from: "
        "<code>moot log FILE</code> reads one, <code>moot verify FILE</code> checks it.</p></header>"
        f'<section><div class="wide tall" tabindex="0" role="region" aria-label="answers">'
        f"<table><thead><tr>{named}</tr></thead><tbody>{shown}</tbody></table></div></section>"
    )
    return f"cases-{number:03d}.html", html.page(f"{first} to {last}", [body])


def _row(one: Result, place: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    answer = clean(_answered(one.answer), MOST_ANSWER)
    scores = ", ".join(f"{name} {part:g} of {of:g}" for name, (part, of) in one.scores.items() if of)
    sure = "–" if one.confidence is None else f"{one.confidence:.2f}"
    return (
        one.case,
        str(one.repetition),
        labelled(one.arm, labels.get(one.arm, "")),
        answer,
        sure,
        str(one.calls),
        scores,
        one.log and f"{place}/{one.log}",
    )


def _answered(answer: Any) -> str:
    """Say an answer in short, whatever kind of case it is to."""
    if isinstance(answer, Mapping):
        return str(answer.get("verdict") or canonical_json(answer))
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return f"{len(answer)} findings" if len(answer) != 1 else "1 finding"
    return "none" if answer is None else str(answer)


def _link(log: str) -> str:
    return f'<a href="{text(log)}">{text(Path(log).name)}</a>' if log else "–"


def _head(found: Summary) -> Iterator[str]:
    arms = f"{len(found.arms)} ways of answering, {found.cases:,} cases whose truth is known"
    yield f"<header><p class=kicker>Study {text(found.study)}: {arms}</p>"
    yield f"<h1 dir=auto>{text(found.question or found.study)}</h1>"
    yield f"<p class=state>{text(led(found))}</p>"
    yield from (f"<p class=soft>{text(one)}</p>" for one in sentences(found))
    yield "</header>"
    spent = sum(one.usd * one.answers for one in found.arms)
    yield html.tiles(
        [
            ("cases", f"{found.cases:,}"),
            ("answers", f"{found.answers:,}"),
            ("calls", f"{sum(one.calls * one.answers for one in found.arms):,.0f}"),
            *([("spent", f"${spent:,.2f}")] if spent else []),
        ]
    )


def _pictures(found: Summary) -> Iterator[Picture]:
    first = score_of(found)
    scores = dict.fromkeys(one.score for one in found.differences)
    for score in sorted(scores, key=lambda one: one != first):
        if not _is_drawn(score, found):
            continue
        differing = [one for one in found.differences if one.score == score]
        yield forest(
            worded(score) + (", less is better" if score in LESS_IS_BETTER else ""),
            [
                Difference(compared(one.arm, one.than, "over", one.labels), one.found, one.is_primary)
                for one in differing
            ],
            signed,
        )
        if score == first:
            yield from _costs(found, score)
    stated = {labelled(one.arm, one.label): one.reliability for one in found.arms if one.reliability}
    if stated:
        yield calibrated(stated)


def _kinds(found: Summary) -> Iterator[Picture]:
    """Draw what was found by kind, over the whole page: there may be many kinds."""
    kinds = {
        name: name.removeprefix(FOUND) for one in found.arms for name in one.scores if name.startswith(FOUND)
    }
    if kinds:
        yield found_by_kind(
            {
                worded(kind): {
                    labelled(one.arm, one.label): one.scores[name] for one in found.arms if name in one.scores
                }
                for name, kind in sorted(kinds.items())
            }
        )


def _is_drawn(score: str, found: Summary) -> bool:
    """Whether a score's differences are worth a picture: what was asked, and where something shows."""
    if is_part(score):
        return False
    shows = any(
        one.found.interval.low > 0 or one.found.interval.high < 0
        for one in found.differences
        if one.score == score
    )
    return shows or score in (CORRECT, score_of(found))


def _costs(found: Summary, score: str) -> Iterator[Picture]:
    is_paid = any(one.usd for one in found.arms)
    priced = [
        Priced(labelled(one.arm, one.label), one.usd if is_paid else one.calls, one.scores[score])
        for one in found.arms
        if score in one.scores
    ]
    if priced:
        yield cost_and_quality(
            worded(score), "US dollars" if is_paid else "calls", priced, lambda value: f"{value:.2f}"
        )


def _tables(found: Summary) -> Iterator[str]:
    yield f"<section><h2>Arms</h2>{table(*arms_table(found.arms))}</section>"
    lacks = "" if primary_of(found) else "No primary comparison was registered: all of this is exploratory."
    yield f"<section><h2>Differences</h2>{table(*differences_table(found))}<p class=lacks>{lacks}</p></section>"


def _registered(registration: Mapping[str, Any]) -> Iterator[str]:
    said = _without_empty({name: value for name, value in registration.items() if name != "hashes"})
    study = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)
    yield f"<section><h2>Registered before the first call</h2><pre>{text(study)}</pre><dl class=hashes>"
    yield from (
        f"<dt>{text(name)}</dt><dd>{text(str(value))}</dd>" for name, value in registration["hashes"].items()
    )
    yield "</dl></section>"


def _without_empty(said: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what an arm has nothing of: minds, models, money, options."""
    arms = {name: {key: one for key, one in arm.items() if one} for name, arm in said.get("arms", {}).items()}
    return {**said, "arms": arms}


def _links(cases: Sequence[str]) -> Iterator[str]:
    links = ", ".join(f'<a href="{text(one)}">{text(one)}</a>' for one in cases)
    said = links and f"Each answer, its scores and its log: {links}."
    left_out = "They are left out here: <code>moot compare report DIR --pages FOLDER</code> writes them."
    yield f"<section><h2>Case by case</h2><p>{said or left_out}</p></section>"
