"""The log's lines as the platforms keep them: read back from a message's attachment, metadata or file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

from moot.channels.slack.rendering import EVENT


def from_discord(payload: bytes) -> list[str]:
    """Return the lines that an attachment carries, verbatim."""
    return _lines_in(json.loads(gzip.decompress(payload) if payload[:2] == b"\x1f\x8b" else payload))


def from_slack(metadata: Mapping[str, Any]) -> list[str]:
    """Return the lines that a message's metadata carries, verbatim."""
    assert metadata["event_type"] == EVENT
    return _lines_in({"messages": json.loads(metadata["event_payload"]["messages"])})


def from_slack_file(content: bytes) -> list[str]:
    """Return the lines that a file carries, verbatim."""
    return _lines_in(json.loads(content))


def _lines_in(payload: Mapping[str, Any]) -> list[str]:
    lines = payload["messages"]
    assert lines and all(isinstance(line, str) for line in lines)
    return list(lines)
