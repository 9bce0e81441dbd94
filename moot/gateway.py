"""The gateway process: the console and all configured surfaces, guests of the society (K22).

`python -m moot.gateway DIR`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

from moot.channels.errors import StorageError
from moot.channels.gateway import address
from moot.channels.gateway.process import Mirroring, run_gateway
from moot.channels.log.lease import keep_private, write_privately
from moot.channels.surface import Surface, SurfaceError, load_surface, refuse_secrets
from moot.config.settings import ConfigError, Settings, load_settings
from moot.console.options import ConsoleOptions
from moot.gateway_child import BUS
from moot.heap import settle_heap
from moot.log_setup import set_up_logging

MOST_PORT: Final = 65_535
NICE: Final = 10
"""The society goes first where both want the same processor."""


def surface_of(settings: Settings, name: str, folder: Path) -> Surface:
    """Build a configured surface.

    Args:
        settings: They name it.
        name: Which one.
        folder: Where the configuration file is; `*_file` options count from there.

    Raises:
        SurfaceConfigError: It cannot be built; says why.
    """
    return load_surface(settings.surfaces[name].module, options_of(settings, name, folder))


def options_of(settings: Settings, name: str, folder: Path) -> dict[str, Any]:
    """Return a configured surface's options, with files found from the configuration's folder.

    Raises:
        SurfaceConfigError: One of them is a secret.
    """
    options = settings.surfaces[name].options()
    refuse_secrets(options)
    return {
        key: str(folder / Path(value).expanduser())
        if key.endswith("_file") and isinstance(value, str)
        else value
        for key, value in options.items()
    }


def folder_of(config: Path | None) -> Path:
    """Return where the files that a configuration names are looked for."""
    return (config or Path()).parent.absolute()


def mirrorings(settings: Settings, folder: Path) -> dict[str, Mirroring]:
    """Return how each configured surface is run."""
    return {name: Mirroring(build=partial(surface_of, settings, name, folder)) for name in settings.surfaces}


def console_of(settings: Settings, folder: Path, host: str | None, port: int | None) -> ConsoleOptions:
    """Return how the console is served; a host and a port that were asked for go before the configured ones."""
    console = settings.console
    return ConsoleOptions(
        host=console.host if host is None else host,
        port=console.port if port is None else port,
        public_url=console.public_url,
        token_file=folder / Path(console.token_file).expanduser() if console.token_file else None,
    )


def print_address(owner: str, _viewer: str) -> None:
    """Print where the owner comes in; `moot up` reads it."""
    sys.stdout.write(f"{owner}\n" if owner else "")
    sys.stdout.flush()


async def serve(directory: Path, settings: Settings, folder: Path, console: ConsoleOptions | None) -> None:
    """Mirror the society in a directory on all its surfaces, and serve its page, until told to stop."""
    keeping: list[asyncio.Task[None]] = []
    if console is not None:
        # Loading the page's libraries takes a second, which nobody pays who wants no page.
        from moot.console.serving.keeping import keep

        page = keep(console, directory, settings, lambda: address.find(directory), tell=print_address)
        keeping.append(asyncio.create_task(page, name="console"))
    shared, exits = None, ExitStack()
    if address_given := os.environ.get(BUS):
        from moot.channels.nats.address import NatsAddress
        from moot.channels.nats.outbox import outboxes
        from moot.channels.nats.thread import NatsThread

        where = NatsAddress.parse(address_given, environ=os.environ)
        shared = outboxes(exits.enter_context(NatsThread(where, name="gateway")))
    try:
        await run_gateway(
            None,
            mirrorings(settings, folder),
            data_dir=directory,
            authority=settings.seat_of,
            stop=asyncio.Event(),
            public_url=settings.console.public_url,
            shared=shared,
        )
    finally:
        exits.close()
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)


def _log_file(directory: Path) -> Path:
    try:
        keep_private(directory)
    except OSError as exc:
        raise ConfigError(f"{directory} can be no data directory: {exc.strerror or exc}") from exc
    return directory / "gateway.log"


def main(argv: list[str] | None = None) -> int:
    """Run the gateway; the exit code is 2 for a wrong configuration."""
    write_privately()
    parser = argparse.ArgumentParser(prog="python -m moot.gateway", description=__doc__)
    parser.add_argument("directory", type=Path, help="data directory of the society")
    parser.add_argument("--config", type=Path, default=None, help="configuration file")
    parser.add_argument("--host", default=None, help="where the console is bound; by default as configured")
    parser.add_argument("--port", type=int, default=None, help="its port; 0 takes a free one")
    parser.add_argument("--no-console", action="store_true", help="serve no console")
    options = parser.parse_args(argv)
    try:
        if options.port is not None and not 0 <= options.port <= MOST_PORT:
            raise ConfigError(f"--port {options.port}: a port is a number from 0 to {MOST_PORT}")
        set_up_logging(_log_file(options.directory))
        folder = folder_of(options.config)
        settings = load_settings(options.config)
        has_console = settings.console.enabled and not options.no_console
        console = console_of(settings, folder, options.host, options.port) if has_console else None
        settle_heap()
        asyncio.run(serve(options.directory, settings, folder, console))
    except (ConfigError, SurfaceError) as exc:
        sys.stderr.write(f"moot gateway: {exc}\n")
        return 2
    except StorageError as exc:
        sys.stderr.write(f"moot gateway: {exc}\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    os.nice(NICE)
    sys.exit(main())
