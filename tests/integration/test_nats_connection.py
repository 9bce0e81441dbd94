"""Connecting to real servers of NATS: what goes wrong is said in a line that tells what to do."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from moot.channels.errors import NatsUnavailable
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection
from moot.protocols.kernel.errors import BadInput, MootError
from tests.doubles.nats import NatsServer, running

USERS = 'authorization { users: [{ user: ann, password: "secret" }] }'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(tmp_path_factory.mktemp("nats"), USERS) as found:
        yield found


def trouble(address: NatsAddress) -> str:
    async def connect() -> None:
        async with await NatsConnection.open(address):
            pass

    with pytest.raises(MootError) as caught:
        asyncio.run(connect())
    said = str(caught.value)
    assert "\n" not in said and "secret" not in said and "Error" not in said
    return said


def test_a_connection_reaches_jetstream_and_closes_twice(server: NatsServer) -> None:
    async def run() -> None:
        connection = await NatsConnection.open(server.address(who="ann:secret@"))
        with connection.errors():
            assert (await connection.js.account_info()).streams == 0
        await connection.close()
        await connection.close()

    asyncio.run(run())


def test_wrong_and_missing_credentials(server: NatsServer) -> None:
    where = f"nats://127.0.0.1:{server.port}"
    assert trouble(server.address(who="ann:secrets@")) == (
        f"{where} does not let the user ann in: check the address, and the server's users"
    )
    assert trouble(server.address()).startswith(f"{where} does not let us in")


def test_nobody_at_the_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: whoever calls is refused
        port = taken.getsockname()[1]
        said = trouble(NatsAddress.parse(f"nats://127.0.0.1:{port}/desk"))
    assert said.startswith(f"no server of NATS answers at nats://127.0.0.1:{port}")


def test_the_server_of_a_cluster_that_is_there_is_found(server: NatsServer) -> None:
    async def run(address: NatsAddress) -> None:
        async with await NatsConnection.open(address) as connection:
            assert connection.client.is_connected

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        dead = taken.getsockname()[1]
        asyncio.run(
            run(NatsAddress.parse(f"nats://ann:secret@127.0.0.1:{dead},127.0.0.1:{server.port}/desk"))
        )


def test_a_server_without_jetstream(tmp_path: Path) -> None:
    with running(tmp_path, jetstream=None) as plain:
        assert trouble(plain.address()).endswith("has no JetStream for us: start nats-server with -js")


def test_tls_is_insisted_on_before_a_password_is_sent(server: NatsServer) -> None:
    said = trouble(NatsAddress.parse(f"tls://ann:secret@127.0.0.1:{server.port}/desk"))
    assert "does not encrypt: write nats://, or give it a certificate" in said


def test_an_encrypted_server_is_trusted_by_its_certificate(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-days", "2"),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
        ],
        check=True,
        capture_output=True,
    )
    tls = f'tls {{ cert_file: "{certificate}", key_file: "{key}" }}'

    async def run(address: NatsAddress) -> None:
        async with await NatsConnection.open(address) as connection:
            assert connection.client.is_connected

    with running(tmp_path / "nats", tls) as server:
        text = f"tls://127.0.0.1:{server.port}/desk"
        assert "is not trusted" in trouble(NatsAddress.parse(text))
        asyncio.run(run(NatsAddress.parse(text, environ={"MOOT_NATS_CA": str(certificate)})))
        assert "holds no certificate" in trouble(NatsAddress.parse(text, environ={"MOOT_NATS_CA": str(key)}))


def _named(kind: int, raw: bytes, *, seed: bool = False) -> str:
    """Return a key as NATS writes it, of operator, account or user."""
    from binascii import crc_hqx

    first = bytes([(18 << 3) | (kind >> 5), (kind & 31) << 3]) if seed else bytes([kind])
    data = first + raw
    return base64.b32encode(data + crc_hqx(data, 0).to_bytes(2, "little")).decode().rstrip("=")


OPERATOR, ACCOUNT, USER = 14 << 3, 0, 20 << 3


class _Key:
    def __init__(self, kind: int) -> None:
        self.key = Ed25519PrivateKey.generate()
        self.seed = _named(kind, self.key.private_bytes_raw(), seed=True)
        self.name = _named(kind, self.key.public_key().public_bytes_raw())

    def says(self, subject: str, claims: dict[str, object], kind: str) -> str:
        parts = (
            {"typ": "JWT", "alg": "ed25519-nkey"},
            {
                "jti": "x",
                "iat": 1,
                "iss": self.name,
                "sub": subject,
                "name": kind,
                "nats": {**claims, "type": kind, "version": 2},
            },
        )
        text = ".".join(
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
        )
        return f"{text}.{base64.urlsafe_b64encode(self.key.sign(text.encode())).decode().rstrip('=')}"


def test_a_credentials_file_lets_a_user_of_an_account_in(tmp_path: Path) -> None:
    operator, account, user = (_Key(kind) for kind in (OPERATOR, ACCOUNT, USER))
    system = _Key(ACCOUNT)
    plain = dict.fromkeys(("subs", "conn", "data", "payload", "imports", "exports", "leaf"), -1)
    limits = plain | dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
    config = "\n".join(
        [
            f"operator: {operator.says(operator.name, {}, 'operator')}",
            "resolver: MEMORY",
            f"system_account: {system.name}",
            f"resolver_preload: {{ {account.name}: {operator.says(account.name, {'limits': limits}, 'account')}",
            f"{system.name}: {operator.says(system.name, {'limits': plain}, 'account')} }}",
        ]
    )
    token = account.says(user.name, {"subs": -1, "data": -1, "payload": -1}, "user")
    file = tmp_path / "desk.creds"
    file.write_text(
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
    )

    async def run(address: NatsAddress) -> None:
        async with await NatsConnection.open(address) as connection:
            assert connection.client.is_connected

    with running(tmp_path / "nats", config) as server:
        text = f"nats://127.0.0.1:{server.port}/desk"
        asyncio.run(run(NatsAddress.parse(text, environ={"MOOT_NATS_CREDENTIALS": str(file)})))
        assert "does not let us in" in trouble(NatsAddress.parse(text))
        file.write_text(file.read_text().replace(user.seed, _Key(USER).seed))
        said = trouble(NatsAddress.parse(text, environ={"MOOT_NATS_CREDENTIALS": str(file)}))
        assert said.endswith("check MOOT_NATS_CREDENTIALS, and the server's users")
        file.write_text(file.read_text().replace("S", "T"))
        assert "is no credentials file of NATS" in trouble(
            NatsAddress.parse(text, environ={"MOOT_NATS_CREDENTIALS": str(file)})
        )


def test_a_server_that_was_started_again_is_found_again(tmp_path: Path) -> None:
    with running(tmp_path) as server:

        async def run() -> None:
            async with await NatsConnection.open(server.address()) as connection:
                server.kill()
                with pytest.raises(NatsUnavailable), connection.errors():
                    await asyncio.wait_for(connection.js.account_info(), 1)
                server.start()
                async with asyncio.timeout(60):
                    while True:
                        try:
                            with connection.errors():
                                await connection.js.account_info()
                        except NatsUnavailable:
                            await asyncio.sleep(0.05)
                        else:
                            return

        asyncio.run(run())


def test_a_file_that_is_no_credentials_file_is_bad_input(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"\xff\xfe")
    address = NatsAddress.parse("nats://127.0.0.1:1/desk", environ={"MOOT_NATS_CREDENTIALS": str(file)})
    with pytest.raises(BadInput, match="is no credentials file of NATS"):
        asyncio.run(NatsConnection.open(address))
