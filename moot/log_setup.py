"""Logging: JSON lines to a file, warnings readable on the terminal; secrets redacted, case_id and seq bound."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final

import structlog

from moot.protocols.kernel.redact import redact, redact_under

MAX_BYTES: Final = 20_000_000
KEPT: Final = 3

_ours: Final[list[logging.Handler]] = []


def _redacted(_logger: object, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        # Keys with an underscore are the library's own and never written.
        if not key.startswith("_"):
            event[key] = _clean(value, key)
    return event


def _clean(value: object, key: str = "") -> object:
    """Redact every text in a value, wholly where its key says that it is a secret.

    What is neither text nor plain data is written as its `repr`.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return redact_under(key, str(value))
    if isinstance(value, Mapping):
        return {redact(str(key)): _clean(part, str(key)) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(part, key) for part in value]
    return redact_under(key, repr(value))


def quiet_logging() -> None:
    """Hand structlog's events to the standard library's logging, if nobody has set structlog up.

    For who imports Moot: their handlers get what is logged under `moot.…`, and without any nothing is printed.
    """
    if structlog.is_configured():
        return
    logging.getLogger("moot").addHandler(logging.NullHandler())
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.render_to_log_kwargs],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _redacted,
    ]


def set_up_logging(path: Path | None, *, terminal: bool = False, level: str = "INFO") -> None:
    """Send structlog's events to a rotating file, and warnings to standard error when asked.

    Args:
        path: The file; None: no file.
        terminal: Whether warnings and errors also go to standard error, for people.
        level: The lowest level that is kept in the file.
    """
    shared = _shared()
    handlers: list[logging.Handler] = []
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = logging.handlers.RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=KEPT, delay=True)
        file.setFormatter(
            structlog.stdlib.ProcessorFormatter(
                processor=structlog.processors.JSONRenderer(), foreign_pre_chain=shared
            )
        )
        handlers.append(file)
    # A full disk is told where it hurts; the library would print a traceback for each line it cannot keep.
    logging.raiseExceptions = False
    if terminal:
        is_coloured = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        stream = logging.StreamHandler(sys.stderr)
        stream.setLevel(logging.WARNING)
        stream.setFormatter(
            structlog.stdlib.ProcessorFormatter(
                processor=structlog.dev.ConsoleRenderer(colors=is_coloured), foreign_pre_chain=shared
            )
        )
        handlers.append(stream)
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if handler in _ours]:
        root.removeHandler(handler)
        handler.close()
    _ours[:] = handlers or [logging.NullHandler()]
    for handler in _ours:
        root.addHandler(handler)
    root.setLevel(level)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
