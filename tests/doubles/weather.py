"""The protocol of the page on writing one, as a module that nobody has installed."""

import re
import sys
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-protocol.md"


def weather(name: str = "weather_double") -> ModuleType:
    """Return the module of the page, made anew: its protocol is another object each time."""
    (code,) = re.findall(r"```python\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.S)
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(code, name, "exec"), module.__dict__)
    return module
