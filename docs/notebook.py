"""Execute a notebook in a real kernel of the Python that runs this; `generate.py` writes what it shows.

Usage: python docs/notebook.py NOTEBOOK.ipynb. Each cell must show what the file says it shows.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

START_S: Final = 120
CELL_S: Final = 120


def shown(cell: Any) -> tuple[str, list[Any]]:
    """Return what a cell prints, in however many pieces it came, and what else it shows; without counters."""
    outputs = cell.get("outputs", ())
    printed = "".join(out["text"] for out in outputs if out["output_type"] == "stream")
    others = [out for out in outputs if out["output_type"] != "stream"]
    return printed, [out.get("data", out.get("evalue")) for out in others]


def executed(text: str) -> Any:
    """Return a notebook with what its cells show when they are executed in a fresh directory."""
    book = nbformat.reads(text, as_version=4)
    with tempfile.TemporaryDirectory() as place:
        NotebookClient(
            book,
            timeout=CELL_S,
            startup_timeout=START_S,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": place}},
        ).execute(env={**os.environ, "IPYTHONDIR": place})
    return book


def with_output(text: str) -> str:
    """Return a notebook's file as it is to be: as it stands where it shows what it says, else written anew."""
    book = executed(text)
    if differing(text, book) is None:
        return text
    for cell in book.cells:
        printed, _ = shown(cell)
        if printed:
            others = [out for out in cell.outputs if out["output_type"] != "stream"]
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed), *others]
    book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.writes(book) + "\n"


def differing(text: str, book: Any) -> str | None:
    """Say which cell of an executed notebook does not show what its file says; None where all do."""
    said = nbformat.reads(text, as_version=4).cells
    for n, (cell, before) in enumerate(zip(book.cells, said, strict=True), 1):
        if shown(cell) != shown(before):
            return f"cell {n} shows\n{shown(cell)}\nand the file says\n{shown(before)}"
    return None


def main(name: str) -> None:
    """Execute a notebook and compare."""
    text = Path(name).read_text(encoding="utf-8")
    book = executed(text)
    if (why := differing(text, book)) is not None:
        sys.exit(f"{name}, {why}")
    print(f"{len(book.cells)} cells")


if __name__ == "__main__":
    main(*sys.argv[1:])
