"""What to do where a model cannot be called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.bots.models.answer import Answer, Fault, Outcome
from moot.config.models import ModelSettings

_BY_FAULT: Final[Mapping[Fault, str]] = {
    "no_server": "start the server, or correct url{where}",
    "tls": "correct url{where}: http for a server without TLS, a name that its certificate holds; SSL_CERT_FILE names"
    " authorities of your own",
    "key": "name the variable or file of a valid key in key_env or key_file{where}, or with --key-env; a server that"
    " wants it in a header of its own, such as api-key, has that named in key_header",
    "no_model": "correct model, and url, which usually ends in /v1, or api{where}",
    "credit": "add credit at the provider",
    "rate": "wait, or lower at_once{where}",
    "server": "try again later, or read the server's log",
    "request": "read the server's documentation: it does not take what it was sent{sent}",
    "redirect": "name the final address in url{where}",
    "too_large": "correct url{where}: a model does not answer so much",
    "garbage": "correct url or api{where}: what answers there speaks another API",
}

_BY_OUTCOME: Final[Mapping[Outcome, str]] = {
    "timed_out": "raise timeout_s{where}, or choose a faster model",
    "refused": "choose another model: this one refuses a harmless question",
    "filtered": "choose another model or provider: it filters a harmless question",
    "truncated": "raise max_tokens{limit}: a model that reasons needs more; one that does not come to an end is no use",
    "unparsable": "choose a larger model: this one does not keep to a form",
    "unknown": "try again; if it stays so, read the server's log",
}

_ONLY_REASONING: Final = (
    "raise max_tokens{limit}, or lower reasoning_effort{where}: all that came was reasoning"
)

_EXTRA: Final = ("reasoning_effort", "seed", "max_tokens", "max_tokens_field", "extra_body", "headers")
"""Settings that put into a request what not every server takes."""


def advice(answer: Answer, name: str = "", settings: ModelSettings | None = None, limit: str = "") -> str:
    """Return what to do about a call that gave no answer, made to find out whether a model can be used.

    Args:
        answer: How the call ended.
        name: The model's name in the configuration; "": it has none.
        settings: Its settings; None: unknown.
        limit: Where max_tokens is set instead of `[models.NAME]`, such as "[minds] critic".
    """
    where = f" in [models.{name}]" if name else ""
    chosen = [one for one in _EXTRA if settings is not None and getattr(settings, one) is not None]
    text = _BY_FAULT.get(answer.fault) or _BY_OUTCOME.get(answer.outcome) or "try again"
    if answer.outcome == "unparsable" and "reasoning" in answer.why:
        text = _ONLY_REASONING
    return text.format(
        where=where,
        limit=f" in {limit}" if limit else where,
        sent=f"; {', '.join(chosen)}{where} may be what it refuses" if chosen else "",
    )
