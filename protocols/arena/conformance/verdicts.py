"""Checks 5 and 6: every review parsed again from its text (7.3, R-A4), and the one retry (9.1, R-A1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moot.protocols.arena.conformance.reading import Row
from moot.protocols.arena.conformance.report import Findings, is_same, show
from moot.protocols.arena.conformance.walk import Visit, Walk
from moot.protocols.arena.conformance.words import ERROR, MISSING, MULTIPLE


def check_parsing(walk: Walk, found: Findings) -> None:
    """Check 5: rows, rounds and events say what the texts say."""
    reading = walk.reading
    place = (0, 0)
    reviewed = {visit.round_index for visit in walk.visits}
    for index, row in enumerate(reading.parser):
        path = f"parser[{index}]"
        if (row.round_index, row.attempt) <= place:
            found.wrong(path, f"review {row.attempt} of round {row.round_index} is out of order")
        place = (row.round_index, row.attempt)
        if row.round_index not in reviewed:
            found.wrong(f"{path}.round_index", f"round {show(row.round_index)} was never reviewed")
        _check_row(walk, row, path, found)
    for round_index, rows in walk.rows.items():
        _check_attempts(walk, round_index, rows, found)
    for index, said in enumerate(reading.rounds):
        _check_round(walk.rows.get(said.index, ()), said.verdict, said.review_ref, f"rounds[{index}]", found)
    check_parser_events(walk, found)
    found.saw(f"{len(reading.parser)} reviews parsed again, {len(reading.rounds)} verdicts compared")


def _check_row(walk: Walk, row: Row, path: str, found: Findings) -> None:
    by_text = walk.verdicts.get(row.output_ref)
    if by_text is None:
        found.wrong(f"{path}.output_ref", f"{show(row.output_ref)} is no artifact")
        return
    if row.verdict != by_text.verdict:
        found.wrong(f"{path}.verdict", f"is {show(row.verdict)}, the text says {show(by_text.verdict)}")
    if row.line != by_text.line:
        found.wrong(f"{path}.line", f"is {show(row.line)}, in the text it is {show(by_text.line)}")
    if row.code != by_text.code:
        found.wrong(
            f"{path}.code",
            f"is {show(row.code or None)}, {by_text.matches} verdict lines make {show(by_text.code or None)}",
        )


def _check_attempts(walk: Walk, round_index: int, rows: Sequence[Row], found: Findings) -> None:
    attempts = [row.attempt for row in rows]
    wanted = list(range(walk.base, walk.base + len(rows)))
    if attempts != wanted:
        said = ", ".join(show(attempt) for attempt in attempts[:5])
        found.wrong(
            "parser", f"the reviews of round {show(round_index)} are numbered {said}, not from {walk.base} on"
        )


def _check_round(rows: Sequence[Row], verdict: str, review_ref: str, path: str, found: Findings) -> None:
    if not rows:
        found.wrong(path, "no review of this round was parsed")
        return
    if rows[-1].verdict != verdict:
        found.wrong(f"{path}.verdict", f"is {verdict}, and the parser found {show(rows[-1].verdict)}")
    if rows[-1].output_ref != review_ref:
        found.wrong(f"{path}.reviewer_output_ref", "is not the review that the verdict was parsed from")


def check_parser_events(walk: Walk, found: Findings) -> None:
    """Check that every warning and error of the parser is logged, where it happened, once (7.3)."""
    for round_index, rows in walk.rows.items():
        wanted = [row for row in rows if row.code]
        told = [place for place in walk.in_review.get(round_index, ()) if place.type in _LOGGED.values()]
        if len(wanted) != len(told):
            found.wrong(
                "events",
                f"log {len(told)} warnings and errors of the parser in round {show(round_index)}, not {len(wanted)}",
            )
        for row, place in zip(wanted, told, strict=False):
            by_text = walk.verdicts.get(row.output_ref)
            known = {
                "code": row.code,
                "attempt": row.attempt,
                "output_ref": row.output_ref,
                "matches": by_text.matches if by_text else 0,
            }
            if place.type != _LOGGED[row.code]:
                found.wrong(place.path, f"is a {place.type}, and the parser says {row.code}")
            for key, value in known.items():
                is_told = key == "code" and walk.tells(place.type, key)
                said = place.event.data.get(key, None if is_told else value)
                if not is_same(said, value):
                    found.wrong(f"{place.path}.data.{key}", f"is {show(said)}, not {show(value)}")
    for place in walk.of_type(*_LOGGED.values()):
        if place.state != "REVIEWING" or place.round_index not in walk.rows:
            found.wrong(place.path, f"{place.type} belongs to no review that was parsed")


_LOGGED: Final = {MULTIPLE: "PARSER_WARNING", MISSING: "PARSER_ERROR"}


def check_retry(walk: Walk, found: Findings) -> None:
    """Check 6: a missing verdict is retried once; then the run fails. Nothing else is retried."""
    retries = 0
    for visit in walk.visits:
        rows = walk.rows.get(visit.round_index, ())
        retries += max(len(rows) - 1, 0)
        _check_visit(walk, visit, rows, found)
    claims = MISSING in walk.reading.terminal_reason
    if claims and not any(len(rows) == 2 and rows[1].verdict is None for rows in walk.rows.values()):
        found.wrong("terminal_reason", f"says {MISSING}, and no round lacks a verdict after its retry")
    found.saw(f"reviewer retried {retries} time{'s' * (retries != 1)}, rounds reviewed: {len(walk.visits)}")


def _check_visit(walk: Walk, visit: Visit, rows: Sequence[Row], found: Findings) -> None:
    n = visit.round_index
    where = f"round {n}"
    told = [place for place in walk.in_review.get(n, ()) if place.type == "REVIEWER_RETRIED"]
    passes = [place for place in walk.in_review.get(n, ()) if place.type == "REVIEWER_INVOKED"]
    is_missing = bool(rows) and rows[0].verdict is None
    if len(rows) > 2 or len(told) > 1 or len(passes) > 2:
        found.wrong(
            where, f"{max(len(rows), len(told) + 1, len(passes))} reviews: one retry is all there is (9.1)"
        )
    if not is_missing and (len(rows) > 1 or told or len(passes) > 1):
        found.wrong(where, "the review was repeated, and its verdict was not missing (9.1)")
    if not is_missing:
        return
    reason = walk.reading.terminal_reason
    if len(rows) == 1:
        if visit.left_for != ERROR or MISSING in reason:
            found.wrong(where, "the verdict is missing, and the review was not repeated (9.1)")
        elif walk.is_telling and not told:
            found.wrong(where, "the verdict is missing, and no REVIEWER_RETRIED is told (9.1, R-A1)")
        else:
            found.warn(f"{where}: the run ended during the retry")
        return
    if walk.is_telling and not told:
        found.wrong(where, "the review was repeated, and no REVIEWER_RETRIED is told (R-A1)")
    if rows[-1].verdict is None:
        if visit.left_for != ERROR:
            found.wrong(where, f"two reviews without a verdict lead to {show(visit.left_for or None)} (9.1)")
        elif MISSING not in reason:
            found.wrong("terminal_reason", f"does not say {MISSING}, which ended the run (9.1)")
        if n in walk.rounds:
            found.wrong(where, "has a record, and its verdict never parsed (R-A8)")
