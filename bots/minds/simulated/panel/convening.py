"""Put something before a panel: the work is kept as evidence, the log says only where (spec 2)."""

from __future__ import annotations

from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.desk.deskfile import subject
from moot.bots.minds.simulated.panel.change_work import change_work
from moot.bots.minds.simulated.panel.dossier import dossier
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.config.contracts import load_contract
from moot.protocols.panel.contract import as_json, prepared
from moot.protocols.panel.messages import PanelOpened
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading.seats import OPERATOR


def promotion(turn: Turn) -> Reply | None:
    """Open the panel that the Operator owes on a promotion."""
    title = f"Promotion of {subject(turn)}"
    return _opened(turn, "strategy", title, "trading strategies", dossier(turn))


def change(turn: Turn) -> Reply | None:
    """Open the panel that the Evolver owes on an approved change."""
    change_id, _, _ = turn.view.brief["change"]
    title = f"Architecture change {change_id}"
    return _opened(turn, "architecture", title, "research architecture", change_work(turn))


def _opened(turn: Turn, contract: str, title: str, field: str, text: str) -> Reply | None:
    """Open a panel over a text; stay silent when the disk does not take it, for there is nothing to judge then."""
    ref = turn.tools.keep_work(text)
    if not ref:
        return None
    body = PanelOpened(
        parent_id=turn.case_id,
        contract=as_json(prepared(load_contract(contract), turn.now)),
        title=title,
        field=field,
        word_count=len(text.split()),
        content_ref=ref,
    )
    return Reply(body)


ANSWERS: Final[Answers] = {
    (OPERATOR, PanelOpened): promotion,
    (EVOLVER, PanelOpened): change,
}
