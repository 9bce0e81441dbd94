"""A program of its own: execute a notebook in a real kernel of the Python that runs this, and compare what it shows.

Usage: python run_notebook.py NOTEBOOK.ipynb [--write]. Each cell must show what the file says it shows; with --write
the file is written anew with what it showed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

START_S = 120
CELL_S = 120


def shown(cell: Any) -> tuple[str, list[Any]]:
    """Return what a cell prints, in however many pieces it came, and what else it shows; without counters."""
    outputs = cell.get("outputs", ())
    printed = "".join(out["text"] for out in outputs if out["output_type"] == "stream")
    others = [out for out in outputs if out["output_type"] != "stream"]
    return printed, [out.get("data", out.get("evalue")) for out in others]


def main(name: str, *more: str) -> None:
    """Execute a notebook in a fresh directory."""
    book = nbformat.read(name, as_version=4)
    expected = [shown(cell) for cell in book.cells]
    with tempfile.TemporaryDirectory() as place:
        client = NotebookClient(
            book, timeout=CELL_S, startup_timeout=START_S, kernel_name="python3", record_timing=False,
            resources={"metadata": {"path": place}},
        )  # fmt: skip
        client.execute()
    if "--write" in more:
        for cell in book.cells:
            printed, _ = shown(cell)
            if printed:
                others = [out for out in cell.outputs if out["output_type"] != "stream"]
                cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed), *others]
        book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        Path(name).write_text(nbformat.writes(book) + "\n", encoding="utf-8")
        return
    for n, (cell, before) in enumerate(zip(book.cells, expected, strict=True), 1):
        if shown(cell) != before:
            sys.exit(f"{name}, cell {n} shows\n{shown(cell)}\nand the file says\n{before}")
    print(f"{len(book.cells)} cells")


if __name__ == "__main__":
    main(*sys.argv[1:])
