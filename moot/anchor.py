"""Anchors kept outside a log: which message had which hash, written down, signed, and read back (K15).

A line of an anchor file is the JSON that `moot anchor` prints, an ANCHOR message as `moot log --json` prints it, or any
text in which a platform shows one: "message 342, hash 20b8…".
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.errors import MootError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FORM: Final = "moot-anchor/1"
"""What a signature begins with, so that none made for something else passes for an anchor's."""

SHOWN: Final = re.compile(r"\bmessage\s+([1-9][0-9]{0,14}),?\s+hash\s+`?([0-9a-f]{64})\b")
DIGEST: Final = re.compile(r"[0-9a-f]{64}")
MOST_BYTES: Final = 16 * 2**20


class AnchorError(MootError):
    """Say in one line what is wrong with an anchor, a file of them, or a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A message and its hash, as somebody wrote them down.

    Attributes:
        seq: Which message.
        hash: Its hash, in hex: that of all before it too.
        society: The society's identity; "" when it was not written down.
        sent_at: The message's instant, RFC 3339; "" when it was not written down.
        signature: An ed25519 signature in base64, "" for none.
    """

    seq: int
    hash: str
    society: str = ""
    sent_at: str = ""
    signature: str = ""

    @property
    def signed(self) -> bytes:
        """Return what a signature is made of."""
        return "\n".join((FORM, self.society, str(self.seq), self.hash, self.sent_at, "")).encode()

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data; without `signature` when it has none."""
        return {"anchor": FORM} | {name: value for name, value in asdict(self).items() if value != ""}


def sign(anchor: Anchor, key_file: Path) -> Anchor:
    """Sign an anchor with an ed25519 key, in PEM or as ssh-keygen writes it.

    Raises:
        AnchorError: The file holds no such key, or one with a passphrase.
    """
    signature = _private(key_file).sign(anchor.signed)
    return Anchor(**{**asdict(anchor), "signature": base64.b64encode(signature).decode()})


def check_signature(anchor: Anchor, key: Ed25519PublicKey) -> None:
    """Hold an anchor against a public key.

    Raises:
        AnchorError: It is not signed with it.
    """
    from cryptography.exceptions import InvalidSignature

    if not anchor.signature:
        raise AnchorError(f"the anchor of message {anchor.seq} is not signed")
    try:
        key.verify(base64.b64decode(anchor.signature, validate=True), anchor.signed)
    except (InvalidSignature, binascii.Error, ValueError):
        raise AnchorError(f"the signature of the anchor of message {anchor.seq} is not of this key") from None


def read_anchors(path: Path) -> tuple[Anchor, ...]:
    """Read a file of anchors.

    Raises:
        AnchorError: It cannot be read, a line is no anchor though it looks like one, or there is none in it.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as exc:
        why = (getattr(exc, "strerror", "") or str(exc)).lower()
        raise AnchorError(f"{path}: cannot be read: {why}") from None
    if len(raw) > MOST_BYTES:
        raise AnchorError(f"{path}: is larger than {MOST_BYTES // 2**20} MiB: no file of anchors")
    anchors = tuple(_read(raw.decode(errors="replace").splitlines(), path))
    if not anchors:
        raise AnchorError(f"{path}: holds no anchor: moot anchor makes them")
    return anchors


def _read(lines: Iterable[str], path: Path) -> Iterable[Anchor]:
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("{"):
            yield from (Anchor(seq=int(seq), hash=digest) for seq, digest in SHOWN.findall(line))
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            raise AnchorError(
                f"{path}: line {number} is no JSON: moot anchor writes one line an anchor"
            ) from None
        body = given.get("body")
        if isinstance(body, Mapping):
            if body.get("type") == "ANCHOR":
                yield _made(body, f"{path}: line {number}")
        else:
            yield _made(given, f"{path}: line {number}")


def _made(given: Mapping[str, Any], where: str) -> Anchor:
    seq, digest = given.get("seq"), given.get("hash")
    texts = {name: given.get(name, "") for name in ("society", "sent_at", "signature")}
    is_seq = isinstance(seq, int) and not isinstance(seq, bool) and 0 < seq < 10**15
    if not is_seq or not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise AnchorError(f"{where} is no anchor: it has no seq, or no hash of 64 hexadecimal digits")
    if not all(isinstance(text, str) and len(text) < 1000 for text in texts.values()):
        raise AnchorError(f"{where} is no anchor: society, sent_at and signature are texts")
    return Anchor(seq=int(seq or 0), hash=digest, **texts)


def public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key: PEM, or a line `ssh-ed25519 …`.

    Raises:
        AnchorError: There is none in the file.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    raw = _bytes(path)
    load: Any = load_ssh_public_key if raw.startswith(b"ssh-") else load_pem_public_key
    try:
        key = load(raw)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise AnchorError(
            f"{path}: holds no public ed25519 key: give PEM, or a line that begins with ssh-ed25519"
        )
    return key


def _private(path: Path) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    raw = _bytes(path)
    load: Any = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in raw else load_pem_private_key
    try:
        key = load(raw, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise AnchorError(
            f"{path}: holds no ed25519 key without a passphrase: make one with ssh-keygen -t ed25519 -N '' -f FILE"
        )
    return key


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(2**16)
    except (OSError, ValueError) as exc:
        why = (getattr(exc, "strerror", "") or str(exc)).lower()
        raise AnchorError(f"{path}: cannot be read: {why}") from None
