"""The notebook hooks: before, during and after the loop (8), and what becomes of them when it fails (9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from moot.bots.notebook.answers import Passage
from moot.bots.seats.weighing import MOST_CLAIMS, Weighed, claims_of, is_beyond, is_claim, weigh
from moot.bots.seats.writer import Work, Writer
from moot.bots.tools.errors import ToolError
from moot.protocols.arena.messages import MOST_FINDINGS, HookResult, NotebookFinding

LIMIT: Final = 5
"""Passages asked for at once."""

OF_A_CLAIM: Final = 3
"""Passages asked for on one claim."""

LONGEST_QUERY: Final = 1_000

LONGEST_TOLD: Final = 10_000
"""So many characters of what was asked are kept."""


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
        if phase == "before" and "notebook_describe" in brief["tools"]:
            await work.toolbox.call("notebook_describe")
        passages = await _asked(work, question, LIMIT)
        checked = await _cross_checked(work, question, passages) if phase == "during" else _NOTHING
    except ToolError as error:
        status = "FAILED" if brief["is_notebook_required"] else "SKIPPED_DEGRADED"
        return HookResult(phase=phase, query=question, evidence_refs=(), status=status, why=str(error)[:1000])  # type: ignore[arg-type]
    refs = dict.fromkeys((*(one.ref for one in passages), *checked.refs))
    # A contradiction is what a review must hear of: where too much was found, support gives way.
    weighed = sorted(checked.weighed, key=lambda one: one.stance != "contradicts")[:MOST_FINDINGS]
    return HookResult(
        phase=phase,
        query=_told((question, *checked.asked), is_cut=checked.is_cut),
        evidence_refs=tuple(refs),
        status="SUCCESS",
        findings=tuple(
            [
                NotebookFinding(claim=one.claim[:1000], evidence_ref=one.evidence_ref, stance=one.stance)
                for one in weighed
            ]
        ),
    )


def question_of(work: Work) -> str:
    """Ask for what the task and the first claims of the draft are about."""
    brief = work.view.brief
    claims = ". ".join(claims_of(work.last_draft())[:3])
    prompt = brief["prompt"][:300].rstrip(" .")
    return f"{prompt}. {claims}".strip(" .") or str(brief["query"])


class _Checked(NamedTuple):
    """What the notebook says of a draft's claims.

    Attributes:
        asked: Further questions.
        refs: What bears on a claim, by reference.
        weighed: Which way it points.
        is_cut: Whether the draft claims more than was asked for.
    """

    asked: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    weighed: tuple[Weighed, ...] = ()
    is_cut: bool = False


_NOTHING: Final = _Checked()


async def _asked(work: Work, question: str, limit: int) -> tuple[Passage, ...]:
    found: tuple[Passage, ...] = await work.toolbox.call("notebook_query", text=question, limit=limit)
    return tuple([one for one in found if one.ref.strip()])


async def _cross_checked(work: Work, question: str, passages: Sequence[Passage]) -> _Checked:
    """Hold every claim of the draft against the notebook: one that the question lacks is asked for by itself (8.2).

    Of what is found for a claim, only what points one way or the other is evidence.
    """
    draft = work.last_draft()
    claims = claims_of(draft)
    asked: list[str] = []
    weighed = dict.fromkeys(weigh(claims, [(one.ref, one.text) for one in passages]))
    for claim in claims:
        if claim in question or not is_claim(claim):
            continue
        asked.append(claim[:LONGEST_QUERY])
        found = await _asked(work, asked[-1], OF_A_CLAIM)
        weighed |= dict.fromkeys(weigh((claim,), [(one.ref, one.text) for one in found]))
    refs = tuple([one.evidence_ref for one in weighed])
    return _Checked(tuple(asked), refs, tuple(weighed), is_beyond(draft))


def _told(asked: Sequence[str], *, is_cut: bool) -> str:
    """Write what was asked, one question a line; what does not fit is counted, and a cut of the draft is told."""
    lines: list[str] = []
    size = 0
    for n, one in enumerate(asked):
        size += len(one) + 1
        if size > LONGEST_TOLD:
            lines.append(f"(and {len(asked) - n} more)")
            break
        lines.append(one)
    if is_cut:
        lines.append(f"(the draft claims more than the {MOST_CLAIMS} claims that are asked for)")
    return "\n".join(lines)
