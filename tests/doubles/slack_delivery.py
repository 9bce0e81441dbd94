"""How the fake Slack server hands events and interactions to the app: attempts, acknowledgements, retries.

An event that is not acknowledged comes again with the same event_id: at once, after 1 and after 5 minutes (times
`scale`). Clicks and commands come once; who is not answered is told so by Slack.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

import aiohttp

from tests.doubles.slack_state import APP, BOT_USER, TEAM, Reply, Workspace

if TYPE_CHECKING:
    from tests.doubles.slack_faults import Faults

MESSAGE_SCOPES = {"channel": "channels:history", "group": "groups:history"}


@dataclass
class Attempt:
    """One delivery on its way; `reason` is why it was made again."""

    number: int
    envelope_id: str
    at: float
    reason: str = ""
    acked_at: float | None = None
    failed: str | None = None


@dataclass
class Delivery:
    """An event, click or command, and what became of it."""

    kind: str
    payload: dict[str, Any]
    id: str
    user: str = ""
    channel_id: str = ""
    attempts: list[Attempt] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    is_over: bool = False

    @property
    def name(self) -> str:
        event = self.payload.get("event", {})
        return str(event.get("type", self.kind))


@dataclass
class Answer:
    """What the app's web address answered; `error` instead where nothing came back."""

    status: int
    body: str
    headers: dict[str, str]
    error: str | None = None


class Link(Protocol):
    """A Socket Mode connection."""

    pending: dict[str, asyncio.Future[tuple[bool, Any]]]

    async def send(self, body: dict[str, Any]) -> None: ...


class Courier:
    """Delivers, on the server's loop."""

    def __init__(self, workspace: Workspace, faults: Faults, secret: str) -> None:
        self.workspace = workspace
        self.faults = faults
        self.secret = secret
        self.links: list[Link] = []
        self.request_url: str | None = None
        self.subscriptions = {"message.channels", "message.groups", "app_mention"}
        self.skew_s = 0.0
        self.redeliver_after_s = 3.0
        self.scale = 1.0
        self.retry_after_s = (0.0, 60.0, 300.0)
        self.deliveries: list[Delivery] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self._held: list[Delivery] = []
        self._turn = 0

    def publish(self, event: dict[str, Any]) -> Delivery | None:
        """Send an event to the app if it subscribed to it, may read it and is in the channel."""
        if not self._is_wanted(event):
            return None
        number = next(self.workspace.numbers)
        payload = {
            "token": "verification-token", "team_id": TEAM, "api_app_id": APP, "event": event,
            "type": "event_callback", "event_id": f"Ev0{number:08d}", "event_time": int(time.time()),
            "authorizations": [
                {
                    "enterprise_id": None, "team_id": TEAM, "user_id": BOT_USER, "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False, "event_context": f"4-{number}",
        }  # fmt: skip
        delivery = Delivery(
            "events_api", payload, f"Ev0{number:08d}", event.get("user", ""), event.get("channel", "")
        )
        self.deliver(delivery)
        return delivery

    def _is_wanted(self, event: dict[str, Any]) -> bool:
        scopes = next(t.scopes for name, t in self.workspace.tokens.items() if name.startswith("xoxb-"))
        kind = event["type"]
        if kind == "message":
            room = event.get("channel_type", "channel")
            channel = self.workspace.channels[event["channel"]]
            wanted = f"message.{room}s" in self.subscriptions and MESSAGE_SCOPES.get(room) in scopes
            return wanted and BOT_USER in channel.members
        if kind == "app_mention":
            return kind in self.subscriptions and "app_mentions:read" in scopes
        return kind in self.subscriptions

    def deliver(self, delivery: Delivery) -> None:
        """Start a delivery, unless a fault says otherwise."""
        self.deliveries.append(delivery)
        rule = self.faults.take_event(delivery.name)
        if rule is None:
            self._start(delivery)
        elif rule.action == "duplicate":
            self._start(delivery, copies=2)
        elif rule.action == "reorder":
            self._held.append(delivery)
            if rule.hits == rule.count:
                held, self._held = self._held[::-1], []
                for one in held:
                    self._start(one)
        else:
            delivery.is_over = True

    def _start(self, delivery: Delivery, copies: int = 1) -> None:
        task = asyncio.get_running_loop().create_task(self._run(delivery, copies))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _run(self, delivery: Delivery, copies: int) -> None:
        pauses = (0.0, *self.retry_after_s) if delivery.kind == "events_api" else (0.0,)
        reason = ""
        for number, pause_s in enumerate(pauses):
            if pause_s:
                await asyncio.sleep(pause_s * self.scale)
            envelope_id = f"env-{next(self.workspace.numbers)}"
            attempt = Attempt(number, envelope_id, time.monotonic(), reason)
            delivery.attempts.append(attempt)
            if self.request_url is not None:
                is_done, body = await self._by_http(delivery, attempt, self.request_url)
            else:
                is_done, body = await self._by_socket(delivery, attempt, copies)
            if is_done:
                self._answered(delivery, body)
                break
            reason = attempt.failed or "timeout"
        else:
            if delivery.kind != "events_api":
                error = "operation_timeout" if reason in ("timeout", "http_timeout") else "dispatch_failed"
                delivery.replies.append(Reply(error, True, "slack", delivery.user))
        delivery.is_over = True

    async def _by_socket(self, delivery: Delivery, attempt: Attempt, copies: int) -> tuple[bool, Any]:
        if not self.links:
            attempt.failed = "connection_failed"
            return False, None
        self._turn += 1
        link = self.links[self._turn % len(self.links)]
        envelope: dict[str, Any] = {
            "envelope_id": attempt.envelope_id, "payload": delivery.payload, "type": delivery.kind,
            "accepts_response_payload": delivery.kind != "events_api",
        }  # fmt: skip
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": attempt.number, "retry_reason": attempt.reason}
        acked: asyncio.Future[tuple[bool, Any]] = asyncio.get_running_loop().create_future()
        link.pending[attempt.envelope_id] = acked
        try:
            for _ in range(copies):
                await link.send(envelope)
        except (ConnectionError, RuntimeError):
            attempt.failed = "connection_failed"
            return False, None
        done, _ = await asyncio.wait([acked], timeout=self.redeliver_after_s)
        if not done:
            # A late acknowledgement is noted, and helps no more.
            acked.add_done_callback(lambda late: self._stamp(attempt, late))
            attempt.failed = "timeout"
            return False, None
        self._stamp(attempt, acked)
        return acked.result()

    @staticmethod
    def _stamp(attempt: Attempt, acked: asyncio.Future[tuple[bool, Any]]) -> None:
        if not acked.cancelled() and acked.result()[0]:
            attempt.acked_at = time.monotonic()
        elif attempt.failed is None:
            attempt.failed = "connection_failed"

    async def _by_http(self, delivery: Delivery, attempt: Attempt, url: str) -> tuple[bool, Any]:
        headers = {}
        if attempt.number:
            headers = {"X-Slack-Retry-Num": str(attempt.number), "X-Slack-Retry-Reason": attempt.reason}
        body, kind = wire(delivery.kind, delivery.payload)
        answer = await self.send(url, body, kind, headers, within_s=self.redeliver_after_s)
        if 200 <= answer.status < 300:
            attempt.acked_at = time.monotonic()
            try:
                said = json.loads(answer.body) if answer.body.startswith("{") else {"text": answer.body}
            except ValueError:
                said = {"text": answer.body}
            return True, said if answer.body else None
        attempt.failed = answer.error or "http_error"
        if answer.headers.get("X-Slack-No-Retry") == "1":
            return True, None
        return False, None

    async def send(
        self,
        url: str,
        body: bytes,
        content_type: str,
        headers: dict[str, str] | None = None,
        *,
        skew_s: float | None = None,
        secret: str | None = None,
        within_s: float = 3.0,
    ) -> Answer:
        """Post a signed body to the app; `skew_s` is how far the clock that signs is off."""
        at = str(int(time.time() + (self.skew_s if skew_s is None else skew_s)))
        base = b"v0:" + at.encode() + b":" + body
        digest = hmac.new((secret or self.secret).encode(), base, hashlib.sha256).hexdigest()
        signed = {
            "Content-Type": content_type, "X-Slack-Request-Timestamp": at, "X-Slack-Signature": f"v0={digest}",
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        }  # fmt: skip
        wait = aiohttp.ClientTimeout(total=within_s)
        try:
            async with aiohttp.ClientSession(timeout=wait) as session:  # noqa: SIM117 - one line each
                async with session.post(
                    url, data=io.BytesIO(body), headers=signed | (headers or {})
                ) as response:
                    return Answer(response.status, await response.text(), dict(response.headers))
        except TimeoutError:
            return Answer(0, "", {}, "http_timeout")
        except (aiohttp.ClientError, OSError):
            return Answer(0, "", {}, "connection_failed")

    def _answered(self, delivery: Delivery, body: Any) -> None:
        """Show what an acknowledgement says; only a command's may say something."""
        if delivery.kind != "slash_commands" or not isinstance(body, dict):
            return
        text = str(body.get("text") or "")
        if text or body.get("blocks"):
            is_private = body.get("response_type", "ephemeral") == "ephemeral"
            delivery.replies.append(
                Reply(text, is_private, "ack", delivery.user, tuple(body.get("blocks") or ()))
            )

    def find(self, name: str) -> Delivery | None:
        """Find a delivery by event id, trigger id, envelope id, or the message that an event is about."""
        for delivery in self.deliveries:
            event = delivery.payload.get("event", {})
            names = (delivery.id, f"{event.get('channel')}/{event.get('ts')}")
            if name in names or any(name == attempt.envelope_id for attempt in delivery.attempts):
                return delivery
        return None


def wire(kind: str, payload: dict[str, Any]) -> tuple[bytes, str]:
    """Write a payload as Slack's requests carry it, with its content type."""
    if kind == "events_api":
        return json.dumps(payload).encode(), "application/json"
    form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return urlencode(form).encode(), "application/x-www-form-urlencoded"
