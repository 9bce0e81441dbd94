"""The protocol of the page on asking people, as a module that nobody has installed."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from moot.protocols.rulebook import rulebook, speak, speak_by

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ask-a-person.md"


def permits(name: str = "permits_double") -> ModuleType:
    """Return the module of the page, made anew: its protocol is another object each time."""
    code = code_of()
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(code, name, "exec"), module.__dict__)
    return module


def code_of() -> str:
    """Return the code of the page's protocol."""
    return re.findall(r"```python\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.S)[0]


@contextmanager
def spoken() -> Iterator[ModuleType]:
    """Let the process speak the protocol beside Moot's own."""
    before, module = rulebook(), permits()
    speak((module.PROTOCOL,))
    try:
        yield module
    finally:
        speak_by(before)
