"""The gateway process: all configured surfaces, a guest of the society (K22). `python -m moot.gateway DIR`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from channels.gateway.process import Mirroring, run_gateway
from channels.surface import SurfaceError, load_surface
from config.settings import ConfigError, Settings, load_settings
from moot.log_setup import set_up_logging


def mirrorings(settings: Settings) -> dict[str, Mirroring]:
    """Return how each configured surface is run."""
    return {
        name: Mirroring(build=lambda s=surface: load_surface(s.module, s.options()))  # type: ignore[misc]
        for name, surface in settings.surfaces.items()
    }


async def serve(directory: Path, settings: Settings) -> None:
    """Mirror the society in a directory on all its surfaces until told to stop."""
    await run_gateway(
        None, mirrorings(settings), data_dir=directory, authority=settings.seat_of, stop=asyncio.Event()
    )


def main(argv: list[str] | None = None) -> int:
    """Run the gateway; the exit code is 2 for a wrong configuration."""
    parser = argparse.ArgumentParser(prog="python -m moot.gateway", description=__doc__)
    parser.add_argument("directory", type=Path, help="data directory of the society")
    parser.add_argument("--config", type=Path, default=None, help="configuration file")
    options = parser.parse_args(argv)
    set_up_logging(options.directory / "gateway.log")
    try:
        asyncio.run(serve(options.directory, load_settings(options.config)))
    except (ConfigError, SurfaceError) as exc:
        sys.stderr.write(f"moot gateway: {exc}\n")
        return 2
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
