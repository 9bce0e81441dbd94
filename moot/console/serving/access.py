"""Who may come in: tokens in a file of the data directory, compared in constant time, a cookie after the first use.

`console-token` holds one person a line, `USER TOKEN`. It is made at the first start with the owner, who is an
admin, and a viewer. More lines let more people in; `[admins] console` says who of them is an admin (R-E5). The
file outlives restarts, and with it every session; only a token that we made before tokens had a beginning by which
they are known, and redacted, gives way to a new one at the next start. The file is looked at all the time: deleting a
line, or changing its token, ends that person's sessions at once, open pages and streams among them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from moot.channels.inbound import Authority
from moot.console.errors import CannotServe
from moot.console.model.interface import OWNER, PLATFORM, VIEWER, Person
from moot.protocols.kernel.redact import OWN_TOKEN

NAME: Final = "console-token"
LEAST: Final = 22
"""Characters of a token: 128 bits in base 64, so that nobody guesses one."""

COOKIE_DAYS: Final = 30

_FRESH_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC

_MADE_BEFORE: Final = re.compile(r"[A-Za-z0-9_-]{32}")
"""What `_make` made before it began tokens with `OWN_TOKEN`: nobody can tell one from other text."""

_LINE: Final = re.compile(rf"([A-Za-z0-9._@-]{{1,60}}) ([\x21-\x7e]{{{LEAST},200}})")
_PURPOSE: Final = b"moot console cookie 1"

Fresh = Callable[[int], bytes]
"""Returns so many bytes that nobody can guess."""


class Access:
    """Knows the tokens and tells who somebody is.

    Attributes:
        generation: How often the file has changed.
        remark: What the owner should hear of the file, in one line; "": nothing.
    """

    def __init__(
        self, tokens: dict[str, str], authority: Authority, path: Path | None = None, remark: str = ""
    ) -> None:
        """Take what `load` read.

        Args:
            tokens: Token by user id.
            authority: What a person on a platform is.
            path: The file, which is looked at again; None: there is none.
            remark: What the owner should hear.
        """
        self.remark = remark
        self._tokens = tokens
        self._path = path
        self._stamp = _stamp(path)
        self.generation = 0
        self._authority = authority

    @classmethod
    def load(cls, path: Path, authority: Authority, *, fresh: Fresh | None = None) -> Access:
        """Read the tokens; where the file is not there, make it, readable for its owner only.

        Args:
            path: The file.
            authority: What a person on a platform is.
            fresh: Makes tokens, also in place of those that nobody could redact; None: the file is somebody's own
                and must be there.

        Raises:
            CannotServe: It cannot be read or made, others may read it, or a line in it is none.
        """
        if fresh is not None and not path.exists():
            _make(path, fresh)
        try:
            mode = path.stat().st_mode
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as exc:
            why = getattr(exc, "strerror", None) or exc
            raise CannotServe(f"{path}: {why}: a line of it is USER TOKEN") from exc
        if mode & 0o077:
            raise CannotServe(f"{path}: others may read it: chmod 600 {path}")
        tokens = _parsed(path, text)
        old = [user for user in (OWNER, VIEWER) if _MADE_BEFORE.fullmatch(tokens.get(user, ""))]
        if fresh is None or not old:
            return cls(tokens, authority, path)
        renewed = _renew(path, text, {user: _token(fresh) for user in old})
        if renewed is None:
            return cls(tokens, authority, path)
        why = "for nobody could know the old for what they were and redact them: use the new address"
        return cls(renewed, authority, path, f"{path}: new tokens for {' and '.join(old)}, {why}")

    def refresh(self) -> None:
        """Read the file again if it has changed; `generation` counts how often it has.

        A line that is gone lets nobody in from now on. A file that cannot be read lets nobody in at all, until it can.
        """
        stamp = _stamp(self._path)
        if self._path is None or stamp == self._stamp:
            return
        self._stamp = stamp
        self.generation += 1
        try:
            self._tokens = _parsed(self._path, self._path.read_text(encoding="utf-8"))
        except (CannotServe, OSError, UnicodeError) as exc:
            self._tokens = {}
            structlog.get_logger("moot.console").error("nobody comes in", why=str(exc))

    def holds(self, user_id: str, cookie: str) -> bool:
        """Say whether a person's cookie is still made of their token."""
        token = self._tokens.get(user_id)
        return token is not None and hmac.compare_digest(_cookie(user_id, token), cookie)

    def token_of(self, user_id: str) -> str:
        """Return a person's token, "" when they have none; for printing the address."""
        return self._tokens.get(user_id, "")

    def by_token(self, given: str) -> Person | None:
        """Return whose token this is, taking as long for a wrong one as for a right one."""
        return self._match(given, lambda _user_id, token: token)

    def by_cookie(self, given: str) -> Person | None:
        """Return whose cookie this is; it is made of the token, and the token cannot be made of it."""
        return self._match(given, _cookie)

    def cookie_of(self, person: Person) -> str:
        """Return the cookie that stands for a person's token."""
        return _cookie(person.user_id, self._tokens[person.user_id])

    def _match(self, given: str, wanted: Callable[[str, str], str]) -> Person | None:
        self.refresh()
        found: str | None = None
        told = given.encode("utf-8", "replace")
        for user_id, token in self._tokens.items():
            if hmac.compare_digest(told, wanted(user_id, token).encode()):
                found = user_id
        return None if found is None else Person(found, self._authority(PLATFORM, found))


def _stamp(path: Path | None) -> tuple[int, int, int] | None:
    """Return what changes with a file."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)


def _cookie(user_id: str, token: str) -> str:
    digest = hmac.new(token.encode(), _PURPOSE + user_id.encode(), hashlib.sha256).hexdigest()
    return f"{user_id}:{digest}"


def _token(fresh: Fresh) -> str:
    return f"{OWN_TOKEN}{urlsafe_b64encode(fresh(24)).decode()}"


def _renew(path: Path, text: str, tokens: dict[str, str]) -> dict[str, str] | None:
    """Put new tokens into the file and leave all else there as it is; None where the disk refuses."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        found = _LINE.fullmatch(line.strip())
        if found is not None and found[1] in tokens:
            lines[place] = f"{found[1]} {tokens[found[1]]}"
    renewed = "\n".join(lines) + "\n"
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, _FRESH_FILE, 0o600), "w", encoding="utf-8") as file:
            file.write(renewed)
        beside.replace(path)
    except OSError as exc:
        # The page is worth more: the next start tries again.
        structlog.get_logger("moot.console").warning("tokens not renewed", why=exc.strerror)
        return None
    return _parsed(path, renewed)


def _make(path: Path, fresh: Fresh) -> None:
    """Make the file, whole or not at all: half of one would keep everybody out for good.

    Raises:
        CannotServe: The disk refuses.
    """
    lines = [f"{user} {_token(fresh)}" for user in (OWNER, VIEWER)]
    try:
        descriptor = os.open(path, _FRESH_FILE, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        except OSError:
            path.unlink(missing_ok=True)
            raise
    except OSError as exc:
        raise CannotServe(f"{path}: the tokens cannot be written: {exc.strerror or exc}") from exc


def _parsed(path: Path, text: str) -> dict[str, str]:
    tokens: dict[str, str] = {}
    for n, line in enumerate(text.splitlines(), 1):
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        found = _LINE.fullmatch(said)
        if found is None:
            raise CannotServe(
                f"{path}: line {n} is not USER TOKEN with a token of {LEAST} characters or more"
            )
        if found[1] in tokens or found[2] in tokens.values():
            raise CannotServe(f"{path}: line {n}: a user or a token stands there twice")
        tokens[found[1]] = found[2]
    if not tokens:
        raise CannotServe(f"{path}: there is no USER TOKEN in it")
    return tokens
