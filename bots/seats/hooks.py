"""The notebook hooks: before, during and after the loop (8), and what becomes of them when it fails (9.4)."""

from __future__ import annotations

from typing import Final

from bots.seats.weighing import claims_of, weigh
from bots.seats.writer import Work, Writer
from bots.tools.errors import ToolError
from bots.tools.notebook_answers import Passage
from protocols.arena.messages import Finding, HookResult

LIMIT: Final = 5
"""Passages asked for at once."""

LONGEST_QUERY: Final = 1_000


async def run_hook(writer: Writer, work: Work) -> HookResult:
    """Ask the notebook what this phase asks for; a notebook that fails is told of, not raised.

    Args:
        writer: Says what is asked.
        work: Whose brief names the phase and whether the task requires the notebook.
    """
    brief = work.view.brief
    phase = brief["hook"]
    question = writer.question(work)[:LONGEST_QUERY].strip() or str(brief["query"])[:LONGEST_QUERY]
    try:
        if phase == "before":
            await work.toolbox.call("notebook_describe")
        passages: tuple[Passage, ...] = await work.toolbox.call("notebook_query", text=question, limit=LIMIT)
    except ToolError as error:
        status = "FAILED" if brief["is_notebook_required"] else "SKIPPED_DEGRADED"
        return HookResult(phase=phase, query=question, evidence_refs=(), status=status, why=str(error)[:1000])  # type: ignore[arg-type]
    passages = tuple(one for one in passages if one.ref.strip())
    refs = tuple(dict.fromkeys(one.ref for one in passages))
    findings: tuple[Finding, ...] = ()
    if phase == "during":
        weighed = weigh(claims_of(work.last_draft()), [(one.ref, one.text) for one in passages])
        findings = tuple(
            Finding(claim=one.claim[:1000], evidence_ref=one.evidence_ref, stance=one.stance)
            for one in weighed
        )
    return HookResult(phase=phase, query=question, evidence_refs=refs, status="SUCCESS", findings=findings)
