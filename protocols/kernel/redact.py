"""Redaction: what looks like a secret is replaced before it is logged, kept or shown."""

from __future__ import annotations

import base64
import re
from functools import partial
from typing import Final, NamedTuple

from moot.protocols.kernel.scanning import scanner

AUDIT_BYTES: Final = 4096
"""How many bytes of a refused message an audit line keeps."""


class Secret(NamedTuple):
    """A kind of secret and how it looks.

    Attributes:
        kind: Its name.
        hint: A pattern for `scanner` that is found in every text with such a secret, also where the text is written
            as JSON.
        pattern: The secret exactly; what the group `keep` matches stays readable.
    """

    kind: str
    hint: str
    pattern: re.Pattern[str]


def _mark(kind: str, match: re.Match[str]) -> str:
    found = match.groupdict()
    quote = found.get("escaped") or found.get("double") or found.get("single") or ""
    return f"{found.get('keep') or ''}{quote}[redacted:{kind}]"


PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
"""A private key in its armour; one that was cut off goes on to the end of the text."""

_NAMED: Final = re.IGNORECASE | re.ASCII
_NAME: Final = (
    r"(?:pass(?:word|wd|phrase)|(?<![a-z])pwd|secret|token|credential"
    r"|(?:api|access|private|auth)[_-]?key)(?:[_-](?:key|value|id))?(?:[_-]key)?"
)
_GAP: Final = r"[ \t]{0,5}"
_BLANK: Final = r"(?:[ \t]|\\t)"
_TELLING_KEY: Final = re.compile(rf"(?:{_NAME}|credentials|authorization)\Z", _NAMED)

OWN_TOKEN: Final = "mtk_"
"""The console's tokens begin so: one that somebody says is known for what it is, and nobody need know which exist."""

# Every quantifier is bounded, possessive or last, or starts only at a token's edge: time stays linear.
# Only a private key spans lines: what is redacted elsewhere leaves line breaks as they are.
SECRETS: Final = (
    Secret("private_key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY", PRIVATE_KEY),
    Secret(
        "webhook",
        r"(?i:discord(?:app)?\.com/api/|hooks\.slack\.com/)",
        re.compile(
            r"(?P<keep>https://(?:(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,3}/)?webhooks"
            r"|hooks\.slack\.com/[a-z]{1,20})/)[A-Za-z0-9_/-]++",
            _NAMED,
        ),
    ),
    Secret(
        "discord_token",
        r"mfa\.[A-Za-z0-9_-]{20}|[A-Za-z0-9_-]{23}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27}",
        re.compile(
            r"(?:mfa\.[A-Za-z0-9_-]{20,}+"
            r"|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{23,30}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}+)"
        ),
    ),
    Secret(
        "slack_token",
        r"xox[a-z](?:\.xox[a-z])?-|xapp-",
        re.compile(r"(?:xox[a-z](?:\.xox[a-z])?-|xapp-)[A-Za-z0-9-]{8,}+"),
    ),
    Secret(
        "aws_key",
        r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}",
        re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ),
    Secret(
        "github_token",
        r"gh[pousr]_[A-Za-z0-9_]{20}|github_pat_",
        re.compile(r"(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}+"),
    ),
    Secret(
        "console_token", rf"{OWN_TOKEN}[A-Za-z0-9_-]{{24}}", re.compile(rf"{OWN_TOKEN}[A-Za-z0-9_-]{{24,}}+")
    ),
    Secret("google_key", r"AIza[A-Za-z0-9_-]{30}", re.compile(r"AIza[A-Za-z0-9_-]{30,}+")),
    Secret(
        "api_key",
        r"sk-[A-Za-z0-9_-]{16}|[rsp]k_(?:live|test)_",
        re.compile(r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{16,}+|[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}+)"),
    ),
    Secret(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8}",
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"),
    ),
    Secret(
        "authorization",
        rf"(?i:authorization)(?:[\\\"']|{_BLANK})*[:=]",
        re.compile(
            rf"(?P<keep>authorization[\\\"']{{0,6}}{_GAP}[:=]{_GAP}[\\\"']{{0,6}}"
            r"(?!(?:[a-z]{1,20}[ \t]{1,5})?\[redacted:)(?:[a-z]{1,20}[ \t]{1,5})?)(?!\[redacted:)[^\s\\\"',;]++",
            _NAMED,
        ),
    ),
    Secret(
        "bearer",
        r"(?i:bearer)[\s\\]",
        re.compile(r"(?P<keep>(?<![a-z0-9])bearer\s{1,5})[A-Za-z0-9._~+/=-]{16,}+", _NAMED),
    ),
    Secret(
        "credentials",
        r"://(?u:[^\s/:@]*:[^\s/@]+@)",
        re.compile(r"(?P<keep>://[^\s/:@\"'\[]{0,64}:)[^\s/@\"'\[]{1,200}(?=@)"),
    ),
    Secret(
        "password",
        rf"(?i:{_NAME})\\*[\"']?{_BLANK}*[:=]",
        re.compile(
            rf"(?P<keep>{_NAME}(?:\\{{0,16}}[\"'])?{_GAP}[:=]{_GAP}"
            # Below its name stands a value that is alone in its line; more words are prose.
            rf"(?:(?:\r\n|\r|\n){_GAP}(?=[^\s:]++[ \t]{{0,5}}(?:[\r\n]|\Z)))?)"
            r"(?:(?P<escaped>\\{1,16}[\"'])(?!\[redacted:)(?:(?!(?P=escaped))[^\r\n])++"
            r"|(?P<double>\")(?!\[redacted:)(?:[^\"\\\r\n]|\\[^\r\n])++"
            r"|(?P<single>')(?!\[redacted:)(?:[^'\\\r\n]|\\[^\r\n])++"
            # That it is required is no password.
            r"|(?!\\{0,16}[\"']|\[redacted:|(?:required|optional|mandatory)(?![^\s,.;)]))[^\s\"'&]++)",
            _NAMED,
        ),
    ),
    # A sentence gives it away: "the password is hunter2".
    Secret(
        "told",
        rf"(?i:pass(?:word|wd|phrase)|api[ _-]?key){_BLANK}+(?i:is|was){_BLANK}",
        re.compile(
            r"(?P<keep>(?:pass(?:word|wd|phrase)|api[ _-]?key)[ \t]{1,3}(?:is|was)[ \t]{1,3}[\"'`]?)"
            r"(?=[^\s0-9]{0,64}[0-9])(?=[^\sa-z]{0,64}[a-z])(?!\[redacted:)[^\s\"'`\\,;]{6,}+",
            _NAMED,
        ),
    ),
)
"""The secrets that are recognised, the specific ones first."""

_hinted: Final = scanner(secret.hint for secret in SECRETS)
_finders: Final = tuple(
    (scanner([secret.hint]), partial(_mark, secret.kind), secret.pattern) for secret in SECRETS
)
_is_unicode: Final = scanner([""])


def may_hold_secret(text: str) -> bool:
    """Say whether a text, or a text that is written in it as JSON, may hold a secret: false is certain."""
    return _hinted(text) or not (text.isascii() or _is_unicode(text))


def redact(text: str) -> str:
    """Replace every secret by `[redacted:<kind>]`.

    Redacting twice changes nothing more. It takes time linear in the text's length.
    """
    if not may_hold_secret(text):
        return text
    is_plain = text.isascii() or _is_unicode(text)
    for is_hinted, mark, pattern in _finders:
        if not is_plain or is_hinted(text):
            text = pattern.sub(mark, text)
    return text


def redact_under(key: str, text: str) -> str:
    """Redact the value of a key: wholly, when the key says that it is a secret."""
    if text and _TELLING_KEY.search(key) and not text.startswith("[redacted:"):
        return "[redacted:password]"
    return redact(text)


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
