"""Slack as a surface: roles under their own names, cases as threads, escalations with buttons, `/moot` commands.

* `surface`: `SlackSurface`, which puts the parts together; `options`: what a configuration may say.
* `web`, `troubles`: calls of the Web API, and what each of Slack's error codes means here, as data.
* `rooms`: which Slack channel is which channel of the log; `posting`: one message out, and looking for it again;
  `uploads`: the typed JSON of a message that is too long to travel in its metadata.
* `socket_mode`, `http_mode`: the two ways in; `events`: what came in, as an act.
* `taking`: acknowledge, keep, hand in, answer; `journal`: what was acknowledged and is not done.
* `gaps`: when history is read for what was missed, by `marks`; `catching_up`: how one channel is.
* `people`: their names, and what they wrote made plain; `answers`: telling the person.
* `scopes`, `manifest`: what the app needs and why, as data; `setting_up`: making and checking it.

Only `moot.channels.slack.surface` and what it imports load Slack's libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moot.channels.slack.surface import SlackSurface

__all__ = ["SlackSurface"]


def __getattr__(name: str) -> Any:
    """Load the surface when it is asked for."""
    if name == "SlackSurface":
        from moot.channels.slack.surface import SlackSurface

        return SlackSurface
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
