"""The gateway process: all configured surfaces, a guest of the society (K22). `python -m moot.gateway DIR`."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from functools import partial
from pathlib import Path
from typing import Final

from channels.gateway.process import Mirroring, run_gateway
from channels.surface import Surface, SurfaceError, load_surface
from config.settings import ConfigError, Settings, load_settings
from moot.log_setup import set_up_logging

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
    how = settings.surfaces[name]
    options = {
        key: str(folder / Path(value).expanduser())
        if key.endswith("_file") and isinstance(value, str)
        else value
        for key, value in how.options().items()
    }
    return load_surface(how.module, options)


def mirrorings(settings: Settings, folder: Path) -> dict[str, Mirroring]:
    """Return how each configured surface is run."""
    return {name: Mirroring(build=partial(surface_of, settings, name, folder)) for name in settings.surfaces}


async def serve(directory: Path, settings: Settings, folder: Path) -> None:
    """Mirror the society in a directory on all its surfaces until told to stop."""
    await run_gateway(
        None,
        mirrorings(settings, folder),
        data_dir=directory,
        authority=settings.seat_of,
        stop=asyncio.Event(),
        public_url=settings.console.public_url,
    )


def main(argv: list[str] | None = None) -> int:
    """Run the gateway; the exit code is 2 for a wrong configuration."""
    parser = argparse.ArgumentParser(prog="python -m moot.gateway", description=__doc__)
    parser.add_argument("directory", type=Path, help="data directory of the society")
    parser.add_argument("--config", type=Path, default=None, help="configuration file")
    options = parser.parse_args(argv)
    set_up_logging(options.directory / "gateway.log")
    try:
        folder = (options.config or Path()).parent.absolute()
        asyncio.run(serve(options.directory, load_settings(options.config), folder))
    except (ConfigError, SurfaceError) as exc:
        sys.stderr.write(f"moot gateway: {exc}\n")
        return 2
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    os.nice(NICE)
    sys.exit(main())
