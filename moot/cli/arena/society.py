"""`moot arena start`, `record`: runs of the Arena in a society, and their audit records."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from moot.cli.act.acts import act, perform
from moot.cli.act.authority import As, config_of, seat_of, user_of
from moot.cli.act.people import made
from moot.cli.app import command
from moot.cli.arena.input import given
from moot.cli.arena.out import check_out, deliver
from moot.cli.arena.runs import FAILED, MaxRounds, ProtocolFile, RecordOut, TaskFile, group
from moot.cli.errors import Unusable
from moot.cli.fitting import Row, print_rows
from moot.cli.output import clock_time, page, say, write_json
from moot.cli.place import AsJson, Dir, Source
from moot.cli.reading import Log, key

if TYPE_CHECKING:
    from moot.cases.arena.source import NotebookSource
    from moot.protocols.kernel.envelope import Envelope

PLACE: Final = "#r-arena"
OPENER: Final = "ARENA_TASK"


@command(
    "moot arena start ./moot-data --task task.json",
    "moot arena start ./moot-data --task task.json --as ann",
    "moot arena start ./moot-data --task task.json --max-rounds 2",
    within=group,
)
def start(
    named: Dir,
    task: TaskFile,
    config: ProtocolFile = None,
    max_rounds: MaxRounds = None,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Post a task in a society's Arena, as an admin; moot arena record shows how it goes.

    Where no society runs the task waits for the next one. Exit code 4: the run ends before its first round, with the
    reason that is told.
    """
    from moot.protocols.arena.messages import ArenaTask
    from moot.protocols.arena.opening import refusal

    user, log = user_of(as_user), Log(named)
    what = given(task, config, max_rounds=max_rounds, source=notebook_of(log))
    body = made(ArenaTask, config=what.config, task=what.task, notebook=what.notebook)
    why = refusal(body)
    code = perform(
        log,
        act(user, seat_of(user, log), PLACE, body),
        as_json=as_json,
        done="the task is in the Arena" + (", and its run ends at once" if why else ""),
    )
    if why and not code:
        say(f"moot arena start: {why}")
        return FAILED
    return code


def notebook_of(log: Log) -> NotebookSource | None:
    """Return the notebook that a society's configuration names; None for none."""
    from moot.cases.arena.source import NotebookSource

    arena = config_of(log).get("arena")
    named = arena if isinstance(arena, dict) else {}
    kinds: tuple[tuple[Literal["folder", "command", "url"], str], ...] = (
        ("folder", "notebook"),
        ("command", "mcp"),
        ("url", "mcp_url"),
    )
    return next((NotebookSource(kind, str(named[key])) for kind, key in kinds if named.get(key)), None)


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a log.

    Attributes:
        run_id: Its case.
        task_id: What its task is called; None when it has no name.
        opened_at: When it was opened, RFC 3339.
        state: Where it is now.
        rounds: How many rounds are recorded.
        reason: Why it ended; None while it goes on.
    """

    run_id: str
    task_id: str | None
    opened_at: str
    state: str
    rounds: int
    reason: str | None


@command(
    "moot arena record ./moot-data",
    "moot arena record ./moot-data arena_20260223_1030 --out record.json",
    "moot arena record ./moot-data arena_20260223_1030 --json | moot arena conformance -",
    within=group,
)
def record(
    named: Source,
    run_id: Annotated[
        str | None, typer.Argument(metavar="RUN", help="A run, or the beginning of its id.")
    ] = None,
    out: RecordOut = None,
    as_json: AsJson = False,
) -> None:
    """Show the audit record of a run in a log, or list the runs that are in it.

    With --json it is the record itself, also of a run that is not over.
    """
    from moot.cli.look.case import full_id

    log = Log(named)
    if run_id is None:
        if out is not None:
            raise Unusable(f"--out needs a RUN: moot arena record {named} lists them")
        show_runs(log, as_json=as_json)
        return
    check_out(out)
    deliver(record_of(log, full_id(log, run_id)), out, as_json=as_json)


def record_of(log: Log, run_id: str) -> dict[str, Any]:
    """Make the audit record of a run.

    Raises:
        Unusable: The case is no run of the Arena.
    """
    from moot.protocols.arena.record import audit_record, versions_of
    from moot.protocols.authorship import written_by

    messages = [env for env in log.envelopes(having=[key("case_id", run_id)]) if env.case_id == run_id]
    versions = versions_of(log.envelopes(having=[key("type", "SOCIETY_STARTED")]))
    try:
        return audit_record(messages, written_by(messages, log.namebook().who.minds), versions)
    except ValueError:
        raise Unusable(f"{run_id} is no run of the Arena: moot arena record {log.path} lists them") from None


def show_runs(log: Log, *, as_json: bool) -> None:
    """List the runs of a log, oldest first."""
    found = [listed(log, env) for env in log.envelopes(having=[key("type", OPENER)]) if is_opener(env)]
    if as_json:
        write_json([asdict(one) for one in found])
        return
    target = page()
    if not found:
        target.print("the log holds no run of the Arena", style="dim")
        return
    rows = [
        Row(
            (
                one.run_id,
                clock_time(datetime.fromisoformat(one.opened_at)),
                str(one.rounds),
                one.state,
                ": ".join(text for text in (_clean(one.task_id), _clean(one.reason)) if text),
            )
        )
        for one in found
    ]
    heads = ("run", "opened", "rounds", "state", "task and reason")
    print_rows(target, heads, rows, right=("rounds",), below="task and reason", drop=("opened",))


def is_opener(env: Envelope) -> bool:
    """Say whether a message opened a run."""
    return env.body.type == OPENER and env.case_id is not None


def listed(log: Log, opener: Envelope) -> Listed:
    """Sum up the run that a message opened."""
    from moot.protocols.kernel.times import rfc3339

    run_id = opener.case_id or ""
    found = record_of(log, run_id)
    steps = found["transitions"]
    task = found["task"].get("task_id")
    return Listed(
        run_id=run_id,
        task_id=task if isinstance(task, str) else None,
        opened_at=rfc3339(opener.sent_at),
        state=steps[-1]["to"] if steps else "INIT",
        rounds=len(found["rounds"]),
        reason=found["terminal_reason"],
    )


def _clean(text: str | None) -> str:
    from moot.channels.showing.wording import clean

    return clean(text or "", 120)
