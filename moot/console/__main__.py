"""`python -m moot.console DIR`: the console of a data directory by itself; it only shows where no society runs."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from moot.channels.gateway import address
from moot.channels.gateway.client import Requests
from moot.channels.log.file import LOG_NAME
from moot.channels.log.lease import write_privately
from moot.config.settings import ConfigError, Settings, load_settings
from moot.console.errors import ConsoleError
from moot.console.options import HOST, PORT, ConsoleOptions
from moot.console.serving.keeping import print_addresses
from moot.console.serving.server import serve
from moot.console.watching import KNOCKING
from moot.log_setup import set_up_logging

USAGE = 2


async def run(options: ConsoleOptions, directory: Path, settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM."""

    def find() -> Path:
        return address.find(directory)

    requests = Requests(find, backoff=KNOCKING)
    asking = asyncio.create_task(requests.run(), name="requests")
    serving = asyncio.create_task(serve(options, directory, settings, requests, find, tell=print_addresses))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    try:
        await serving
    except asyncio.CancelledError:
        pass
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


def main(argv: list[str] | None = None) -> int:
    """Serve a data directory; the exit code is 2 for what cannot be served."""
    write_privately()
    parser = argparse.ArgumentParser(prog="python -m moot.console", description=__doc__)
    parser.add_argument("directory", type=Path, help="data directory of a society")
    parser.add_argument("--host", default=HOST, help=f"address to bind to, by default {HOST}")
    parser.add_argument("--port", type=int, default=PORT, help=f"port, by default {PORT}; 0 takes a free one")
    parser.add_argument("--token-file", type=Path, default=None, help="tokens, a line USER TOKEN each")
    parser.add_argument("--config", type=Path, default=None, help="configuration file")
    parser.add_argument("--no-page", action="store_true", help="serve the API only")
    given = parser.parse_args(argv)
    try:
        if not (log := given.directory / LOG_NAME).is_file():
            why = f"its {LOG_NAME} is no file" if log.exists() else "no society was ever started there"
            raise ConsoleError(f"{given.directory}: {why}")
        if not 0 <= given.port <= 65_535:
            raise ConsoleError(f"--port {given.port}: a port is a number from 0 to 65535")
        settings = load_settings(given.config)
        set_up_logging(given.directory / "console.log")
        options = ConsoleOptions(
            host=given.host,
            port=given.port,
            public_url=settings.console.public_url,
            token_file=given.token_file,
            has_page=not given.no_page,
        )
        asyncio.run(run(options, given.directory, settings))
    except (ConsoleError, ConfigError, OSError) as exc:
        sys.stderr.write(f"moot console: {exc}\n")
        return USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
