"""Whether a panel that anybody produced is one: its reports, each held to itself, and its synthesis.

Layer 1 holds each report to itself. Layer 2 computes fired conditions and decision from the scores alone and holds the
synthesis to them. All that can be judged by itself is judged; what cannot is told as suppressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.panel import audit
from moot.protocols.panel.contract import ROLES, Contract, ineligibility
from moot.protocols.panel.expression import Orphaned, Predicate, Unrecognised, parse
from moot.protocols.panel.findings import told
from moot.protocols.panel.layer1 import inconsistencies
from moot.protocols.panel.recompute import disagreement, recompute
from moot.protocols.panel.reports import Report, ReportError, parse_report
from moot.protocols.panel.seating import Source, counted, seated
from moot.protocols.panel.synthesis import Majority, OnNoneFired, Synthesis, matrix_of, synthesize
from moot.protocols.panel.synthesis_text import SynthesisError, SynthesisText, parse_synthesis

PASSED: Final = 0
SYNTHESIS_FAILED: Final = 1
CONTRACT_FAILED: Final = 2
REVIEWER_FAILED: Final = 3
"""Exit codes; where several apply, 2 comes before 3 before 1."""

PANEL_PASSES: Final = "PANEL-SYNTHESIS: PASS"
LAYER1_PASSES: Final = "LAYER1-ONLY: PASS"


@dataclass(frozen=True, slots=True)
class Verified:
    """The judgement.

    Attributes:
        exit_code: 0 pass, 1 the synthesis, 2 contract, panel or files, 3 a reviewer.
        lines: What is said, one tag a line; the words of success when all is well.
        tags: The audit tags among them.
        detail: Plain data: the matrix, and what was recomputed and stated, as far as there is any.
        reports: Those that could be read, by role, as the panel sits.
        synthesis: What the scores lead to; None without a complete panel.
    """

    exit_code: int
    lines: tuple[str, ...]
    tags: tuple[str, ...]
    detail: Mapping[str, Any]
    reports: Mapping[str, Report] = field(default_factory=dict)
    synthesis: Synthesis | None = None


@dataclass(slots=True)
class _Found:
    """The tags so far, by who is at fault; and by name of its source what each report says."""

    panel: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    synthesis: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reports: list[tuple[str, Report]] = field(default_factory=list)
    computed: Synthesis | None = None
    stated: SynthesisText | None = None


def verify(
    contract: Contract,
    roles: Sequence[str],
    reports: Sequence[Source],
    synthesis: Source | None,
    *,
    majority: Majority = "spec",
    layer1_only: bool = False,
) -> Verified:
    """Judge a panel.

    Args:
        contract: What it was to keep to.
        roles: Who was sent to review; empty: everybody who sits on such a panel.
        reports: Phase 2 of each reviewer, in any order.
        synthesis: What the synthesizer wrote; None if and only if `layer1_only`.
        majority: How majorities are counted (R-P1).
        layer1_only: Hold each report to itself and no more; then some of the panel will do.

    Raises:
        ValueError: A synthesis is missing, or given beside `layer1_only`.
    """
    if layer1_only == (synthesis is not None):
        raise ValueError("a synthesis is judged, or layer 1 only: one of the two")
    found = _panel(contract, roles, reports, is_whole=not layer1_only)
    if synthesis is not None:
        _layer2(contract, synthesis, found, majority)
    return _verified(contract, found, LAYER1_PASSES if layer1_only else PANEL_PASSES)


def synthesize_reports(
    contract: Contract,
    reports: Sequence[Source],
    *,
    majority: Majority = "spec",
    on_none_fired: OnNoneFired = "accept",
) -> Verified:
    """Judge the reports of a panel as `verify` does and, when all are usable, decide; exit code 0, 2 or 3.

    It is 2 when nothing fired and that aborts (R-P2). A panel of another size, or of a review mode without a
    template, is decided as well: R-P6 bars it from `run` and `verify` alone. Who sits on it is told by its reports.
    """
    found = _panel(contract, (), reports, is_whole=True, has_any_size=contract.is_for_reviewers)
    if not found.panel and not found.reviewers:
        found.computed = _computed(contract, dict(_scores(found)), majority, on_none_fired)
        found.notes += found.computed.tags
        if found.computed.editorial_decision is None:
            found.panel, found.notes = found.notes, []
    return _verified(contract, found, PANEL_PASSES)


def unusable(tag: str) -> Verified:
    """Return the judgement of a panel whose contract is none: one tag and nothing else."""
    return Verified(CONTRACT_FAILED, (tag,), (tag,), {})


def expression_tags(contract: Contract) -> Iterator[str]:
    """Tag each condition whose expression the grammar does not have, or that is about nothing (R-P3)."""
    for _, _, tags in _parsed(contract):
        yield from tags


# ---------------------------------------------------------------- the panel


def _panel(
    contract: Contract,
    roles: Sequence[str],
    reports: Sequence[Source],
    *,
    is_whole: bool,
    has_any_size: bool = False,
) -> _Found:
    """Read the reports and hold each to itself, and all of them to the panel.

    Args:
        has_any_size: Take a contract that is not eligible, too.
    """
    found = _Found()
    why = ineligibility(contract)
    if why is not None and not has_any_size:
        found.panel.append(audit.contract_ineligible(why))
    predicates: dict[str, Predicate] = {}
    for name, predicate, tags in _parsed(contract):
        found.panel += tags
        if predicate is not None:
            predicates[name] = predicate
    found.panel += counted(contract, reports, is_whole=is_whole)
    for source in reports:
        if source.text is None:
            found.panel.append(audit.io_error(source.name, source.problem))
            continue
        try:
            found.reports.append((source.name, parse_report(source.text, contract)))
        except ReportError as error:
            found.reviewers += [audit.report_parse(source.name, fault) for fault in told(error.faults)]
    if why is None:
        found.panel += seated(ROLES[contract.mode], roles, found.reports, len(reports), is_whole=is_whole)
    elif has_any_size:
        seats = tuple(dict.fromkeys(report.role for _, report in found.reports))
        found.panel += seated(seats, (), found.reports, len(reports), is_whole=is_whole)
    for name, report in found.reports:
        for one in inconsistencies(report, contract, predicates):
            found.reviewers.append(
                audit.decision_inconsistent(name, report.role, one.declared, one.recomputed)
                if one.condition is None
                else audit.flag_inconsistent(name, report.role, one.condition, one.declared, one.recomputed)
            )
    return found


def _parsed(contract: Contract) -> Iterator[tuple[str, Predicate | None, list[str]]]:
    for one in contract.failure_conditions:
        name, text = one.condition_id, one.expression
        try:
            yield name, parse(text, contract), []
        except Orphaned as error:
            tags = [audit.expression_unrecognised(name, text), audit.expression_semantic(name, error.why)]
            yield name, None, tags
        except Unrecognised:
            yield name, None, [audit.expression_unrecognised(name, text)]


# ---------------------------------------------------------------- the synthesis


def _layer2(contract: Contract, source: Source, found: _Found, majority: Majority) -> None:
    """Hold a synthesis to the scores."""
    stated: SynthesisText | None = None
    if source.text is None:
        found.panel.append(audit.io_error(source.name, source.problem))
    else:
        try:
            stated = found.stated = parse_synthesis(source.text, contract)
        except SynthesisError as error:
            found.synthesis += [audit.synthesis_parse(source.name, fault) for fault in told(error.faults)]
    scores = dict(_scores(found))
    if found.panel or len(scores) < contract.panel_size:
        why = "the panel is not complete" if not found.panel else "contract, panel or files are at fault"
        found.notes.append(audit.suppressed("layer 2", why))
        return
    found.computed = computed = _computed(contract, scores, majority, "accept")
    if stated is not None:
        decision = computed.editorial_decision or stated.decision
        if stated != SynthesisText(computed.fired_conditions, decision):
            fired = computed.fired_conditions
            tag = audit.panel_synthesis_mismatch(fired, stated.fired, decision, stated.decision)
            found.synthesis.append(tag)
    found.notes += computed.tags


def _scores(found: _Found) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((report.role, report.scores) for _, report in found.reports)


def _computed(
    contract: Contract,
    scores: Mapping[str, Mapping[str, Any]],
    majority: Majority,
    on_none_fired: OnNoneFired,
) -> Synthesis:
    """Decide from the scores, twice and by different means.

    Raises:
        LocalProtocolError: The two differ.
    """
    seated = {role: scores[role] for role in _seats(contract, scores)}
    once = synthesize(contract, matrix_of(contract, seated), majority=majority, on_none_fired=on_none_fired)
    again = recompute(contract, seated, majority=majority, on_none_fired=on_none_fired)
    why = disagreement(again, once.fired_conditions, once.editorial_decision)
    if why is not None:
        raise LocalProtocolError(f"two computations of one decision differ: {why}")
    return once


def _seats(contract: Contract, reporting: Iterable[str]) -> tuple[str, ...]:
    """Return who sits on the panel, in order: those of the mode, or whoever reports where no size is given."""
    return ROLES[contract.mode] if ineligibility(contract) is None else tuple(reporting)


def _verified(contract: Contract, found: _Found, passes: str) -> Verified:
    tags = (*found.panel, *found.reviewers, *found.synthesis, *found.notes)
    if found.panel:
        code = CONTRACT_FAILED
    elif found.reviewers:
        code = REVIEWER_FAILED
    else:
        code = SYNTHESIS_FAILED if found.synthesis else PASSED
    by_role = {report.role: report for _, report in found.reports}
    seats = [role for role in _seats(contract, by_role) if role in by_role]
    return Verified(
        exit_code=code,
        lines=tags if code else (*tags, passes),
        tags=tags,
        detail=_detail(found),
        reports={role: by_role[role] for role in seats},
        synthesis=found.computed,
    )


def _detail(found: _Found) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if found.computed is not None:
        detail["matrix"] = {one: dict(row) for one, row in found.computed.matrix.items()}
        detail["recomputed"] = {
            "fired_conditions": list(found.computed.fired_conditions),
            "editorial_decision": _word(found.computed.editorial_decision),
        }
    if found.stated is not None:
        detail["stated"] = {
            "fired_conditions": list(found.stated.fired),
            "editorial_decision": _word(found.stated.decision),
        }
    return detail


def _word(action: str | None) -> str | None:
    return None if action is None else action.partition("=")[2]
