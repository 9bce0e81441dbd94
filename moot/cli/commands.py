"""All commands; importing this module declares them."""

from __future__ import annotations

from moot.cli.act import answer, clock, declared, desk, people
from moot.cli.app import app
from moot.cli.arbiter import certifying as arbiter_certify
from moot.cli.arbiter import comparing as arbiter_compare
from moot.cli.arbiter import configuring as arbiter
from moot.cli.arbiter import live as arbiter_live
from moot.cli.arbiter import quickstart as arbiter_quickstart
from moot.cli.arbiter import reporting as arbiter_report
from moot.cli.arbiter import running as arbiter_running
from moot.cli.arbiter import verifying as arbiter_verify
from moot.cli.arena import runs as arena
from moot.cli.arena import society as arena_society
from moot.cli.keep import anchor, moving, verify
from moot.cli.keep import keeping as keep
from moot.cli.look import calls, case, escalations, log, status, view, why
from moot.cli.panel import judges as panel
from moot.cli.panel import run as panel_run
from moot.cli.run import chaos, compare, console, debate, minds, scene, simulate, up
from moot.cli.setup import config, discord, doctor, models, slack

__all__ = [
    "anchor",
    "answer",
    "app",
    "arbiter",
    "arbiter_certify",
    "arbiter_compare",
    "arbiter_live",
    "arbiter_quickstart",
    "arbiter_report",
    "arbiter_running",
    "arbiter_verify",
    "arena",
    "arena_society",
    "calls",
    "case",
    "chaos",
    "clock",
    "compare",
    "config",
    "console",
    "debate",
    "declared",
    "desk",
    "discord",
    "doctor",
    "escalations",
    "keep",
    "log",
    "minds",
    "models",
    "moving",
    "panel",
    "panel_run",
    "people",
    "scene",
    "simulate",
    "slack",
    "status",
    "up",
    "verify",
    "view",
    "why",
]
