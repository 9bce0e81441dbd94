"""One connection to the servers of a society, and their errors in plain words."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from moot.channels.errors import NatsUnavailable
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.complaints import not_permitted, renamed, unreached, without_jetstream
from moot.channels.nats.credentials import Credentials
from moot.protocols.kernel.errors import BadInput, MootError

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js import JetStreamContext

T = TypeVar("T")

CONNECT_S: Final = 5
"""How long a server may take to answer at first."""
ANSWER_S: Final = 10.0
"""How long a server may take to answer a request."""
PING_S: Final = 2.0
"""How often a silent server is asked whether it is there; two answers missed, and another one is tried."""
AGAIN_S: Final = 0.2
"""The pause before a server is tried again."""
LEAST_VERSION: Final = (2, 9)


class NatsConnection:
    """A connection that is kept: a server that goes away is tried again, and the others of its cluster, for ever.

    Args:
        address: Where it leads.
        client: The library's client, connected.
        hold: Keeps virtual time still while a server is waited for (K2).

    Attributes:
        address: Where it leads.
        client: The library's client.
        js: The library's JetStream over it.
        hold: Keeps virtual time still while a server is waited for.
    """

    def __init__(
        self, address: NatsAddress, client: Client, *, hold: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self.address = address
        self.client = client
        self.js: JetStreamContext = client.jetstream(timeout=ANSWER_S)
        self.hold = hold
        self._back: list[Callable[[], object]] = []
        self._refused = ""

    @classmethod
    async def open(
        cls,
        address: NatsAddress,
        *,
        name: str = "moot",
        ping_s: float | None = PING_S,
        hold: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> Self:
        """Connect to the first server that answers; it must have JetStream.

        Args:
            address: Where to.
            name: What the server's own lists call this connection.
            ping_s: Seconds between two looks whether a silent server is there, of the loop's clock; None: nobody looks,
                as under virtual time, which may jump over any number of them.
            hold: Keeps virtual time still while a server is waited for (K2).

        Raises:
            BadInput: A file that the address names is not what it should be.
            NatsUnavailable: No server answers, or it refuses, or it has no JetStream.
        """
        client = _library()()
        who = _who(address, client)
        heard = _Heard()
        with hold():
            try:
                await client.connect(
                    list(address.servers),
                    name=name,
                    reconnected_cb=heard.back,
                    error_cb=heard.note,
                    connect_timeout=CONNECT_S,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=AGAIN_S,  # type: ignore[arg-type]  # waits any time
                    ping_interval=ping_s or PING_S,  # type: ignore[arg-type]
                    **who,
                )
            except MootError:
                await _drop(client)
                raise
            except Exception as exc:
                await _drop(client)
                raise unreached(address, heard.last or exc) from exc
            heard.is_connecting = False
            if ping_s is None and client._ping_interval_task is not None:
                client._ping_interval_task.cancel()
            # From now on a server that is away is waited for.
            client.options["max_reconnect_attempts"] = -1
            connection = cls(address, client, hold=hold)
            heard.connection = connection
            try:
                await connection._check()
            except BaseException:
                await client.close()
                raise
        return connection

    @contextmanager
    def when_back(self, tell: Callable[[], object]) -> Iterator[None]:
        """Have somebody told inside whenever a server is there again after none was."""
        self._back.append(tell)
        try:
            yield
        finally:
            self._back.remove(tell)

    async def ask(self, question: Coroutine[Any, Any, T]) -> T:
        """Await a server's answer, which does not come when the server goes away meanwhile.

        Raises:
            NatsUnavailable: It did, or no server answers.
            MootError: What the server says instead.
        """
        with self.errors():
            asking = asyncio.ensure_future(question)
            with self.when_back(asking.cancel):
                try:
                    await asyncio.wait([asking])
                finally:
                    asking.cancel()
            if asking.cancelled():
                raise NatsUnavailable(f"{self.address.where} went away and is back")
            return asking.result()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Rename what the library raises, and keep virtual time still meanwhile."""
        import nats.errors

        try:
            with self.hold():
                yield
        except nats.errors.Error as exc:
            raise self.error(exc) from exc
        except (OSError, TimeoutError) as exc:
            if self._refused:
                raise self.error(exc) from exc
            raise NatsUnavailable(f"{self.address.where} does not answer") from exc

    def error(self, exc: Exception) -> MootError:
        """Return the error of this package for one of the library."""
        refused, self._refused = self._refused, ""
        return renamed(exc, self.address, self.client.max_payload, refused=refused)

    async def _check(self) -> None:
        version = self.client.connected_server_version
        if (version.major, version.minor) < LEAST_VERSION:
            least = ".".join(map(str, LEAST_VERSION))
            raise NatsUnavailable(
                f"{self.address.where} is nats-server {version.major}.{version.minor}: Moot needs {least} or newer"
            )
        import nats.js.errors

        try:
            await self.js.account_info()
        except nats.js.errors.ServiceUnavailableError as exc:
            raise (self.error(exc) if exc.err_code else without_jetstream(self.address)) from exc
        except nats.errors.Error as exc:
            raise self.error(exc) from exc

    async def close(self) -> None:
        """Hang up; safe to call twice."""
        with self.hold(), suppress(OSError):
            # A server that is gone hears nothing of it.
            await self.client.close()

    async def __aenter__(self) -> Self:
        """Return the connection."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()


class _Heard:
    """What the library has to say beside, of which the last is why it failed.

    A server that is not there makes it try the next one, one that does not let us in ends the attempt.
    """

    def __init__(self) -> None:
        self.last: Exception | None = None
        self.is_connecting = True
        self.connection: NatsConnection | None = None

    async def back(self) -> None:
        if self.connection is not None:
            for tell in [*self.connection._back]:
                tell()

    async def note(self, exc: Exception) -> None:
        self.last = exc
        if self.connection is not None and (found := not_permitted(exc)):
            # To what is not allowed there is no other answer than this one.
            self.connection._refused = found
        if self.is_connecting and (
            isinstance(exc, ssl.SSLError) or not isinstance(exc, OSError | TimeoutError)
        ):
            raise exc


async def _drop(client: Client) -> None:
    """Let go of a client that never connected; its library may wait for a handshake that will not be."""
    transport = client._transport
    if transport is not None:
        transport.close()  # type: ignore[no-untyped-call]  # it says no types


def _library() -> type[Client]:
    try:
        from nats.aio.client import Client
    except ModuleNotFoundError as exc:
        raise BadInput("the package nats-py is not installed: pip install 'moot[nats]'") from exc
    return Client


def _who(address: NatsAddress, client: Client) -> dict[str, Any]:
    """Say who calls; where the address insists on TLS nothing of it is sent in clear text."""
    options: dict[str, Any] = {}
    if address.is_tls or address.ca or address.certificate:
        options["tls"] = _tls(address)

    def private(secret: str) -> str:
        if address.is_tls and not client._server_info.get("tls_required"):
            raise NatsUnavailable(
                f"{address.where} does not encrypt: write nats://, or give it a certificate"
            )
        return secret

    if address.credentials is not None:
        credentials = Credentials.read(address.credentials)
        options["user_jwt_cb"] = lambda: private("") or credentials.token
        options["signature_cb"] = credentials.sign
    elif address.user:
        options |= {"user": lambda: private(address.user), "password": lambda: address.password}
    elif address.password:
        options["token"] = lambda: private(address.password)
    elif address.is_tls:
        options["token"] = lambda: private("")
    return options


def _tls(address: NatsAddress) -> ssl.SSLContext:
    context = ssl.create_default_context()
    named = address.ca
    try:
        if address.ca is not None:
            context.load_verify_locations(address.ca)
        named = address.certificate
        if address.certificate is not None:
            context.load_cert_chain(address.certificate)
    except (ssl.SSLError, OSError) as exc:
        raise BadInput(f"{named} holds no certificate that can be used: write it as PEM") from exc
    return context
