"""`--data DIR`: a society that is to hear of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moot.cli.act.authority import As, user_of
from moot.cli.errors import Unusable
from moot.cli.output import say

if TYPE_CHECKING:
    from moot.arbiter.launching import OpenPorts
    from moot.cli.arbiter.judging import Judged


@dataclass(frozen=True, slots=True)
class Society:
    """The options that name a society that is to hear of a run, and whose run it is."""

    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="A living society that hears of the run in #lab, where an admin can stop it.",
            show_default="no society",
        ),
    ] = None
    as_user: As = None


def heard(
    word: str,
    judged: Judged,
    society: Society,
    open_ports: OpenPorts,
    *,
    is_mock: bool = False,
) -> OpenPorts:
    """Return what opens a run's ports, and has a society hear of it where one is named.

    Args:
        word: The command, for what is told on standard error.
        judged: The run.
        society: It.
        open_ports: Opens whom it asks.
        is_mock: Whether that is nobody.

    Raises:
        Unusable: There is none.
    """
    data = society.data
    if data is None:
        return open_ports
    from moot.arbiter.hearing import heard_in
    from moot.channels.log.file import LOG_NAME
    from moot.cli.act.acts import actor_of

    def warn(line: str) -> None:
        say(f"moot arbiter {word}: {line}")

    if not (data / LOG_NAME).exists():
        raise Unusable(f"--data {data}: there is no society: start one with moot up --data {data}")
    return heard_in(
        data, actor_of(user_of(society.as_user)), judged.prepared, open_ports, warn, is_mock=is_mock
    )
