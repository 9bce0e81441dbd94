"""Redaction: refused bytes are kept in audit lines without the secrets that may be in them."""

from __future__ import annotations

import base64
import re
from functools import partial
from typing import Final, NamedTuple

AUDIT_BYTES: Final = 4096
"""How many bytes of a refused message an audit line keeps."""


class Secret(NamedTuple):
    """A kind of secret and how it looks; what the group `keep` matches stays readable."""

    kind: str
    pattern: re.Pattern[str]


# Every quantifier is bounded, possessive or last, or starts only at a token's edge: time stays linear.
SECRETS: Final = (
    Secret(
        "private_key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
    ),
    Secret(
        "webhook",
        re.compile(
            r"(?P<keep>https://(?:(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,3}/)?webhooks"
            r"|hooks\.slack\.com/[a-z]{1,20})/)[A-Za-z0-9_/-]++",
            re.IGNORECASE,
        ),
    ),
    Secret(
        "discord_token",
        re.compile(
            r"(?:mfa\.[A-Za-z0-9_-]{20,}+"
            r"|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{23,30}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}+)"
        ),
    ),
    Secret("slack_token", re.compile(r"(?:xox[a-z](?:\.xox[a-z])?-|xapp-)[A-Za-z0-9-]{8,}+")),
    Secret("aws_key", re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])")),
    Secret("github_token", re.compile(r"(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}+")),
    Secret("google_key", re.compile(r"AIza[A-Za-z0-9_-]{30,}+")),
    Secret(
        "api_key",
        re.compile(r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{16,}+|[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}+)"),
    ),
    Secret(
        "jwt",
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"),
    ),
    Secret(
        "authorization",
        re.compile(
            r"(?P<keep>authorization[\\\"']{0,6}\s{0,5}[:=]\s{0,5}[\\\"']{0,6}(?:[a-z]{1,20}[ \t]{1,5})?)"
            r"(?!\[redacted:)[^\s\\\"',;]++",
            re.IGNORECASE,
        ),
    ),
    Secret(
        "bearer",
        re.compile(r"(?P<keep>(?<![a-z0-9])bearer\s{1,5})[A-Za-z0-9._~+/=-]{16,}+", re.IGNORECASE),
    ),
    Secret("credentials", re.compile(r"(?P<keep>://[^\s/:@\"'\[]{0,64}:)[^\s/@\"'\[]{1,200}(?=@)")),
    Secret(
        "password",
        re.compile(
            r"(?P<keep>(?:pass(?:word|wd|phrase)|(?<![a-z])pwd|secret|token|credential"
            r"|(?:api|access|private|auth)[_-]?key)(?:[_-](?:key|value|id))?(?:[_-]key)?"
            r"(?:\\{0,16}[\"'])?\s{0,5}[:=]\s{0,5})"
            r"(?:(?P<escaped>\\{1,16}[\"'])(?!\[redacted:)(?:(?!(?P=escaped))[\s\S])++"
            r"|(?P<double>\")(?!\[redacted:)(?:[^\"\\]|\\[\s\S])++"
            r"|(?P<single>')(?!\[redacted:)(?:[^'\\]|\\[\s\S])++"
            r"|(?!\\{0,16}[\"']|\[redacted:)[^\s\"'&]++)",
            re.IGNORECASE,
        ),
    ),
)
"""The secrets that are recognised, the specific ones first."""


def redact(text: str) -> str:
    """Replace every secret by `[redacted:<kind>]`.

    Redacting twice changes nothing more. It takes time linear in the text's length.
    """
    for kind, pattern in SECRETS:
        text = pattern.sub(partial(_mark, kind), text)
    return text


def cap(data: bytes, limit: int = AUDIT_BYTES) -> tuple[bytes, bool]:
    """Cut data to a limit; the second value says whether anything was cut."""
    return (data, False) if len(data) <= limit else (data[:limit], True)


def keepsake(data: bytes, limit: int = AUDIT_BYTES) -> tuple[str, bool]:
    """Make what an AUDIT keeps of refused bytes: redacted, then capped, then base64.

    Bytes that are not UTF-8 survive unchanged.
    """
    clean = redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    kept, truncated = cap(clean, limit)
    return base64.b64encode(kept).decode("ascii"), truncated


def _mark(kind: str, match: re.Match[str]) -> str:
    found = match.groupdict()
    quote = found.get("escaped") or found.get("double") or found.get("single") or ""
    return f"{found.get('keep') or ''}{quote}[redacted:{kind}]"
