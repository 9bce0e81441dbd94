"""The page as a NiceGUI element: one Vue component, and the questions and news that pass between it and its session."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final

import structlog
from nicegui import ui
from nicegui import version as nicegui_version
from nicegui.dependencies import compute_key, register_esm
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from moot.console.errors import ConsoleError
from moot.console.page.session import Visit
from moot.reports.drawing import STYLE as DRAWINGS

WEB: Final = Path(__file__).with_name("web")
"""What runs in the browser."""

FIRST: Final = ("board", "compose", "feed", "message", "nav", "time", "words")
"""The parts that every page shows at once; the browser is told of them before it finds them one by one."""

STYLE: Final = "".join(
    f"<style>{path.read_text(encoding='utf-8')}</style>" for path in (WEB / "console.css", DRAWINGS)
)

# The parts are modules of their own, cached by browsers for a year under a key: the newest file's time is in it.
_NEWEST: Final = max(path.stat().st_mtime for path in WEB.iterdir())
register_esm("moot-console", WEB, max_time=_NEWEST)
# Figures are drawn by the ECharts that NiceGUI brings; importing its package makes it known to the browser.
importlib.import_module("nicegui.elements.echart")


class Page(Element, component="web/moot_page.js"):
    """The whole page; a thin end of its session."""

    def __init__(self, boot: dict[str, Any], session: Visit) -> None:
        """Show what the first paint needs, and take the page's questions."""
        super().__init__()
        self._props["boot"] = boot
        self._session = session
        self.on("ask", self._take)

    def tell(self, news: dict[str, Any]) -> None:
        """Tell the page what happened."""
        if not self.is_deleted:
            self.run_method("push", news)

    async def _take(self, event: GenericEventArguments) -> None:
        asked = event.args if isinstance(event.args, dict) else {}
        result, fault = None, ""
        try:
            args = asked.get("args")
            result = await self._session.ask(str(asked.get("op")), args if isinstance(args, dict) else {})
        except ConsoleError as exc:
            fault = str(exc)
        except Exception as exc:
            structlog.get_logger("moot.console.page").error(
                "page not answered", op=str(asked.get("op"))[:40], why=f"{type(exc).__name__}: {exc}"[:300]
            )
            fault = "That did not work; the gateway's log says why."
        if not self.is_deleted:
            self.run_method("answer", asked.get("id"), result, fault)


def dress() -> None:
    """Put the style into the page's head, so that the first paint has it, and name the parts that it needs.

    The frame that NiceGUI puts around every page is a `main`; the page has one of its own, so the frame is a `div`.
    """
    ui.context.client.page_container.default_slot.children[0].tag = "div"
    base = f"/_nicegui/{nicegui_version.__version__}/esm/{compute_key(WEB, max_time=_NEWEST)}"
    ui.add_head_html(STYLE + "".join(f'<link rel="modulepreload" href="{base}/{name}.js">' for name in FIRST))
