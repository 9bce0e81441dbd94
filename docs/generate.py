"""Write what is generated: pages from the code, models from Arbiter's schemas; `--check` fails when one is stale."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import typer.testing
from rich.console import Console

from docs import architecture, notebook, snippets
from docs.arbiter_files import arbiter_files
from docs.arbiter_models import MODELS, models_text
from docs.checked_fields import checked_fields
from moot.cli.commands import app
from moot.cli.look.log import Reader
from moot.config.contracts import SCHEMA
from moot.laws import LAWS
from moot.protocols.escalation.triggers import TRIGGERS
from moot.protocols.kernel.machine import Machine, Row, rows
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import VIEWER
from moot.protocols.kernel.steps import ENDED, Step
from moot.protocols.panel.contract_schema import schema_text
from moot.protocols.rulebook import rulebook, rules
from moot.simulation.scene import load_scene, run_scene

ROOT: Final = Path(__file__).resolve().parent.parent
HERE: Final = ROOT / "docs" / "reference"
NOTE: Final = (
    "<!-- written by docs/generate.py from the code's tables; change those, then `make generate` -->\n\n"
)


def permissions() -> Iterator[str]:
    """Write the channels, who reads them, and who may post what where."""
    yield "# Channels and permissions\n"
    yield "Which seat reads which channel, and may say what there: the permission matrix. What it does not allow is"
    yield "refused before it is logged, and kept as an AUDIT line in `#admin`. `moot view DIR SEAT` shows what a seat"
    yield "reads.\n"
    yield "## Channels\n"
    yield "| channel | system | purpose | read by |\n|---|---|---|---|"
    matrix = rules().matrix
    for channel in rulebook().channels:
        readers = sorted(
            seat for seat in rulebook().seats if seat != VIEWER and matrix.may_read(seat, channel.name)
        )
        yield f"| `{channel.name}` | {channel.system} | {channel.purpose} | {', '.join(readers)} |"
    yield "\nViewers read and write what `[viewers]` in the [configuration](../how-to/configure.md) says.\n"
    yield "## Who posts what where\n"
    yield "| type | seats | channels | what it does |\n|---|---|---|---|"
    for kind in sorted(matrix.types):
        found = [row for row in matrix.rows if row.type == kind]
        channels = frozenset().union(*(row.channels for row in found))
        seats = frozenset().union(*(row.seats for row in found))
        where = "any" if channels == matrix.channels else ", ".join(f"`{name}`" for name in sorted(channels))
        doc = _summary(rulebook().messages[kind])
        yield f"| {kind} | {', '.join(sorted(seats))} | {where} | {doc} |"


def fields() -> Iterator[str]:
    """Write the fields of every message."""
    yield "# Message types\n"
    yield "Every message is an envelope around one of these bodies; `moot schema` prints their JSON Schema.\n"
    for name, cls in rulebook().messages.items():
        yield f"## {name}\n"
        yield f"{_summary(cls)}\n"
        schema = cls.model_json_schema(mode="serialization", by_alias=True)
        required = {
            info.serialization_alias or name for name, info in cls.model_fields.items() if info.is_required()
        }
        yield "| field | type | required |\n|---|---|---|"
        for field, shape in schema["properties"].items():
            yield f"| `{field}` | {_shape(shape)} | {'yes' if field in required else 'no'} |"
        parts = schema.get("$defs", {})
        for part, shape in parts.items():
            inner = ", ".join(f"`{field}` {_shape(kind)}" for field, kind in shape["properties"].items())
            yield f"\n{part}: {inner}."
        yield ""


def _summary(cls: type[Message]) -> str:
    """Return the first line of a docstring without the numbers of rules, which stand there for readers of the code."""
    return CITED.sub("", (cls.__doc__ or "").split("\n")[0])


def _shape(schema: Mapping[str, Any]) -> str:
    """Say in a few words what a JSON Schema admits."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_shape(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        inner = _shape(items) if items else ", ".join(_shape(item) for item in schema.get("prefixItems", ()))
        return f"list of {inner}"
    bounds = [f"{word} {schema[key]:g}" for key, word in BOUNDS.items() if key in schema]
    return " ".join([str(schema.get("type", "any")), *bounds])


BOUNDS: Final = {"minimum": "from", "maximum": "to"}
"""Words for bounds."""


CITED: Final = re.compile(r" \((?:spec )?(?:(?:\d+(?:\.\d)?|[KR][\w-]*\d)(?:, )?)+\)")
"""Rules in parentheses."""


def states() -> Iterator[str]:
    """Write how every kind of case moves, as tables and diagrams, in the rulebook's order."""
    yield "# States and obligations\n"
    yield "What a phase makes owed, and until when. After `within` the referee pings; after the grace it may rule, and"
    yield "the ruling says what silence leads to: *void* lets the message fall, *skip* goes on without it, and what"
    yield "else stands there, such as REJECT, is decided in the seat's place. What a table lacks is illegal. `moot"
    yield "obligations DIR` shows what is owed now.\n"
    for machine in rulebook().types.values():
        yield f"## {machine.shown}\n"
        yield from _machine(machine)


def _machine(machine: Machine) -> Iterator[str]:
    """Write a machine: what its phases make owed, what moves it where, and a diagram."""
    yield "| step | phase | owes | message | channel | within | grace | silence leads to |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, step in machine.steps.items():
        phases = _said((step.phase, *step.lasts), machine)
        yield (
            f"| {name} | {phases} | {_owing(step)} | {' or '.join(step.expects)} | `{step.channel}` "
            f"| {_within(step)} | {_span(step.grace)} | {_silence(step)} |"
        )
    for phase, ending in machine.idle.items():
        yield f"| | {phase} | nobody | | | | | until {ending} |"
    found = list({(row.phase, row.event, row.move.to): row for row in rows(machine) if row.move.to}.values())
    yield "\n| phase | event | leads to |\n|---|---|---|"
    for (event, to), phases in _alike(found).items():
        yield f"| {_said(phases, machine)} | {event} | {' or '.join(to)} |"
    yield "\n```mermaid\nstateDiagram-v2"
    for kind, start in machine.start.items():
        for phase in start.phases:
            if phase != ENDED:
                yield f"    [*] --> {phase}: {kind.model_fields['type'].default}"
    arrows: dict[tuple[str, str], dict[str, None]] = {}
    for row in found:
        for phase in (row.phase,) if row.phase else [one for one in machine.idle if one not in machine.dry]:
            for to in row.move.to if row.move.to != (phase,) else ():
                arrows.setdefault((phase, to), {})[row.event] = None
    for (phase, to), events in arrows.items():
        yield f"    {phase} --> {_place(to)}: {', '.join(events)}"
    yield "```\n"


def _alike(found: list[Row]) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Put rows together that say the same of several phases: by event and where it leads."""
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for row in found:
        together.setdefault((row.event, row.move.to), []).append(row.phase)
    return together


def _said(phases: Sequence[str], machine: Machine) -> str:
    """Name phases; most of many are all but the others."""
    others = [phase for phase in machine.phases if phase not in phases]
    if "" in phases or not others:
        return "any"
    if len(phases) > 5 and len(others) <= len(phases):
        return f"any but {', '.join(others)}"
    return ", ".join(phases)


def _owing(step: Step) -> str:
    """Say who owes a step; where its subject decides, all who may post its answers."""
    if not callable(step.seat):
        return str(step.seat)
    return " and ".join(
        sorted({seat for row in rulebook().rights if row.type in step.expects for seat in row.seats})
    )


def _within(step: Step) -> str:
    if callable(step.within):
        return "as the case says"
    return _span(step.within) if step.within else "at once"


def _span(span: timedelta) -> str:
    return f"{span // timedelta(minutes=1)} min"


def _silence(step: Step) -> str:
    missed = step.missed
    if missed is None:
        return "cannot be missed"
    outcome = "as the case stands" if callable(missed.outcome) else missed.outcome
    return f"{outcome}, then {' or '.join(missed.move.to)}"


def _place(phase: str) -> str:
    return "[*]" if phase == ENDED else phase


def escalations() -> Iterator[str]:
    """Write the trigger table."""
    yield "# Escalations\n"
    yield "What asks for an admin, who answers [in the terminal, on the page or in a chat](../how-to/take-part.md). An"
    yield "unanswered escalation takes the first option, the conservative one, after four hours; protocols of your own"
    yield "[declare others](../how-to/ask-a-person.md#an-escalation-of-its-own). URGENT is paged again"
    yield "until somebody acknowledges it, DECISION_NEEDED waits for a choice, ATTENTION informs. In brackets stands"
    yield "what the log calls the effect of an option; `…` is the seat, the lineage or the case in question.\n"
    yield "| code | level | system | trigger | options (effect) |\n|---|---|---|---|---|"
    for code, trigger in TRIGGERS.items():
        options = "; ".join(
            f"{n}. {label} (`{effect}`)" for n, (label, effect) in enumerate(trigger.options, 1)
        )
        text = trigger.text.replace("{subject}", "…")
        yield f"| `{code}` | {trigger.level} | {trigger.system} | {text} | {options} |"


def laws() -> Iterator[str]:
    """Write the laws that every log keeps."""
    yield "# Laws\n"
    yield (
        "What every log of a society keeps, whatever breaks: judged on the messages alone, by code that knows no\n"
        "machine and no table of the society. A message that a VIOLATION refuses counts for none of them, but for\n"
        "those about the log itself.\n"
    )
    yield "| law | what it says |\n|---|---|"
    for law in LAWS:
        yield f"| `{law.name}` | {law.says} |"


PAGES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "permissions.md": permissions,
    "messages.md": fields,
    "states.md": states,
    "escalations.md": escalations,
    "laws.md": laws,
    "arbiter-files.md": arbiter_files,
    "checked-fields.md": checked_fields,
}


EXCERPT: Final = re.compile(
    r"(<!-- excerpt: (?P<scene>[\w./-]+)(?: (?P<first>\d+)-(?P<last>\d+))? -->\n```\n).*?(```\n)", re.DOTALL
)
"""A block that shows what a scene prints, all of it or some of its messages."""
LEFT_OUT: Final = frozenset({"SOCIETY_STARTED", "SOCIETY_STOPPED", "RESEARCH_NOTE", "REFLECTION"})
"""Messages that a page leaves out, as its text says; their numbers are missing."""
COLUMNS: Final = 96
"""As many as a page of Markdown shows without a bar to scroll."""


def excerpt(scene: str, first: int = 1, last: int = sys.maxsize) -> str:
    """Run a scene and return what `moot scene` prints of its messages on a terminal, without `LEFT_OUT`."""
    file = io.StringIO()
    width = Console(
        file=file, width=COLUMNS, force_terminal=True, no_color=True, highlight=False, emoji=False
    )
    reader = Reader(width)
    for envelope in run_scene(load_scene(ROOT / scene)).envelopes:
        if envelope.body.type not in LEFT_OUT and first <= envelope.seq <= last:
            reader.show_envelope(envelope)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    return "\n".join(line.rstrip() for line in plain.splitlines()) + "\n"


COMMANDS: Final = re.compile(r"(<!-- commands: (?P<file>[\w./-]+) -->\n```\n).*?(```\n)", re.DOTALL)
"""A block that shows what command lines print; the file holds one a line and lies beside what they read."""


MESSAGE: Final = re.compile(r"^( *\d+)  \d{4}-\d\d-\d\d (\d\d:\d\d  #)")
"""A message of a log in a pipe: its number, the date, the time, the channel; a terminal names the date but once."""

HANG: Final = 29
"""Columns before what a message goes on with in a terminal."""


def printed(file: str) -> str:
    """Run command lines in a copy of their directory and return them with what they print on a terminal.

    What one that ends in `QUIET` prints is not shown.
    """
    path = ROOT / file
    told = []
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(path.parent, place, dirs_exist_ok=True)
        with contextlib.chdir(place):
            for line in path.read_text(encoding="utf-8").splitlines():
                shown = _output_of(line.removesuffix(QUIET))
                told.append(f"$ {line}\n" if line.endswith(QUIET) else f"$ {line}\n{shown}\n")
    return "".join(told).removesuffix("\n")


QUIET: Final = " > /dev/null"


def _output_of(line: str) -> str:
    env = {"NO_COLOR": "1", "COLUMNS": str(COLUMNS), "FORCE_COLOR": None, "MOOT_CONFIG": None}
    done = typer.testing.CliRunner().invoke(app, shlex.split(line)[1:], env=env, catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(f"{line}: exit code {done.exit_code}: {done.output}")
    lines = [part for text in done.output.splitlines() for part in _folded(text.rstrip())]
    return "\n".join(lines) + "\n"


def _folded(line: str) -> list[str]:
    """Break a message of a log, which is one line in a pipe, as a terminal of `COLUMNS` does: under its seat."""
    if len(line) <= COLUMNS or not MESSAGE.match(line):
        return [line]
    return textwrap.wrap(
        MESSAGE.sub(r"\1  \2", line), COLUMNS, subsequent_indent=" " * HANG, break_on_hyphens=False
    )


WEEKS: Final = re.compile(r"\[[\d,]+( weeks?)(?=\]\((?:\.\./)*tests/soak/results\.md\))")
"""How many weeks were lived with faults and nothing was found, in a link to their table."""


@functools.cache
def weeks() -> int:
    """Return how many of the weeks in the table of `make soak` have no finding."""
    rows = json.loads((ROOT / "tests" / "soak" / "results.json").read_text(encoding="utf-8"))
    return sum(row["seeds"][1] - row["seeds"][0] + 1 - len(row["findings"]) for row in rows)


def with_excerpts(text: str) -> str:
    """Return a page with what its scenes and commands print today."""
    text = WEEKS.sub(lambda found: f"[{weeks():,}{found[1]}", text)
    text = COMMANDS.sub(lambda found: found[1] + printed(found["file"]) + found[3], text)
    return EXCERPT.sub(lambda found: found[1] + _excerpt(found) + found[5], text)


def _excerpt(found: re.Match[str]) -> str:
    if found["first"]:
        return excerpt(found["scene"], int(found["first"]), int(found["last"]))
    return excerpt(found["scene"])


def main(argv: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = []
    pages = {HERE / name: NOTE + "\n".join(page()).rstrip() + "\n" for name, page in PAGES.items()}
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = pages.get(path) or with_excerpts(path.read_text(encoding="utf-8"))
        pages[path] = snippets.with_output(text, path.name)
    for path in (ROOT / "docs").rglob("*.ipynb"):
        pages[path] = notebook.with_output(path.read_text(encoding="utf-8"))
    pages[architecture.PICTURE] = architecture.picture()
    pages[SCHEMA] = schema_text()
    pages[MODELS] = models_text()
    for path, text in pages.items():
        if "--check" in argv:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path)
        else:
            path.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{path} is out of date: make generate")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
