"""A run of the Arena judged from its raw messages alone: how it ended must follow from what its reviews say.

Written apart from `moot.protocols.arena.course` and its parser on purpose: a mistake there must not bless itself.
It knows the verdict line, the retry, the cap and what else may end a run (spec arena-protocol-v2, 6, 7.3, 9).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final

from moot.protocols.kernel.envelope import Envelope

BLANKS: Final = " \t\v\f"
MOST_ROUNDS: Final = 5


def verdict_of(text: str) -> str:
    """Return APPROVED or REVISE by the last line that is nothing but a verdict; "" without one."""
    found = ""
    # Reads on at LF, CR LF and CR, line by line, however many there are.
    for line in io.StringIO(text, newline=None):
        if ":" not in line or not line.isascii():
            continue
        before, _, after = line.strip(BLANKS + "\n").partition(":")
        token = after.strip(BLANKS).upper()
        if before.upper() == "VERDICT" and token in ("APPROVED", "REVISE"):
            found = token
    return found


class SecondArena:
    """The messages of a run that ended, from ARENA_TASK to RUN_TERMINATED, without those that broke a rule."""

    def __init__(self, said: Sequence[Envelope]) -> None:
        """Read the verdicts of its reviews."""
        self._said = said
        self._end: Any = said[-1].body
        self._kinds = {env.body.type for env in said}
        self._verdicts = [verdict_of(env.body.text) for env in said if env.body.type == "REVIEW"]  # type: ignore[attr-defined]
        if self._is_stateless:
            # What was written without the session is no review of this run (9.5).
            del self._verdicts[-1:]

    def judge(self) -> str:
        """Say what does not follow; "" when all does."""
        state, rounds = self._end.state, [one for one in self._verdicts if one]
        if self._end.rounds != len(rounds):
            return f"{self._end.rounds} rounds are told, {len(rounds)} reviews have a verdict"
        if len(rounds) > self._cap:
            return f"{len(rounds)} rounds, and the cap is {self._cap} (9.3)"
        for n, verdict in enumerate(rounds[:-1], 1):
            if verdict == "APPROVED":
                return f"round {n} was approved, and yet round {n + 1} followed"
        if self._is_unparsed:
            return "" if state == "TERMINATED_ERROR" else f"{state}, and two reviews have no verdict (9.1)"
        if state == "TERMINATED_ERROR":
            return "" if self._has_cause() else "TERMINATED_ERROR, and no message tells of one"
        last = rounds[-1] if rounds else "none"
        if state == "TERMINATED_APPROVED":
            return "" if last == "APPROVED" else f"{state}, and the last verdict is {last}"
        if last != "REVISE" or len(rounds) != self._cap:
            return f"{state}, and after {len(rounds)} of {self._cap} rounds the last verdict is {last}"
        return ""

    @property
    def _cap(self) -> int:
        task: Any = self._said[0].body
        given = task.config.get("max_rounds", MOST_ROUNDS)
        return given if isinstance(given, int) else MOST_ROUNDS

    @property
    def _is_unparsed(self) -> bool:
        return self._verdicts[-2:] == ["", ""]

    @property
    def _is_stateless(self) -> bool:
        """Say whether the last review ended the run because it resumes no session; its shell tells by RUN_FAULT."""
        return self._end.reason.startswith("SESSION_RESUME_MISSING") and "RUN_FAULT" not in self._kinds

    def _has_cause(self) -> bool:
        if self._is_stateless or self._kinds & {"RUN_FAULT", "RULING"}:
            return True
        if self._kinds <= {"ARENA_TASK", "RUN_TERMINATED"}:
            return True  # config or task; the checks read both
        for env in self._said:
            body: Any = env.body
            if body.type in ("DRAFT", "FINAL_OUTPUT") and not body.text.strip():
                return True
            if body.type == "HOOK_RESULT" and body.status == "FAILED":
                return True
        return False
