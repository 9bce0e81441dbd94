"""Who may call what: every tool has an access mode, and a toolbox refuses before anything runs (Arena 3.2, 10.4).

A seat's mind is handed a `Toolbox`, never the tools. The Reviewer's holds the same tools as everybody's and allows
`Access.READ` only, so that an attempt to write is refused and can be shown afterwards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from moot.bots.notebook.errors import NoSuchTool, WriteBlocked, one_line

NAME_CHARS: Final = 80
"""How much of a refused name is kept: a mind may call anything."""


class Access(Enum):
    """What a tool may do to the world outside its caller."""

    READ = "read"
    WRITE = "write"


READ_ONLY: Final = frozenset({Access.READ})
READ_WRITE: Final = frozenset({Access.READ, Access.WRITE})


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a mind may call by name.

    Attributes:
        name: How it is called.
        access: Whether it may write.
        call: Runs it with named arguments.
    """

    name: str
    access: Access
    call: Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A call that a toolbox refused.

    Attributes:
        tool: The name that was called, on one line.
        access: What the tool may do; None where no such tool exists.
        why: The reason, as one line for a person.
    """

    tool: str
    access: Access | None
    why: str


class Toolbox:
    """The tools of one caller, with the access that caller has.

    What it refuses it raises and keeps: `blocked` lists every refused call in order, also where the caller
    swallowed the error.
    """

    def __init__(self, tools: Iterable[Tool], allowed: frozenset[Access]) -> None:
        """Take the tools and what the caller may do.

        Raises:
            ValueError: Two tools share a name.
        """
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are called {tool.name}")
            self._tools[tool.name] = tool
        self.allowed = allowed
        self._blocked: list[Blocked] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that this caller may use, sorted."""
        return tuple(sorted(tool.name for tool in self._tools.values() if tool.access in self.allowed))

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        """Every call that was refused, in order."""
        return tuple(self._blocked)

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """Run a tool and return what it returns.

        Raises:
            NoSuchTool: There is no tool of that name; nothing ran.
            WriteBlocked: The tool's access is not allowed here; nothing ran.
            Exception: Whatever the tool raises.
        """
        tool = self._tools.get(name)
        shown = one_line(name, NAME_CHARS)
        if tool is None:
            offered = ", ".join(self.names) or "none"
            why = f"there is no tool {shown!r} here; there are: {offered}"
            self._blocked.append(Blocked(shown, None, why))
            raise NoSuchTool(shown, why)
        if tool.access not in self.allowed:
            may = " and ".join(sorted(access.value for access in self.allowed)) or "do nothing"
            why = f"the tool {shown!r} may {tool.access.value}, and this seat may only {may}"
            self._blocked.append(Blocked(shown, tool.access, why))
            raise WriteBlocked(shown, why)
        return await tool.call(**arguments)
