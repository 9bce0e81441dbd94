"""What Discord answers and what its library raises, as what a surface raises.

The library repeats a request after a server error, up to five times. For a post that would make two of one
whose answer was lost, so `tracing` lets such answers through as errors; the outbox looks before it posts again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import aiohttp

from moot.channels.chat.reasons import reason
from moot.channels.discord.library import Route, discord
from moot.channels.showing.wording import clean
from moot.channels.surface import PostRefused, RateLimited, SurfaceConfigError, SurfaceDown, SurfaceError

LONG_S: Final = 60.0
"""How long to stay away when Discord says "too many requests" and not until when."""

UNKNOWN_CHANNEL: Final = 10003
UNKNOWN_MESSAGE: Final = 10008
UNKNOWN_WEBHOOK: Final = 10015
UNKNOWN_INTERACTION: Final = 10062
TOO_MANY_WEBHOOKS: Final = 30007
ALREADY_ANSWERED: Final = 40060
INVALID_WEBHOOK: Final = 50027
ARCHIVED: Final = 50083
THREAD_EXISTS: Final = 160004
LOCKED: Final = 160005
TOO_MANY_THREADS: Final = 160006

SWITCHED_OFF: Final = frozenset({40006, 130000})
"""Codes of refusals that pass: a feature switched off for now, an overloaded server."""

TOKEN: Final = (
    "Discord does not know the bot's token; copy it anew (Developer Portal → your application → Bot → Reset Token)"
    " and put it where MOOT_DISCORD_TOKEN or token_file says"
)
UNREADABLE: Final = "Discord answered something that cannot be read"
SETUP: Final = "run: moot discord setup --check"


def tracing() -> aiohttp.TraceConfig:
    """Return what hands errors of the API to us before the library repeats the request."""
    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(_judge)
    trace.on_request_exception.append(_rename)
    return trace


@contextmanager
def renamed(doing: str, *, passing: Collection[int] = ()) -> Generator[None]:
    """Turn what the library raises into what a surface raises; the causes are dropped, for they may name tokens.

    Args:
        doing: What is being done, as it goes on after "Discord refuses to".
        passing: Codes of answers that the caller deals with; these stay what they are.

    Raises:
        SurfaceDown, RateLimited, PostRefused, SurfaceConfigError: As they say.
    """
    try:
        yield
    except SurfaceError:
        raise
    except discord.LoginFailure:
        raise SurfaceConfigError(TOKEN) from None
    except discord.RateLimited as exc:
        raise RateLimited(exc.retry_after) from None
    except discord.HTTPException as exc:
        if exc.code in passing:
            raise
        raise of_answer(exc, doing) from None
    except (aiohttp.ClientError, OSError, TimeoutError) as exc:
        raise of_connection(exc) from None
    except discord.InteractionResponded:
        raise
    except RuntimeError as exc:
        if "closed" not in str(exc).lower():
            raise SurfaceDown(f"{UNREADABLE} ({type(exc).__name__})") from None
        raise SurfaceDown("the connection to Discord was closed meanwhile") from None
    except Exception as exc:
        # The library stumbles in many ways over an answer that is not what the API promises.
        raise SurfaceDown(f"{UNREADABLE} ({type(exc).__name__})") from None


def foremost(error: BaseException) -> BaseException:
    """Return the error that says most of a group and its groups: what a person must put right comes first."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    errors = [foremost(one) for one in error.exceptions]
    return min(
        errors, key=lambda one: (not isinstance(one, SurfaceConfigError), not isinstance(one, SurfaceError))
    )


@contextmanager
def before_the_post() -> Generator[None]:
    """Mark what fails here as surely not posted: it only prepares a post."""
    try:
        yield
    except SurfaceDown as exc:
        exc.maybe_posted = False
        raise


def of_answer(exc: discord.HTTPException, doing: str) -> SurfaceError:
    """Say what an answer of the API means for what was being done."""
    said = clean(" ".join(exc.text.split()), 300) or f"status {exc.status}"
    if exc.status == 401:
        return SurfaceConfigError(TOKEN)
    if exc.status == 429:
        return RateLimited(LONG_S, everywhere=True)
    if exc.status >= 500 or exc.status == 408:
        return SurfaceDown(f"Discord answers {exc.status}: {said}")
    if exc.status == 403:
        why = f"Discord does not let Moot {doing} ({said}); {SETUP}"
        return SurfaceDown(why, maybe_posted=False, everywhere=False)
    if exc.status == 404:
        return SurfaceDown(f"{doing}: {said}; {SETUP}", maybe_posted=False, everywhere=False)
    if exc.code == TOO_MANY_WEBHOOKS:
        why = (
            f"Discord does not let Moot {doing}, for that channel has as many webhooks as it may have; delete one"
            " that nobody needs there: Edit Channel → Integrations → Webhooks"
        )
        return SurfaceDown(why, maybe_posted=False, everywhere=False)
    # An answer without a code comes from something before Discord, and says nothing about the message.
    if not exc.code or exc.code in SWITCHED_OFF:
        return SurfaceDown(f"Discord answers {exc.status}: {said}", maybe_posted=False, everywhere=False)
    return PostRefused(f"Discord refuses to {doing}: {said}")


def of_connection(error: BaseException, whose: str = "Discord") -> SurfaceDown:
    """Say what a connection that broke, or never was, means."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return SurfaceDown(f"{whose} cannot be reached: {reason(error)}", maybe_posted=False)
    return SurfaceDown(f"the connection to {whose} broke: {reason(error)}")


def strange(answer: object) -> NoReturn:
    """Refuse an answer that is not what the API promises.

    Raises:
        SurfaceDown: Always; whether a post arrived is not known.
    """
    raise SurfaceDown(f"{UNREADABLE} ({type(answer).__name__})")


async def _judge(_session: object, _context: SimpleNamespace, params: aiohttp.TraceRequestEndParams) -> None:
    response = params.response
    if not _is_ours(params.url):
        return
    if response.status >= 500:
        raise SurfaceDown(f"Discord answers {response.status} {response.reason or ''}".rstrip())
    if response.ok and response.status != 204 and response.content_type != "application/json":
        raise SurfaceDown(UNREADABLE)
    if response.status == 429:
        pause = _pause(response, await response.text())
        is_post = params.method == "POST" and "/webhooks/" in params.url.path
        # A post is the outbox's to time; for anything else the library waits, unless that would take long.
        if is_post or pause.retry_after_s > LONG_S / 2:
            raise pause


async def _rename(
    _session: object, _context: SimpleNamespace, params: aiohttp.TraceRequestExceptionParams
) -> None:
    error = params.exception
    if _is_ours(params.url) and isinstance(error, aiohttp.ClientError | OSError):
        raise of_connection(error) from None


def _is_ours(url: Any) -> bool:
    # The gateway's connections begin as requests too; their errors are the library's to deal with.
    return str(url).startswith(f"{Route.BASE}/")


def _pause(response: aiohttp.ClientResponse, text: str) -> RateLimited:
    try:
        body = json.loads(text)
        seconds = float(body["retry_after"])
        is_global = bool(body.get("global"))
    except (ValueError, KeyError, TypeError, AttributeError):
        # Not Discord's own words: the network before it has banned the address for a while.
        given = response.headers.get("Retry-After", "")
        return RateLimited(float(given) if given.isdigit() else LONG_S, everywhere=True)
    return RateLimited(max(seconds, 0.0), everywhere=is_global)
