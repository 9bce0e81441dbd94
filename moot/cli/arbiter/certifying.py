"""`moot arbiter certify`: what is certain of a run's decisions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from moot.cli.app import command
from moot.cli.arbiter.judging import Judged, group
from moot.cli.arbiter.opening import opened
from moot.cli.errors import CheckFailed
from moot.cli.output import console, plural, print_prose, print_table, table, write_json
from moot.cli.place import AsJson

if TYPE_CHECKING:
    from moot.arbiter.certifying import Certifier
    from moot.protocols.arbiter.generated import Certificate, LabelShare, OutcomeShare


@dataclass(frozen=True, slots=True)
class StopRule:
    """The options that say when a run may end besides its file's rule, and how often what it certifies may be wrong."""

    stop: Annotated[
        Literal["certified"] | None,
        typer.Option(
            "--stop",
            metavar="WHEN",
            help="certified: end after the first batch in which the most frequent decision is certain.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha", metavar="RATE", help="How often the certificate may err.", show_default="0.05"
        ),
    ] = None


@command(
    "moot arbiter certify runs/20260223T100000Z_3fa9c1",
    "moot arbiter certify runs/20260223T100000Z_3fa9c1 --alpha 0.01",
    "moot arbiter certify runs/20260223T100000Z_3fa9c1 --json | jq .mode",
    within=group,
)
def certify(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha", metavar="RATE", help="How often it may err.", show_default="the run's, else 0.05"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what is certain of a run's decisions, however often it was looked at and whenever it was stopped.

    The share of each decision that its contract lists, and of none, with bounds; and which of them is the most
    frequent, if that is settled. It errs in at most RATE of runs; choose that beforehand. Nothing is changed.
    """
    from moot.arbiter.certifying import NothingToCertify
    from moot.arbiter.certifying import certify as certified
    from moot.protocols.arbiter.certificate import DEFAULT_ALPHA

    found = opened(run)
    kept = found.certificate.alpha if found.certificate is not None else DEFAULT_ALPHA
    try:
        certificate = certified(found, kept if alpha is None else rate(alpha))
    except NothingToCertify as error:
        raise CheckFailed(f"{run / 'config.resolved.json'}: {error}") from None
    if as_json:
        write_json(certificate.as_json())
        return
    _print(certificate)


def rate(alpha: float) -> float:
    """Return a rate of error.

    Raises:
        CheckFailed: It is none.
    """
    if not 0 < alpha < 1:
        raise CheckFailed(f"--alpha {alpha:g}: is no rate of error: give one above 0 and below 1")
    return alpha


def certifier_of(judged: Judged, stop: StopRule) -> Certifier | None:
    """Return who counts the decisions of a run; None when its contract lists none.

    Raises:
        CheckFailed: alpha is no rate of error, or the run is to stop when certified and there is nothing to certify.
    """
    from moot.arbiter.certifying import Certifier, NothingToCertify
    from moot.protocols.arbiter.certificate import DEFAULT_ALPHA

    try:
        return Certifier(judged.prepared.config, DEFAULT_ALPHA if stop.alpha is None else rate(stop.alpha))
    except NothingToCertify as error:
        if stop.stop == "certified":
            raise CheckFailed(f"{judged.path}: {error}") from None
        return None


def _print(certificate: Certificate) -> None:
    outcomes: list[tuple[str | None, LabelShare | OutcomeShare]] = [
        *((one.label, one) for one in certificate.labels),
        (None, certificate.no_decision),
    ]
    target = console()
    rows = table("decision", "trials", "share", "between", right=("trials", "share", "between"))
    for label, one in outcomes:
        share = "–" if one.share is None else f"{one.share * 100:.1f} %"
        bounds = f"{one.low * 100:.1f} and {one.high * 100:.1f} %"
        rows.add_row(named(label), f"{one.count:,}", share, bounds)
    target.print(f"{certificate.run_id}: {plural(certificate.trials, 'trial')}, alpha {certificate.alpha:g}")
    print_table(target, rows)
    print_prose(target, _verdict(certificate))
    if certificate.not_counted:
        print_prose(
            target,
            f"{plural(certificate.not_counted, 'trial')} not counted: they follow one that was cut short.",
        )
    target.print("This supposes that:")
    for line in certificate.assumptions:
        print_prose(target, line, 2)


def named(label: str | None) -> str:
    """Return a decision as it is shown; None is no decision."""
    from moot.channels.showing.wording import clean

    return "(no decision)" if label is None else clean(label, 60)


def _verdict(certificate: Certificate) -> str:
    mode = certificate.mode
    if mode is None:
        return "Which of them is the most frequent is not settled."
    return f"The most frequent one is {named(mode.label)}: certain since trial {mode.at_trial:,}."
