"""The Web API's front door: arguments, tokens, scopes, limits, faults, and answers of Slack's own shape."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.doubles.slack_state import Call, Refusal, Workspace

if TYPE_CHECKING:
    from tests.doubles.slack_faults import Faults, Limits

Answer = dict[str, Any]
Args = Mapping[str, Any]


@dataclass(frozen=True)
class Method:
    run: Callable[[Desk, Args], Answer]
    scopes: tuple[str, ...]
    """Any one of them is enough."""
    tier: int
    is_for_app: bool


METHODS: dict[str, Method] = {}


def method(
    name: str, *scopes: str, tier: int = 3, is_for_app: bool = False
) -> Callable[[Callable[[Desk, Args], Answer]], Callable[[Desk, Args], Answer]]:
    """Register a Web API method."""

    def keep(run: Callable[[Desk, Args], Answer]) -> Callable[[Desk, Args], Answer]:
        METHODS[name] = Method(run, scopes, tier, is_for_app)
        return run

    return keep


@dataclass
class Desk:
    """What the methods work with."""

    workspace: Workspace
    publish: Callable[[dict[str, Any]], object]
    """Hands an event to whoever subscribed."""
    base_url: str
    faults: Faults
    limits: Limits
    calls: list[Call]
    metadata_most: int
    new_ticket: Callable[[], str]
    says_scopes: bool = True
    """Whether answers name the token's scopes in their headers, as Slack's do."""


def need(args: Args, name: str) -> Any:
    """Return a required argument.

    Raises:
        Refusal: It is missing.
    """
    if (value := args.get(name)) in (None, ""):
        raise Refusal("invalid_arguments", [f"[ERROR] missing required field: {name}"])
    return value


def is_true(value: Any) -> bool:
    return value in (True, 1, "1", "true", "True", "t")


def garbage() -> web.Response:
    return web.Response(text='{"ok": tru', content_type="application/json")


def html(status: int) -> web.Response:
    return web.Response(
        status=status, text="<html><body><h1>Server Error</h1></body></html>", content_type="text/html"
    )


def cut(request: web.Request) -> web.Response:
    """Break the connection in the middle of a request."""
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError


async def handle(desk: Desk, request: web.Request) -> web.Response:
    """Answer one Web API request."""
    name = request.match_info["method"]
    args, token = await _read(request)
    about = desk.workspace.channels.get(str(args.get("channel")))
    rule = desk.faults.take(name, about.name if about is not None else None)

    def note(status: int, error: str | None) -> None:
        desk.calls.append(Call(name, request.method, request.path, status, error, time.time(), args))

    action = rule.action if rule else None
    if action == "drop_before":
        note(0, "drop_before")
        cut(request)
    if rule and action == "delay":
        await asyncio.sleep(rule.details.get("seconds", 1.0))
    if rule and action == "status":
        note(rule.details.get("status", 503), None)
        return html(rule.details.get("status", 503))
    if rule and action == "garbage":
        note(200, "garbage")
        return garbage()
    headers = {"X-Slack-Req-Id": f"r{len(desk.calls)}"}
    status = 200
    try:
        if rule and action == "ratelimited":
            wait_s = rule.details.get("retry_after_s", 1)
            status, headers["Retry-After"] = 429, str(wait_s)
            raise Refusal("ratelimited")
        if rule and action == "error":
            details = dict(rule.details)
            raise Refusal(details.pop("code", "internal_error"), **details)
        found = METHODS.get(name)
        if found is None:
            raise Refusal("unknown_method", req_method=name)
        _admit(desk, found, token, headers)
        wait = desk.limits.refuse_for(name, str(args.get("channel")), found.tier)
        if wait is not None:
            status, headers["Retry-After"] = 429, str(wait)
            raise Refusal("ratelimited")
        answer: Answer = {"ok": True, **found.run(desk, args)}
        if rule and action == "fatal":
            raise Refusal(rule.details.get("code", "fatal_error"))
    except Refusal as refusal:
        answer = refusal.body
    note(status, answer.get("error"))
    if action == "drop_after":
        cut(request)
    return web.json_response(answer, status=status, headers=headers)


async def _read(request: web.Request) -> tuple[dict[str, Any], str | None]:
    """Read the arguments from query, form, JSON or multipart; and the token, which is not kept with them."""
    args: dict[str, Any] = dict(request.query)
    if request.method == "POST":
        if request.content_type == "application/json":
            try:
                body = json.loads(await request.text() or "{}")
            except ValueError:
                body = {}
            args |= body if isinstance(body, dict) else {}
        else:
            args |= {key: value for key, value in (await request.post()).items() if isinstance(value, str)}
    token = args.pop("token", None)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return args, given if scheme == "Bearer" and given else token


def _admit(desk: Desk, found: Method, token: str | None, headers: dict[str, str]) -> None:
    """Check the token.

    Raises:
        Refusal: It does not do.
    """
    if not token:
        raise Refusal("not_authed")
    known = desk.workspace.tokens.get(token)
    if known is None:
        raise Refusal("invalid_auth")
    if known.state != "active":
        raise Refusal(known.state)
    if desk.says_scopes:
        headers["X-OAuth-Scopes"] = ",".join(sorted(known.scopes))
        headers["X-Accepted-OAuth-Scopes"] = ",".join(found.scopes)
    if found.is_for_app != token.startswith("xapp-"):
        raise Refusal("not_allowed_token_type")
    check_scopes(known.scopes, *found.scopes)


def check_scopes(scopes: set[str], *any_of: str) -> None:
    """Check that a token has one of some scopes.

    Raises:
        Refusal: It has none of them.
    """
    if any_of and not scopes.intersection(any_of):
        raise Refusal("missing_scope", needed=any_of[0], provided=",".join(sorted(scopes)))
