"""The notebook client against real servers: the bundled one, and one of another maker that breaks every promise."""

import asyncio
import json
import os
import signal
import time

import psutil
import pytest

from moot.bots.notebook.access import READ_ONLY, Toolbox
from moot.bots.notebook.client import McpNotebook
from moot.bots.notebook.errors import (
    NotebookError,
    NotebookGarbage,
    NotebookQueryError,
    NotebookRefused,
    NotebookTimeout,
    NotebookUnavailable,
    StudioUnavailable,
    WriteBlocked,
)
from moot.bots.notebook.reach import Address, Command, Folder
from moot.bots.notebook.tools import notebook_tools
from tests.doubles.notebook_running import (
    START,
    http_server,
    live,
    other,
    servers,
    until_all_are_gone,
    web_page,
)


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "momentum.md").write_text(
        "# Momentum\n\nIt crashes.\n\n## Crowding\n\nCrowded trades unwind together.\n"
    )
    (folder / "facts.json").write_text(json.dumps({"vol": "volatility clusters"}))
    return folder


def asks(reach, work, **limits):
    """Run `work(notebook)` in a society, close the notebook, and see that its server is gone."""

    async def main(_clock, io):
        async with McpNotebook(reach, io, **limits) as notebook:
            return await work(notebook)

    return live(main)


def fails(reach, text, kind, **limits):
    """Let a query fail; returns the error, which is one printable line."""

    async def work(notebook):
        with pytest.raises(NotebookError) as caught:
            await notebook.query(text)
        assert type(caught.value) is kind
        return str(caught.value)

    line = asks(reach, work, **limits)
    assert line.isprintable() and 10 < len(line) <= 300
    return line


def test_a_folder_is_described_searched_and_given_a_report(notes, capfd):
    async def work(notebook):
        about = await notebook.describe()
        assert (about.id, about.note_count, about.passage_count) == ("notes", 2, 3)
        assert about.notes == ("facts.json", "momentum.md")
        assert about.tools == ("notebook_describe", "notebook_query", "studio_create")
        [found] = await notebook.query("are trades crowded?")
        assert found.note == "momentum.md" and "unwind together" in found.text and found.score > 0
        assert await notebook.query("nothing like it", 3) == ()
        with pytest.raises(NotebookRefused, match="1 … 50"):
            await notebook.query("trades", 51)
        with pytest.raises(NotebookQueryError, match="empty"):
            await notebook.query(" ")
        return found.ref, await notebook.studio_create("My report", "Trades unwind.")

    first, report = asks(Folder(notes), work)
    assert report == "studio/my-report.md"
    assert (notes.parent / "notes-studio" / "my-report.md").read_text() == "# My report\n\nTrades unwind.\n"
    again, report = asks(Folder(notes), work)
    assert (again, report) == (first, "studio/my-report-2.md")
    assert sorted(path.name for path in notes.iterdir()) == ["facts.json", "momentum.md"]
    assert capfd.readouterr() == ("", "")


def test_time_of_the_society_stands_still_while_the_notebook_answers(notes):
    """K2, K22."""
    hours = []

    async def main(clock, io):
        async def tick():
            while True:
                await asyncio.sleep(3600)
                hours.append(clock.now())

        ticking = asyncio.create_task(tick())
        async with McpNotebook(Folder(notes), io) as notebook:
            assert await notebook.query("crowding")
            assert (clock.now(), hours) == (START, [])
            await asyncio.sleep(7200)
            assert await notebook.query("volatility")
        assert len(hours) == 2
        ticking.cancel()

    live(main)


def test_over_http_it_is_the_same_notebook(notes, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    async def main(_clock, io):
        with http_server(notes, "--no-studio") as (process, address):
            async with McpNotebook(Address(address), io) as far, McpNotebook(Folder(notes), io) as near:
                assert await far.query("crowding") == await near.query("crowding")
                with pytest.raises(StudioUnavailable, match="offers no studio_create"):
                    await far.studio_create("A", "b")
                process.kill()
                process.wait(5)
                with pytest.raises(NotebookUnavailable):
                    await far.query("crowding")
                with pytest.raises(NotebookUnavailable, match="connection attempts failed"):
                    await far.query("crowding")

    live(main)


def test_notes_changed_while_it_serves_are_seen(notes):
    async def work(notebook):
        assert await notebook.query("pineapple") == ()
        (notes / "new.txt").write_text("A pineapple.")
        (notes / "facts.json").unlink()
        assert [found.note for found in await notebook.query("pineapple")] == ["new.txt"]
        assert await notebook.query("volatility") == ()

    asks(Folder(notes), work)


def test_killed_in_the_middle_of_a_query_it_is_started_again_by_the_next():
    async def work(notebook):
        before = (await notebook.query("hello"))[0].ref
        asked = asyncio.create_task(notebook.query("hang"))
        [server] = servers()
        # Only the I/O thread moves while the society waits: the kill is seen from outside it.
        killer = asyncio.get_running_loop().run_in_executor(
            None, lambda: (time.sleep(0.2), os.kill(server.pid, 9))
        )
        with pytest.raises(NotebookUnavailable, match="calling notebook_query: the connection ended"):
            await asked
        await killer
        after = (await notebook.query("hello"))[0].ref
        assert before != after and len(servers()) == 1

    asks(other(), work)


def test_a_server_that_died_while_idle_is_not_noticed_by_anybody(notes):
    async def work(notebook):
        first = await notebook.query("crowding")
        [server] = servers()
        server.kill()
        until_all_are_gone()
        assert await notebook.query("crowding") == first

    asks(Folder(notes), work)


class Here:
    """Runs the notebook's I/O on the loop that asks for it."""

    async def call(self, coro_factory, *, wall_timeout_s):
        return await asyncio.wait_for(coro_factory(), wall_timeout_s)


async def test_a_death_that_the_loop_had_no_time_to_see_is_seen_before_the_next_call(notes):
    async with McpNotebook(Folder(notes), Here()) as notebook:
        first = await notebook.query("crowding")
        for _time in range(3):
            [server] = servers()
            # The loop stands still from the kill to the query.
            server.kill()
            until_all_are_gone()
            assert await notebook.query("crowding") == first


def test_a_late_call_fails_alone_and_the_next_one_starts_afresh():
    async def work(notebook):
        before = await notebook.query("hello")
        late, slow = await asyncio.gather(
            notebook.query("hang"), notebook.query("slow"), return_exceptions=True
        )
        assert isinstance(late, NotebookTimeout) and "took longer than 0.4 s" in str(late)
        assert isinstance(slow, NotebookTimeout)
        again = await notebook.query("hello")
        assert again[0].text == "an answer" and again[0].ref != before[0].ref

    asks(other(), work, call_s=0.4)


def test_calls_under_way_survive_another_ones_limit():
    async def work(notebook):
        await notebook.query("hello")
        late = asyncio.create_task(notebook.query("hang"))
        # The second call starts 1.2 s later, on the same connection, and outlives the first.
        await asyncio.get_running_loop().run_in_executor(None, time.sleep, 1.2)
        slow = asyncio.create_task(notebook.query("slow"))
        with pytest.raises(NotebookTimeout):
            await late
        assert (await slow)[0].text == "an answer"
        return late

    asks(other(), work, call_s=1.5)


def test_a_server_that_ignores_every_signal_but_the_last_is_gone_after_closing():
    async def work(notebook):
        await notebook.query("hello")

    asks(other("stubborn"), work)


@pytest.mark.parametrize("faults", [("silent",), ("silent", "chatter")])
def test_a_server_that_never_speaks_mcp_is_left_after_the_limit(faults):
    async def work(notebook):
        with pytest.raises(NotebookGarbage if "chatter" in faults else NotebookTimeout, match="connecting"):
            await notebook.query("hello")
        # It is ended at once, not when the notebook is closed.
        until_all_are_gone()

    asks(other(*faults), work, connect_s=1.0)


def test_a_server_that_is_silent_about_the_newer_protocol_is_asked_the_older_way():
    async def work(notebook):
        with pytest.raises(NotebookTimeout):
            await notebook.query("hello")
        assert await notebook.query("hello")

    asks(other("mute-discover"), work, connect_s=1.5)


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        ("die", NotebookUnavailable, "the server said: out of ink"),
        ("garbage", NotebookGarbage, "no MCP messages"),
        ("refuse", NotebookRefused, "the librarian says no"),
        ("error", NotebookRefused, r"no such notebook"),
        ("shape", NotebookGarbage, "answered a number where passages are promised"),
        ("schema", NotebookGarbage, "does not promise"),
    ],
)
def test_a_bad_answer_is_one_clear_line(asked, kind, words, capfd, caplog):
    assert words in fails(other("chatter"), asked, kind, call_s=1.5 if asked == "garbage" else 15)
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.exc_info] == []


def test_an_answer_of_another_maker_is_taken_as_it_is():
    async def work(notebook):
        about = await notebook.describe()
        assert (about.id, about.title, about.note_count) == ("nb-7", "A box of cards.", None)
        assert await notebook.query("empty") == ()
        assert len(await notebook.query("many", 3)) == 3
        # It lists no parameter `limit`, and asks for the notebook.
        assert (await notebook.query("args"))[0].text == '{"notebook_id": "nb-7", "query": "args"}'
        assert await notebook.studio_create("A", "b") == "studio_create ran"

    asks(other("takes-id"), work, notebook_id="nb-7")


def test_only_the_query_is_owed():
    async def work(notebook):
        about = await notebook.describe()
        assert (about.id, about.tools) == ("other maker", ("notebook_query", "other_read", "other_write"))
        with pytest.raises(StudioUnavailable):
            await notebook.studio_create("A", "b")

    asks(other("no-describe", "no-studio"), work)
    assert "offers no notebook_query, but" in fails(other("no-query"), "hello", NotebookGarbage)


def test_no_secret_of_ours_reaches_a_started_server(monkeypatch):
    monkeypatch.setenv("MOOT_DISCORD_TOKEN", "very secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very secret")

    async def work(notebook):
        return json.loads((await notebook.query("env"))[0].text)

    environment = asks(other(env={"ITS_OWN": "key"}), work)
    assert environment["ITS_OWN"] == "key" and "PATH" in environment
    # LC_CTYPE is Python's own doing in the child.
    known = {
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "USER",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "TMPDIR",
    }
    assert set(environment) <= known | {"TZ", "ITS_OWN"}


def test_three_fruitless_starts_are_enough_for_a_while(tmp_path):
    async def work(notebook):
        for _ in range(3):
            with pytest.raises(NotebookUnavailable, match="there is no such folder"):
                await notebook.query("hello")
        with pytest.raises(NotebookUnavailable, match="failed 3 times in a row"):
            await notebook.query("hello")

    asks(Folder(tmp_path / "gone"), work)


def test_a_crash_at_every_call_is_bounded_too():
    async def work(notebook):
        lines = []
        for _ in range(5):
            with pytest.raises(NotebookUnavailable) as caught:
                await notebook.query("die")
            lines.append(str(caught.value))
        assert ["out of ink" in line for line in lines] == [True, True, True, False, False]

    asks(other(), work)


def test_an_answer_in_between_forgives_the_crashes():
    async def work(notebook):
        for _ in range(4):
            with pytest.raises(NotebookUnavailable, match="out of ink"):
                await notebook.query("die")
            assert await notebook.query("hello")

    asks(other(), work)


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        (
            Command(("/no/such/program", "--key", "hunter2")),
            "notebook server program: connecting: it cannot be started",
        ),
        (
            Address("http://u:hunter2@127.0.0.1:9/mcp?key=hunter2"),
            "notebook http://127.0.0.1:9/mcp: connecting",
        ),
    ],
)
def test_what_is_not_there_is_told_without_its_keys(reach, words):
    line = fails(reach, "hello", NotebookUnavailable)
    assert words in line and "hunter2" not in line and "hunter2" not in repr(reach)


@pytest.mark.parametrize(
    ("page", "kind", "words"),
    [
        ((401, "{}"), NotebookUnavailable, "HTTP status 401"),
        ((500, "<p>sorry"), NotebookUnavailable, "HTTP status 500"),
        ((200, "<p>welcome"), NotebookRefused, "Unexpected content type"),
        ((200, "{]"), NotebookGarbage, "no MCP message"),
    ],
)
def test_a_web_page_is_no_notebook(page, kind, words, capfd, caplog):
    with web_page(*page) as address:
        assert words in fails(Address(address), "hello", kind)
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.exc_info or address in record.message] == []


def test_a_web_server_that_hangs_is_left_after_the_limit():
    with web_page(200, "{}", is_slow=True) as address:
        fails(Address(address), "hello", NotebookTimeout, connect_s=0.3)


def test_a_cancelled_query_leaves_the_notebook_usable():
    async def work(notebook):
        asked = asyncio.create_task(notebook.query("hang"))
        await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0.4)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await notebook.query("hello")

    asks(other(), work)


def test_an_io_thread_that_closes_first_takes_the_server_with_it():
    async def main(_clock, io):
        notebook = McpNotebook(other(), io)
        await notebook.query("hello")
        [server] = servers()
        io.close()
        assert not psutil.pid_exists(server.pid)
        with pytest.raises(NotebookUnavailable, match="closed"):
            await notebook.query("hello")

    live(main)


def test_closing_twice_or_unused_is_harmless_and_final():
    async def main(_clock, io):
        notebook = McpNotebook(other(), io)
        await notebook.close()
        await notebook.close()
        with pytest.raises(NotebookUnavailable, match="is closed"):
            await notebook.query("hello")

    live(main)


def test_closing_during_a_query_ends_both():
    async def work(notebook):
        await notebook.query("hello")
        asked = asyncio.create_task(notebook.query("hang"))
        await asyncio.sleep(0)
        await notebook.close()
        with pytest.raises(NotebookUnavailable):
            await asked

    asks(other(), work)


def test_the_reviewers_attempt_to_write_is_refused_before_anything_runs(notes):
    async def work(notebook):
        box = Toolbox(notebook_tools(notebook), READ_ONLY)
        assert await box.call("notebook_query", text="crowding", limit=1)
        with pytest.raises(WriteBlocked):
            await box.call("studio_create", title="A", text="b")
        assert [blocked.tool for blocked in box.blocked] == ["studio_create"]

    asks(Folder(notes), work)
    assert not (notes.parent / "notes-studio").exists()


def test_a_stopped_process_does_not_stop_the_society(notes):
    async def work(notebook):
        await notebook.query("crowding")
        [server] = servers()
        os.kill(server.pid, signal.SIGSTOP)
        try:
            # More than a pipe takes: the request itself cannot be written to the end.
            with pytest.raises(NotebookTimeout):
                await notebook.query("crowding " * 50_000)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert await notebook.query("crowding")

    asks(Folder(notes), work, call_s=1.5)
