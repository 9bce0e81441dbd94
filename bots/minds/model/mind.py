"""The mind of a model, for every seat whose bot posts typed messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.model.asking import Asking, ModelOptions, Spare, Tell, nobody, nobody_instead
from moot.bots.minds.model.filling import FaultOf, filling_for, nothing_wrong
from moot.bots.minds.model.material import material
from moot.bots.minds.model.measured import is_measured, own_fields
from moot.bots.minds.model.toolkit import Toolkit
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.models.caller import Caller, NoBudget
from moot.bots.models.errors import NoSchema
from moot.config.prompts import Prompts
from moot.protocols.kernel.message import Message
from moot.protocols.rulebook import rulebook

DelayOf = Callable[[View], timedelta | None]
"""How long after its opening an obligation is answered."""

NOTHING: Final = Toolkit()


def drawn(seed: int) -> DelayOf:
    """Return delays drawn from the seed, below the time limit: virtual and paced time."""
    return lambda view: delay(seed, view.obligation, view.attempt, view.now, RELIABLE)


def at_once(_view: View) -> timedelta:
    """Answer when the model has answered: real time."""
    return timedelta(0)


class ModelMind(Mind):
    """Fills a seat with a model.

    It says what is the seat's own word; what the rules fix is filled in, and what can be measured is measured. An
    answer that cannot be used is never used in part: the seat stays silent, and the log says why (K30).
    """

    def __init__(
        self,
        caller: Caller,
        options: ModelOptions,
        prompts: Prompts,
        *,
        delay: DelayOf,
        kit: Toolkit = NOTHING,
        measured: Mind | None = None,
        when_spent: Spare[Mind] = nobody_instead,
        fault_of: FaultOf = nothing_wrong,
        tell: Tell = nobody,
    ) -> None:
        """Take what the mind is made of.

        Args:
            caller: What calls go through.
            options: How the model is called.
            prompts: What it is told.
            delay: When its answers are posted.
            kit: What it may look up, and what else is known.
            measured: Gives the answers of which some is measured; None: nothing is, and a model is asked for all.
            when_spent: Gives who answers when no call fits into a budget; None: nobody, the seat stays silent.
            fault_of: Says which rule an answer would break, so that it is mended before it is posted.
            tell: Keeps in the log why the seat stays silent.
        """
        self._asking = Asking(caller, options, tell)
        self._prompts = prompts
        self._delay = delay
        self._kit = kit
        self._measured = measured
        self._when_spent = when_spent
        self._fault_of = fault_of

    def begins_at_once(self, view: View) -> bool:
        """Say whether a model is asked; what is measured is so when it is due."""
        return self._measured is None or not _is_all_measured(view)

    def consider(self, view: View) -> timedelta | None:
        if self._measured is not None and _is_all_measured(view):
            return self._measured.consider(view)
        return self._delay(view)

    async def answer(self, view: View) -> Reply | None:
        try:
            return await self._answer(view)
        except NoBudget as exc:
            if (spare := await self._when_spent(view)) is not None:
                return _stood_in(await spare.answer(view))
            await self._asking.silent(view, f"was not asked: {exc}")
        except NoSchema as exc:
            await self._asking.silent(view, f"was not asked: {exc}")
        return None

    async def _answer(self, view: View) -> Reply | None:
        body: Message | None = None
        if self._measured is not None and any(is_measured(kind) for kind in view.asked):
            reply = await self._measured.answer(view)
            if reply is None or own_fields(reply.body.type) == ():
                return _stood_in(reply)
            body = reply.body
        if fixed := self._kit.fixed(view):
            view = view._replace(brief={**view.brief, **fixed})
        filling = filling_for(view, body, self._faults_of)
        if not filling.is_open:
            return _stood_in(Reply(filling.make({})))
        kinds = view.asked if body is None else (body.type,)
        book = rulebook()
        case = book.types[view.kind].shown if view.kind in book.types else view.kind
        made = await self._asking.ask(
            view,
            self._prompts.instructions(view.seat, kinds, case),
            material(view, self._asking.options.most_transcript, self._kit.shown(view)),
            filling.form,
            self._kit.offered(view),
        )
        return None if made is None else Reply(made)

    def _faults_of(self, view: View, body: Message) -> str:
        return self._kit.fault_of(view, body) or self._fault_of(view, body)


def _stood_in(reply: Reply | None) -> Reply | None:
    return None if reply is None else replace(reply, is_stand_in=True)


def _is_all_measured(view: View) -> bool:
    return all(own_fields(kind) == () for kind in view.asked)
