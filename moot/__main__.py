"""The program `moot`; `python -m moot` is the same."""

from __future__ import annotations

import os
import sys

from moot.heap import look_seldom


def main() -> None:
    """Run the command line and exit; nobody ever sees a traceback."""
    look_seldom()
    try:
        from moot.cli.commands import app
    except KeyboardInterrupt:
        sys.exit(130)
    except ImportError as error:
        if os.environ.get("MOOT_DEBUG"):
            raise
        sys.exit(f"moot: the installation is incomplete: {error}; make install repairs it")
    # What a society writes is its owner's only: tokens, what was said in confidence, what it holds.
    os.umask(0o077)
    app()


if __name__ == "__main__":
    main()
