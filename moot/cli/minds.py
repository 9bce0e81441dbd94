"""`--mind`: a class of one's own in a seat, wherever minds are chosen on the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.cli.errors import Unusable

MindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mind",
        metavar="SEAT=MIND",
        help="What fills a seat: package.module:Class, simulated or silent. May be repeated.",
    ),
]


def minds_of(given: list[str] | None) -> dict[str, str]:
    """Read `--mind`; whether there are such seats and classes is found out where minds are made.

    Raises:
        Unusable: One is not written as SEAT=MIND, or a seat is filled twice.
    """
    found: dict[str, str] = {}
    for text in given or ():
        seat, equals, mind = text.partition("=")
        if not (seat and equals and mind):
            raise Unusable(
                f"--mind {text}: write SEAT=package.module:Class, such as critic=my_minds:MyCritic"
            )
        if seat in found:
            raise Unusable(f"--mind {text}: {seat} is filled by {found[seat]} already")
        found[seat] = mind
    return found
