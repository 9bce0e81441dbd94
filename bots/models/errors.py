"""What keeps a model from being called at all. What a provider answers is no error but an `Answer`.

ModelError
├── NoKey            no key is to be had where the configuration says
├── NoNetwork        a variable of the environment that requests need cannot be used
├── NoPackage        what speaks the model's API is not installed
├── NoSchema         a class has no JSON Schema that providers take: it holds parts of its own kind
├── BadRecord        what is kept as the record of a reply is none
└── UnusableModel    a model that is to fill a seat cannot be called
"""

from __future__ import annotations

from typing import Final

from moot.config.settings import ConfigError
from moot.protocols.kernel.errors import BadInput, MootError
from moot.protocols.kernel.redact import redact

LINE_CHARS: Final = 300
"""So many characters of what somebody else's server said are quoted."""


class ModelError(MootError):
    """Base of why a model cannot be called; its text is one line for a person."""


class NoKey(ModelError):
    """Say that no key is to be had, and where one belongs; no part of a key stands in it."""


class NoNetwork(ModelError):
    """An environment variable that requests need cannot be used; the text is one line that names it."""


class NoPackage(ModelError):
    """Say which package is missing, and how it is installed."""


class NoSchema(ModelError):
    """Say that a class cannot be asked of a model."""


class BadRecord(ModelError):
    """Say that what is kept as the record of a reply is none."""


class UnusableModel(ModelError, ConfigError, BadInput):
    """Say which model cannot fill a seat, why, and what to do."""


def one_line(text: str) -> str:
    """Make one printable line without secrets of what a server or a library said."""
    line = " ".join("".join(c if c.isprintable() else " " for c in redact(text[: LINE_CHARS * 20])).split())
    return line if len(line) <= LINE_CHARS else line[: LINE_CHARS - 1] + "…"
