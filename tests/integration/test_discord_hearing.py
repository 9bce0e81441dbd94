"""What people write on Discord: live, after interruptions, and what they are told."""

import asyncio

import pytest

from moot.channels.chat.words import ONLY_EMOJI
from moot.channels.discord.wording import EDITED, ONLY_FILE
from moot.channels.surface import ActReply, SurfaceConfigError, SurfaceDown
from tests.doubles.discord_faults import DUPLICATE, GARBAGE_EVENT, LOSE, delay, refused, status
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import Inbox, posting, started, until, with_channels
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory

CASE = "hyp_20260223_1018"


@pytest.fixture
def server():
    with DiscordServer() as running:
        yield with_channels(running)


@pytest.fixture
def memory():
    return SurfaceMemory()


def on(server, use, inbox, memory=None):
    async def main():
        async with started(server, inbox, memory) as surface:
            return await use(surface)

    return asyncio.run(main())


def told(server, id):
    return [reply.text for reply in server.replies(id)]


def histories(server):
    return [call for call in server.calls if call.method == "GET" and call.path.endswith("/messages")]


def test_a_note_comes_in_with_who_said_it_and_is_marked(server):
    inbox = Inbox()

    async def use(_surface):
        id = server.person_writes("ana", "a-arena", "mind the tail risk\nof momentum")
        await until(lambda: server.replies(id))
        return id

    id = on(server, use, inbox)
    (act,) = inbox.acts
    assert (act.platform, act.user_id, act.user_name) == ("discord", server.user_id("ana"), "Ana")
    assert (act.platform_message_id, act.channel, act.kind) == (id, "#a-arena", "command")
    assert act.fields == {"text": "mind the tail risk\nof momentum"}
    assert act.reply_to is None
    assert told(server, id) == ["✅"]


@pytest.mark.parametrize(
    "reply",
    [
        ActReply("Refused: a viewer may not *halt*", ok=False),
        ActReply("Kept: the society is away."),
        ActReply("a   1\nbb  2"),
    ],
)
def test_what_did_not_come_to_stand_is_told_in_a_reply_without_a_ping(server, reply):
    async def use(_surface):
        id = server.person_writes("ana", "a-arena", "/halt *now*")
        await until(lambda: server.replies(id))
        return id

    id = on(server, use, Inbox(reply))
    assert told(server, id) == [reply.text]
    assert server.pings == []


@pytest.mark.rule("R-G13")
@pytest.mark.parametrize("takes", [True, False])
def test_what_is_for_one_person_alone_is_a_direct_message_where_they_take_any(server, takes):
    if not takes:
        server.world.takes_no_direct.add(server.user_id("ana"))

    async def use(_surface):
        id = server.person_writes("ana", "admin", "2")
        await until(lambda: server.replies(id) or direct(server))
        return id

    why = "Not taken: esc_20260223_1018 was answered before; that stands, and this changes nothing."
    id = on(server, use, Inbox(ActReply(why, ok=False, is_private=True)))
    assert told(server, id) == ([] if takes else [why])
    assert direct(server) == ([("ana", why)] if takes else [])
    assert server.pings == []


def direct(server):
    """Return the direct messages, by whom they are for."""
    users = {id: user["username"] for id, user in server.world.users.items()}
    return [
        (users[server.world.direct[one["channel_id"]]], one["content"].replace("\\", ""))
        for one in server.world.messages.values()
        if one["channel_id"] in server.world.direct
    ]


def test_replies_and_threads_say_what_they_are_about(server):
    inbox, log = Inbox(), SmallLog()

    async def use(surface):
        root = await surface.post(posting(log, "the first", thread=CASE))
        await surface.post(posting(log, "the second", thread=CASE, root=root))
        alone = await surface.post(posting(log, "no case"))
        thread = root.split("/")[1]
        server.person_writes("ana", "a-arena", "to the case", thread=thread)
        server.person_writes("ana", "a-arena", "to the first", reply_to=root.split("/")[1])
        server.person_writes("ana", "a-arena", "to the other", reply_to=alone.split("/")[1])
        await until(lambda: len(inbox.acts) == 3)
        return root, alone

    root, alone = on(server, use, inbox)
    assert [act.reply_to for act in inbox.acts] == [root, root, alone]
    assert {act.channel for act in inbox.acts} == {"#a-arena"}


def test_a_word_in_a_closed_thread_comes_in_live(server):
    inbox, log = Inbox(), SmallLog()

    async def first(surface):
        root = await surface.post(posting(log, "the first", thread=CASE))
        await surface.post(posting(log, "the second", thread=CASE, root=root))
        return root

    root = on(server, first, inbox)
    server.archive(root.split("/")[1])

    async def use(_surface):
        await until(lambda: len(histories(server)) >= 26)
        id = server.person_writes("ana", "a-arena", "one more thing", thread=root.split("/")[1])
        await until(lambda: server.replies(id))

    on(server, use, inbox)
    assert [(act.channel, act.reply_to) for act in inbox.acts] == [("#a-arena", root)]


def test_nobodys_words_but_peoples_come_in_and_only_from_mirrored_channels(server):
    inbox, log = Inbox(), SmallLog()
    server.add_channel("off-topic")

    async def use(surface):
        await surface.post(posting(log, "by ourselves"))
        server.person_writes("ana", "off-topic", "lunch?")
        last = server.person_writes("ana", "admin", "the last")
        await until(lambda: server.replies(last))

    on(server, use, inbox)
    assert inbox.texts == ["the last"]


def test_mentions_and_emoji_come_in_as_words(server):
    inbox = Inbox()
    bob, place = server.user_id("bob"), server.channel_id("b-risk")

    async def use(_surface):
        server.person_writes("ana", "a-arena", f"<@{bob}> see <#{place}> <:party:12345> <t:0>")
        await until(lambda: inbox.acts)

    on(server, use, inbox)
    assert inbox.texts == ["@Bob see #b-risk :party: 1970-01-01 00:00 UTC"]


@pytest.mark.parametrize(
    ("text", "files", "line"),
    [
        ("👍🎉", None, ONLY_EMOJI),
        ("<:party:12345>", None, ONLY_EMOJI),
        ("", {"chart.png": b"x"}, ONLY_FILE),
        ("x" * 40_000, None, ONLY_FILE),
    ],
)
def test_what_has_no_words_gets_a_calm_line_and_is_no_act(server, text, files, line):
    """40,000 characters cannot be typed: Discord's app makes a file `message.txt` of them."""
    inbox = Inbox()

    async def use(_surface):
        more = {} if files is None else {"files": {name: (name, data) for name, data in files.items()}}
        id = server.person_writes("ana", "a-arena", text, **more)
        await until(lambda: server.replies(id))
        return id

    assert told(server, on(server, use, inbox)) == [line]
    assert inbox.acts == []


def test_an_edit_gets_one_calm_line_a_deletion_and_a_link_preview_none(server):
    inbox = Inbox()

    async def use(_surface):
        id = server.person_writes("ana", "a-arena", "see https://example.org")
        await until(lambda: server.replies(id))
        server.link_preview(id)
        server.person_edits(id, "see nothing")
        server.person_edits(id, "see something")
        await until(lambda: len(server.replies(id)) == 2)
        server.person_deletes(id)
        last = server.person_writes("ana", "a-arena", "done")
        await until(lambda: server.replies(last))
        return id

    id = on(server, use, inbox)
    assert [text for text in told(server, id) if text != "✅"] == [EDITED]
    assert inbox.texts == ["see https://example.org", "done"]


def test_an_edit_of_what_stands_since_before_a_restart_gets_the_line_too(server, memory):
    async def write(_surface):
        id = server.person_writes("ana", "a-arena", "first words")
        await until(lambda: server.replies(id))
        return id

    id = on(server, write, Inbox(), memory)

    async def edit(_surface):
        server.person_edits(id, "other words")
        await until(lambda: EDITED in told(server, id))

    on(server, edit, Inbox(), memory)


def test_the_first_start_begins_at_now(server, memory):
    server.person_writes("ana", "a-arena", "long ago")
    inbox = Inbox()

    async def use(_surface):
        id = server.person_writes("ana", "a-arena", "now")
        await until(lambda: server.replies(id))

    on(server, use, inbox, memory)
    assert inbox.texts == ["now"]


def test_what_was_said_while_nobody_was_there_is_read_in_order_threads_included(server, memory):
    inbox, log = Inbox(), SmallLog()

    async def before(surface):
        roots = []
        for n in range(3):
            root = await surface.post(posting(log, f"case {n}", thread=f"{CASE}{n}"))
            await surface.post(posting(log, "more", thread=f"{CASE}{n}", root=root))
            roots.append(root)
        id = server.person_writes("ana", "a-arena", "before")
        await until(lambda: server.replies(id))
        return roots

    roots = on(server, before, inbox, memory)
    threads = [root.split("/")[1] for root in roots]
    wanted = []
    for n in range(250):
        thread = (None, *threads)[n % 4]
        wanted.append(f"words {n}")
        server.person_writes("ana", "a-arena", wanted[-1], thread=thread)
    server.archive(threads[1])
    server.archive(threads[2], locked=True)
    assert inbox.texts == ["before"]

    on(server, lambda _surface: until(lambda: len(inbox.acts) == 251), inbox, memory)
    assert inbox.texts == ["before", *wanted]
    assert [act.reply_to for act in inbox.acts[1:5]] == [None, *roots]

    async def quiet(_surface):
        id = server.person_writes("ana", "a-arena", "after")
        await until(lambda: server.replies(id))

    on(server, quiet, inbox, memory)
    assert inbox.texts[251:] == ["after"]


def test_what_the_intake_never_took_comes_again(server, memory):
    async def first():
        came = asyncio.Event()

        async def never(_act):
            came.set()
            await asyncio.Event().wait()

        async with started(server, never, memory):
            id = server.person_writes("ana", "a-arena", "hello?")
            await came.wait()
            return id

    id = asyncio.run(first())
    inbox = Inbox()
    on(server, lambda _surface: until(lambda: server.replies(id)), inbox, memory)
    assert [act.platform_message_id for act in inbox.acts] == [id]


def test_a_session_that_is_resumed_misses_nothing_and_reads_no_history(server):
    inbox = Inbox()

    async def use(surface):
        await until(lambda: len(histories(server)) == 14)
        id = server.person_writes("ana", "a-arena", "one")
        await until(lambda: server.replies(id))
        watching = asyncio.create_task(surface.watch())
        read = len(histories(server))
        server.ask_reconnect()
        server.person_writes("ana", "a-arena", "two")
        await until(lambda: len(inbox.acts) == 2)
        assert len(histories(server)) == read
        assert not watching.done()
        watching.cancel()

    on(server, use, inbox)
    assert inbox.texts == ["one", "two"]
    assert [op for op, _ in server.gateway_log].count(6) == 1


def test_a_session_that_cannot_be_resumed_reads_what_was_missed(server):
    inbox = Inbox()

    async def use(surface):
        id = server.person_writes("ana", "a-arena", "one")
        await until(lambda: server.replies(id))
        watching = asyncio.create_task(surface.watch())
        server.faults.add("GATEWAY MESSAGE_CREATE", 1, LOSE)
        server.person_writes("ana", "a-arena", "lost on the way")
        server.invalidate(resumable=False)
        await until(lambda: len(inbox.acts) == 2)
        server.person_writes("ana", "a-arena", "three")
        await until(lambda: len(inbox.acts) == 3)
        assert not watching.done()
        watching.cancel()

    on(server, use, inbox)
    assert inbox.texts == ["one", "lost on the way", "three"]


def test_while_the_library_knows_nothing_of_the_guild_its_channels_are_where_they_were(server):
    """Between READY and GUILD_CREATE of a new session: what was missed must be read all the same."""

    async def use(surface):
        known = dict(surface._places.channel_ids())
        guild = surface._client.get_guild(int(server.guild_id))
        guild._channels.clear()
        guild.unavailable = True
        assert surface._places.channel_ids() == known
        surface._client._connection._guilds.clear()
        assert surface._places.channel_ids() == known
        assert surface._places.home(known["#a-arena"]).channel == "#a-arena"

    on(server, use, Inbox())


def test_an_event_that_comes_twice_is_handed_in_once(server):
    inbox = Inbox()
    server.faults.add("GATEWAY MESSAGE_CREATE", 1, DUPLICATE)

    async def use(_surface):
        id = server.person_writes("ana", "a-arena", "one")
        last = server.person_writes("ana", "a-arena", "two")
        await until(lambda: server.replies(id) and server.replies(last))

    on(server, use, inbox)
    assert inbox.texts == ["one", "two"]


def test_an_event_that_breaks_the_library_ends_the_surface_and_a_new_one_loses_nothing(server, memory):
    inbox = Inbox()

    async def use(surface):
        id = server.person_writes("ana", "a-arena", "one")
        await until(lambda: server.replies(id))
        server.faults.add("GATEWAY MESSAGE_CREATE", 1, GARBAGE_EVENT)
        server.person_writes("ana", "a-arena", "unreadable")
        with pytest.raises(SurfaceDown, match="an event of Discord could not be read"):
            await surface.watch()

    on(server, use, inbox, memory)
    on(server, lambda _surface: until(lambda: len(inbox.acts) == 2), inbox, memory)
    assert inbox.texts == ["one", "unreadable"]


def test_an_intake_that_breaks_ends_nothing(server):
    inbox = Inbox()

    async def broken(act):
        if not inbox.acts:
            await inbox(act)
            raise LookupError("a bug")
        return await inbox(act)

    async def use(_surface):
        server.person_writes("ana", "a-arena", "one")
        id = server.person_writes("ana", "a-arena", "two")
        await until(lambda: server.replies(id))

    on(server, use, broken)
    assert inbox.texts == ["one", "two"]


def test_a_history_that_may_not_be_read_holds_up_nothing(server, memory):
    inbox = Inbox()

    async def before(_surface):
        for channel in ("a-arena", "admin"):
            id = server.person_writes("ana", channel, "before")
            await until(lambda id=id: server.replies(id))

    on(server, before, inbox, memory)
    server.person_writes("ana", "a-arena", "not to be read")
    server.person_writes("ana", "admin", "to be read")
    arena = server.channel_id("a-arena")
    server.faults.add(f"GET /channels/{arena}/messages", None, refused(403, 50001))

    async def use(_surface):
        server.person_writes("ana", "a-arena", "live")
        await until(lambda: len(inbox.acts) == 4)

    on(server, use, inbox, memory)
    assert sorted(inbox.texts) == ["before", "before", "live", "to be read"]


def test_a_history_that_cannot_be_read_now_is_read_later(server, memory):
    inbox = Inbox()

    async def before(_surface):
        id = server.person_writes("ana", "a-arena", "before")
        await until(lambda: server.replies(id))

    on(server, before, inbox, memory)
    server.person_writes("ana", "a-arena", "meanwhile")
    server.faults.add("GET /channels/*/messages", 2, status(503))
    server.faults.add("GET /guilds/*/threads/active", 1, delay(0.05))
    on(server, lambda _surface: until(lambda: len(inbox.acts) == 2), inbox, memory)
    assert inbox.texts == ["before", "meanwhile"]


def test_a_person_who_cannot_be_answered_holds_up_nobody(server):
    inbox = Inbox()
    server.deny("ADD_REACTIONS")

    async def use(_surface):
        ids = [server.person_writes("ana", "a-arena", f"words {n}") for n in range(3)]
        await until(lambda: len(inbox.acts) == 3)
        server.allow("ADD_REACTIONS")
        last = server.person_writes("ana", "a-arena", "last")
        await until(lambda: server.replies(last))
        return ids

    on(server, use, inbox)
    assert inbox.texts == ["words 0", "words 1", "words 2", "last"]


HISTORY = "GET /channels/{}/messages"
TROUBLES_OF_A_CHANNEL = [
    (HISTORY, refused(403, 50001)),
    (HISTORY, refused(400, 50035)),
    (HISTORY, refused(404, 10003)),
    ("GET /channels/{}/threads/archived/public", refused(404, 10003)),
]


async def said_before_and_missed(server, inbox, memory, route, action):
    """Have two things said, the second while nobody is there, and the history not readable at the next start."""
    async with started(server, inbox, memory):
        id = server.person_writes("ana", "a-arena", "before")
        await until(lambda: server.replies(id))
    server.person_writes("ana", "a-arena", "missed")
    server.faults.add(route.format(server.channel_id("a-arena")), None, action)


@pytest.mark.parametrize(("route", "action"), TROUBLES_OF_A_CHANNEL)
async def test_what_was_missed_is_never_passed_over_because_something_came_live(
    server, memory, route, action
):
    inbox = Inbox()

    await said_before_and_missed(server, inbox, memory, route, action)
    async with started(server, inbox, memory) as surface:
        watching = asyncio.create_task(surface.watch())
        id = server.person_writes("ana", "a-arena", "live")
        await until(lambda: server.replies(id))
        assert not watching.done()
        watching.cancel()
    server.faults.clear()
    assert inbox.texts == ["before", "live"]
    async with started(server, inbox, memory):
        await until(lambda: "missed" in inbox.texts)


@pytest.mark.parametrize(("route", "action"), TROUBLES_OF_A_CHANNEL)
def test_a_gap_is_read_without_a_new_session_once_it_can_be(server, memory, route, action):
    inbox = Inbox()

    async def main():
        await said_before_and_missed(server, inbox, memory, route, action)
        async with started(server, inbox, memory):
            id = server.person_writes("ana", "a-arena", "live")
            await until(lambda: server.replies(id))
            assert inbox.texts == ["before", "live"]
            identified = [op for op, _ in server.gateway_log].count(2)
            server.faults.clear()
            await until(lambda: "missed" in inbox.texts)
            assert [op for op, _ in server.gateway_log].count(2) == identified
            last = server.person_writes("ana", "a-arena", "last")
            await until(lambda: server.replies(last))
            await until(lambda: memory.texts["seen/#a-arena"] == last)

    asyncio.run(main())
    assert inbox.texts == ["before", "live", "missed", "last"]


def test_a_token_that_ends_while_the_history_is_read_ends_watch_as_itself(server):
    async def use(surface):
        server.faults.add("GET /channels/*/messages", None, refused(401, 0, "401: Unauthorized"))
        with pytest.raises(SurfaceConfigError, match="does not know"):
            async with asyncio.timeout(60):
                server.invalidate(resumable=False)
                await surface.watch()

    on(server, use, Inbox())
