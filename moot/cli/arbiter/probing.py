"""`moot arbiter validate --live`: whether the models of a run are there, found out without asking them anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.cli.setup.doctor import Diagnosis
from moot.cli.setup.models import Checked, reached

if TYPE_CHECKING:
    from moot.arbiter.ledger import Models


async def probed(models: Models, embedding_model: str) -> list[Checked]:
    """Ask each endpoint for its list of models, which costs nothing.

    Args:
        models: What the run may call.
        embedding_model: What embeds its answers, as its file has it.
    """
    from moot.arbiter.embedders import LOCAL, LocalEmbedder
    from moot.bots.models.errors import ModelError, NoPackage
    from moot.model_start import client_of

    found = []
    for name, given in models.settings.items():
        one = Checked(f"{given.model} at {given.url}")
        try:
            async with client_of(name, given) as client:
                one.findings.append(await reached(client, one))
        except ModelError as error:
            one.findings.append(Diagnosis("key", "failure", str(error).removeprefix(f"models.{name}: ")))
        found.append(one)
    if embedding_model == LOCAL:
        one = Checked(LOCAL)
        try:
            one.findings.append(Diagnosis("package", "ok", f"{LocalEmbedder().model} is installed"))
        except NoPackage as error:
            one.findings.append(Diagnosis("package", "failure", str(error)))
        found.append(one)
    return found
