"""Toolboxes: what is not allowed is refused before anything runs (Arena 3.2, 10.4)."""

import asyncio

import pytest

from moot.bots.notebook.access import READ_ONLY, READ_WRITE, Access, Blocked, Tool, Toolbox
from moot.bots.notebook.errors import NoSuchTool, WriteBlocked


@pytest.fixture
def ran():
    return []


@pytest.fixture
def tools(ran):
    async def read(**arguments):
        ran.append(("read", arguments))
        return "found"

    async def write(**arguments):
        ran.append(("write", arguments))

    return Tool("read", Access.READ, read), Tool("write", Access.WRITE, write)


def test_a_reader_reads_and_does_not_write(tools, ran):
    box = Toolbox(tools, READ_ONLY)
    assert asyncio.run(box.call("read", name="x")) == "found"
    with pytest.raises(WriteBlocked, match="'write' may write, and this seat may only read") as caught:
        asyncio.run(box.call("write", text="x"))
    assert caught.value.tool == "write"
    assert ran == [("read", {"name": "x"})]
    assert box.blocked == (Blocked("write", Access.WRITE, str(caught.value)),)
    assert box.names == ("read",)


def test_a_writer_writes(tools, ran):
    box = Toolbox(tools, READ_WRITE)
    asyncio.run(box.call("write"))
    assert (ran, box.blocked, box.names) == ([("write", {})], (), ("read", "write"))


def test_an_unknown_tool_is_refused_and_kept(tools, ran):
    box = Toolbox(tools, READ_ONLY)
    with pytest.raises(NoSuchTool, match="there is no tool 'rm -rf' here; there are: read"):
        asyncio.run(box.call("rm\n-rf"))
    assert ran == [] and [(b.tool, b.access) for b in box.blocked] == [("rm -rf", None)]


def test_who_may_do_nothing_does_nothing(tools, ran):
    box = Toolbox(tools, frozenset())
    with pytest.raises(WriteBlocked, match="may only do nothing"):
        asyncio.run(box.call("read"))
    assert ran == []


def test_two_tools_of_one_name_are_refused(tools):
    with pytest.raises(ValueError, match="two tools are called read"):
        Toolbox([*tools, tools[0]], READ_ONLY)
