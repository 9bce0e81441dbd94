"""`moot scene`: a scripted stretch of a society's life."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.cli.app import command
from moot.cli.errors import CheckFailed, Refused
from moot.cli.look.log import Reader
from moot.cli.minds import Minds, say_models
from moot.cli.output import say, write_lines
from moot.cli.place import AsJson
from moot.cli.run.chaos import SHOWN
from moot.cli.setup.config import settings as configured
from moot.place import free_for_a_log
from moot.protocols.kernel.errors import BadInput


@command(
    "moot scene ./second-revise.yaml",
    "moot scene ./second-revise.yaml --out ./runs/second-revise",
    "moot scene ./second-revise.yaml --mind critic=my_minds:MyCritic",
    "moot scene ./second-revise.yaml --model http://127.0.0.1:8080/v1#qwen3:8b --seats explorer",
    "moot scene ./second-revise.yaml --json | jq -r .body.type",
)
def scene(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scene in YAML.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Keep the log in this directory.")
    ] = None,
    who: Minds = Minds(),
    as_json: AsJson = False,
) -> int:
    """Run a scene in virtual time and show its log.

    A scene scripts what seats say; whatever it leaves open is simulated with its seed. With --json each line
    is one message, as moot log gives it. A scene with `rehearse` says what goes wrong; its log is judged as
    moot chaos does it. Exit code 1: something was found; 3: what it injects was refused.
    """
    from moot.config.settings import load_settings
    from moot.seating import seats_of
    from moot.simulation.scene import load_scene, plan_of, run_scene

    if out is not None:
        free_for_a_log(out)
    # Of a configuration of one's own a scene takes the protocols that it may speak, what models there are and what they
    # may spend, and nothing else; first, since seats and types in the scene may be those of such a protocol.
    own = configured(None)
    settings = load_settings().model_copy(update={"protocols": own.protocols})
    if who.model is not None:
        settings = settings.model_copy(update={"models": own.models, "budget": own.budget})
    played = load_scene(file)
    among = seats_of(plan_of(played, None, settings).settings)
    if played.rehearse is not None and (who.mind or who.model):
        raise BadInput("a scene with `rehearse` has minds of its own: leave --mind and --model out")
    seated = who.over(settings, among)
    plan = plan_of(played, out, seated.settings, seated.minds)
    say_models(plan.chosen, seated.settings)
    result = run_scene(played, out, seated.settings, plan.chosen)
    if as_json:
        write_lines(envelope.line for envelope in result.envelopes)
    else:
        reader = Reader()
        for envelope in result.envelopes:
            reader.show_envelope(envelope)
    for warning in result.warnings:
        say(f"moot scene: {warning}")
    for finding in result.findings[:SHOWN]:
        say(f"moot scene: {finding}")
    if len(result.findings) > SHOWN:
        say(f"moot scene: and {len(result.findings) - SHOWN} more that may follow from these")
    if result.findings:
        return CheckFailed.exit_code
    return Refused.exit_code if result.refused else 0
