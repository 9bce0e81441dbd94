"""All commands, in the order in which help lists them; importing this module declares them."""

from __future__ import annotations

from moot.cli import case, escalations, log, status
from moot.cli.app import app

__all__ = ["app", "case", "escalations", "log", "status"]
