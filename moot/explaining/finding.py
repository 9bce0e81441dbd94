"""What an id stands for: the messages of a log that belong to its story, read without folding the log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from moot.explaining.index import Index, Opener
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput

MOST_CASES: Final = 500
"""So many other cases of a story are read; the first of more."""

FRAMES: Final = frozenset({"CYCLE_TRIGGER", "TRADING_DAY"})
"""What opens the frames in which cases open: they hold too much to be part of every story in them."""

NAMING: Final[Mapping[str, str]] = {
    "strategy_id": "strategy",
    "hypothesis_id": "debate",
    "parent_strategy_id": "strategy it changes",
    "cycle_id": "cycle",
    "session_id": "session",
    "parent_id": "case it was opened in",
}
"""Fields of messages that name something else of a story, and what that is."""


@dataclass(slots=True)
class Story:
    """All that an explanation needs.

    Attributes:
        id: What was asked about, in full.
        focus: The messages that were asked about; none where a case was.
        case_id: The case that it is about; None where it is about none.
        own: That case's messages, or those that say they belong to the id, in order.
        named: Messages elsewhere that are about the case, or about the strategy that it is about.
        others: The messages of the other cases of the story, by case.
        index: Where all else stands.
    """

    index: Index
    id: str
    focus: list[Envelope] = field(default_factory=list)
    case_id: str | None = None
    own: list[Envelope] = field(default_factory=list)
    named: list[Envelope] = field(default_factory=list)
    others: dict[str, list[Envelope]] = field(default_factory=dict)

    def decided_on(self) -> dict[str, list[Envelope]]:
        """Return the messages of the cases that decided on the strategy which was asked about, by case."""
        return {
            case_id: said
            for case_id, said in self.others.items()
            if self.case_id is None and getattr(said[0].body, "strategy_id", None) == self.id
        }


def story_of(log: Opener, given: str) -> Story:
    """Find what an id stands for.

    Args:
        log: Opens the log.
        given: The number of a message, with or without #; an id of anything; or the beginning of a case's.

    Raises:
        BadInput: There is no such thing, or several begin so; the nearest is named.
    """
    asked = given.strip()
    if not asked:
        raise BadInput("no id is given: name a case, a strategy, or the number of a message")
    if re.fullmatch(r"#?\d{1,18}", asked):
        seq = int(asked.removeprefix("#"))
        index = Index(log, f'"seq":{seq},')
        found = [env for env in index.messages(index.naming) if env.seq == seq]
        if not found:
            raise BadInput(f"there is no message {seq}")
        return _around(index, asked, found)
    index = Index(log, f':"{asked}"' if '"' not in asked else asked)
    if asked in index.cases:
        return _of_case(Story(index, asked, [], asked))
    said = index.messages(index.naming)
    if asked in index.strategies:
        return _of_strategy(Story(index, asked))
    focus = (
        [env for env in said if env.id == asked]
        or [env for env in said if env.obligation_id == asked or refers(env, asked)]
        or [env for env in said if holds(env.body.model_dump(), asked)][:1]
    )
    if focus:
        return _around(index, asked, focus)
    frame = asked.partition("/")[0]
    if frame != asked and frame in index.cases:
        # What nobody has answered yet stands in no message.
        return _of_case(Story(index, asked, [], frame))
    return _of_case(Story(index, full := _completed(index, asked), [], full))


def _around(index: Index, asked: str, focus: list[Envelope]) -> Story:
    """Return the story of the case in which messages stand, or that they are for; else of the messages themselves."""
    case_id = focus[0].case_id or next(_framed(index, focus[0]), None)
    if case_id is None:
        return Story(index, asked, focus, None, focus)
    return _of_case(Story(index, asked, focus, case_id))


def _framed(index: Index, env: Envelope) -> Iterator[str]:
    """Yield the cases to whose duties a message belongs, such as the call of a model for an answer that is owed."""
    for value in vars(env.body).values():
        frame, parted, _ = value.partition("/") if isinstance(value, str) else ("", "", "")
        if parted and frame in index.cases:
            yield frame


def _of_case(story: Story) -> Story:
    index, case_id = story.index, str(story.case_id)
    story.own = index.messages(index.cases[case_id])
    if not story.own:
        # Who looks may read none of its messages.
        raise BadInput(f"nothing here is called {story.id}")
    strategies = set() if story.own[0].body.type in FRAMES else named_by(story.own, "strategy_id")
    about = [n for one in strategies for n in index.strategies.get(one, ())]
    found = index.messages({*about, *index.naming})
    story.named = [env for env in found if env.case_id != case_id and refers(env, case_id, *strategies)]
    return _with_others(story)


def _of_strategy(story: Story) -> Story:
    index = story.index
    story.own = index.messages(index.strategies[story.id])
    if not story.own:
        raise BadInput(f"nothing here is called {story.id}")
    _with_others(story)
    for case_id in story.decided_on():
        for asked in index.escalated.get(case_id, ()):
            if said := index.messages(index.cases[asked]):
                story.others[asked] = said
    return story


def _with_others(story: Story) -> Story:
    """Read the other cases of a story whole; of frames such as a cycle only the names are kept."""
    every = (*story.own, *story.named)
    ids = dict.fromkeys(env.case_id for env in every if env.case_id is not None)
    ids |= dict.fromkeys(named_by(every, "hypothesis_id"))
    ids |= dict.fromkeys(v for env in story.own for v in vars(env.body).values() if isinstance(v, str))
    wanted = [one for one in ids if one != story.case_id and one in story.index.cases]
    opened = {one: story.index.cases[one][0] for one in wanted}
    frames = {env.case_id for env in story.index.messages(opened.values()) if env.body.type in FRAMES}
    wanted = [one for one in wanted if one not in frames][:MOST_CASES]
    for env in story.index.messages(n for one in wanted for n in story.index.cases[one]):
        story.others.setdefault(str(env.case_id), []).append(env)
    return story


def named_by(said: Iterable[Envelope], name: str) -> set[str]:
    """Return the values that a field of messages has."""
    found = (getattr(env.body, name, None) for env in said)
    return {value for value in found if isinstance(value, str) and value}


def refers(env: Envelope, *ids: str) -> bool:
    """Say whether a message is about one of these: not whether it merely quotes them among its texts."""
    return any(isinstance(value, str) and value in ids for value in vars(env.body).values())


def holds(value: Any, wanted: str) -> bool:
    """Say whether a text stands in plain data as a value of its own."""
    if isinstance(value, Mapping):
        return any(holds(item, wanted) for item in value.values())
    if isinstance(value, list | tuple):
        return any(holds(item, wanted) for item in value)
    return bool(value == wanted)


def _alike(one: str, other: str) -> int:
    """Count the characters that two ids begin with alike."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _completed(index: Index, begun: str) -> str:
    """Complete the id of a case.

    Raises:
        BadInput: No case begins so, or several do.
    """
    found = [case_id for case_id in index.cases if case_id.startswith(begun)]
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(sorted(found)[:3]) + (" …" if len(found) > 3 else "")
        raise BadInput(f"{len(found)} cases begin with {begun}: {some}")
    nearest = get_close_matches(begun, index.ids, 10, 0.6)
    named = max(nearest, key=lambda one: _alike(one, begun), default="")
    raise BadInput(f"nothing here is called {begun}" + (f": do you mean {named}?" if named else ""))
