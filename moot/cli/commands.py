"""All commands; importing this module declares them."""

from __future__ import annotations

from moot.cli import (
    answer,
    arena,
    arena_society,
    case,
    clock,
    config,
    desk,
    discord,
    doctor,
    escalations,
    keep,
    log,
    panel,
    panel_run,
    people,
    scene,
    simulate,
    slack,
    status,
    up,
    verify,
)
from moot.cli.app import app

__all__ = [
    "answer",
    "app",
    "arena",
    "arena_society",
    "case",
    "clock",
    "config",
    "desk",
    "discord",
    "doctor",
    "escalations",
    "keep",
    "log",
    "panel",
    "panel_run",
    "people",
    "scene",
    "simulate",
    "slack",
    "status",
    "up",
    "verify",
]
