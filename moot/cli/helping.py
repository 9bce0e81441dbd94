"""How help is laid out: what it does, how it is written, options, examples; no boxes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from moot.cli.output import has_colour, print_hanging

MOST_COLUMNS: Final = 100
"""Help is not wider than this: longer lines are hard to read."""

MARGIN: Final = 2
"""Blanks before the lines of a section."""

EXIT_CODES: Final = (
    ("0", "Done."),
    ("1", "A check said no."),
    ("2", "The command line, a file or a directory is not what the command needs."),
    ("3", "The society, its rules or your rights refuse it."),
    ("130", "Interrupted by Ctrl-C."),
)
"""What every command ends with, unless its own help says more (K24)."""

_HEAD: Final = "bold"
_NAME: Final = "cyan"


def command_help(ctx: Any, command: Any, title: str = "", listed: Sequence[tuple[str, str]] = ()) -> str:
    """Lay out the help of one command, with a section of its own before the options if it lists something."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.get_params(ctx) if p.param_type_name == "option" and not p.hidden]
    usage = [ctx.command_path, *(_argument(p) for p in arguments), "[OPTIONS]"]
    parts = [*_prose(command.help), *_section("Usage", [Text(" ".join(usage))])]
    if described := [(p.metavar or p.name, p.help) for p in arguments if p.help]:
        parts += _section("Arguments", _rows(described))
    if listed:
        parts += _section(title, _rows(listed))
    parts += _section("Options", _rows([(_option(p), _about(p)) for p in options]))
    parts += _examples(command.epilog)
    return _render(parts)


def program_help(ctx: Any, program: Any, panels: Mapping[str, Sequence[str]]) -> str:
    """Lay out the help of the program: its commands by what they are for."""
    parts = [*_prose(program.help), *_section("Usage", [Text(f"{ctx.command_path} COMMAND [OPTIONS]")])]
    for panel, names in panels.items():
        commands = [program.commands[name] for name in names if name in program.commands]
        rows = [(c.name, _summary(c.help)) for c in commands if not c.hidden]
        if rows:
            parts += _section(panel, _rows(rows, width=13))
    options = [p for p in program.get_params(ctx) if not p.hidden]
    parts += _section("Options", _rows([(_option(p), _about(p)) for p in options], width=13))
    parts += _examples(program.epilog)
    if ctx.parent is None:
        parts += _section("Exit codes", _rows(EXIT_CODES, width=13))
    parts += [Text(""), Text(f"{ctx.command_path} COMMAND --help explains a command, with examples.", "dim")]
    return _render(parts)


def _prose(text: str | None) -> Iterator[Text]:
    for n, paragraph in enumerate((text or "").split("\n\n")):
        if n:
            yield Text("")
        yield Text(" ".join(paragraph.split()))


def _summary(text: str | None) -> str:
    """Return the first clause of a help text."""
    first = " ".join((text or "").split("\n\n", 1)[0].split())
    return re.split(r"[:;]", first)[0].rstrip(".")


def _section(title: str, lines: Iterable[Text]) -> list[Text]:
    return [Text(""), Text(title, _HEAD), *(Text(" " * MARGIN) + line for line in lines)]


def _examples(epilog: str | None) -> list[Text]:
    if not epilog:
        return []
    room = _console().width - MARGIN
    return _section("Examples", [Text(part) for line in epilog.splitlines() for part in _broken(line, room)])


def _broken(line: str, room: int) -> Iterator[str]:
    """Break a command line where a shell lets it go on: what is copied runs, on a terminal of any width."""
    if len(line) <= room:
        yield line
        return
    words = re.findall(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+", line)
    begun = words[0]
    for word in words[1:]:
        if len(begun) + len(word) + len(" ") > room - len(" \\"):
            yield f"{begun} \\"
            begun = f"  {word}"
        else:
            begun += f" {word}"
    yield begun


def _rows(rows: Sequence[tuple[str, str | None]], *, width: int = 0) -> list[Text]:
    widest = max([width, *(len(name) + 2 for name, _ in rows)])
    return [Text.assemble((f"{name:<{widest}}", _NAME), about or "") for name, about in rows]


def _argument(param: Any) -> str:
    name = param.metavar or param.name.upper()
    return name if param.required else f"[{name}]"


def _option(param: Any) -> str:
    names = ", ".join(sorted((*param.opts, *param.secondary_opts), key=len, reverse=True))
    return names if param.is_flag else f"{names} {param.metavar or param.name.upper()}"


def _about(param: Any) -> str:
    about = param.help or ""
    if param.required:
        return f"{about} (required)"
    if isinstance(param.show_default, str):
        return f"{about} [{param.show_default}]"
    return about


def _console() -> Console:
    """Return a console that keeps what it prints, as wide as help may be."""
    colours = has_colour(sys.stdout)
    console = Console(
        file=StringIO(),
        force_terminal=colours,
        color_system="standard" if colours else None,
        highlight=False,
        emoji=False,
        markup=False,
    )
    console.width = min(console.width, MOST_COLUMNS)
    return console


def _render(parts: Iterable[Text]) -> str:
    """Wrap and colour the lines; continued lines stand under the text they continue."""
    console = _console()
    for part in parts:
        print_hanging(console, Text(), part, _hang(part.plain), width=console.width)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().rstrip("\n")


def _hang(line: str) -> int:
    """Return the column of the second column of a row, of the text of any other line."""
    body = line.lstrip(" ")
    margin = len(line) - len(body)
    gap = body.find("  ")
    if not margin or gap < 0:
        return margin
    return margin + gap + len(body[gap:]) - len(body[gap:].lstrip(" "))
