"""Trials that ask models: one call each, or proposer, critic and proposer again.

Source: Arbiter spec, "P0 semantics highlights" and "Phase B v0 protocol: debate_v1".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from moot.arbiter.asking import Patience, Place, Post, ask
from moot.arbiter.outcomes import Outcomes, cut_short
from moot.arbiter.ports import NotBegun, RanTrial
from moot.arbiter.replies import Ending, attempt_of, call_of, ending, payload_of, usage_of
from moot.bots.models.caller import NoBudget
from moot.bots.models.request import Request
from moot.clock import Clock
from moot.config.arbiter.moot_protocols import KINDS
from moot.protocols.arbiter.contract import clause
from moot.protocols.arbiter.embed_text import is_blank, well_formed
from moot.protocols.arbiter.generated import (
    Attempt,
    Call,
    DrawnDecode,
    PlannedTrial,
    ResolvedConfiguration,
    Role,
    Roles,
    Speaker,
    Trial,
    TrialError,
    Turn,
)

MAX_TOKENS: Final = 2_048
"""What a model may generate where the configuration does not say: a call without a bound fits into no budget."""

PERSONA_RULE: Final = "\n\n---\n\n"
"""Between a persona and the role that it plays."""

CRITIQUE_REQUEST: Final = "Criticise this proposal."
FINAL_REQUEST: Final = "Give your final answer to my question now."

NO_BUDGET: Final = "no_budget"
"""The error code of a trial that could not be paid to its end."""


def runner_of(config: ResolvedConfiguration, outcomes: Outcomes, post: Post, clock: Clock) -> LiveRunner:
    """Return what carries out the trials of a run."""
    if config.protocol.type in KINDS:
        from moot.arbiter.convening import MeetingRunner  # it stands on this module

        return MeetingRunner(config, outcomes, post, clock)
    kind = DebateRunner if config.protocol.type == "debate_v1" else IndependentRunner
    return kind(config, outcomes, post, clock)


class LiveRunner:
    """What both kinds of trial have in common."""

    def __init__(self, config: ResolvedConfiguration, outcomes: Outcomes, post: Post, clock: Clock) -> None:
        """Begin a run.

        Args:
            config: The run.
            outcomes: Reads what is answered.
            post: Sends requests.
            clock: Tells the time.
        """
        sampling, protocol = config.sampling, config.protocol
        self._outcomes = outcomes
        self._post = post
        self._clock = clock
        self._question = config.question.text
        self._personas = {one.persona: one.text for one in sampling.personas}
        self._templates = {one.protocol: one.text for one in sampling.protocols}
        self._instruments = [one.text for one in sampling.instruments or ()]
        self._prompts = protocol.prompts
        self._clause = "" if protocol.decision_contract is None else clause(protocol.decision_contract)
        timeouts = protocol.timeouts
        self._trial_limit = timedelta(milliseconds=timeouts.total_trial_timeout_ms)
        self._patience = Patience.of(config, timeouts.per_call_max_retries)

    async def run(self, planned: PlannedTrial) -> RanTrial:
        """Carry out a trial."""
        raise NotImplementedError


class IndependentRunner(LiveRunner):
    """Asks a question once; a reply without a word is an answer, of which nothing can be read."""

    async def run(self, planned: PlannedTrial) -> RanTrial:
        assigned = planned.assigned_config
        told = (
            self._personas[assigned.persona or ""],
            self._templates[assigned.protocol or ""],
            self._clause,
            *self._instruments,
        )
        request = _request(joined(told), [("user", self._question)], assigned.decode)
        place = Place(planned.trial_id, 0, 0)
        try:
            asked = await ask(self._post, self._clock, place, assigned.model, request, self._patience)
        except asyncio.CancelledError:
            return cut_short(planned, self._outcomes.read(planned.trial_id, None))
        except NoBudget as lack:
            raise NotBegun(str(lack)) from None
        answer = asked.sent.answer
        status, error, error_code = ending(answer)
        text = well_formed(answer.text) if status == "success" else None
        measured = answer.measured if status == "success" else None
        trial = Trial(
            trial_id=planned.trial_id,
            requested_model_slug=assigned.model,
            actual_model=well_formed(answer.model_reported) or None,
            protocol=planned.protocol,
            status=status,
            assigned_config=assigned,
            attempt=attempt_of(asked),
            error=error,
            error_code=error_code,
            raw_assistant_text=text,
            request_payload=dict(asked.sent.body),
            response_payload=payload_of(answer.reply),
            usage=usage_of(answer),
        )
        return RanTrial(trial, self._outcomes.read(planned.trial_id, text, measured))


class _Turn(NamedTuple):
    """A turn of a debate as it is asked for."""

    role: Speaker
    system: str
    messages: tuple[tuple[str, str], ...]


class _Debate:
    """What was said in a debate so far.

    Attributes:
        measured: What the last turn said before it was redacted; None where nothing was.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.said: list[Turn] = []
        self.measured: str | None = None

    def text(self, turn: int) -> str:
        return self.said[turn].content


class DebateRunner(LiveRunner):
    """Has a proposer propose, a critic attack, and the proposer decide; a turn that fails or is empty ends it."""

    async def run(self, planned: PlannedTrial) -> RanTrial:
        roles = planned.role_assignments
        assert isinstance(roles, Roles)
        debate = _Debate()
        until = self._clock.now() + self._trial_limit
        ended = Ending("success", None, None)
        try:
            for turn in range(3):
                ended = await self._say(planned, roles, debate, turn, until)
                if ended.error is not None:
                    break
        except asyncio.CancelledError:
            short = cut_short(planned, self._outcomes.read(planned.trial_id, None))
            ended = Ending(short.trial.status, short.trial.error, short.trial.error_code)
        except NoBudget as lack:
            if not debate.calls:
                raise NotBegun(str(lack)) from None
            ended = Ending("error", TrialError(message=str(lack), code=NO_BUDGET, retryable=False), NO_BUDGET)
        return self._ran(planned, roles, debate, ended)

    async def _say(
        self, planned: PlannedTrial, roles: Roles, debate: _Debate, turn: int, until: datetime
    ) -> Ending:
        """Have a turn said, and keep it."""
        left = until - self._clock.now()
        if left <= timedelta(0):
            late = f"the trial had {self._trial_limit.total_seconds():g} s, and they were over after turn {turn - 1}"
            error = TrialError(message=late, code=None, retryable=False)
            return Ending("timeout_exhausted", error, "timeout_exhausted")
        asked_for = self._turn(roles, debate, turn)
        role: Role = getattr(roles, asked_for.role)
        request = _request(asked_for.system, asked_for.messages, role.decode)
        patience = self._patience._replace(limit=min(self._patience.limit, left))
        place = Place(planned.trial_id, turn, 0)
        asked = await ask(self._post, self._clock, place, role.model_slug, request, patience)
        answer = asked.sent.answer
        ended, text = ending(answer), well_formed(answer.text)
        if ended.error is None and is_blank(text):
            error = TrialError(message=f"turn {turn} of the debate is empty", code=None, retryable=False)
            ended = Ending("error", error, None)
        debate.calls.append(call_of(turn, turn, asked_for.role, role.model_slug, asked, ended))
        if ended.error is None:
            debate.said.append(Turn(turn=turn, role=asked_for.role, content=text))
            debate.measured = answer.measured
        return ended

    def _turn(self, roles: Roles, debate: _Debate, turn: int) -> _Turn:
        prompts = self._prompts
        assert prompts is not None
        question = ("user", self._question)
        if turn == 0:
            return _Turn("proposer", self._role(roles.proposer, prompts.proposer_system.text), (question,))
        attacked = (question, ("assistant", debate.text(0)), ("user", CRITIQUE_REQUEST))
        if turn == 1:
            return _Turn("critic", self._role(roles.critic, prompts.critic_system.text), attacked)
        system = self._role(roles.proposer, prompts.proposer_final_system.text)
        closing = (*attacked, ("assistant", debate.text(1)), ("user", FINAL_REQUEST))
        return _Turn("proposer", joined((system, self._clause)), closing)

    def _role(self, role: Role, prompt: str) -> str:
        persona = self._personas[role.persona_id or ""].strip()
        return f"{persona}{PERSONA_RULE}{prompt.strip()}" if persona else prompt.strip()

    def _ran(self, planned: PlannedTrial, roles: Roles, debate: _Debate, ended: Ending) -> RanTrial:
        status, error, error_code = ended
        text = debate.text(2) if status == "success" else None
        trial = Trial(
            trial_id=planned.trial_id,
            requested_model_slug=planned.assigned_config.model,
            actual_model=debate.calls[2].model_actual if len(debate.calls) == 3 else None,
            protocol=planned.protocol,
            status=status,
            assigned_config=planned.assigned_config,
            attempt=whole(debate.calls),
            error=error,
            error_code=error_code,
            raw_assistant_text=text,
            role_assignments=roles,
            calls=tuple(debate.calls),
            transcript=tuple(debate.said),
        )
        return RanTrial(trial, self._outcomes.read(planned.trial_id, text, debate.measured))


def joined(parts: tuple[str, ...]) -> str:
    """Join what a system prompt is made of by blank lines; empty parts leave none."""
    return "\n\n".join(part.strip() for part in parts if not is_blank(part))


def _request(system: str, said: Any, decode: DrawnDecode | None) -> Request:
    """Write a conversation as it is asked; a system prompt that says nothing is left out."""
    messages: list[Mapping[str, Any]] = [{"role": role, "content": text} for role, text in said]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    drawn = {} if decode is None else decode.as_json()
    return Request(messages=tuple(messages), max_tokens=drawn.pop("max_tokens", MAX_TOKENS), **drawn)


def whole(calls: list[Call]) -> Attempt | None:
    """Say when a debate was held, from its first call to its last."""
    if not calls:
        return None
    first, last = calls[0].attempt, calls[-1].attempt
    return Attempt(
        started_at=first.started_at,
        completed_at=last.completed_at,
        latency_ms=sum(one.attempt.latency_ms for one in calls),
        retry_count=sum(one.attempt.retry_count for one in calls),
    )
