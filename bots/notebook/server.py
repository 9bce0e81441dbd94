"""The bundled notebook: a folder of notes as an MCP server. Run as `python -m moot.bots.notebook.server DIR`.

Tools: `notebook_describe` and `notebook_query` (read-only), and `studio_create`, which writes reports beside the
notebook, unless `--no-studio` leaves it out. Standard output carries the protocol, or, with `--http`, one line with
the address once connections are taken.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, NoReturn

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError as RefusedCall
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from moot.bots.notebook.errors import NotebookError, one_line
from moot.bots.notebook.index import MOST_RESULTS, NotebookIndex
from moot.bots.notebook.studio import Studio

PORT: Final = 8377
MOST_NAMES: Final = 1_000
MOST_NOTICES: Final = 50
USAGE: Final = 2
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
WRITES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)

EXAMPLES: Final = """
examples:
  python -m moot.bots.notebook.server notes
      serves the folder over standard input and output, as an MCP client starts it
  python -m moot.bots.notebook.server notes --http --port 8377
      serves it at http://127.0.0.1:8377/mcp
  python -m moot.bots.notebook.server notes --no-studio
      offers no studio_create: nothing can be written

exit codes: 0 stopped, 2 the folder, the studio or the address cannot be used
"""


class Model(BaseModel):
    """What a tool answers."""

    model_config = ConfigDict(frozen=True)


class Description(Model):
    """What the notebook holds."""

    id: str
    title: str
    note_count: int
    passage_count: int
    notes: list[str] = Field(description=f"names of the first {MOST_NAMES:,} notes")
    can: list[str] = Field(description="the tools that this server offers")
    notices: list[str] = Field(description="what was left out and why")


class Found(Model):
    """A passage that was found."""

    ref: str = Field(description="stable evidence reference: cite it")
    note: str
    text: str
    score: float = Field(description="BM25; higher is better, comparable within one answer")


class Answer(Model):
    """The passages found, best first."""

    query: str
    passages: list[Found]


class Report(Model):
    """A report that was written."""

    ref: str
    file: str


def build(index: NotebookIndex, studio: Studio | None, *, notebook_id: str, title: str) -> MCPServer[None]:
    """Make the server of an index; `studio` None offers no `studio_create`."""
    server: MCPServer[None] = MCPServer("moot-notebook", title=title, log_level="WARNING")
    can = ["notebook_describe", "notebook_query"] + (["studio_create"] if studio is not None else [])

    # The tools are coroutines, so that they run one after the other on the loop and share one database.
    @server.tool(annotations=READS)
    async def notebook_describe() -> Description:
        """Tell what this notebook holds: its notes, how many passages they have, and what was left out."""
        try:
            index.refresh()
        except NotebookError as error:
            raise RefusedCall(str(error)) from error
        return Description(
            id=notebook_id,
            title=title,
            note_count=len(index.notes),
            passage_count=index.passage_count,
            notes=list(index.notes[:MOST_NAMES]),
            can=can,
            notices=list(index.notices[:MOST_NOTICES]),
        )

    @server.tool(annotations=READS)
    async def notebook_query(
        query: Annotated[str, Field(description="free text; its words are looked for")],
        limit: Annotated[int, Field(description=f"how many passages, 1 to {MOST_RESULTS}")] = 5,
    ) -> Answer:
        """Find the passages of the notes that bear on a text, best first, each with a reference to cite."""
        try:
            hits = index.query(query, limit)
        except NotebookError as error:
            raise RefusedCall(str(error)) from error
        found = [Found(ref=hit.ref, note=hit.note, text=hit.text, score=hit.score) for hit in hits]
        return Answer(query=query, passages=found)

    if studio is not None:
        writer = studio

        @server.tool(annotations=WRITES)
        async def studio_create(title: str, text: str) -> Report:
            """Write a report beside the notebook; never inside it, never over an older one."""
            try:
                file = writer.create(title, text)
            except NotebookError as error:
                raise RefusedCall(str(error)) from error
            return Report(ref=f"studio/{file}", file=file)

    return server


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a folder until the client goes or a signal comes; return the exit code."""
    options = _parser().parse_args(arguments)
    folder = Path(options.folder)
    try:
        studio = None if options.no_studio else Studio(options.studio or _beside(folder), folder)
        index = NotebookIndex(folder)
    except (NotebookError, OSError, ValueError) as error:
        return _failed(str(error))
    name = folder.resolve().name or "notebook"
    server = build(index, studio, notebook_id=options.id or name, title=options.title or name)
    for notice in index.notices[:MOST_NOTICES]:
        _tell(notice)
    try:
        if options.http:
            return _serve_http(server, options.host, options.port)
        asyncio.run(_serve_stdio(server))
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        index.close()
    return 0


async def _serve_stdio(server: MCPServer[None]) -> None:
    # The thread that reads standard input cannot be woken; between two callbacks nothing is half done.
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, os._exit, 0)
    await server.run_stdio_async()


def _serve_http(server: MCPServer[None], host: str, port: int) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        return _failed(f"cannot listen on {host} port {port}: {getattr(error, 'strerror', None) or error}")
    # asyncio does it only for sockets that name their protocol; without, each answer waits 40 ms for an ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if host not in LOOPBACK:
        _tell(f"everybody who can reach {host} can read the notes: no password is asked for")
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/mcp"
    # A client of the older protocol keeps a stream open; it does not keep the server from stopping.
    config = uvicorn.Config(
        server.streamable_http_app(host=host), log_level="warning", timeout_graceful_shutdown=1, lifespan="on"
    )
    # uvicorn raises the signal again when it has stopped.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    with listening:
        _Announcing(config, address).run(sockets=[listening])
    return 0


class _Announcing(uvicorn.Server):
    """Says where it listens once it takes connections."""

    def __init__(self, config: uvicorn.Config, address: str) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stdout.write(f"notebook at {self._address}\n")
        sys.stdout.flush()


def _leave(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


def _beside(folder: Path) -> Path:
    whole = folder.resolve()
    return whole.with_name(f"{whole.name or 'notebook'}-studio")


def _failed(problem: str) -> int:
    _tell(problem)
    return USAGE


def _tell(line: str) -> None:
    sys.stderr.write(f"notebook: {one_line(line)}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m moot.bots.notebook.server",
        description="Serve a folder of Markdown, text and JSON notes as an MCP notebook.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folder", metavar="DIR", help="the folder with the notes; subfolders count, hidden files do not"
    )
    parser.add_argument("--id", help="what the notebook is called by programs (default: the folder's name)")
    parser.add_argument("--title", help="what it is called by people (default: the folder's name)")
    parser.add_argument(
        "--http", action="store_true", help="serve over streamable HTTP instead of standard input"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=PORT, help="port to listen on, 0 for any free one (default: %(default)s)"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--studio", type=Path, metavar="DIR", help="where reports go (default: DIR-studio beside DIR)"
    )
    where.add_argument("--no-studio", action="store_true", help="offer no studio_create")
    return parser


if __name__ == "__main__":
    sys.exit(main())
