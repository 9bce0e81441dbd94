"""The shell around a mind of one's own: when it is asked, how long it may think, what becomes of a failure."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.replying import WrongBody
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.temper import RELIABLE
from moot.channels.showing.wording import an
from moot.clock import Clock, WallTimeout
from moot.minds.choosing import Chosen, told
from moot.minds.thread import MindThread, StillHanging
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.minds import SILENT
from moot.protocols.kernel.seats import Seat

Tell = Callable[[View, str], Awaitable[None]]
"""Keeps in the log why a seat stays silent."""

NOTHING: Final = "gave nothing"
"""How the line begins that says so."""

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")


class SeatedMind(Mind):
    """Fills a seat with a mind of one's own.

    It is asked on its thread while virtual and accelerated time stand still, and answers after a delay that the seed
    draws, never after what its thinking took; in real time it answers when it is done. A mind that says `pure` is
    asked in the society's loop. Whatever goes wrong is one line in the log, and the seat stays silent.
    """

    def __init__(self, chosen: Chosen, clock: Clock, seed: int, thread: MindThread, tell: Tell) -> None:
        """Take the mind, and what it is asked with."""
        assert chosen.mind is not None
        self.own = chosen.mind
        self._name = chosen.name
        self._timeout_s = chosen.timeout_s
        self._clock = clock
        self._seed = seed
        self._thread = thread
        self._tell = tell

    def consider(self, view: View) -> timedelta | None:
        if self._clock.kind == "real":
            return timedelta(0)
        return delay(self._seed, view.obligation, view.attempt, view.now, RELIABLE)

    async def answer(self, view: View) -> Reply | None:
        reply, why = await self.attempt(view)
        if reply is None:
            await self._silent(view, why)
        return reply

    async def attempt(self, view: View) -> tuple[Reply | None, str]:
        """Ask the mind; return its answer, or None and why there is none."""
        try:
            return _reply(await self._asked(view), view), ""
        except WallTimeout:
            why = f"has no answer after {self._timeout_s:g} s"
        except StillHanging as exc:
            why = f"was not asked: {exc}"
        except _Useless as exc:
            why = str(exc)
        except WrongBody as exc:
            why = f"has no answer: {exc}"
        except (Exception, SystemExit) as exc:
            why = f"raised {told(exc)}{_place(exc, self.own)}"
        # An address differs from one run to the next, and the log is to be the same.
        return None, _ADDRESS.sub("0x…", why)

    @staticmethod
    def is_deliberate(why: str) -> bool:
        """Say whether that is why there is no answer: the mind gave None."""
        return why.startswith(NOTHING)

    async def text(self, view: View) -> str | None:
        """Return the text of an answer, for a seat whose shell makes the message; None: it stays silent."""
        view = own_view(view)
        reply = await self.answer(view)
        if reply is None:
            return None
        text = text_of_reply(reply, view)
        if text is not None:
            return text
        await self._silent(view, f"gave {an(reply.body.type)}, where {_expected(view)} was asked for")
        return None

    async def _asked(self, view: View) -> Any:
        if type(self.own).pure:
            given = self.own.answer(view)
            return await given if inspect.isawaitable(given) else given
        ask = partial(self.own.answer, view)
        return await self._clock.from_thread(self._thread.submit(ask, self._name, self._timeout_s))

    async def _silent(self, view: View, why: str) -> None:
        await self._tell(view, f"{self._name} {why}; the {view.seat} stays silent")


def own_view(view: View) -> View:
    """Return the view of a mind whose seat has a shell: what else may settle the obligation is said by that."""
    return view._replace(obligation=replace(view.obligation, expects=view.asked[:1]))


def text_of_reply(reply: Reply, view: View) -> str | None:
    """Return the text of an answer; None when it is none to what is asked."""
    text = getattr(reply.body, "text", None)
    return text if reply.body.type in view.asked and isinstance(text, str) else None


class _Useless(Exception):
    """What a mind gave is no answer."""


def _reply(given: Any, view: View) -> Reply:
    if isinstance(given, Message):
        return Reply(given)
    if isinstance(given, Reply) and isinstance(given.body, Message):
        return given
    if given is None:
        raise _Useless(f"{NOTHING}, where {_expected(view)} was asked for")
    what = f"gave {an(type(given).__name__)}, which is no message"
    raise _Useless(f"{what}, where {_expected(view)} was asked for: return view.reply(...)")


def _place(exc: BaseException, own: object) -> str:
    """Say at which line of the mind's own module it was raised, or what that called raised; "" for none."""
    modules = {kind.__module__ for kind in type(own).__mro__}
    places = [
        f" at {Path(frame.f_code.co_filename).name}:{line}"
        for frame, line in traceback.walk_tb(exc.__traceback__)
        if frame.f_globals.get("__name__") in modules
    ]
    return places[-1] if places else ""


def _expected(view: View) -> str:
    return " or ".join(view.asked)


class OwnMinds:
    """The minds of one's own in one society, each instance with one thread, whatever seats it fills.

    Attributes:
        tell: Keeps in the log why a seat stays silent; whoever has a log sets it.
    """

    def __init__(self, chosen: Mapping[str, Chosen], clock: Clock, seed: int) -> None:
        """Take what fills the seats."""
        self._chosen = chosen
        self._clock = clock
        self._seed = seed
        self._threads: dict[int, MindThread] = {}
        self.tell: Tell = _nobody

    def is_silent(self, seat: Seat) -> bool:
        """Say whether a seat is left to people."""
        return seat in self._chosen and self._chosen[seat].name == SILENT

    def mind(self, seat: Seat) -> SeatedMind | None:
        """Return the mind of one's own that fills a seat, None where none does."""
        chosen = self._chosen.get(seat)
        if chosen is None or chosen.mind is None:
            return None
        thread = self._threads.setdefault(id(chosen.mind), MindThread(f"mind {seat}"))
        return SeatedMind(chosen, self._clock, self._seed, thread, self._say)

    async def _say(self, view: View, why: str) -> None:
        await self.tell(view, why)

    def close(self) -> None:
        """Let all threads end."""
        for thread in self._threads.values():
            thread.close()


async def _nobody(_view: View, _why: str) -> None:
    """Nobody listens."""
