"""`moot verify`: whether a log is what a society could have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from moot.cli.app import command
from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import Counting, console, heading, plural, print_hanging, say, write_json
from moot.cli.place import AsJson, read_from
from moot.cli.speaking import speak
from moot.place import LOG_NAME, data_dir

if TYPE_CHECKING:
    from rich.console import Console

    from moot.anchor import Anchor
    from moot.compare.verifying import Verified
    from moot.verify import Report


@command(
    "moot verify ./moot-data",
    "moot verify ./moot-data --strict",
    "moot verify ./moot-data --anchor anchors.jsonl --key id_ed25519.pub",
    "moot verify ./log.jsonl --json",
    "moot verify ./study",
    "moot verify nats://10.0.0.5:4222/desk",
    "moot verify - < log.jsonl",
)
def verify(
    named: Annotated[
        str,
        typer.Argument(
            metavar="DIR|FILE.jsonl|nats://HOST/NAME",
            help="A directory with a log, a file of JSON Lines, a society on NATS, or -.",
        ),
    ],
    is_trusting: Annotated[
        bool, typer.Option("--no-evidence", help="Believe the backtests instead of computing them again.")
    ] = False,
    is_strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Fail also when something that can be computed again is not borne out."
        ),
    ] = False,
    anchor_files: Annotated[
        list[Path] | None,
        typer.Option(
            "--anchor", metavar="FILE", help="Anchors that were kept elsewhere, by moot anchor or as posted."
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="FILE", help="The public ed25519 key that all anchors must be signed with."
        ),
    ] = None,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol", metavar="MODULE", help="A module with a protocol that the log was written by."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Judge a log that anybody produced, trusting nothing in it; exit code 1 names the offending message.

    It folds the log anew and checks the hash chain, every message, every ruling, every deadline, every
    figure. A file without hashes is judged by the rules alone. What it cannot compute again, because prices are
    missing, say, it always tells; with --strict it fails by that. Hashes show no edit after which all were
    computed anew; with --anchor that shows too. Of a study that moot compare made, every result, score and figure is
    computed again too.
    """
    from moot.channels.nats.address import NatsAddress, is_nats
    from moot.logs import open_log
    from moot.verify import verify as judge

    speak(modules or [])
    if is_strict and is_trusting:
        raise Unusable("--strict and --no-evidence contradict each other: give one of them")
    anchors = _anchors(anchor_files or [], key)
    place = read_from(named, bodies=True) if named else Path()
    if is_nats(named):
        named = str(NatsAddress.parse(named))
    study = None
    if named != "-" and place.is_dir():
        is_study = (place / "registration.json").is_file()
        study = _study(place) if is_study and not is_trusting else None
        place = (_published(place) if is_study else None) or data_dir(place)
    with open_log(named if named == "-" else place) as source, Counting("judging") as told:
        report = judge(source, evidence=not is_trusting, strict=is_strict, anchors=anchors, on_progress=told)
    if as_json:
        write_json({**report.as_json(), **({"study": asdict(study)} if study is not None else {})})
    else:
        print_report(console(), named, report)
        if study is not None:
            print_study(console(), study)
    return 0 if report.ok and (study is None or not study.findings) else 1


def _study(place: Path) -> Verified:
    """Compute a study again."""
    from moot.compare.verifying import verify_study

    return verify_study(place)


def _published(place: Path) -> Path | None:
    """Return the log of a study that is published, and has no other."""
    from moot.compare.reading import is_published
    from moot.compare.registration import EXPORTED

    return place / EXPORTED if is_published(place) and not (place / LOG_NAME).exists() else None


def print_study(target: Console, found: Verified) -> None:
    """Print what became of a study's results when they were computed again."""
    for line in found.findings:
        say(f"moot verify: {line}")
    for note in found.notes:
        say(f"moot verify: note: {note}")
    counted = f"{plural(found.results, 'result')} computed again, {plural(found.logs, 'log')} judged"
    if found.is_published:
        counted = f"published without its results: {plural(found.pages, 'page')} drawn again from its figures"
    target.print(
        f"{counted}: {'all as it says' if not found.findings else plural(len(found.findings), 'finding')}"
    )


def _anchors(files: Sequence[Path], key_file: Path | None) -> list[Anchor]:
    """Read anchors and check their signatures.

    Raises:
        Unusable: A file holds none, or no key.
        CheckFailed: A signature is not of the key.
    """
    from moot.anchor import AnchorError, check_signature, public_key, read_anchors

    if key_file is not None and not files:
        raise Unusable("--key checks anchors: name their file with --anchor")
    try:
        key = public_key(key_file) if key_file is not None else None
        found = [(file, anchor) for file in files for anchor in read_anchors(file)]
    except AnchorError as exc:
        raise Unusable(str(exc)) from exc
    if key is not None:
        for file, anchor in found:
            try:
                check_signature(anchor, key)
            except AnchorError as exc:
                raise CheckFailed(f"{file}: {exc}") from exc
    elif any(anchor.signature for _, anchor in found):
        say("moot verify: the anchors are signed, and nothing says by whom: --key checks it")
    return [anchor for _, anchor in found]


def print_report(target: Console, named: str, report: Report) -> None:
    """Print what was found, one finding a line."""
    from rich.text import Text

    from moot.channels.showing.wording import clean

    figures = report.figures
    span = " to ".join(
        str(figures[name])[:16].replace("T", " ") for name in ("first_at", "last_at") if figures.get(name)
    )
    if report.ok:
        target.print(heading(f"{plural(report.messages, 'message')}, every rule holds", span))
    elif not report.findings:
        target.print(
            Text(
                f"{plural(report.messages, 'message')}, every rule holds, not all of it is borne out",
                "bold red",
            )
        )
    else:
        target.print(
            Text(
                f"{plural(len(report.findings), 'finding')} in {plural(report.messages, 'message')}",
                "bold red",
            )
        )
        for finding in report.findings:
            prefix = Text(f"seq {finding.seq:<6} ", "bold")
            about = Text.assemble(finding.why, (f"  {finding.invariant}, {finding.rule}", "dim"))
            print_hanging(target, prefix, about, prefix.cell_len)
        if report.note:
            target.print(Text(report.note, "dim"))
    for line in _figures(figures) if report.ok else ():
        print_hanging(target, Text(), Text(line, "dim"), 0)
    if report.heard and not report.findings:
        said = ", ".join(f"{count:,} {whose}" for whose, count in report.heard.items())
        print_hanging(target, Text(), Text(f"opinions, taken as said: {said}", "dim"), 0)
        if report.people:
            who = ", ".join(f"{count:,} by {name}" for name, count in report.people.items())
            print_hanging(target, Text(), Text(clean(f"what people said: {who}"), "dim"), 0)
    for what, remarks in (("not borne out: ", report.unproven), ("", report.warnings)):
        for remark in remarks:
            times = f" (and {remark.messages - 1:,} more)" if remark.messages > 1 else ""
            say(f"moot verify {named}: {what}seq {remark.seq}: {remark.why}{times}")


def _figures(figures: Any) -> Iterator[str]:
    def counted(name: str) -> str:
        found = figures.get(name) or {}
        how = ", ".join(f"{n} {word.lower().replace('_', ' ')}" for word, n in found.items())
        return f"{plural(sum(found.values()), name[:-1])}" + (f" ({how})" if how else "")

    held = [name for name in ("debates", "motions", "runs", "panels") if figures.get(name)]
    yield "; ".join(map(counted, [*(held or ["debates"]), "escalations"]))
    yield ", ".join(plural(figures.get(f"{name}s", 0), name) for name in ("violation", "ruling"))
    if figures.get("anchors"):
        fit = "1 anchor fits," if figures["anchors"] == 1 else f"{figures['anchors']} anchors fit, the last"
        yield f"{fit} at message {figures['anchored_to']:,}"
