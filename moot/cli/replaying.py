"""`--replay`: a recorded run held again, with neither key nor network, and whether it is the same (K29)."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import plural, say

if TYPE_CHECKING:
    from moot.recording import Recording

ALWAYS: Final = frozenset({"replay", "then", "out", "as_json"})
"""Parameters that may stand beside --replay; a command may allow more."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The options that hold a recorded run again."""

    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            metavar="DIR",
            help="Replay the run that this directory keeps, with the answers that its models gave.",
        ),
    ] = None
    then: Annotated[
        Literal["live"] | None,
        typer.Option(
            "--then", metavar="live", help="With --replay: call models for what the recording does not have."
        ),
    ] = None

    def recording(
        self, ctx: typer.Context, key_env: str | None, *, besides: Collection[str] = ()
    ) -> Recording | None:
        """Return the recorded run that is named; None where none is.

        Args:
            ctx: The command line.
            key_env: What --key-env says.
            besides: Parameters that this command takes beside --replay.

        Raises:
            Unusable: Something is said that the recording says, or --then stands alone.
            BadInput: There is no such run.
        """
        goes_on = self.then is not None
        if self.replay is None:
            if goes_on:
                raise Unusable("--then live goes with --replay DIR")
            return None
        from moot.recording import Recording

        refuse_beside(ctx, "--replay", ALWAYS | set(besides) | ({"key_env", "days"} if goes_on else set()))
        return Recording(self.replay, goes_on=goes_on, key_env=key_env)


def refuse_beside(ctx: typer.Context, option: str, allowed: Collection[str]) -> None:
    """Refuse what is said on a command line beside an option that says it all.

    Args:
        ctx: The command line.
        option: How that is written.
        allowed: Parameters that may stand beside it.

    Raises:
        Unusable: Another one stands there.
    """
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE" and parameter.name not in allowed:
            raise Unusable(f"{_written(parameter)} cannot stand beside {option}: the run itself says it")


def needed(**given: Any) -> None:
    """Refuse a command line without what only --replay makes superfluous.

    Args:
        given: What was given, None where nothing was, by how it is written: `paper` for --paper, `QUESTION` as it is.

    Raises:
        Unusable: Something is missing.
    """
    for name, value in given.items():
        if value is None:
            what = name if name.isupper() else f"--{name}"
            raise Unusable(
                f"{what} is missing; only --replay DIR, which holds a recorded run again, needs none"
            )


@contextmanager
def kept(recording: Recording | None, out: Path | None) -> Iterator[Path | None]:
    """Give the directory that a log goes to: what is held again needs one, if only to be compared."""
    if recording is None or out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="moot-replay-") as place:
        yield Path(place)


def compare(recording: Recording | None, directory: Path | None) -> None:
    """Say whether a run that was held again is the same, byte for byte.

    Raises:
        CheckFailed: It is not.
    """
    if recording is None or directory is None:
        return
    at, count = recording.difference(directory), recording.messages
    if at is None:
        say(f"replayed {recording.directory}: the same {plural(count, 'message')}, byte for byte")
    elif at > count:
        say(f"replayed {recording.directory}: the same {plural(count, 'message')}, and then went on")
    else:
        raise CheckFailed(
            f"the replay differs from {recording.directory} from message {at} on: another version of Moot, a changed"
            " file or a mind that is not deterministic can be why; --out DIR keeps the replay, moot log shows both"
        )


def _written(parameter: Any) -> str:
    """Return how a parameter is written on the command line."""
    return next((one for one in parameter.opts if one.startswith("--")), str(parameter.name).upper())
