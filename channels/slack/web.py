"""Calls of Slack's Web API: nothing is repeated by the library, and every failure has one of our names."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from typing import Any, Final, Self

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from moot.channels.chat.reasons import reason
from moot.channels.network import UnusableNetwork, check_network, check_proxy_of_http, is_direct
from moot.channels.showing.wording import clean
from moot.channels.slack.library_log import library_logger
from moot.channels.slack.troubles import TOO_FAST, SlackSaid
from moot.channels.surface import RateLimited, SurfaceConfigError, SurfaceDown, SurfaceError

CONNECT_S: Final = 10.0
ANSWER_S: Final = 30.0
"""Wall time that Slack has to answer a call."""

RETRY_AFTER_S: Final = 5.0
"""The pause where Slack asks for one and does not say how long."""


class Web:
    """The Web API with one token. Close it."""

    def __init__(self, api: str, token: str) -> None:
        """Prepare; nothing is sent. Needs a running loop.

        Args:
            api: Base address, for example `https://slack.com/api/`.
            token: The token that calls are made with.

        Raises:
            SurfaceConfigError: A proxy or a file of authorities that the environment names cannot be used.
        """
        try:
            check_network(api, uses_proxies=False)
            check_proxy_of_http(api)
        except UnusableNetwork as exc:
            raise SurfaceConfigError(str(exc)) from None
        timeout = aiohttp.ClientTimeout(total=ANSWER_S, sock_connect=CONNECT_S)
        self.session = aiohttp.ClientSession(timeout=timeout)
        self.client = client(api, token, self.session)

    async def close(self) -> None:
        """Let go of all connections."""
        await self.session.close()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()


def client(api: str, token: str | None, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Return a client that never repeats a call by itself: a post that may have arrived must be looked for first."""
    made = AsyncWebClient(
        token=token, base_url=api, session=session, retry_handlers=[], logger=library_logger()
    )
    if is_direct(api):
        # The library takes a proxy from the environment also for this machine.
        made.proxy = None
    return made


async def answer(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """Return Slack's answer to a call of an `AsyncWebClient`.

    Raises:
        SlackSaid: Slack answered `ok: false`.
        RateLimited: Slack wants a pause; it counts calls of a method by workspace.
        SurfaceDown: Slack could not be reached, or gave no answer; `maybe_posted` says whether it may have acted.
        SurfaceConfigError: The address is none.
    """
    try:
        return await call
    except SlackApiError as exc:
        raise _said(exc) from None
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as exc:
        raise SurfaceDown(f"Slack cannot be reached: {reason(exc)}", maybe_posted=False) from None
    except aiohttp.InvalidURL:
        raise SurfaceConfigError(
            "the option api is no address; it looks like https://slack.com/api/"
        ) from None
    except TimeoutError:
        raise SurfaceDown(f"Slack gave no answer in {ANSWER_S:g} s") from None
    except (aiohttp.ClientError, OSError) as exc:
        raise SurfaceDown(f"the connection to Slack broke: {reason(exc)}") from None
    except (AttributeError, TypeError, ValueError):
        # The library trips over a body that is text, or a list: a proxy's page, not Slack.
        raise SurfaceDown("something else answered in Slack's place; is a proxy in the way?") from None


def data_of(response: AsyncSlackResponse) -> Mapping[str, Any]:
    """Return an answer's fields."""
    return response.data if isinstance(response.data, dict) else {}


def _said(exc: SlackApiError) -> SurfaceError:
    response = exc.response
    # The library hands on aiohttp's own response where the body was no JSON.
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
    data = getattr(response, "data", None)
    data = data if isinstance(data, dict) else {}
    code = str(data.get("error") or "")
    if status == 429 or code in TOO_FAST:
        headers = getattr(response, "headers", None) or {}
        return RateLimited(_retry_after(headers), everywhere=True)
    if code and status < 500:
        return SlackSaid(code, data)
    return SurfaceDown(f"Slack answers {status} {clean(code, 60)}".rstrip())


def _retry_after(headers: Mapping[str, str]) -> float:
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    try:
        return min(max(float(said), 0.0), 3_600.0)
    except ValueError:
        return RETRY_AFTER_S


def as_json(value: object) -> str:
    """Write JSON as short as it gets."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
