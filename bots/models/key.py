"""The key of a model: from the variable or the private file that the configuration names, and from nowhere else."""

from __future__ import annotations

from moot.bots.models.errors import NoKey
from moot.channels.chat.tokens import read_secret
from moot.channels.surface import SurfaceConfigError
from moot.config.models import ModelSettings


def key_of(name: str, settings: ModelSettings) -> str:
    """Return the key of `[models.NAME]`; "" where neither a variable nor a file is named: no key is sent.

    Raises:
        NoKey: The variable is not set, the file is missing or not private, or there is no key in it.
    """
    if not settings.key_env and not settings.key_file:
        return ""
    try:
        return read_secret(
            settings.key_file or None, settings.key_env, "the key", "sk-…", option=f"models.{name}.key_file"
        )
    except SurfaceConfigError as exc:
        raise NoKey(f"models.{name}: {exc}") from None
