"""`moot panel`: review panels under a sprint contract, and their judges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from moot.cli.app import Group, app, command
from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import page, plural, say, write_json, write_lines
from moot.cli.panel.input import contract_or_tag, source
from moot.cli.place import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moot.protocols.panel.findings import LintFinding
    from moot.protocols.panel.verify import Verified

group = typer.Typer(
    cls=Group,
    help="""Review under a sprint contract: the standard first, then the work.

    check judges a contract, lint one reviewer, verify a whole panel; synthesize decides.""",
    epilog="moot panel check full\n"
    "moot panel run --contract full --paper paper.md --title 'On widgets' --field widgetry --out panel",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="panel")

ContractOption = Annotated[
    str,
    typer.Option(
        "--contract",
        metavar="C",
        help="A file, or full, methodology_focus, strategy, architecture.",
    ),
]
Reports = Annotated[
    list[Path], typer.Option("--report", metavar="FILE", help="Phase 2 of a reviewer; once for each.")
]
WIDEST: Final = 100
"""Prose is broken to so many columns at most."""

MajorityOption = Annotated[
    Literal["spec", "strict"],
    typer.Option("--majority", metavar="RULE", help="spec: ⌈N/2⌉ + 1 of N; strict: ⌊N/2⌋ + 1."),
]


@command(
    "moot panel check full",
    "moot panel check contract.json --current-version v3.6.6",
    "moot panel check contract.json --json | jq .warnings",
    within=group,
)
def check(
    named: Annotated[
        str, typer.Argument(metavar="CONTRACT", help="A file, or the name of a shipped contract.")
    ],
    current_version: Annotated[
        str | None,
        typer.Option("--current-version", metavar="vX.Y.Z", help="Warn of a contract that has aged."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Judge a contract: exit code 0 when it is valid, 1 when not.

    A contract of a writer or an evaluator (modes writer_full, evaluator_full) has no field of a review panel.
    What is odd but valid is told as warnings SC-1 to SC-11 on standard error, and so is a condition whose
    expression nobody could evaluate.
    """
    from moot.protocols.panel.contract import checked
    from moot.protocols.panel.contract_warnings import warnings
    from moot.protocols.panel.verify import expression_tags

    contract = contract_or_tag(named, checked)
    if isinstance(contract, str):
        if as_json:
            write_json({"valid": False, "contract_id": None, "problem": contract, "warnings": []})
            return 1
        raise CheckFailed(contract)
    odd = [f"{one.id}: {one.text}" for one in warnings(contract, current_version)]
    odd += expression_tags(contract)
    if as_json:
        write_json({"valid": True, "contract_id": contract.contract_id, "problem": None, "warnings": odd})
        return 0
    for line in odd:
        say(f"moot panel check {named}: {line}")
    write_lines([f"{contract.contract_id} is valid" + (f", {plural(len(odd), 'warning')}" if odd else "")])
    return 0


@command(
    "moot panel lint --contract full --phase1 eic.phase1.md",
    "moot panel lint --contract full --phase1 eic.phase1.md --phase2 eic.phase2.md --json",
    within=group,
)
def lint(
    contract: ContractOption,
    phase1: Annotated[
        Path, typer.Option("--phase1", metavar="FILE", help="What the reviewer wrote before the work.")
    ],
    phase2: Annotated[
        Path | None, typer.Option("--phase2", metavar="FILE", help="What it wrote with the work at hand.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Judge the outputs of one reviewer: structure, coverage, dissent, and that it kept to its own plan.

    Exit code 0: nothing was found, 3: something was, 2: the contract or a file cannot be used.
    """
    from moot.protocols.panel import audit
    from moot.protocols.panel.lint_phase1 import lint_phase1
    from moot.protocols.panel.lint_phase2 import lint_phase2

    found = contract_or_tag(contract)
    texts = [source(path) for path in (phase1, phase2) if path is not None]
    tags = [found] if isinstance(found, str) else []
    tags += [audit.io_error(text.name, text.problem) for text in texts if text.text is None]
    if tags or isinstance(found, str):
        return _told_lint({}, tags, 2, as_json=as_json)
    first = lint_phase1(texts[0].text or "", found)
    second = lint_phase2(texts[1].text or "", found, first.plan) if phase2 is not None else None
    reviewer = (second and second.reading.role) or phase1.name.partition(".")[0]
    if not first.is_clean:
        tags.append(audit.phase1_failed(reviewer, found.contract_id))
    if second is not None and second.check is not None:
        tags.append(
            audit.multi_dissent(reviewer, found.contract_id)
            if second.may_restart
            else audit.phase2_failed(reviewer, found.contract_id, second.check)
        )
    phases: dict[str, Sequence[LintFinding]] = {"phase1": first.findings}
    if second is not None:
        phases["phase2"] = second.findings
    return _told_lint(phases, tags, 3 if tags else 0, as_json=as_json)


@command(
    "moot panel synthesize --contract full --report eic.md --report da.md",
    "moot panel synthesize --contract methodology_focus --report a.md --report b.md --json",
    within=group,
)
def synthesize(
    contract: ContractOption,
    reports: Reports,
    majority: MajorityOption = "spec",
    on_none_fired: Annotated[
        Literal["accept", "abort"],
        typer.Option("--on-none-fired", metavar="WHAT", help="When no condition fires: accept or abort."),
    ] = "accept",
    as_json: AsJson = False,
) -> int:
    """Decide from the reports of a whole panel, and show how; the decision is computed twice.

    Exit code 0: decided, 2: contract, panel or files are at fault, or nothing fired and that aborts, 3: a
    report is malformed or contradicts itself. What is printed last is what verify takes as --synthesis.
    """
    from moot.protocols.panel.render import render
    from moot.protocols.panel.verify import synthesize_reports, unusable

    found = contract_or_tag(contract)
    judged = (
        unusable(found)
        if isinstance(found, str)
        else synthesize_reports(
            found, [source(path) for path in reports], majority=majority, on_none_fired=on_none_fired
        )
    )
    if as_json:
        recomputed = judged.detail.get("recomputed", {"fired_conditions": [], "editorial_decision": None})
        write_json({"matrix": judged.detail.get("matrix"), **recomputed, "tags": list(judged.tags)})
    elif judged.exit_code or judged.synthesis is None or isinstance(found, str):
        write_lines(judged.tags)
    else:
        write_lines(render(found, judged.synthesis, judged.reports, width=min(page().width, WIDEST)))
    return judged.exit_code


@command(
    "moot panel verify --contract full --report eic.md --synthesis s.md",
    "moot panel verify --contract full --roles eic --report eic.md --layer1-only",
    within=group,
)
def verify(
    contract: ContractOption,
    reports: Reports,
    roles: Annotated[
        str | None,
        typer.Option("--roles", metavar="R,…", help="Who was sent to review; by default the whole panel."),
    ] = None,
    synthesis: Annotated[
        Path | None, typer.Option("--synthesis", metavar="FILE", help="What the synthesizer wrote.")
    ] = None,
    majority: MajorityOption = "spec",
    is_layer1_only: Annotated[
        bool, typer.Option("--layer1-only", help="Hold each report to itself; no synthesis.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Judge a panel that anybody produced, trusting only its scores; prints a tag a line, or that it passes.

    Exit code 0: it passes, 1: the synthesis is malformed or does not follow, 2: contract, panel or files are
    at fault, 3: a report is malformed or contradicts itself. Of several the first of 2, 3, 1 counts.
    """
    from moot.protocols.panel.verify import unusable
    from moot.protocols.panel.verify import verify as judge

    if is_layer1_only == (synthesis is not None):
        raise Unusable(
            "--synthesis and --layer1-only: choose one of them"
            if is_layer1_only
            else "name the synthesis with --synthesis FILE, or judge the reports alone with --layer1-only"
        )
    found = contract_or_tag(contract)
    judged = (
        unusable(found)
        if isinstance(found, str)
        else judge(
            found,
            [] if roles is None else [role.strip() for role in roles.split(",")],
            [source(path) for path in reports],
            None if synthesis is None else source(synthesis),
            majority=majority,
            layer1_only=is_layer1_only,
        )
    )
    if as_json:
        write_json(_verified_json(judged))
    else:
        write_lines(judged.lines)
    return judged.exit_code


def _verified_json(judged: Verified) -> dict[str, Any]:
    return {
        "exit_code": judged.exit_code,
        "verdict": None if judged.exit_code else judged.lines[-1],
        "tags": list(judged.tags),
        **judged.detail,
    }


def _told_lint(
    phases: dict[str, Sequence[LintFinding]], tags: Sequence[str], code: int, *, as_json: bool
) -> int:
    """Print what a lint found; return the exit code."""
    from moot.protocols.panel.findings import MOST

    if as_json:
        told: dict[str, Any] = {
            phase: {"is_clean": not findings, "findings": [one._asdict() for one in findings]}
            for phase, findings in phases.items()
        }
        write_json({"is_clean": code == 0, **told, "tags": list(tags)})
        return code
    for phase, findings in phases.items():
        write_lines([f"{phase}: {plural(len(findings), 'finding') if findings else 'passes'}"])
        write_lines(f"  {one.check}: {one}" for one in findings[:MOST])
        if len(findings) > MOST:
            write_lines([f"  and {len(findings) - MOST:,} more"])
    write_lines(tags)
    return code
