"""Surfaces: chat platforms that mirror the log outwards and carry people's acts inwards (decision 6).

The log is the truth, a surface is a view of it. A surface knows its platform and nothing of protocols: the
outbox gives it one `Posting` at a time per channel, and it hands in what people do as `InboundAct`s.

Errors that a surface raises::

    SurfaceError
    ├── SurfaceDown      the platform, or one channel of it, cannot be reached; tried again with backoff
    ├── RateLimited      the platform said when to come again
    ├── PostRefused      the platform will never take this message; recorded and skipped
    └── SurfaceConfigError   a surface's configuration names nothing that can be built
"""

from __future__ import annotations

import importlib
import inspect
import re
from abc import ABC, abstractmethod
from asyncio import Event
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NewType, Protocol

from moot.channels.errors import ChannelError
from moot.channels.outbox.pacing import UNPACED, Pace
from moot.channels.showing.rendering import UNKNOWN, Card, Speakers
from moot.protocols.kernel.envelope import Envelope

PlatformMessageId = NewType("PlatformMessageId", str)
"""What a platform calls one of its messages."""


class SurfaceError(ChannelError):
    """Base of what a surface may raise."""


class SurfaceDown(SurfaceError):
    """Say that the platform cannot be reached now, in one line that also says what to do where somebody must.

    Attributes:
        maybe_posted: Whether the message may have arrived all the same; False only when it surely did not.
        everywhere: Whether nothing can be posted now; False: this channel alone is affected.
    """

    def __init__(self, why: str, *, maybe_posted: bool = True, everywhere: bool = True) -> None:
        """Keep the sentence and the doubt."""
        super().__init__(why)
        self.maybe_posted = maybe_posted
        self.everywhere = everywhere


class RateLimited(SurfaceError):
    """Say that the platform wants a pause; the message was not posted.

    Attributes:
        retry_after_s: Seconds of wall time to wait.
        everywhere: Whether the pause holds for the whole platform, not for this channel alone.
    """

    def __init__(self, retry_after_s: float, *, everywhere: bool = False) -> None:
        """Keep the pause."""
        super().__init__(f"rate limited, again in {retry_after_s:g} s")
        self.retry_after_s = retry_after_s
        self.everywhere = everywhere


class PostRefused(SurfaceError):
    """Say that the platform will never take this message (too large, channel deleted, banned words)."""


class SurfaceConfigError(SurfaceError):
    """Say in one line why no surface can be built from a configuration."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a platform can do.

    Attributes:
        supports_nonce: `find` is reliable: it knows every message that the platform took before the call.
    """

    supports_nonce: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """One message for a platform.

    Attributes:
        seq: Sequence number of `envelope`.
        envelope: What was said; `envelope.line` is the typed JSON that travels along.
        channel: The channel of the log, for example `#a-arena`.
        thread: Key of the thread it belongs to, the case id; None outside any case.
        root: Platform id of the first message posted for that thread in that channel, once there is one.
        in_reply_to: Platform id of the message it answers, when that was posted in the same channel.
        nonce: `<log id>:<seq>`, the same at every attempt; platforms that can, refuse or find a second one.
        rendering: The human sentence, the fields and the buttons.
        folded: Further envelopes that this post stands for when a backlog is folded into one summary.
        who: What is known of who speaks.
        link: Where the whole message can be read, `<public address>/m/<seq>`; None where no address is configured.
    """

    seq: int
    envelope: Envelope
    channel: str
    thread: str | None
    root: PlatformMessageId | None
    in_reply_to: PlatformMessageId | None
    nonce: str
    rendering: Card
    folded: tuple[Envelope, ...] = ()
    link: str | None = None
    who: Speakers = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundAct:
    """Something a person did on a platform.

    Attributes:
        platform: Name of the surface.
        user_id: The platform's stable id of the person; the authority matrix knows it.
        user_name: What the person is called there, for display only.
        platform_message_id: The platform's id of this act; the same at every redelivery, and nobody else's.
        channel: The log's channel it happened in, `#admin` where there is none.
        kind: Name of the act, or `command` for a line of text that is still to be read
            (`moot.channels.chat.commands`).
        fields: Its content by name, as the act asks for it (`moot.protocols.kernel.acts`).
        reply_to: Platform id of the message or thread it was said under; resolved to the case it is about.
    """

    platform: str
    user_id: str
    user_name: str
    platform_message_id: str
    channel: str
    kind: str
    fields: Mapping[str, object] = field(default_factory=dict)
    reply_to: PlatformMessageId | None = None


@dataclass(frozen=True, slots=True)
class ActReply:
    """What to tell the person, and only them where the platform can.

    Attributes:
        text: One line.
        ok: Whether the act stands or waits; False when it was refused, not understood, or changes nothing.
        seq: Where it stands in the log. With `ok` a mark on what the person wrote says as much as the text; None: the
            text says more, or nothing stands there (yet).
        is_private: Whether others must not read it where the platform can tell one person alone (R-G13).
    """

    text: str
    ok: bool = True
    seq: int | None = None
    is_private: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """What a surface found when it was asked whether it could work; every text is one line without secrets.

    Attributes:
        name: What was looked at: `token`, `intents`, `scopes`, `permissions` …
        is_ok: Whether it is as it must be.
        found: What was found.
        to_do: What to do, with where to click; "" when nothing is to be done.
    """

    name: str
    is_ok: bool
    found: str
    to_do: str = ""


TakeAct = Callable[[InboundAct], Awaitable[ActReply]]
"""Where a surface hands in acts. It never raises but for cancellation; call it once per delivery, in any
order, as often as the platform redelivers: one draft per `platform_message_id` results."""


class Memory(Protocol):
    """What a surface remembers across crashes of its process: small texts by key, such as the last message seen.

    What is put is there at the next start, but for a power cut.
    """

    async def get(self, key: str) -> str | None:
        """Return what was put; None when nothing was."""
        ...

    async def put(self, key: str, value: str) -> None:
        """Keep a text, in place of what the key had."""
        ...

    async def under(self, prefix: str) -> Mapping[str, str]:
        """Return what was put under the keys that begin so."""
        ...


class Surface(ABC):
    """A chat platform.

    Promises, which `tests/contract/test_surface.py` holds every surface to:

    * `post` returns only when the platform took the message; it is called for one message at a time per
      channel, and for several channels at once.
    * `find` sees what any process posted with that nonce, also before a crash.
    * What people did while nobody was connected is handed in after the next start, where the platform keeps it.
    * Text from people and bots is never markup and never mentions anybody.
    * It may be built anew and started again after `close` or after a crash of its process.
    """

    name: str
    """Name of the platform, also in `Actor.platform`; one surface per name."""

    capabilities: Capabilities = Capabilities()

    pace: Pace = UNPACED
    """How fast it may be posted to, and what goes first when much waits."""

    @abstractmethod
    async def start(self, inbound: TakeAct, memory: Memory) -> None:
        """Connect, and hand in what people do from now on; returns when it can post.

        Args:
            inbound: Takes acts.
            memory: Keeps what must survive a crash.

        Raises:
            SurfaceDown: Not reachable now; the gateway tries again.
            SurfaceConfigError: It will not work until somebody changes something; says what.
        """

    @abstractmethod
    async def post(self, item: Posting) -> PlatformMessageId:
        """Post one message and return the platform's id of it.

        Raises:
            SurfaceDown, RateLimited, PostRefused: As they say.
        """

    async def find(self, item: Posting) -> PlatformMessageId | None:
        """Look up whether this was posted, by its nonce; None when not, and where the platform cannot say.

        Raises:
            SurfaceDown, RateLimited: It cannot be looked up now.
        """
        return None

    async def watch(self) -> None:
        """Return never while the surface works; raise when it cannot go on, to be built anew."""
        await Event().wait()

    async def check(self) -> Sequence[Check]:
        """Look whether it could work, without starting: token, intents, scopes, permissions.

        It posts nothing, takes nothing in and may run beside a gateway that uses the same token.

        Raises:
            SurfaceDown: The platform cannot be reached.
            SurfaceConfigError: It will not work until somebody changes something; says what.
        """
        return ()

    @abstractmethod
    async def close(self) -> None:
        """Hand in nothing more and let go of the platform; safe to call twice, and before `start`."""


def load_surface(dotted: str, options: Mapping[str, object]) -> Surface:
    """Build a surface from what a configuration says.

    Args:
        dotted: `package.module:Class`.
        options: Keyword arguments of the class.

    Raises:
        SurfaceConfigError: No such module or class, not a surface, options it does not take, or a secret in them.
    """
    refuse_secrets(options)
    module_name, colon, attribute = dotted.partition(":")
    if not colon or not module_name or not attribute:
        raise SurfaceConfigError(f"surface {dotted!r}: write it as package.module:Class")
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except ImportError as exc:
        raise SurfaceConfigError(f"surface {dotted!r}: {exc}") from exc
    except AttributeError as exc:
        raise SurfaceConfigError(f"surface {dotted!r}: {module_name} has no {attribute}") from exc
    if not (isinstance(factory, type) and issubclass(factory, Surface)):
        raise SurfaceConfigError(f"surface {dotted!r}: it is no Surface")
    known = inspect.signature(factory).parameters
    takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    if not takes_all and (unknown := sorted(set(options) - set(known))):
        takes = ", ".join(name for name in known if name != "name") or "none"
        raise SurfaceConfigError(f"surface {dotted!r} has no option {unknown[0]!r}; it takes {takes}")
    try:
        return factory(**options)
    except (TypeError, ValueError) as exc:
        raise SurfaceConfigError(f"surface {dotted!r}: {exc}") from exc


_SECRETS: Final = re.compile(r"(.*_)?(token|secret|password)")


def refuse_secrets(options: Iterable[str]) -> None:
    """Refuse options that hold a secret themselves: a configuration is copied, shown and committed."""
    for option in options:
        if _SECRETS.fullmatch(option):
            raise SurfaceConfigError(
                f"{option} does not belong in a configuration: put it into a file of your own (chmod 600) and"
                f" name that in {option}_file, or set its MOOT_ variable"
            )
