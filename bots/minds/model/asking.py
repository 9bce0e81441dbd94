"""One answer of a model as a conversation: what is repaired, what is asked again, what ends in silence (K30)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from moot.bots.minds.mind import View
from moot.bots.minds.model.flags import flag_of
from moot.bots.minds.model.material import Quoted, quote
from moot.bots.models.answer import Answer, ToolCall
from moot.bots.models.caller import Caller
from moot.bots.models.forms import Form
from moot.bots.models.request import LONGER, Request, Tool
from moot.protocols.kernel.message import Message

REPAIRS: Final = 2
"""So often is an answer that cannot be used sent back."""

MOST_LOOK_UPS: Final = 5
"""So many turns may end with tools being called; the sixth answers."""

MOST_RESULT: Final = 6_000
"""Characters of a tool's result that are shown."""

MOST_QUOTED: Final = 4_000
"""Characters of a wrong answer that are shown to it again."""

TEXT_TOKENS: Final = 4_000
"""What an answer in plain words may have."""

T = TypeVar("T")

Tell = Callable[[View, str], Awaitable[None]]
"""Keeps in the log why a seat stays silent."""

Spare = Callable[[View], Awaitable[T | None]]
"""Gives who answers instead of a model; None: nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a seat's model is called.

    Attributes:
        name: What the log calls it: "the model local (qwen3:8b)".
        temperature: None: as its server says.
        max_tokens: What an answer may have; None: as its form needs.
        most_transcript: Characters of the transcript that are shown, the newest messages first to be kept.
    """

    name: str = "the model"
    temperature: float | None = None
    max_tokens: int | None = None
    most_transcript: int = 24_000


@dataclass(frozen=True, slots=True)
class SeatTool:
    """A tool of a seat.

    Attributes:
        tool: What the model is told of it.
        run: Takes arguments as the model gave them and returns a text; raises ValueError, whose text is for the model.
    """

    tool: Tool
    run: Callable[[Mapping[str, Any]], Awaitable[str]]


async def nobody(_view: View, _why: str) -> None:
    """Tell nobody."""


async def nobody_instead(_view: View) -> None:
    """Have nobody answer."""


class Asking:
    """Asks the model of one seat."""

    def __init__(self, caller: Caller, options: ModelOptions, tell: Tell = nobody) -> None:
        """Take what calls go through, and who is told of silence."""
        self.options = options
        self._caller = caller
        self._tell = tell

    async def ask(
        self,
        view: View,
        instructions: str,
        material: str,
        form: Form | None = None,
        tools: Sequence[SeatTool] = (),
    ) -> Any:
        """Have an answer; None when there is none, which is told.

        Args:
            view: What the mind is shown.
            instructions: What is the same for every duty of this kind.
            material: What this one is about.
            form: What is filled in; None: a text is written.
            tools: What may be looked up first.

        Returns:
            What the form's judge made of it, or a text.

        Raises:
            NoBudget: A call does not fit into what is left of a budget.
        """
        said: list[Mapping[str, Any]] = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": material},
        ]
        correction: list[Mapping[str, Any]] = []
        cap = self.options.max_tokens or (TEXT_TOKENS if form is None else room(form.schema))
        turn = repairs = look_ups = 0
        is_longer = is_flagged = False
        while True:
            turn += 1
            request = Request(
                messages=(*said, *correction),
                max_tokens=cap,
                form=form,
                tools=tuple(one.tool for one in tools),
                temperature=self.options.temperature,
                flag_of=lambda found: flag_of(found, _before(view)),
            )
            answer = await self._caller.ask(view, turn, request)
            if answer.outcome == "truncated" and not is_longer:
                is_longer, cap = True, cap * LONGER
            elif answer.outcome == "answered" and not answer.tool_calls:
                return answer.text if form is None else answer.value
            elif answer.outcome == "answered" and look_ups < MOST_LOOK_UPS:
                look_ups += 1
                said += await _looked_up(answer, tools, turn)
                correction = []
            elif (
                answer.outcome in ("answered", "unparsable")
                and repairs < REPAIRS
                and not (is_flagged and answer.is_flagged)
            ):
                repairs += 1
                is_flagged |= answer.is_flagged
                correction = _correction(answer)
            else:
                await self.silent(view, f"has no answer ({_status(answer)}): {answer.why or LOOPS}")
                return None

    async def silent(self, view: View, why: str) -> None:
        """Say why the seat stays silent."""
        await self._tell(view, f"{self.options.name} {why}; the {view.seat} stays silent")


def _before(view: View) -> Message | None:
    """Return what the seat posted last of what it is asked for now."""
    return next(
        (
            env.body
            for env in reversed(view.in_effect)
            if env.author == view.seat
            and env.body.type in view.asked
            and env.case_id == view.obligation.case_id
        ),
        None,
    )


LOOPS: Final = "it looked things up in every turn"


def _status(answer: Answer) -> str:
    return "tool loop" if answer.tool_calls else answer.outcome.replace("_", " ")


def _correction(answer: Answer) -> list[Mapping[str, Any]]:
    """Send an answer back with what is wrong with it; of several tries only the last is shown."""
    wrong = f"That cannot be used: {answer.why or 'nothing more can be looked up: give your answer now'}."
    found: list[Mapping[str, Any]] = []
    if answer.text.strip():
        found.append({"role": "assistant", "content": answer.text[:MOST_QUOTED]})
    return [*found, {"role": "user", "content": f"{wrong} Answer again, whole and corrected."}]


async def _looked_up(answer: Answer, tools: Sequence[SeatTool], turn: int) -> list[Mapping[str, Any]]:
    calls = [ToolCall(one.id or f"call_{turn}_{n}", *one[1:]) for n, one in enumerate(answer.tool_calls, 1)]
    asked = {
        "role": "assistant",
        "content": answer.text or None,
        "tool_calls": [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.name, "arguments": json.dumps(dict(one.arguments))},
            }
            for one in calls
        ],
        **({"thinking": answer.thinking} if answer.thinking else {}),
    }
    return [asked, *[await _result(one, tools) for one in calls]]


async def _result(call: ToolCall, tools: Sequence[SeatTool]) -> Mapping[str, Any]:
    run = next(one.run for one in tools if one.tool.name == call.name)
    try:
        text = await run(call.arguments)
    except ValueError as exc:
        text = f"error: {exc}"
    else:
        if len(text) > MOST_RESULT:
            text = f"{text[:MOST_RESULT]}… (shortened: ask for less)"
        # What was found may be another's words.
        text = quote([Quoted(call.name, text)])
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def room(schema: Mapping[str, Any]) -> int:
    """Return the tokens that filling in a form may take: little, for what is reserved others may not spend."""
    return 200 + _room(schema)


_TEXT: Final = 200
_ITEMS: Final = 5
_PLAIN: Final = 16
"""Tokens of a text, items of a list, and tokens of any other value; less where the form bounds them."""


def _room(schema: Mapping[str, Any]) -> int:
    if "enum" in schema:
        return _PLAIN
    if "anyOf" in schema:
        return max(_room(one) for one in schema["anyOf"])
    if schema["type"] == "object":
        return sum(12 + _room(one) for one in schema["properties"].values())
    if schema["type"] == "array":
        return 8 + min(_ITEMS, int(schema.get("maxItems", _ITEMS))) * _room(schema["items"])
    if schema["type"] != "string":
        return _PLAIN
    return max(_PLAIN, min(_TEXT, int(schema.get("maxLength", 4 * _TEXT)) // 4))
