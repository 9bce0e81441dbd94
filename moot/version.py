"""The version of Moot, as logs and `moot --version` state it."""

from __future__ import annotations

from typing import Final

MOOT_VERSION: Final = "0.1.0"
