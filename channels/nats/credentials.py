"""A credentials file of NATS: a user's token, signed by its account, and the seed of the user's key."""

from __future__ import annotations

import base64
import re
from binascii import crc_hqx
from pathlib import Path
from typing import Final, NamedTuple, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from moot.protocols.kernel.errors import BadInput

_BLOCK: Final = re.compile(r"-+BEGIN ([A-Z ]+)-+\s*(\S+)\s*-+END")
_TOKEN: Final = "NATS USER JWT"
_SEED: Final = "USER NKEY SEED"
_SEED_BYTES: Final = 36
"""A decoded seed: two bytes that say what it is of, 32 of the key, two of its checksum."""


class Credentials(NamedTuple):
    """Who calls, and how that is shown.

    Attributes:
        token: The user's token (a JWT), which the server reads.
        key: What signs the server's challenge; never sent.
    """

    token: bytes
    key: Ed25519PrivateKey

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file as `nsc generate creds` writes it.

        Raises:
            BadInput: It cannot be read, or is none; the text shows nothing of it.
        """
        try:
            blocks = dict(_BLOCK.findall(path.read_text("ascii")))
            return cls(blocks[_TOKEN].encode(), _key(blocks[_SEED]))
        except OSError as exc:
            raise BadInput(f"{path}: {exc.strerror}") from exc
        except (ValueError, KeyError):
            raise BadInput(
                f"{path} is no credentials file of NATS: it holds a user's JWT and the seed of the user's key"
            ) from None

    def sign(self, nonce: str) -> bytes:
        """Return the signature of a challenge, as base64."""
        return base64.b64encode(self.key.sign(nonce.encode()))


def _key(seed: str) -> Ed25519PrivateKey:
    raw = base64.b32decode(seed + "=" * (-len(seed) % 8))
    if len(raw) != _SEED_BYTES or _checksum(raw[:-2]) != int.from_bytes(raw[-2:], "little"):
        raise ValueError("no seed")
    return Ed25519PrivateKey.from_private_bytes(raw[2:-2])


def _checksum(data: bytes) -> int:
    """Return the CRC-16/XMODEM that NATS puts behind a key."""
    return crc_hqx(data, 0)
