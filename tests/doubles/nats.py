"""A real nats-server for tests, with JetStream.

It can be stopped, killed, started again, and its files can be put back to an earlier state, as a power cut does.
"""

from __future__ import annotations

import itertools
import json
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from moot.channels.errors import ChannelError
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.thread import NatsThread
from tests.doubles.tiny import TinyAdmission, decode
from tests.system_programs import require

SERVERS: Final = 3
"""Of a cluster."""
READY_S: Final = 60.0
_NUMBERS: Final = itertools.count(1)


class NatsServer:
    """One server on a free port, which it keeps when it is started again.

    Args:
        directory: Where its files go.
        config: More of its configuration, such as users and limits.
        jetstream: What its JetStream may use, as the configuration has it; None: it has none.
    """

    def __init__(self, directory: Path, config: str = "", *, jetstream: str | None = "") -> None:
        self.directory = directory
        self.store = directory / "store"
        self._config = config
        self._jetstream = jetstream
        self.port = -1
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.directory.mkdir(parents=True, exist_ok=True)
        ports = self.directory / "ports"
        shutil.rmtree(ports, ignore_errors=True)
        ports.mkdir()
        config = self.directory / "nats.conf"
        jetstream = (
            "" if self._jetstream is None else f'jetstream {{ store_dir: "{self.store}"\n{self._jetstream} }}'
        )
        config.write_text(
            f'host: "127.0.0.1"\nport: {self.port}\nports_file_dir: "{ports}"\n{jetstream}\n{self._config}\n'
        )
        log = self.directory / "server.log"
        self._process = subprocess.Popen(
            [require("nats-server"), "-c", config, "-l", log],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + READY_S
        while not (noted := [path for path in ports.iterdir() if path.stat().st_size]):
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"no server of NATS: {log.read_text() if log.exists() else ''}")
            time.sleep(0.01)
        if self.port < 0:
            self.port = int(json.loads(noted[0].read_text())["nats"][0].rpartition(":")[2])

    def stop(self) -> None:
        """Stop it in order; what it acknowledged stays."""
        self._end(subprocess.Popen.terminate)

    def kill(self) -> None:
        """Kill it at once."""
        self._end(subprocess.Popen.kill)

    def pause(self) -> None:
        """Let it stand still: connections stay open, and nobody answers."""
        assert self._process is not None
        self._process.send_signal(19)

    def go_on(self) -> None:
        """Let it go on after `pause`."""
        assert self._process is not None
        self._process.send_signal(18)

    def keep(self, name: str) -> Path:
        """Stop it, and put a copy of its files aside."""
        self.stop()
        kept = self.directory / name
        shutil.copytree(self.store, kept)
        return kept

    def roll_back(self, kept: Path) -> None:
        """Put its files back to what `keep` put aside, as a disk does that lost what it had not synced."""
        self.kill()
        shutil.rmtree(self.store)
        shutil.copytree(kept, self.store)

    @property
    def is_running(self) -> bool:
        """Say whether it was started and not ended since."""
        return self._process is not None

    def address(self, society: str = "", who: str = "") -> NatsAddress:
        """Return the address of a society on it; of one that nobody has used, when none is named."""
        return NatsAddress.parse(f"nats://{who}127.0.0.1:{self.port}/{society or f's{next(_NUMBERS)}'}")

    def _end(self, how: object) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(18)
            how(process)  # type: ignore[operator]
            process.wait()


class NatsCluster:
    """Three servers on this machine that are one cluster; each may be ended and started again by itself.

    Args:
        directory: Where their files go.
    """

    def __init__(self, directory: Path) -> None:
        with ExitStack() as taken:
            sockets = [taken.enter_context(socket.socket()) for _ in range(SERVERS)]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            routes = [one.getsockname()[1] for one in sockets]
        text = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
        self.servers = [
            NatsServer(
                directory / f"n{n}",
                f'server_name: n{n}\ncluster {{ name: c, host: "127.0.0.1", port: {port}, routes: [{text}] }}',
            )
            for n, port in enumerate(routes, 1)
        ]

    def start(self) -> None:
        """Start all of them, and wait until a majority has agreed on who leads it."""
        for server in self.servers:
            server.start()
        self.agreed()

    def agreed(self) -> None:
        """Wait until they take orders."""
        until = time.monotonic() + READY_S
        while True:
            try:
                with NatsThread(self.address("agreed")) as nats:
                    return nats.wait(_probe)
            except ChannelError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def kill(self) -> None:
        """Kill all of them."""
        for server in self.servers:
            server.kill()

    def address(self, society: str) -> NatsAddress:
        """Return the address of a society on all of them."""
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.servers)
        return NatsAddress.parse(f"nats://{hosts}/{society}")

    def leader(self, stream: str) -> NatsServer:
        """Return the server that leads a stream."""

        async def look(connection: NatsConnection) -> str:
            info = await connection.js.stream_info(stream)
            return (info.cluster and info.cluster.leader) or ""

        with NatsThread(self.address("agreed")) as nats:
            name = nats.wait(look)
        return next(server for server in self.servers if server.directory.name == name)


async def _probe(connection: NatsConnection) -> None:
    """Have the servers make and forget something that all of them must keep."""
    with connection.errors():
        await connection.js.add_stream(name="probe", subjects=["probe"], num_replicas=SERVERS)
        await connection.js.delete_stream("probe")


@asynccontextmanager
async def following(
    address: NatsAddress, directory: Path, *, replicas: int | None = None
) -> AsyncIterator[NatsBus]:
    """Open a bus of the smallest society; it does not follow yet."""
    async with (
        await NatsConnection.open(address) as connection,
        await NatsBus.open(connection, directory, decode=decode, replicas=replicas) as bus,
    ):
        yield bus


@asynccontextmanager
async def leading(
    address: NatsAddress,
    directory: Path,
    admission: TinyAdmission,
    now: Callable[[], datetime],
    epoch: int = 1,
    *,
    replicas: int | None = None,
) -> AsyncIterator[NatsBus]:
    """Open a bus of the smallest society, and lead."""
    async with following(address, directory, replicas=replicas) as bus:
        await bus.lead(admission, now, epoch=epoch)
        yield bus


@contextmanager
def running(directory: Path, config: str = "", *, jetstream: str | None = "") -> Iterator[NatsServer]:
    """Run a server, and kill it at the end."""
    server = NatsServer(directory, config, jetstream=jetstream)
    try:
        server.start()
        yield server
    finally:
        server.kill()
