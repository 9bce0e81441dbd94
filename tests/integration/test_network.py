"""Proxies and certificate authorities that the environment names, for every HTTP client that Moot has."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

from moot.bots.models.client import ModelClient
from moot.bots.models.errors import NoNetwork
from moot.bots.models.request import Request
from moot.bots.notebook.errors import NotebookUnavailable
from moot.bots.notebook.reach import Address
from moot.bots.notebook.transport import Wire, transport
from moot.channels import network
from moot.channels.network import UnusableNetwork, check_network, http_client, is_loopback, proxy_variable
from moot.channels.slack.web import Web
from moot.channels.surface import SurfaceConfigError
from moot.config.models import ModelSettings
from tests.doubles.command_line import moot, write
from tests.doubles.model_server import ModelServer

ASKED = Request(messages=({"role": "user", "content": "Which colour?"},), max_tokens=50)
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
DEAD = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


class Proxy:
    """Counts who connects to it, and lets nobody through."""

    def __enter__(self) -> Proxy:
        self.seen: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with closing(peer):
                self.seen.append(peer.recv(4_096))
                peer.sendall(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")


def client_at(url: str) -> ModelClient:
    settings = ModelSettings(url=url, model="tiny-1")
    return ModelClient(settings, "", rng=Random(1), now_s=lambda: 0.0, tries_again=False)


HERE = ["127.0.0.1", "127.0.0.2", "127.255.255.254", "127.1", "::1", "[::1]", "::ffff:127.0.0.1", "localhost",
        "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost"]  # fmt: skip
ELSEWHERE = ["128.0.0.1", "126.1", "10.0.0.1", "::2", "localhost.example.org", "notlocalhost", "example.org", "",
             None, "1.27.0.0.1", "127.0.0.1.example.org"]  # fmt: skip


@pytest.mark.parametrize("host", HERE)
def test_a_host_of_this_machine_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_another_host_is_not_this_machine(host: str | None) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("variable", [*VARIABLES[:3], *map(str.lower, VARIABLES[:3])])
@pytest.mark.parametrize(
    "proxy", [DEAD, "socks5://127.0.0.1:9", "rubbish://", "http://[::", "not an address"]
)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
async def test_requests_to_this_machine_use_no_proxy(
    variable: str, proxy: str, host: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, proxy)
    if host == "127.0.0.2":
        async with http_client(f"http://{host}:1/") as one:
            assert not one._mounts
        return
    async with client_at(server.url.replace("127.0.0.1", host)) as client:
        assert (await client.call(ASKED, "prompt")).outcome == "answered"


async def test_a_file_of_authorities_does_not_matter_without_encryption(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    async with client_at(server.url) as client:
        assert (await client.call(ASKED, "prompt")).outcome == "answered"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
async def test_requests_to_another_machine_use_the_proxy(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy() as proxy:
        monkeypatch.setenv(variable, proxy.url)
        async with client_at("http://model.invalid/v1") as client:
            answer = await client.call(ASKED, "prompt")
        assert (answer.status, len(proxy.seen)) == (502, 1)
        assert proxy.seen[0].startswith(b"POST http://model.invalid/v1/chat/completions ")
        monkeypatch.setenv("NO_PROXY", "model.invalid")
        async with client_at("http://model.invalid/v1") as client:
            assert (await client.call(ASKED, "prompt")).fault == "no_server"
        assert len(proxy.seen) == 1


async def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", DEAD)
    async with client_at("https://model.invalid/v1") as client:
        answer = await client.call(ASKED, "prompt")
    assert "through the proxy that https_proxy names" in answer.why
    assert proxy_variable("http://model.invalid") == ""
    monkeypatch.setenv("ALL_PROXY", DEAD)
    assert proxy_variable("http://model.invalid") == "ALL_PROXY"


PROXIES = [
    ("rubbish://proxy:1", "of the kind 'rubbish'"),
    ("socks4://proxy:1", "of the kind 'socks4'"),
    ("ftp://proxy:1", "of the kind 'ftp'"),
    ("http://", "no address of a proxy"),
    ("http://:3128", "no address of a proxy"),
    ("http://[::", "no address of a proxy"),
    ("http://proxy:99999", "no address of a proxy"),
    ("http://proxy:port", "no address of a proxy"),
    ("a proxy", "no address of a proxy"),
    ("http://ann:secret-word@:1", "no address of a proxy"),
]


@pytest.mark.parametrize("variable", [*VARIABLES[:3], *map(str.lower, VARIABLES[:3])])
@pytest.mark.parametrize(("value", "said"), PROXIES)
def test_an_address_of_a_proxy_that_cannot_be_used_is_refused_with_its_variable(
    variable: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(NoNetwork) as refused:
        client_at("https://model.invalid/v1")
    line = str(refused.value)
    assert line.startswith(f"{variable} names ") and said in line and "\n" not in line
    assert "secret-word" not in line


@pytest.mark.parametrize("value", ["socks5://proxy:1", "socks5h://ann:secret-word@proxy:1"])
def test_a_socks_proxy_without_its_package_is_refused_with_its_variable(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "find_spec", lambda name: None if name == "socksio" else find_spec(name))
    monkeypatch.setenv("all_proxy", value)
    with pytest.raises(
        UnusableNetwork, match=r"all_proxy names a SOCKS proxy .*pip install socksio"
    ) as refused:
        check_network("https://model.invalid")
    assert "secret-word" not in str(refused.value)


def authorities(place: Path) -> list[tuple[str, str, str]]:
    write(place / "garbage.pem", "nothing of use\n")
    write(place / "empty.pem", "")
    (place / "folder").mkdir()
    return [
        ("SSL_CERT_FILE", str(place / "missing.pem"), "no such file"),
        ("SSL_CERT_FILE", str(place / "garbage.pem"), "holds no certificates"),
        ("SSL_CERT_FILE", str(place / "empty.pem"), "holds no certificates"),
        ("SSL_CERT_FILE", str(place / "folder"), "directory"),
        ("SSL_CERT_FILE", "a\nb", "no such file"),
        ("SSL_CERT_DIR", str(place / "missing"), "no such file"),
        ("SSL_CERT_DIR", str(place / "garbage.pem"), "not a directory"),
        ("SSL_CERT_DIR", str(place / "folder"), "is empty"),
        ("SSL_CERT_DIR", f"{place}:{place / 'missing'}", "no such file"),
    ]


async def test_authorities_that_cannot_be_used_are_refused_with_their_variable_by_every_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value, said in authorities(tmp_path):
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        monkeypatch.setenv(variable, value)
        lines = []
        with pytest.raises(NoNetwork) as model:
            client_at("https://localhost:1/v1")
        lines.append(str(model.value))
        with pytest.raises(NotebookUnavailable) as notebook:
            async with transport(Address("https://notebook.invalid/mcp"), Wire(lambda: None)):
                pass
        lines.append(str(notebook.value))
        with pytest.raises(SurfaceConfigError) as slack:
            Web("https://slack.invalid/api/", "xoxb-1")
        lines.append(str(slack.value))
        for line in lines:
            assert variable in line and said in line and "\n" not in line, line


async def test_a_proxy_that_slack_cannot_use_is_refused_with_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy:1")
    with pytest.raises(SurfaceConfigError, match="HTTPS_PROXY names a SOCKS proxy"):
        Web("https://slack.invalid/api/", "xoxb-1")
    async with Web("http://127.0.0.2:1/api/", "xoxb-1") as web:
        assert web.client.proxy is None
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    monkeypatch.setenv("NO_PROXY", "slack.invalid")
    async with Web("https://slack.invalid/api/", "xoxb-1") as web:
        assert web.client.proxy is None


def test_commands_say_it_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "s.toml", '[models.far]\nurl = "https://model.invalid/v1"\nmodel = "m"\n')
    missing = {"SSL_CERT_FILE": str(tmp_path / "missing.pem")}
    checked = moot("models", "check", "--config", path, **missing)
    assert (
        checked.exit_code == 1 and "✗ network" in checked.stdout and "SSL_CERT_FILE names" in checked.stdout
    )
    said = moot("debate", "Where?", "--model", "far", "--config", path, **missing)
    assert said.exit_code == 2 and "Traceback" not in said.output
    assert said.stderr.splitlines()[-1].startswith("moot debate: models.far: SSL_CERT_FILE names")
    said = moot("debate", "Where?", "--model", "far", "--config", path, ALL_PROXY="rubbish://x")
    assert said.stderr.splitlines()[-1].startswith("moot debate: models.far: ALL_PROXY names a proxy")
