"""The program: its commands by what they are for, its exit codes (K24), and no traceback for anybody."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from inspect import Parameter, signature
from io import TextIOWrapper
from typing import Annotated, Any, ClassVar, Final, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from moot.cli.errors import CliError, Unusable
from moot.cli.output import say
from moot.cli.place import LASTING
from moot.cli.speaking import TELLS_ITSELF, explained, lacking, speak_installed

PANELS: Final = {
    "Run a society": ("up", "console", "simulate", "scene", "debate", "arena", "panel", "compare", "arbiter"),
    "Look": (
        "status", "log", "case", "why", "obligations", "escalations", "calls", "positions", "strategies", "view",
    ),
    "Act": (
        "post", "reply", "ack", "override", "take", "answer", "release", "pause", "step", "speed", "halt", "resume",
        "stop", "act",
    ),
    "Check and keep": ("verify", "chaos", "minds", "anchor", "rebuild", "export", "import", "backup"),
    "Set up": ("doctor", "models", "discord", "slack", "config", "schema"),
}  # fmt: skip
"""The commands by what they are for, in the order in which help lists them."""

RENAMED: Final = {
    "replay": "moot status DIR --until SEQ shows what it showed; moot simulate --replay DIR holds a run again",
}
"""Commands of before, and what does their work now."""

INTERRUPTED: Final = 128 + signal.SIGINT
PIPE_CLOSED: Final = 128 + signal.SIGPIPE

Function = TypeVar("Function", bound=Callable[..., Any])


class Command(TyperCommand):
    """A command with our help."""

    def get_help(self, ctx: Any) -> str:
        """Lay out `--help`."""
        from moot.cli.helping import command_help

        return command_help(ctx, self)


class Group(TyperGroup):
    """A group of commands with our help.

    Attributes:
        panels: Its commands by what they are for; empty: all of them, in the order in which they were declared.
    """

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def get_help(self, ctx: Any) -> str:
        """Lay out `--help`."""
        from moot.cli.helping import program_help

        return program_help(ctx, self, self.panels or {"Commands": tuple(self.commands)})


class Program(TyperGroup):
    """All commands; turns whatever they end with into an exit code and at most one line."""

    def get_help(self, ctx: Any) -> str:
        """Lay out `--help`."""
        from moot.cli.helping import program_help

        return program_help(ctx, self, PANELS)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one command line and exit; see the module."""
        given = [*sys.argv[1:]] if args is None else [*args]
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                # An encoding without arrows is no reason to fail.
                stream.reconfigure(errors="replace")
        code = self._run(given or ["--help"], **extra)
        sys.exit(code)

    def _run(self, args: list[str], **extra: Any) -> int:
        name = "moot"
        try:
            if instead := RENAMED.get(args[0]):
                raise Unusable(f"there is no '{args[0]}' any more: {instead}")
            if not args[0].startswith("-"):
                speak_installed(args[0])
            with LASTING, _warned(f"{name} {args[0]}"), self.make_context(name, args, **extra) as ctx:
                name = f"{name} {args[0]}" if args[0] in self.commands else name
                result = self.invoke(ctx)
                sys.stdout.flush()
                if args[0] not in TELLS_ITSELF and (line := lacking()):
                    say(f"{name}: {line}")
                return result if isinstance(result, int) else 0
        except typer.Exit as done:
            return done.exit_code
        except (KeyboardInterrupt, typer.Abort):
            return INTERRUPTED
        except BrokenPipeError:
            _drop_output()
            return PIPE_CLOSED
        except CliError as error:
            say(f"{name}: {_one_line(explained(error))}")
            return error.exit_code
        except TyperException as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                print(error.message)
                return 0
            where = getattr(getattr(error, "ctx", None), "command_path", name)
            say(f"{where}: {_complaint(_in_our_words(error))} Try '{where} --help'.")
            return 2
        except Exception as error:
            return _unforeseen(name, error)


app = typer.Typer(
    cls=Program,
    name="moot",
    help="""A society of bots that argue in chat channels under a referee.

    What they say stands in an append-only log. A society lives in a data directory; DIR below is one, or the
    directory of a simulated run.""",
    epilog="moot up --speed 120 --warm-up 3\nmoot simulate --days 7 --seed 1\nmoot log ./moot-data --follow",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from moot.version import MOOT_VERSION

        print(f"moot {MOOT_VERSION}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


def command(
    *examples: str,
    name: str | None = None,
    within: typer.Typer | None = None,
    cls: type[TyperCommand] = Command,
) -> Callable[[Function], Function]:
    """Declare a command. A parameter that is a dataclass stands for its fields: options that commands share.

    Args:
        examples: Command lines that `--help` shows; each of them parses.
        name: Its word, when it is not the function's name.
        within: The group it belongs to; the program itself by default, whose `PANELS` name it.
        cls: Lays out its help.
    """

    def declare(function: Function) -> Function:
        word = name or function.__name__.replace("_", "-")
        (within or app).command(word, cls=cls, epilog="\n".join(examples))(_spelled_out(function))
        return function

    return declare


def _spelled_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command in which the fields of its dataclasses are parameters of its own, in their place."""
    named = signature(function).parameters
    known = {name: function.__globals__.get(one.annotation) for name, one in named.items()}
    shared = {name: kind for name, kind in known.items() if isinstance(kind, type) and is_dataclass(kind)}
    if not shared:
        return function
    hints, parameters = get_type_hints(function, include_extras=True), []
    for name, one in named.items():
        if kind := shared.get(name):
            hints |= get_type_hints(kind, include_extras=True)
            parameters += [
                Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default) for field in fields(kind)
            ]
        else:
            parameters.append(one.replace(kind=Parameter.KEYWORD_ONLY))

    def spelled_out(**given: Any) -> Any:
        for name, kind in shared.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        return function(**given)

    spelled_out.__doc__ = function.__doc__
    spelled_out.__name__ = function.__name__
    spelled_out.__annotations__ = {one.name: hints[one.name] for one in parameters}
    spelled_out.__signature__ = signature(function).replace(  # type: ignore[attr-defined]
        parameters=[one.replace(annotation=hints[one.name]) for one in parameters]
    )
    return spelled_out


@contextmanager
def _warned(name: str) -> Iterator[None]:
    """Print what a user should know of a price file as a line of the command, once each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", module=r"moot\.bots\.tools\.")
        others, told = warnings.showwarning, set[str]()

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if category.__name__ != "PriceFileWarning":  # its class is not imported for every command
                others(message, category, *where, **more)
            elif (line := _one_line(message)) not in told:
                told.add(line)
                say(f"{name}: {line}")

        warnings.showwarning = show
        yield


def _one_line(error: object) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    # What people and bots wrote may be quoted in it; a terminal must not obey that.
    return "".join(char if char.isprintable() else "�" for char in text)


def _in_our_words(error: TyperException) -> str:
    """Return what is wrong; a wrong value reads as it does everywhere else."""
    from pydantic import ValidationError

    from moot.protocols.kernel.faults import why

    if isinstance(error.__cause__, ValidationError):
        error.message = why(error.__cause__.errors(include_url=False)[0])
    return error.format_message()


def _complaint(message: str) -> str:
    """Return what is wrong with a command line as a sentence in our manner."""
    text = _one_line(message)
    text = text[:1].lower() + text[1:]
    return text if text.endswith(("?", ".", ")")) else f"{text}."


def _drop_output() -> None:
    # Whoever read us has gone; what is still buffered must not raise again at exit.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
    finally:
        os.close(nowhere)


def _unforeseen(name: str, error: Exception) -> int:
    """Tell of an error that nobody foresaw: one line, the whole of it in a file."""
    from moot.cli.known import told

    foreseen = told(error)
    if os.environ.get("MOOT_DEBUG"):
        traceback.print_exception(error)
    if foreseen is not None:
        say(f"{name}: {_one_line(explained(foreseen))}")
        return foreseen.exit_code
    line = f"{name}: unexpected {type(error).__name__}: {_one_line(error)}"
    if os.environ.get("MOOT_DEBUG"):
        say(line)
        return 1
    try:
        handle, path = tempfile.mkstemp(prefix="moot-error-", suffix=".log", text=True)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        path = ""
    say(f"{line[:500]}. " + (f"The whole story is in {path}; " if path else "") + "MOOT_DEBUG=1 shows it.")
    return 1
