"""The schedules that the shipped configuration keeps."""

from __future__ import annotations

import tomllib
from typing import Any, Final

from moot.config.settings import DEFAULTS

SHIPPED: Final[dict[str, dict[str, Any]]] = tomllib.loads(DEFAULTS.read_text(encoding="utf-8"))["schedules"]
