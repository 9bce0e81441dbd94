"""What to do where a model cannot be called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.bots.models.answer import Answer, Fault, Outcome

_BY_FAULT: Final[Mapping[Fault, str]] = {
    "no_server": "start the server, or correct url",
    "tls": "correct url: http for a server without TLS, a name that its certificate holds; SSL_CERT_FILE names"
    " authorities of your own",
    "key": "name the variable or file of a valid key in key_env or key_file, or with --key-env",
    "no_model": "correct model, and url, which usually ends in /v1, or api",
    "credit": "add credit at the provider",
    "rate": "wait, or lower at_once",
    "server": "try again later, or read the server's log",
    "request": "read the server's documentation: it does not take what it was sent",
    "redirect": "name the final address in url",
    "too_large": "correct url: a model does not answer so much",
    "garbage": "correct url or api: what answers there speaks another API",
}

_BY_OUTCOME: Final[Mapping[Outcome, str]] = {
    "timed_out": "raise timeout_s, or choose a faster model",
    "refused": "choose another model: this one refuses a harmless question",
    "filtered": "choose another model or provider: it filters a harmless question",
    "truncated": "choose another model: this one does not come to an end",
    "unparsable": "choose a larger model: this one does not keep to a form",
    "unknown": "try again; if it stays so, read the server's log",
}


def advice(answer: Answer) -> str:
    """Say what to do about a call that gave no answer, made to find out whether a model can be used."""
    return _BY_FAULT.get(answer.fault) or _BY_OUTCOME.get(answer.outcome) or "try again"
