"""`moot arbiter mock-run`, and what it has in common with `moot arbiter run`: options, folder, progress, outcome."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moot.cli.app import command
from moot.cli.arbiter.certifying import StopRule, certifier_of
from moot.cli.arbiter.hearing import Society, heard
from moot.cli.arbiter.judging import Asked, Judged, begun, group, judge, refused
from moot.cli.errors import CheckFailed, Refused
from moot.cli.output import say, write_json, write_lines
from moot.cli.place import AsJson

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from moot.arbiter.artifacts import ArtifactWriter
    from moot.arbiter.events import RunEnded, Subscriber
    from moot.arbiter.interrupt import Interrupt
    from moot.arbiter.launching import OpenPorts, Ports
    from moot.clock import Clock
    from moot.protocols.arbiter.generated import Configuration


def mock_notes(judged: Judged) -> str:
    """Return what the manifest of a mock run says, whatever models its file names."""
    from moot.config.arbiter.moot_protocols import KINDS

    made_up = "answers and vectors are made up"
    if judged.prepared.config.protocol.type in KINDS:
        made_up = "simulated minds spoke, vectors are made up"
    return f"a mock run: no model was asked, {made_up}"


RunsOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Holds the folder of the run.", show_default="output.runs_dir"),
]


@dataclass(frozen=True, slots=True)
class Carrying:
    """The options that say how a run is carried out, and what is kept and shown of it."""

    out: RunsOption = None
    max_trials: Annotated[
        int | None, typer.Option("--max-trials", metavar="N", min=1, help="Trials, in place of k_max.")
    ] = None
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", metavar="N", min=1, help="Trials that are measured together."),
    ] = None
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", min=1, help="Trials at once.")] = (
        None
    )
    is_debug: Annotated[bool, typer.Option("--debug", help="Keep debug/embeddings.jsonl.")] = False
    is_quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress and no receipt; print the run's folder only.")
    ] = False
    as_json: AsJson = False

    @property
    def sizes(self) -> dict[str, int]:
        """What takes the place of the file's values."""
        given = {"k_max": self.max_trials, "batch_size": self.batch_size, "workers": self.workers}
        return {name: value for name, value in given.items() if value is not None}

    def changing(self, config: Configuration) -> Configuration:
        """Return a run's file with these values."""
        return config.model_copy(update={"execution": config.execution.model_copy(update=self.sizes)})


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run that was carried out.

    Attributes:
        directory: Its folder.
        writer: What kept it.
        ended: How it ended.
    """

    directory: Path
    writer: ArtifactWriter
    ended: RunEnded


@command(
    "moot arbiter mock-run",
    "moot arbiter mock-run debate.json --max-trials 200 --workers 4 --out runs",
    "moot arbiter mock-run --data ./moot-data",
    "moot arbiter mock-run --json | jq -r .path",
    within=group,
    name="mock-run",
)
def mock_run(
    asked: Asked = Asked(),
    way: Carrying = Carrying(),
    stop: StopRule = StopRule(),
    society: Society = Society(),
) -> int:
    """Carry out a run without asking anybody: plan, parsing, measuring and files are those of a live run.

    The answers are made up and equal for equal trials; they say nothing about any model. Ctrl-C lets the trials in
    flight end, a second one cancels them; the run's folder is whole either way.
    """
    found = judge(asked, begun()[1], change=way.changing)
    if not isinstance(found, Judged):
        return refused("mock-run", asked.path, found, as_json=way.as_json)
    outcome = carry_out(
        "mock-run",
        found,
        directory_of(found, way.out),
        heard("mock-run", found, society, mock_ports(found), is_mock=True),
        way,
        stop=stop,
        notes=mock_notes(found),
    )
    return report(found, outcome, way)


def carry_out(
    word: str,
    judged: Judged,
    directory: Path,
    open_ports: OpenPorts,
    way: Carrying,
    *,
    extra: Sequence[str] = (),
    is_resumed: bool = False,
    stop: StopRule = StopRule(),
    notes: str | None = None,
) -> Outcome:
    """Carry out a run in a folder of its own, with a bar where somebody watches.

    Args:
        word: The command, for what is told on standard error.
        judged: The run.
        directory: Its folder.
        open_ports: Whom it asks.
        way: What is kept and shown of it.
        extra: What others keep in the folder.
        is_resumed: The folder holds an earlier life of the run.
        stop: When it may end besides its file's rule. Of a run whose contract lists decisions, a certificate is kept.
        notes: What its manifest says besides why it ended.

    Raises:
        CheckFailed: The run ended as an error, or cannot be stopped by that rule.
        Refused: The society that is to hear of it does not take it.
    """
    from moot.arbiter.artifacts import ArtifactWriter
    from moot.arbiter.certifying import certificate_writer
    from moot.arbiter.engine import RunFailed
    from moot.arbiter.launching import CannotBegin, StartRefused, launch
    from moot.cli.arbiter.failing import Failures
    from moot.clock import RealClock
    from moot.heap import settle_heap

    def warn(line: str) -> None:
        say(f"moot arbiter {word}: {line}")

    for line in judged.warnings:
        warn(f"{judged.path}: {line}")
    prepared = judged.prepared
    certifier = certifier_of(judged, stop)
    is_watched = sys.stderr.isatty() and not (way.is_quiet or way.as_json)
    writer = ArtifactWriter(
        directory,
        warn,
        is_debug=way.is_debug,
        has_log=is_watched,
        extra=extra,
        is_resumed=is_resumed,
        notes=notes,
        write_receipt=_receipt_writer(),
    )
    settle_heap()
    with ExitStack() as exits:
        failures = Failures()
        watchers: list[Subscriber] = [failures]
        if certifier is not None:
            watchers.append(certificate_writer(certifier, directory))
        if is_watched:
            from moot.cli.arbiter.progress import RunProgress

            watchers.append(exits.enter_context(RunProgress()))
        try:
            ended = launch(
                prepared,
                judged.policy,
                writer,
                RealClock(),
                open_ports,
                warn,
                watchers,
                certifier.enough if certifier is not None and stop.stop else lambda: None,
            )
        except RunFailed as error:
            where = f"; {directory} holds what there is" if writer.manifest is not None else ""
            raise CheckFailed(f"{error}{where}") from error
        except StartRefused as error:
            raise Refused(str(error)) from error
        except CannotBegin as error:
            raise CheckFailed(str(error)) from error
    for line in failures.lines():
        warn(line)
    return Outcome(directory, writer, ended)


def directory_of(judged: Judged, out: Path | None) -> Path:
    """Return the folder of a run, which need not be there yet."""
    config = judged.prepared.config
    return (out or Path(config.output.runs_dir or "runs")) / config.run.run_id


def report(judged: Judged, outcome: Outcome, way: Carrying) -> int:
    """Print how a run ended; return the exit code."""
    manifest = outcome.writer.manifest
    assert manifest is not None
    if way.as_json:
        write_json(
            {
                "path": str(outcome.directory),
                "run_id": manifest.run_id,
                "stop_reason": manifest.stop_reason,
                "incomplete": manifest.incomplete,
                "notes": manifest.notes,
                "k_planned": manifest.k_planned,
                "k_attempted": manifest.k_attempted,
                "k_eligible": manifest.k_eligible,
                "aggregates": outcome.ended.aggregates.as_json(),
                "usage": manifest.usage.as_json() if manifest.usage is not None else None,
                **judged.prepared.hashes.as_json(),
                "policy": judged.policy.as_json(),
                "warnings": [*judged.warnings],
                "artifacts": [one.path for one in manifest.artifacts.entries],
            }
        )
    elif way.is_quiet:
        write_lines([str(outcome.directory)])
    else:
        write_lines([*outcome.writer.receipt, f"Next: moot arbiter report {outcome.directory}"])
    return 1 if manifest.stop_reason == "error" else 0


def mock_ports(judged: Judged) -> OpenPorts:
    """Return whom a mock run asks: nobody.

    Raises:
        CheckFailed: ARBITER_MOCK_DELAY_MS is no number of milliseconds.
    """
    config = judged.prepared.config
    delay = _delay()
    is_mute = os.environ.get("ARBITER_MOCK_EMPTY_EMBED") == "1"

    @asynccontextmanager
    async def open_ports(clock: Clock, interrupt: Interrupt) -> AsyncIterator[Ports]:
        from moot.arbiter.launching import Ports
        from moot.arbiter.mocking import MockEmbedder, MockRunner
        from moot.arbiter.outcomes import Outcomes
        from moot.config.arbiter.judging import judge_of
        from moot.config.arbiter.moot_protocols import KINDS

        outcomes = Outcomes(config, judge_of(config.protocol.decision_contract), "mock-v0")
        meeting = None
        if config.protocol.type in KINDS:
            from moot.arbiter.meetings import simulated

            meeting = partial(simulated, config)
        runner = MockRunner(outcomes, clock, delay=delay, is_mute=is_mute, meeting=meeting)
        yield Ports(runner, MockEmbedder(config.run.seed))

    return open_ports


def _delay() -> timedelta:
    given = os.environ.get("ARBITER_MOCK_DELAY_MS", "0")
    if not given.isdecimal() or int(given) > 3_600_000:
        raise CheckFailed(f"ARBITER_MOCK_DELAY_MS is {given!r}: give whole milliseconds, at most an hour")
    return timedelta(milliseconds=int(given))


def _receipt_writer() -> Callable[[Path, str], None]:
    from moot.arbiter.files import write_text

    def refuse(path: Path, text: str) -> None:
        raise OSError(0, "ARBITER_RECEIPT_FAIL is set", str(path))

    return refuse if os.environ.get("ARBITER_RECEIPT_FAIL") == "1" else write_text
