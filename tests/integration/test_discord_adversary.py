"""What somebody who wants Discord to go wrong would try; every scene runs the real library over real sockets."""

import asyncio
import json
import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.channels.surface import (
    ActReply,
    PostRefused,
    RateLimited,
    SurfaceConfigError,
    SurfaceDown,
    SurfaceError,
)
from tests.doubles import discord_faults as faults
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import Inbox, posting, started, until, with_channels
from tests.doubles.read_back import from_discord
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory

CASE = "hyp_20260223_1018"


@pytest.fixture
def server():
    with DiscordServer() as running:
        yield with_channels(running)


def on(server, use, **how):
    async def main():
        async with started(server, **how) as surface:
            return await use(surface)

    return asyncio.run(main())


def one_line(error):
    text = str(error)
    assert text and "\n" not in text and len(text) < 400, text
    return text


async def settled(server, inbox, count=1, channel="a-arena"):
    """Let everything said until now be handed in: the lanes are first in, first out."""
    last = server.person_writes("zoe", channel, "that was all")
    await until(lambda: any(act.platform_message_id == last for act in inbox.acts))
    return [act for act in inbox.acts if act.platform_message_id != last]


# starting


START_ROUTES = [
    "GET /users/@me",
    "GET /oauth2/applications/@me",
    "GET /guilds/*/webhooks",
    "GET /applications/*/emojis",
]
TROUBLES = {
    "html": faults.garbage(),
    "list": faults.status(200, []),
    "empty object": faults.status(200, {}),
    "text": faults.status(200, "null"),
    "503": faults.status(503, "<html>"),
    "cut": faults.DROP_BEFORE,
    "403": faults.refused(403, 50013),
    "banned": faults.limited(60, has_via=False),
}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("route", START_ROUTES)
def test_whatever_discord_answers_at_the_start_is_one_line_or_a_start(server, route, trouble):
    server.faults.add(route, None, TROUBLES[trouble])
    try:
        on(server, lambda surface: asyncio.sleep(0))
    except SurfaceError as error:
        one_line(error)


@pytest.mark.parametrize("action", [faults.LOSE, faults.GARBAGE_EVENT, faults.DUPLICATE])
@pytest.mark.parametrize("event", ["READY", "GUILD_CREATE"])
def test_a_first_event_that_is_lost_twice_or_garbled_is_one_line_or_a_start(
    server, event, action, monkeypatch
):
    import moot.channels.discord.surface as module

    monkeypatch.setattr(module, "START_S", 4.0)
    server.faults.add(f"GATEWAY {event}", None, action)
    try:
        on(server, lambda surface: asyncio.sleep(0))
    except SurfaceError as error:
        one_line(error)


@pytest.mark.parametrize("guild", ["1", "0", "-5", "abc", "٣", "9" * 40, " "])
def test_a_guild_that_is_none_is_one_line(server, guild):
    with pytest.raises(SurfaceError) as caught:
        on(server, lambda surface: asyncio.sleep(0), guild=guild)
    one_line(caught.value)


def test_a_bot_that_was_never_invited_gets_the_link(server):
    server.kick_bot()
    with pytest.raises(SurfaceConfigError) as caught:
        on(server, lambda surface: asyncio.sleep(0))
    assert "http" in one_line(caught.value)


def test_without_the_message_content_intent_it_says_what_to_click(server):
    server.message_content(False)
    with pytest.raises(SurfaceConfigError) as caught:
        on(server, lambda surface: asyncio.sleep(0))
    assert "Message Content Intent" in one_line(caught.value)


def test_the_intent_switched_off_while_running_ends_the_surface_with_what_to_click(server):
    async def use(surface):
        watching = asyncio.create_task(surface.watch())
        server.close_gateway(4014)
        with pytest.raises(SurfaceConfigError) as caught:
            await watching
        return one_line(caught.value)

    assert "Message Content Intent" in on(server, use)


# posting


@settings(max_examples=60)
@given(
    st.lists(
        st.text(st.sampled_from("*_~|`<>[]()@#:-+>.!\\\n /1ab@é\u200b😀"), min_size=1, max_size=60).filter(
            lambda text: text.strip()
        ),
        min_size=1,
        max_size=12,
    )
)
def test_no_text_is_markup_or_refused(texts):
    log = SmallLog()
    with DiscordServer(rate_scale=0.0001) as server:
        server.add_channel("a-arena")

        async def use(surface):
            for text in texts:
                await surface.post(posting(log, text))

        on(server, use)
        shown = [" ".join(message.text.split()) for message in server.messages("a-arena")]
        for text, seen in zip(texts, shown, strict=True):
            assert " ".join(text.split()) in seen
        assert server.formatted == []
        assert server.pings == []


MONSTERS = {
    "20,000 letters": "x" * 20_000,
    "20,000 backticks": "`" * 20_000,
    "20,000 faces": "😀" * 20_000,
    "backslashes": "\\" * 4_001,
    "lines": "\n".join("- # > 1. x" for _ in range(1_800)),
    "one combining tower": "a" + "\u0301" * 5_000,
    "right to left": "\u202e" + "abc " * 900,
    "nothing but blanks that count": "\u2800\u200b\u3164",
    "nul": "a\x00b",
    "invites": "discord.gg/abc https://discord.gg/abc @everyone @here <@&1> </halt:1> <id:guide>",
}


@pytest.mark.parametrize("what", MONSTERS)
def test_a_monstrous_text_is_posted_and_reads_back(server, what):
    log = SmallLog()
    item = posting(log, MONSTERS[what])

    async def use(surface):
        id = await surface.post(item)
        assert await surface.find(item) == id

    on(server, use)
    (message,) = server.messages("a-arena")
    assert from_discord(message.payload) == [item.envelope.line]
    assert server.pings == []
    assert [mark for mark in server.formatted if mark[0] not in ("bold", "quiet link")] == []


@pytest.mark.parametrize(
    "answer",
    [
        faults.status(200, {}),
        faults.status(200, []),
        faults.status(200, {"id": None}),
        faults.status(200, "ok"),
        faults.status(204, None),
        faults.status(302, "moved", {"Location": "/elsewhere"}),
        faults.status(418, {"message": "x" * 5_000 + "\nnew line", "code": 1}),
        faults.status(400, {"message": ["not", "text"], "code": "text", "errors": "what"}),
        faults.status(400, {"code": 50035, "message": "Invalid", "errors": {"a": {"_errors": ["x"]}}}),
        faults.status(429, {"retry_after": "soon"}, {"Via": "1.1 x"}),
        faults.status(429, {"retry_after": -5, "global": "yes"}),
        faults.status(429, {}, {"Retry-After": "1e9"}),
    ],
)
def test_no_answer_to_a_post_is_more_than_one_line(server, answer):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "before"))
        server.faults.add("POST /webhooks/*", 1, answer)
        with pytest.raises((SurfaceDown, PostRefused, RateLimited)) as caught:
            await surface.post(posting(log, "x"))
        one_line(caught.value)
        if isinstance(caught.value, RateLimited):
            assert 0 <= caught.value.retry_after_s <= 3_600
        server.faults.clear()
        await surface.post(posting(log, "after"))

    on(server, use)


def test_no_secret_is_in_any_error_or_log(server, capfd, caplog):
    log = SmallLog()
    secrets = [server.token]
    errors = []

    async def use(surface):
        await surface.post(posting(log, "before"))
        secrets.extend(hook["token"] for hook in server.webhooks())
        for action in (*TROUBLES.values(), faults.DROP_AFTER, faults.refused(400, 50035), faults.status(500)):
            for call in (surface.post, surface.find):
                server.faults.add("*", 1, action)
                try:
                    await call(posting(log, "x"))
                except Exception as error:
                    errors.extend(traceback.format_exception(error))
                server.faults.clear()
        server.stop()
        for call in (surface.post, surface.find):
            with pytest.raises(SurfaceDown) as caught:
                await call(posting(log, "x"))
            errors.extend(traceback.format_exception(caught.value))
            errors.append(repr(surface) + repr(vars(surface)))
        server.start()

    on(server, use)
    said = "".join(errors) + "".join(capfd.readouterr()) + caplog.text
    assert not [secret for secret in secrets if secret in said]


@pytest.mark.parametrize("trouble", ["stopped", "stopped and back", "hung up", "silent"])
@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_surface_closes_quietly_in_and_after_a_break(server, trouble, is_awaited):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "one"))
        watching = asyncio.create_task(surface.watch())
        await asyncio.sleep(0)
        if trouble == "silent":
            server.zombie()
        elif trouble == "hung up":
            server.close_gateway(1000)
        else:
            server.stop()
        if trouble == "stopped and back":
            server.start()
        if is_awaited and trouble == "stopped":
            await asyncio.wait({watching})
        elif is_awaited:
            server.faults.add("POST *", 1, faults.DROP_BEFORE)
            with pytest.raises(SurfaceDown):
                await surface.post(posting(log, "two"))
        await surface.close()
        await surface.close()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

    on(server, use)


def test_a_role_that_is_renamed_or_gone_and_a_bot_without_roles_posts_on(server):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "one"))
        for role in server.world.roles.values():
            role["name"] = "@everyone discord clyde"
            server.world.tell("GUILD_ROLE_UPDATE", {"guild_id": server.guild_id, "role": role}, 1, None)
        await surface.post(posting(log, "two"))

    on(server, use)
    assert len(server.messages("a-arena")) == 2


def test_posts_go_on_while_the_gateway_is_away(server):
    log = SmallLog()

    async def use(surface):
        server.zombie()
        await surface.post(posting(log, "one"))
        server.close_gateway(4000)
        await surface.post(posting(log, "two"))

    on(server, use)
    assert len(server.messages("a-arena")) == 2


def test_many_cases_at_once_are_threads_each_with_its_own(server):
    log = SmallLog()

    async def use(surface):
        async def case(number):
            root = await surface.post(posting(log, f"root {number}", thread=f"hyp_20260223_{number:04}"))
            for n in range(3):
                await surface.post(
                    posting(log, f"{number}/{n}", thread=f"hyp_20260223_{number:04}", root=root)
                )

        await asyncio.gather(*(case(number) for number in range(12)))

    on(server, use)
    for number in range(12):
        name = f"hyp_20260223_{number:04}"
        texts = [
            message.payload
            for message in server.messages("a-arena")
            if (message.thread_name or "").startswith(name)
        ]
        bodies = [json.loads(from_discord(payload)[0])["body"]["text"] for payload in texts]
        assert bodies == [f"{number}/{n}" for n in range(3)]


# people


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("👍", None),
        ("👍 👍🏽 ❤️", None),
        ("<:moot:123>", None),
        ("", {"a.png": b"x"}),
        ("x" * 40_000, None),
        ("   ", {"a.txt": b"x"}),
    ],
    ids=["emoji", "emojis", "custom emoji", "file", "40,000 letters", "blanks and a file"],
)
def test_what_is_no_text_gets_one_calm_line_and_no_act(server, text, files):
    inbox = Inbox()

    async def use(surface):
        id = server.person_writes("ana", "a-arena", text, files=files)
        await until(lambda: server.replies(id))
        (reply,) = server.replies(id)
        assert not reply.is_reaction
        one_line(reply.text)
        assert await settled(server, inbox) == []

    on(server, use, inbound=inbox)
    assert server.pings == []


def test_an_answer_is_never_markup_and_wakes_nobody(server):
    text = "no such case @everyone **x** <@1> `y` [z](https://example.org) :smile:"
    inbox = Inbox(ActReply(text, ok=False))

    async def use(surface):
        id = server.person_writes("ana", "a-arena", "/status")
        await until(lambda: server.replies(id))
        assert server.replies(id)[0].text == text

    on(server, use, inbound=inbox)
    assert server.pings == []
    assert server.formatted == []


def test_a_preview_a_pin_and_a_thread_are_no_edits(server):
    inbox = Inbox()

    async def use(surface):
        id = server.person_writes("ana", "a-arena", "see https://example.org")
        await until(lambda: server.replies(id))
        server.link_preview(id)
        await settled(server, inbox)
        assert [reply.text for reply in server.replies(id)] == ["✅"]

    on(server, use, inbound=inbox)


def test_an_edit_is_told_once_also_when_edited_again(server):
    inbox = Inbox()

    async def use(surface):
        id = server.person_writes("ana", "a-arena", "hello")
        await until(lambda: server.replies(id))
        for text in ("hello 2", "hello 3", "hello 4"):
            server.person_edits(id, text)
        await until(lambda: len(server.replies(id)) == 2)
        acts = await settled(server, inbox)
        assert [act.fields["text"] for act in acts] == ["hello"]
        told = [reply.text for reply in server.replies(id) if not reply.is_reaction]
        assert len(told) == 1 and "say it anew" in told[0]

    on(server, use, inbound=inbox)


def test_an_edit_of_what_was_no_act_gets_no_answer(server):
    inbox = Inbox()
    server.add_channel("chatter")
    elsewhere = server.person_writes("ana", "chatter", "hello")

    async def use(surface):
        server.person_edits(elsewhere, "hello 2")
        other = server.person_writes("ana", "chatter", "more")
        await settled(server, inbox)
        assert server.replies(elsewhere) == [] and server.replies(other) == []

    on(server, use, inbound=inbox)


def test_a_message_deleted_at_once_still_counts_and_disturbs_nothing(server):
    inbox = Inbox()

    async def use(surface):
        for _ in range(5):
            server.person_deletes(server.person_writes("ana", "a-arena", "gone"))
        acts = await settled(server, inbox)
        assert len(acts) == 5

    on(server, use, inbound=inbox)


@pytest.mark.parametrize("action", [faults.DUPLICATE, faults.REORDER], ids=["duplicate", "reorder"])
def test_events_twice_or_out_of_order_make_each_act_once(server, action):
    inbox = Inbox()

    async def use(surface):
        server.faults.add("GATEWAY MESSAGE_CREATE", 3, action)
        ids = [server.person_writes("ana", "a-arena", str(number)) for number in range(4)]
        acts = await settled(server, inbox)
        assert sorted(act.platform_message_id for act in acts) == sorted(ids)

    on(server, use, inbound=inbox)


def test_what_an_event_lost_is_read_after_the_next_session(server):
    inbox = Inbox()

    async def use(surface):
        server.person_writes("ana", "a-arena", "first")
        await until(lambda: len(inbox.acts) == 1)
        server.faults.add("GATEWAY MESSAGE_CREATE", 2, faults.LOSE)
        server.person_writes("ana", "a-arena", "lost")
        server.person_writes("ana", "a-arena", "lost too")
        server.invalidate(resumable=False)
        await until(lambda: len(inbox.acts) == 3)
        assert inbox.texts == ["first", "lost", "lost too"]

    with_new_session(server, use, inbox)


def with_new_session(server, use, inbox, memory=None):
    """Run a surface that is built anew when `watch` raises, as the gateway's keeper does."""
    memory = memory or SurfaceMemory()

    async def main():
        done = asyncio.Event()
        for _ in range(20):
            try:
                async with started(server, inbox, memory) as surface:
                    watching = asyncio.create_task(surface.watch())
                    using = asyncio.create_task(use(surface)) if not done.is_set() else None
                    if using is None:
                        await watching
                        continue
                    finished, _ = await asyncio.wait({watching, using}, return_when=asyncio.FIRST_COMPLETED)
                    if using in finished:
                        watching.cancel()
                        await asyncio.gather(watching, return_exceptions=True)
                        return using.result()
                    while not using.done():
                        await surface.close()
                        async with started(server, inbox, memory) as again:
                            watching = asyncio.create_task(again.watch())
                            await asyncio.wait({watching, using}, return_when=asyncio.FIRST_COMPLETED)
                            watching.cancel()
                            await asyncio.gather(watching, return_exceptions=True)
                    return using.result()
            except SurfaceDown:
                await asyncio.sleep(0.01)
        raise AssertionError("twenty starts")

    return asyncio.run(main())


def test_a_garbled_event_ends_watch_and_its_message_is_read_from_the_history_once(server):
    inbox = Inbox()

    async def use(surface):
        server.person_writes("ana", "a-arena", "first")
        await until(lambda: len(inbox.acts) == 1)
        server.faults.add("GATEWAY MESSAGE_CREATE", 1, faults.GARBAGE_EVENT)
        server.person_writes("ana", "a-arena", "garbled")
        server.person_writes("ana", "a-arena", "behind it")
        await until(lambda: len(inbox.acts) == 3)
        assert inbox.texts == ["first", "garbled", "behind it"]

    with_new_session(server, use, inbox)


def test_a_server_that_restarts_ten_times_loses_nothing_and_repeats_nothing(server):
    inbox = Inbox()

    async def use(surface):
        for number in range(10):
            server.person_writes("ana", "a-arena", f"before {number}")
            server.stop()
            server.person_writes("ana", "a-arena", f"while {number}")
            server.start()
        await until(lambda: len({act.platform_message_id for act in inbox.acts}) == 20)

    with_new_session(server, use, inbox)
    assert len({act.platform_message_id for act in inbox.acts}) == 20
    assert len(inbox.acts) == 20


def test_a_thousand_messages_while_nobody_listened_come_in_order(server):
    inbox, memory = Inbox(), SurfaceMemory()
    on(server, lambda surface: settled(server, inbox), inbound=inbox, memory=memory)
    inbox.acts.clear()
    for number in range(1_000):
        server.person_writes("ana", "a-arena", f"said {number}")

    async def use(surface):
        await until(lambda: len(inbox.acts) >= 1_000)

    on(server, use, inbound=inbox, memory=memory)
    assert inbox.texts == [f"said {number}" for number in range(1_000)]


def test_what_was_said_in_threads_open_and_closed_while_nobody_listened_is_read(server):
    inbox, memory, log = Inbox(), SurfaceMemory(), SmallLog()

    async def before(surface):
        roots = []
        for number in range(3):
            root = await surface.post(posting(log, f"root {number}", thread=f"{CASE}{number}"))
            await surface.post(posting(log, "in it", thread=f"{CASE}{number}", root=root))
            roots.append(root)
        await settled(server, inbox)
        return roots

    roots = on(server, before, inbound=inbox, memory=memory)
    inbox.acts.clear()
    for root in roots:
        server.person_writes("ana", "a-arena", "in thread", thread=root.split("/")[1])
    server.archive(roots[1].split("/")[1])
    server.archive(roots[2].split("/")[1], locked=True)

    async def use(surface):
        await until(lambda: len(inbox.acts) == 3)
        assert [act.reply_to for act in inbox.acts] == roots

    on(server, use, inbound=inbox, memory=memory)


# buttons


def with_button(server):
    """Post a message with a button through the surface's own webhook."""
    hook = server.webhooks("a-arena")[0]
    import urllib.request

    body = {
        "content": "halt?",
        "components": [
            {
                "type": 1,
                "components": [
                    {"type": 2, "style": 1, "label": "Ack", "custom_id": f"moot|ack|{CASE}"},
                    {"type": 2, "style": 1, "label": "Old", "custom_id": "something|else"},
                ],
            }
        ],
    }
    request = urllib.request.Request(
        f"{server.api}/webhooks/{hook['id']}/{hook['token']}?wait=true&with_components=true",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["id"])


def test_a_button_pressed_by_everybody_at_once_is_answered_in_time_by_a_slow_intake(server):
    log = SmallLog()
    gate = asyncio.Event()

    class Slow(Inbox):
        async def __call__(self, act):
            await gate.wait()
            return await super().__call__(act)

    inbox = Slow()

    async def use(surface):
        await surface.post(posting(log, "one"))
        message = with_button(server)
        clicks = [server.person_clicks(f"user{n}", message, "Ack") for n in range(60)]
        await until(lambda: all(server.acked_in_time(click) for click in clicks))
        gate.set()
        await until(lambda: all(server.replies(click) for click in clicks))
        assert {reply.text for click in clicks for reply in server.replies(click)} == {inbox.reply.text}
        assert all(reply.is_ephemeral for click in clicks for reply in server.replies(click))
        assert {act.platform_message_id for act in inbox.acts} == set(clicks)

    on(server, use, inbound=inbox)


def test_a_button_of_no_known_kind_a_day_late_after_a_restart_gets_a_calm_line(server):
    log, inbox = SmallLog(), Inbox()

    async def before(surface):
        await surface.post(posting(log, "one"))
        return with_button(server)

    message = on(server, before)
    server.restart(forget_sessions=True)
    server.advance(86_400)

    async def use(surface):
        old = server.person_clicks("ana", message, "Old")
        late = server.person_clicks("ana", message, "Ack")
        await until(lambda: server.replies(old) and server.replies(late))
        one_line(server.replies(old)[0].text)
        assert server.replies(old)[0].is_ephemeral
        assert [act.platform_message_id for act in inbox.acts] == [late]

    on(server, use, inbound=inbox)


@pytest.mark.parametrize(
    "action",
    [
        faults.DROP_BEFORE,
        faults.DROP_AFTER,
        faults.status(500, "<html>"),
        faults.garbage(),
        faults.limited(0.02),
        faults.status(200, {}),
        faults.refused(404, 10062),
    ],
    ids=["drop before", "drop after", "500", "garbage", "429", "empty", "late"],
)
def test_a_press_whose_first_answer_fails_is_still_one_act(server, action):
    log, inbox = SmallLog(), Inbox()

    async def use(surface):
        await surface.post(posting(log, "one"))
        message = with_button(server)
        server.faults.add("POST /interactions/*", 1, action)
        click = server.person_clicks("ana", message, "Ack")
        await until(lambda: inbox.acts)
        server.person_clicks("ben", message, "Ack")
        await until(lambda: len(inbox.acts) == 2)
        assert [act.platform_message_id for act in inbox.acts].count(click) == 1

    on(server, use, inbound=inbox)


@pytest.mark.parametrize(
    "action",
    [
        faults.DROP_BEFORE,
        faults.DROP_AFTER,
        faults.status(502, "<html>"),
        faults.limited(0.02),
        faults.garbage(),
    ],
    ids=["drop before", "drop after", "502", "429", "garbage"],
)
def test_the_answer_to_a_press_arrives_when_its_first_try_fails(server, action):
    log, inbox = SmallLog(), Inbox()

    async def use(surface):
        await surface.post(posting(log, "one"))
        message = with_button(server)
        server.faults.add("PATCH /webhooks/*", 1, action)
        click = server.person_clicks("ana", message, "Ack")
        await until(lambda: [reply.text for reply in server.replies(click)] == [inbox.reply.text])

    on(server, use, inbound=inbox)


def test_a_garbled_press_ends_watch_and_the_next_surface_hears_presses(server):
    log, inbox = SmallLog(), Inbox()

    async def use(surface):
        await surface.post(posting(log, "one"))
        message = with_button(server)
        server.faults.add("GATEWAY INTERACTION_CREATE", 1, faults.GARBAGE_EVENT)
        server.person_clicks("ana", message, "Ack")
        await until(lambda: [op for op, _ in server.gateway_log].count(2) == 2 and server.connections == 1)
        second = server.person_clicks("ana", message, "Ack")
        await until(lambda: server.replies(second))

    with_new_session(server, use, inbox)


def test_a_bot_thrown_out_while_running_says_so_in_one_line(server):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "one"))
        server.kick_bot()
        server.world.webhooks.clear()
        with pytest.raises(SurfaceDown) as caught:
            await surface.post(posting(log, "two"))
        return one_line(caught.value)

    on(server, use)
