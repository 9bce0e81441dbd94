"""The weekly architecture debate: proposals for the system itself, never for one strategy (spec 3)."""

from __future__ import annotations

from typing import Annotated, Literal

from moot.protocols.kernel.fields import Exact, Minted, Several, Week
from moot.protocols.kernel.message import Count, Ident, Message, Part, Text

Grade = Literal["low", "medium", "high"]
"""Severity of an objection, priority of a change."""


class ProposedChange(Part):
    """One change to the system; its id `arch_NNN` is counted by the sequencer."""

    change_id: Minted = ""
    scope: Text
    description: Text
    expected_benefit: Text


class ArchitectureProposal(Message):
    """Propose changes; the case judges their number and scope. Explorer, #a-arena (spec 3.1, R-D16)."""

    type: Literal["ARCHITECTURE_PROPOSAL"] = "ARCHITECTURE_PROPOSAL"
    period: Week
    proposals: Several[ProposedChange]


class ChangeCritique(Part):
    """What speaks against one change."""

    change_id: Ident
    objections: Several[Text]
    severity: Grade


class ArchitectureCritique(Message):
    """Challenge the proposals, twice. Critic, #a-arena (spec 3.1, R-D16)."""

    type: Literal["ARCHITECTURE_CRITIQUE"] = "ARCHITECTURE_CRITIQUE"
    period: Week
    round: Annotated[Literal[1, 2], Exact]
    critiques: Several[ChangeCritique]


class ChangeResponse(Part):
    """The answer to one critique; `concede` withdraws the change."""

    change_id: Ident
    response: Text
    concede: bool


class ArchitectureRebuttal(Message):
    """Answer the critique change by change. Explorer, #a-arena (spec 3.1, R-D16)."""

    type: Literal["ARCHITECTURE_REBUTTAL"] = "ARCHITECTURE_REBUTTAL"
    period: Week
    responses: Several[ChangeResponse]


class ApprovedChange(Part):
    """A change to be made, and by whom."""

    change_id: Ident
    description: Text
    priority: Grade
    implementation_notes: Text
    assigned_to: Literal["explorer", "evolver"]


class ArchitectureVerdict(Message):
    """Decide the proposals. Evolver, #a-arena (spec 3.2, R-D2)."""

    type: Literal["ARCHITECTURE_VERDICT"] = "ARCHITECTURE_VERDICT"
    period: Week
    proposals_evaluated: Count
    approved_changes: Several[ApprovedChange]
    deferred: Several[Text]
    rejected: Several[Text]
