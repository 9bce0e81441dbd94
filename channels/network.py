"""Proxies and certificate authorities that the environment names: what applies to an address, and what is wrong.

Every HTTP client of Moot asks here before it is made, so that a variable that cannot be used is named in one line.
Requests to this machine use no proxy, whatever the environment says.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from socket import inet_aton
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from moot.protocols.kernel.errors import MootError

if TYPE_CHECKING:
    import httpx2

PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
"""Kinds of proxies that can be used."""

SOCKS_PACKAGE: Final = "socksio"


class UnusableNetwork(MootError):
    """An environment variable cannot be used; the text is one line with the reason and what to do."""


def is_loopback(host: str | None) -> bool:
    """Return True if a host is this machine: 127.0.0.0/8, ::1, localhost or a name below localhost."""
    name = (host or "").strip("[]").partition("%")[0].rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        # Short forms, such as 127.1.
        return name.replace(".", "").isdigit() and _is_short_loopback(name)
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _is_short_loopback(name: str) -> bool:
    try:
        return inet_aton(name)[0] == 127
    except OSError:
        return False


def check_network(url: str, *, uses_proxies: bool = True) -> None:
    """Check what the environment says about proxies and certificate authorities for an address.

    Args:
        url: The address of requests.
        uses_proxies: Whether the client takes proxies from the environment.

    Raises:
        UnusableNetwork: A variable cannot be used.
    """
    kinds = []
    if uses_proxies and not is_direct(url):
        kinds = [_checked(variable, value) for variable, value in proxies()]
    if _is_secured(url, kinds):
        _check_authorities()


def _is_secured(url: str, kinds: Collection[str]) -> bool:
    """Return True if requests to an address, or to one of these kinds of proxies, need certificate authorities."""
    return url.lower().startswith("https:") or "https" in kinds


def is_direct(url: str) -> bool:
    """Return True if requests to an address use no proxy: it is this machine, or NO_PROXY names it."""
    parts = urlsplit(url)
    return is_loopback(parts.hostname) or bool(proxy_bypass(parts.netloc.rpartition("@")[2]))


def proxies() -> Iterator[tuple[str, str]]:
    """Yield the variables that name a proxy for HTTP, with their values; a name in small letters goes first."""
    for kind in ("http", "https", "all"):
        small, capital = f"{kind}_proxy", f"{kind.upper()}_PROXY"
        for variable in (small, capital):
            if variable == "HTTP_PROXY" and "REQUEST_METHOD" in os.environ:
                continue  # A header of a request to a CGI script, and no setting.
            if value := os.environ.get(variable, "").strip():
                yield variable, value
                break
            if variable in os.environ and variable == small:
                break  # Set to nothing: no proxy.


def proxy_variable(url: str) -> str:
    """Return the variable whose proxy the requests to an address use; "" for none."""
    if is_direct(url):
        return ""
    found = {variable.lower(): variable for variable, _ in proxies()}
    return found.get(f"{urlsplit(url).scheme}_proxy") or found.get("all_proxy", "")


def check_proxy_of_http(url: str) -> None:
    """Check the proxies of the environment for a client that speaks HTTP to proxies, and no SOCKS.

    Raises:
        UnusableNetwork: One cannot be used.
    """
    if is_direct(url):
        return
    for variable, value in proxies():
        if variable.lower() != "all_proxy" and _checked(variable, value).startswith("socks"):
            raise UnusableNetwork(
                f"{variable} names a SOCKS proxy ({_shown(value)}), which cannot be used here: name one of HTTP, or"
                f" unset {variable}"
            )


def _checked(variable: str, value: str) -> str:
    """Return the scheme of a proxy.

    Raises:
        UnusableNetwork: It cannot be used.
    """
    whole = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(whole)
        is_address = bool(parts.hostname) and parts.port != 0 and whole.isprintable() and " " not in whole
    except ValueError:
        is_address = False
        parts = urlsplit("")
    if not is_address:
        raise UnusableNetwork(
            f"{variable} names no address of a proxy: {_shown(value)}; write one such as http://proxy.example:3128,"
            f" or unset {variable}"
        )
    if parts.scheme not in PROXY_SCHEMES:
        raise UnusableNetwork(
            f"{variable} names a proxy of the kind {parts.scheme!r}, which cannot be used: {_shown(value)}; choose"
            f" {', '.join(PROXY_SCHEMES)}"
        )
    if parts.scheme.startswith("socks") and find_spec(SOCKS_PACKAGE) is None:
        raise UnusableNetwork(
            f"{variable} names a SOCKS proxy ({_shown(value)}), which needs the package {SOCKS_PACKAGE}: pip install"
            f" {SOCKS_PACKAGE}, or unset {variable}"
        )
    return parts.scheme


def _shown(value: str) -> str:
    """Return the address of a proxy without user and password, in one short line."""
    scheme, is_whole, rest = value.partition("://")
    place = rest if is_whole else scheme
    place = place.rpartition("@")[2]
    text = f"{scheme}://{place}" if is_whole else place
    return repr("".join(one if one.isprintable() else "?" for one in text)[:80])


def _check_authorities() -> None:
    if file := os.environ.get("SSL_CERT_FILE"):
        _check_file(file)
    elif folders := os.environ.get("SSL_CERT_DIR"):
        for folder in filter(None, folders.split(os.pathsep)):
            _check_folder(folder)


def _check_file(file: str) -> None:
    try:
        Path(file).open("rb").close()
        ssl.create_default_context(cafile=file)
    except (ssl.SSLError, ValueError) as exc:
        why = getattr(exc, "reason", None) or str(exc)
        raise UnusableNetwork(
            f"SSL_CERT_FILE names {file[:200]!r}, which holds no certificates in PEM ({why}): name a file of"
            " certificates, or unset SSL_CERT_FILE"
        ) from None
    except OSError as exc:
        raise UnusableNetwork(
            f"SSL_CERT_FILE names {file[:200]!r}, which cannot be read ({_reason(exc)}): correct it, or unset"
            " SSL_CERT_FILE"
        ) from None


def _check_folder(folder: str) -> None:
    try:
        is_empty = not any(Path(folder).iterdir())
    except OSError as exc:
        raise UnusableNetwork(
            f"SSL_CERT_DIR names {folder[:200]!r}, which cannot be read ({_reason(exc)}): correct it, or unset"
            " SSL_CERT_DIR"
        ) from None
    if is_empty:
        raise UnusableNetwork(
            f"SSL_CERT_DIR names {folder[:200]!r}, which is empty: name a directory of certificates, or unset"
            " SSL_CERT_DIR"
        )


def _reason(exc: OSError) -> str:
    return (exc.strerror or type(exc).__name__).lower()


def http_client(url: str, **options: Any) -> httpx2.AsyncClient:
    """Return an HTTP client for an address: as the environment says, and without a proxy to this machine.

    Args:
        url: The address.
        options: Passed on to `httpx2.AsyncClient`.

    Raises:
        UnusableNetwork: A variable of the environment cannot be used.
    """
    import httpx2

    check_network(url)
    kinds = [] if is_direct(url) else [_checked(variable, value) for variable, value in proxies()]
    # Where no authority is asked, none need be found.
    verify = True if _is_secured(url, kinds) else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if is_direct(url):
            limits = options.pop("limits", httpx2.Limits())
            options["transport"] = httpx2.AsyncHTTPTransport(verify=verify, limits=limits)
        return httpx2.AsyncClient(verify=verify, **options)
    except (ImportError, ValueError, OSError, httpx2.InvalidURL) as exc:
        named = ", ".join(variable for variable, _ in proxies()) or "SSL_CERT_FILE, SSL_CERT_DIR"
        said = " ".join(str(exc).split())[:200]
        raise UnusableNetwork(
            f"the environment cannot be used for requests: {said}: look at {named}"
        ) from None
