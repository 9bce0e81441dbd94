"""What a law is, and how one is written.

A law is a class: its docstring is the sentence that a log must keep, its methods hear the types that they name.

    class OneRevision(Memory, source="1.2, R-D9"):
        \"\"\"A debate is revised once at most.\"\"\"

        @hears("REVISE_REQUEST")
        def requested(self, message: Message) -> Findings: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar

Message = Mapping[str, Any]
"""A stored envelope as JSON, with its `body`."""
Findings = Iterable[str]
Handler = Callable[[Message], Findings]

OVERTAKEN: Final = 8
"""An officer's message may be written before another one and stand after it; then it changes nothing (K5, K9).

It stands at most so many messages behind.
"""

ASIDES: Final = frozenset({"RESEARCH_NOTE"})
"""What bots may say about a case, as people say a NOTE: it is no move in it, also where the case has ended."""

EVERY: Final = "*"
_HEARS: Final = "_hears"
_Method = TypeVar("_Method", bound=Callable[..., Findings])


class Observer(Protocol):
    """Watches one log for one law."""

    def see(self, message: Message) -> Findings:
        """Take in the next message, in the order of `seq`; return what breaks the law by now."""

    def end(self) -> Findings:
        """Take in that the log ends here, in good order; return what still breaks the law."""


class Law(NamedTuple):
    """A sentence that every log keeps.

    Attributes:
        name: In lower case, with hyphens.
        says: The sentence.
        source: Section of the rules, ruling or promise of the kernel.
        memory: Makes what one watch of it remembers.
    """

    name: str
    says: str
    source: str
    memory: Callable[[], Memory]

    def watch(self) -> Observer:
        """Begin to watch a log for this law alone; `watching.Watch` watches for many at once."""
        from moot.laws.watching import Watch

        return Watch((self,)).alone()


class Memory:
    """What a law remembers of one log: little, and nothing of cases long over.

    A subclass hears the messages that count: not those that a VIOLATION refuses. One that is raw hears those too, and
    at once; one that hears facts hears of those the executions, which have happened (K11).
    """

    source: ClassVar[str] = ""
    is_raw: ClassVar[bool]
    hears_facts: ClassVar[bool]
    handling: ClassVar[dict[str, tuple[str, ...]]]

    def __init_subclass__(cls, *, source: str, is_raw: bool = False, hears_facts: bool = False) -> None:
        """Note what each method hears."""
        cls.source, cls.is_raw, cls.hears_facts = source, is_raw, hears_facts
        heard: dict[str, tuple[str, ...]] = dict(getattr(cls, "handling", {}))
        for name, method in vars(cls).items():
            for kind in getattr(method, _HEARS, ()):
                heard[kind] = (*heard.get(kind, ()), name)
        cls.handling = heard

    def handlers(self) -> dict[str, tuple[Handler, ...]]:
        """Return who hears which type."""
        return {kind: tuple(getattr(self, name) for name in names) for kind, names in self.handling.items()}

    def end(self) -> Findings:
        """Return what still breaks the law when the log is over."""
        return ()


def hears(*kinds: str) -> Callable[[_Method], _Method]:
    """Let a method hear messages of these types; without any, of every type."""

    def mark(method: _Method) -> _Method:
        setattr(method, _HEARS, kinds or (EVERY,))
        return method

    return mark


def laws_of(names: Mapping[str, object]) -> tuple[Law, ...]:
    """Return the laws that a module states, in its order."""
    return tuple(
        Law(_hyphened(name), " ".join((one.__doc__ or "").split("\n\n")[0].split()), one.source, one)
        for name, one in names.items()
        if isinstance(one, type)
        and issubclass(one, Memory)
        and one.__module__ == names["__name__"]
        and one.source
    )


def _hyphened(name: str) -> str:
    return "".join(f"-{one.lower()}" if one.isupper() else one for one in name).strip("-")
