"""What `moot doctor nats://...` checks: the servers, the society's stream, and what they promise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from moot.channels.errors import EmptyLog
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.stream import LIMITS_ADVICE, NatsStream, limits_of
from moot.channels.nats.thread import NatsThread
from moot.cli.output import plural
from moot.cli.setup.doctor import Diagnosis
from moot.protocols.kernel.errors import MootError

if TYPE_CHECKING:
    from nats.js.api import StreamInfo


def examine_nats(text: str) -> Iterator[Diagnosis]:
    """Look at a society's servers and stream; what fails ends the examination."""
    address = NatsAddress.parse(text, environ=os.environ)
    try:
        with NatsThread(address, name="moot doctor") as nats:
            yield nats.wait(_server)
            info = nats.wait(_stream)
    except EmptyLog as exc:
        yield Diagnosis("stream", "warning", str(exc))
        return
    except MootError as exc:
        yield Diagnosis("nats", "failure", str(exc))
        return
    yield Diagnosis(
        "stream", "ok", f"{plural(info.state.messages, 'message')}, {info.state.bytes / 1e6:,.1f} MB"
    )
    yield _replicas(info)
    yield _sync(info)
    yield _duplicates(info)
    yield _guarded(info)


async def _server(connection: NatsConnection) -> Diagnosis:
    version = connection.client.connected_server_version
    most = connection.client.max_payload
    said = f"{connection.address.where}, nats-server {version.major}.{version.minor}.{version.patch}"
    return Diagnosis("nats", "ok", f"{said}, messages of up to {most / 1e6:.1f} MB")


async def _stream(connection: NatsConnection) -> StreamInfo:
    stream = NatsStream(connection)
    await stream.open(create=False)
    info = await stream.info()
    assert info is not None
    return info


def _replicas(info: StreamInfo) -> Diagnosis:
    replicas = info.config.num_replicas or 1
    cluster = info.cluster
    if replicas == 1:
        return Diagnosis(
            "replicas",
            "warning",
            "1: the log is on one server, and while that is away nobody publishes",
            "moot import with --replicas 3 on a cluster of three keeps it on all of them",
        )
    away = [
        peer.name or "one" for peer in (cluster.replicas or [] if cluster is not None else []) if peer.offline
    ]
    if away:
        said = f"{replicas}, of which {', '.join(away)} is away: publishing goes on while more than half are there"
        return Diagnosis("replicas", "warning", said, "start it again")
    leader = f", led by {cluster.leader}" if cluster is not None and cluster.leader else ""
    return Diagnosis(
        "replicas", "ok", f"{replicas}{leader}: publishing goes on while more than half are there"
    )


def _sync(info: StreamInfo) -> Diagnosis:
    cut = "a power cut of all servers at once" if (info.config.num_replicas or 1) > 1 else "a power cut"
    said = (
        "a server acknowledges before its disk has it, and tells nobody its sync_interval, by default two minutes: "
        f"{cut} may lose what was acknowledged since"
    )
    advice = "set sync_interval: always in nats-server.conf; every host's mirror shows a loss"
    return Diagnosis("sync", "warning", said, advice)


def _duplicates(info: StreamInfo) -> Diagnosis:
    window = info.config.duplicate_window or 0
    said = f"the server itself knows an id again for {window:.0f} s; whoever leads knows all of them by its mirror"
    return Diagnosis("duplicates", "ok", said)


def _guarded(info: StreamInfo) -> Diagnosis:
    config = info.config
    if limits := limits_of(config):
        return Diagnosis("guarded", "warning", f"the stream has limits: {limits}", LIMITS_ADVICE)
    if not (config.deny_delete and config.deny_purge):
        return Diagnosis(
            "guarded", "warning", "whoever may administer the server can delete messages", "import it anew"
        )
    return Diagnosis("guarded", "ok", "no limit of age or size; messages cannot be deleted")
