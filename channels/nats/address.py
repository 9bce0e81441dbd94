"""Where a society on NATS is: the servers, who calls, the society's name, and what is called after it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, Self
from urllib.parse import SplitResult, quote, unquote, urlsplit

from moot.protocols.kernel.errors import BadInput

SCHEMES: Final = ("nats", "tls")
PORT: Final = 4222
CREDENTIALS: Final = "MOOT_NATS_CREDENTIALS"
"""Environment: a credentials file, as the tools of NATS write one."""
CA: Final = "MOOT_NATS_CA"
"""Environment: the certificates, as PEM, by which servers are trusted; else those of the system."""
CERTIFICATE: Final = "MOOT_NATS_CERTIFICATE"
"""Environment: this host's own certificate and key, as PEM in one file, where a server asks for it."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_EXAMPLE: Final = "nats://HOST:4222/NAME"


class NatsAddress(NamedTuple):
    """A society on the servers of NATS. As text it is the address without any secret.

    Attributes:
        servers: `nats://host:port` or `tls://host:port`, at least one; those of a cluster.
        society: The society's name: up to 64 letters, digits, `-` and `_`.
        user: Who calls; "" for nobody in particular.
        password: The password of `user`, or a token when there is no user.
        credentials: A credentials file, which goes before user and password.
        ca: The certificates that are trusted; None: those of the system.
        certificate: This host's own certificate and key.
    """

    servers: tuple[str, ...]
    society: str
    user: str = ""
    password: str = ""
    credentials: Path | None = None
    ca: Path | None = None
    certificate: Path | None = None

    @classmethod
    def parse(cls, text: str, *, society: str = "", environ: Mapping[str, str] | None = None) -> Self:
        """Read `nats://[user:password@]host[:port][,host[:port]...][/NAME]`; `tls://` insists on TLS.

        Args:
            text: The address.
            society: The name, where the address has none.
            environ: Names the files of `CREDENTIALS`, `CA` and `CERTIFICATE`.

        Raises:
            BadInput: It is none, or names no society, or two; or a file that it needs is not there.
        """
        environ = environ or {}
        url = _split(text)
        name = url.path.strip("/")
        if name and society and name != society:
            raise BadInput(f"the address names the society {name}, and --society {society}: leave one out")
        name = name or society
        if not name:
            raise BadInput(f"{_shown(url)} names no society: write {_EXAMPLE}, or add --society NAME")
        if not _NAME.fullmatch(name):
            raise BadInput(
                f"{name!r} is no society's name on NATS: up to 64 letters, digits, - and _, a letter or digit first"
            )
        who, _, hosts = url.netloc.rpartition("@")
        user, colon, password = who.partition(":")
        if who and not colon:
            user, password = "", user
        return cls(
            tuple(_server(url, host) for host in hosts.split(",")),
            name,
            unquote(user),
            unquote(password),
            *(_file(environ, variable) for variable in (CREDENTIALS, CA, CERTIFICATE)),
        )

    @property
    def is_tls(self) -> bool:
        """Say whether nothing may be sent before the line is encrypted."""
        return self.servers[0].startswith("tls:")

    @property
    def stream(self) -> str:
        """Return the name of the stream that is the log."""
        return f"MOOT_LOG_{self.society}"

    @property
    def subject(self) -> str:
        """Return the subject of the log's messages."""
        return f"moot.{self.society}.log"

    @property
    def inbox_stream(self) -> str:
        """Return the name of the stream of guests' drafts."""
        return f"MOOT_INBOX_{self.society}"

    @property
    def inbox_subject(self) -> str:
        """Return the subject of guests' drafts."""
        return f"moot.{self.society}.inbox"

    @property
    def outbox_stream(self) -> str:
        """Return the name of the stream of what was posted on chat platforms."""
        return f"MOOT_OUTBOX_{self.society}"

    def outbox_subject(self, surface: str) -> str:
        """Return the subject of what was posted on one of them; `*` for all."""
        return f"moot.{self.society}.outbox.{surface}"

    def bucket(self, what: str) -> str:
        """Return the name of one of the society's buckets, such as `lease`."""
        return f"moot_{what}_{self.society}"

    @property
    def secret(self) -> str:
        """Return the whole address with user and password, as `parse` reads it; for no eyes."""
        who = ":".join(quote(one, safe="") for one in (self.user, self.password) if one)
        scheme, _, hosts = self.where.partition("://")
        return f"{scheme}://{f'{who}@' if who else ''}{hosts}/{self.society}"

    def __str__(self) -> str:
        """Return the address without user and password."""
        return f"{self.where}/{self.society}"

    def __repr__(self) -> str:
        """Return the same, for logs and tracebacks."""
        return f"NatsAddress({str(self)!r})"

    @property
    def where(self) -> str:
        """Return the servers in one address, without user and password."""
        scheme, _, first = self.servers[0].partition("://")
        return ",".join([f"{scheme}://{first}", *(server.partition("://")[2] for server in self.servers[1:])])


def is_nats(text: str) -> bool:
    """Say whether a text is meant as such an address, and not as a directory."""
    return text.partition("://")[0] in SCHEMES and "://" in text


def _split(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
    except ValueError:
        url = SplitResult("", "", "", "", "")
    if url.scheme not in SCHEMES or not url.netloc.rpartition("@")[2]:
        raise BadInput(
            f"{_blurred(text)} is no address of NATS: write {_EXAMPLE}, or tls:// for an encrypted one"
        )
    if url.query or url.fragment or "/" in url.path.strip("/"):
        raise BadInput(f"{_shown(url)} has more than servers and a society: write {_EXAMPLE}")
    return url


def _server(url: SplitResult, host: str) -> str:
    try:
        one = urlsplit(f"{url.scheme}://{host}")
        name, port = one.hostname, one.port or PORT
    except ValueError:
        name, port = None, PORT
    if not name:
        raise BadInput(f"{host!r} is no host of NATS: write HOST or HOST:PORT, with a port up to 65535")
    return f"{url.scheme}://{f'[{name}]' if ':' in name else name}:{port}"


def _file(environ: Mapping[str, str], variable: str) -> Path | None:
    named = environ.get(variable)
    if not named:
        return None
    path = Path(named)
    if not path.is_file():
        raise BadInput(f"{variable} names {named}, which is no file")
    return path


def _shown(url: SplitResult) -> str:
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"


def _blurred(text: str) -> str:
    before, at, after = text.rpartition("@")
    return f"{before.partition('://')[0]}://…@{after}" if at else text
