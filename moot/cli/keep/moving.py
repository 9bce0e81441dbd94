"""`moot import`: a society from one place where logs are kept to another, with the same bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moot.cli.app import command
from moot.cli.errors import Unusable
from moot.cli.numbers import Replicas
from moot.cli.output import plural, write_json
from moot.cli.place import AsJson
from moot.cli.speaking import note_log
from moot.place import data_dir

if TYPE_CHECKING:
    from moot.channels.nats.address import NatsAddress


@command(
    "moot import ./moot-data nats://10.0.0.5:4222/desk",
    "moot import ./moot-data nats://10.0.0.5:4222/desk --replicas 3 --json",
    "moot import nats://10.0.0.5:4222/desk ./moot-data",
    name="import",
)
def import_(
    source: Annotated[
        str,
        typer.Argument(metavar="FROM", help="Data directory of a stopped society, or its address on NATS."),
    ],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="The other one: an address on NATS, or a directory.")
    ],
    replicas: Replicas = None,
    as_json: AsJson = False,
) -> None:
    """Move a society with all that it keeps between a data directory and NATS: the same bytes, so the same hashes.

    It goes on where an earlier attempt broke off. A place that holds another society is left as it is.
    """
    from moot.channels.nats.address import is_nats
    from moot.hosts.moving import to_directory, to_nats

    if is_nats(source) == is_nats(target):
        raise Unusable(
            "one of FROM and TO is an address such as nats://HOST:4222/NAME, the other a directory"
        )
    if is_nats(target):
        address = _address(target)
        note_log(Path(source))
        head = to_nats(data_dir(Path(source)), address, replicas=replicas)
        where = str(address)
    else:
        head = to_directory(_address(source), Path(target))
        where = target
    if as_json:
        write_json({"seq": head.seq, "hash": head.hash.hex(), "to": where})
    else:
        print(f"{plural(head.seq, 'message')} in {where}, head {head.hash.hex()[:16]}")


def _address(text: str) -> NatsAddress:
    from moot.channels.nats.address import NatsAddress

    return NatsAddress.parse(text, environ=os.environ)
