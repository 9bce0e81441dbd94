"""Posting to Discord: the real library against a server over real sockets."""

import asyncio
import json

import pytest

from moot.channels.showing.avatars import emoji_name
from moot.channels.surface import PostRefused, RateLimited, SurfaceConfigError, SurfaceDown
from moot.protocols.research.seats import CRITIC
from tests.doubles.copying import replace
from tests.doubles.discord_faults import DROP_AFTER, DROP_BEFORE, garbage, limited, refused, status
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import Inbox, escalation, posting, started, with_channels
from tests.doubles.read_back import from_discord
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until

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


def calls(server, method, ending):
    return [call for call in server.calls if call.method == method and call.path.endswith(ending)]


def posts(server):
    return [call for call in server.calls if call.method == "POST" and call.path.startswith("/webhooks/")]


@pytest.mark.parametrize("more", [{}, {"cdn": "https://pictures.example/"}])
def test_pictures_are_where_the_configured_host_has_them(server, more):
    server.world.emojis["1"] = {"id": "1", "name": emoji_name(CRITIC)}

    async def use(surface):
        return await surface.post(posting(SmallLog(), "hello"))

    on(server, use, **more)
    (message,) = server.messages()
    assert message.avatar_url == f"{'https://pictures.example' if more else server.cdn}/emojis/1.png"


def test_a_webhook_is_known_by_its_id_whatever_it_and_its_channel_are_called(server):
    memory = SurfaceMemory()

    async def use(surface):
        return await surface.post(posting(SmallLog(), "hello"))

    on(server, use, memory=memory)
    (hook,) = server.world.webhooks.values()
    hook["name"] = "Captain Hook"
    server.rename_channel("a-arena", "the-old-arena")
    on(server, use, memory=memory)
    assert len(server.world.webhooks) == 1
    assert len(server.messages("the-old-arena")) == 2


def test_a_message_speaks_under_its_seat_and_carries_its_line(server):
    log = SmallLog()
    text = "**bold** @everyone <@1> `x` [a](https://b.example) :smile:"
    item = posting(log, text)

    id = on(server, lambda surface: surface.post(item))

    (message,) = server.messages("a-arena")
    assert id == f"{message.channel_id}/{message.id}"
    assert message.author_name == "Critic"
    assert text in message.text
    assert from_discord(message.payload) == [item.envelope.line]
    assert server.pings == []
    assert server.formatted == []


def test_a_case_is_a_thread_named_after_it(server):
    log = SmallLog()

    async def use(surface):
        root = await surface.post(posting(log, "the *first_one*", thread=CASE))
        ids = [await surface.post(posting(log, str(n), thread=CASE, root=root)) for n in range(3)]
        return root, ids

    root, ids = on(server, use)
    first, *rest = server.messages("a-arena")
    assert first.thread_id is None
    assert {message.thread_id for message in rest} == {first.id} == {root.split("/")[1]}
    assert ids == [f"{first.id}/{message.id}" for message in rest]
    assert rest[0].thread_name == f"{CASE}: Critic notes: the *first_one*"
    assert len(calls(server, "POST", "/threads")) == 1


@pytest.mark.parametrize("locked", [False, True])
def test_a_closed_thread_is_opened_again(server, locked):
    log = SmallLog()

    async def use(surface):
        root = await surface.post(posting(log, "the first", thread=CASE))
        await surface.post(posting(log, "second", thread=CASE, root=root))
        server.archived_stays()
        server.archive(root.split("/")[1], locked=locked)
        return await surface.post(posting(log, "third", thread=CASE, root=root))

    id = on(server, use)
    assert server.messages("a-arena")[-1].thread_id == id.split("/")[0]


def test_a_closed_thread_that_may_not_be_opened_waits_and_says_why(server):
    log = SmallLog()

    async def use(surface):
        root = await surface.post(posting(log, "the first", thread=CASE))
        await surface.post(posting(log, "second", thread=CASE, root=root))
        server.archive(root.split("/")[1], locked=True)
        server.deny("MANAGE_THREADS")
        with pytest.raises(SurfaceDown) as caught:
            await surface.post(posting(log, "third", thread=CASE, root=root))
        return caught.value

    error = on(server, use)
    assert not error.everywhere
    assert not error.maybe_posted
    assert "moot discord setup --check" in str(error)


def test_a_case_whose_first_message_was_deleted_goes_on_in_the_channel(server):
    log = SmallLog()
    third = posting(log, "the third", thread=CASE)

    async def use(surface):
        root = await surface.post(posting(log, "the first", thread=CASE))
        server.person_deletes(root.split("/")[1])
        await surface.post(posting(log, "the second", thread=CASE, root=root))
        asked, said = len(calls(server, "POST", "/threads")), len(posts(server))
        id = await surface.post(replace(third, root=root))
        assert len(calls(server, "POST", "/threads")) == asked, "it is not tried again for each message"
        assert len(posts(server)) == said + 1
        assert await surface.find(replace(third, root=root)) == id

    on(server, use)
    assert [message.thread_id for message in server.messages("a-arena")] == [None, None]


@pytest.mark.parametrize("code", [160006, 50035])
def test_where_no_thread_can_be_had_the_message_stands_in_the_channel(server, code):
    log = SmallLog()

    async def use(surface):
        root = await surface.post(posting(log, "the first", thread=CASE))
        server.faults.add("POST /channels/*/threads", 1, refused(400, code))
        await surface.post(posting(log, "the second", thread=CASE, root=root))
        await surface.post(posting(log, "the third", thread=CASE, root=root))

    on(server, use)
    is_in_thread = [message.thread_id is not None for message in server.messages("a-arena")]
    assert is_in_thread == [False, False, True]


@pytest.mark.parametrize(
    ("fault", "arrived"),
    [(DROP_BEFORE, 0), (DROP_AFTER, 1), (garbage(), 0), (status(503), 0), (status(500), 0)],
)
def test_an_unknown_outcome_is_told_as_one_and_the_library_repeats_nothing(server, fault, arrived):
    log = SmallLog()
    item = posting(log, "x")

    async def use(surface):
        await surface.post(posting(log, "before"))
        server.faults.add("POST /webhooks/*", 1, fault)
        with pytest.raises(SurfaceDown) as caught:
            await surface.post(item)
        return caught.value, await surface.find(item)

    error, found = on(server, use)
    assert error.maybe_posted
    assert error.everywhere
    assert (found is not None) == bool(arrived)
    assert len(server.messages("a-arena")) == 1 + arrived
    assert len(posts(server)) == 2


def test_a_refused_connection_surely_posted_nothing(server):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "before"))
        server.stop()
        errors = []
        for _ in range(2):
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(posting(log, "x"))
            errors.append(caught.value)
        server.start()
        return errors

    cut, refused = on(server, use)
    (hook,) = server.webhooks()
    assert not refused.maybe_posted
    assert not any(hook["token"] in str(error) or "http" in str(error) for error in (cut, refused))


@pytest.mark.parametrize(
    ("fault", "seconds", "everywhere"),
    [
        (limited(0.25), 0.25, False),
        (limited(1.5, everywhere=True), 1.5, True),
        (limited(30, has_via=False), 30, True),
        (status(429, "error code: 1015"), 60, True),
    ],
)
def test_too_many_requests_say_when_to_come_again_and_where(server, fault, seconds, everywhere):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "before"))
        server.faults.add("POST /webhooks/*", 1, fault)
        with pytest.raises(RateLimited) as caught:
            await surface.post(posting(log, "x"))
        return caught.value

    error = on(server, use)
    assert (error.retry_after_s, error.everywhere) == (seconds, everywhere)


def test_the_headers_of_a_bucket_are_obeyed_so_that_discord_never_has_to_refuse(server):
    log = SmallLog()

    async def use(surface):
        for n in range(14):
            await surface.post(posting(log, str(n)))

    on(server, use)
    assert [call.status for call in posts(server)] == [200] * 14


def test_what_discord_will_never_take_is_refused_with_its_reason(server):
    log = SmallLog()
    body = {
        "message": "Invalid Form Body",
        "code": 50035,
        "errors": {"embeds": {"0": {"title": {"_errors": [{"code": "X", "message": "Must be shorter."}]}}}},
    }
    server.faults.add("POST /webhooks/*", 1, status(400, body))

    async def use(surface):
        with pytest.raises(PostRefused) as caught:
            await surface.post(posting(log, "x"))
        return str(caught.value)

    said = on(server, use)
    assert "embeds.0.title: Must be shorter." in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "fault",
    [refused(400, 40006), refused(403, 50013), refused(404, 10003), status(400, "<html>"), status(408)],
)
def test_what_may_pass_is_never_refused_for_good(server, fault):
    log = SmallLog()
    server.faults.add("POST /webhooks/*", 1, fault)

    async def use(surface):
        item = posting(log, "x")
        try:
            await surface.post(item)
        except SurfaceDown:
            await surface.post(item)

    on(server, use)
    assert len(server.messages("a-arena")) == 1


def test_a_revoked_webhook_is_made_anew(server):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "one"))
        (hook,) = server.webhooks("a-arena")
        server.delete_webhook(hook["id"])
        item = posting(log, "two")
        id = await surface.post(item)
        assert await surface.find(item) == id
        assert await surface.find(replace(item, nonce="log:1")) is not None, (
            "posts of the old webhook count too"
        )

    on(server, use)
    assert len(server.webhooks("a-arena")) == 1
    assert len(server.messages("a-arena")) == 2


def test_a_channel_with_as_many_webhooks_as_it_may_have_waits_and_goes_on_when_one_is_deleted(server):
    log = SmallLog()

    async def use(surface):
        hooks = [server.add_webhook("a-arena", f"of somebody {n}") for n in range(15)]
        item = posting(log, "one")
        with pytest.raises(SurfaceDown, match="as many webhooks as it may have; delete one") as caught:
            await surface.post(item)
        assert not caught.value.everywhere
        assert not caught.value.maybe_posted
        await surface.post(posting(log, "elsewhere", "#admin"))
        server.delete_webhook(hooks[0]["id"])
        await surface.post(item)

    on(server, use)
    assert len(server.messages("a-arena")) == 1


def test_a_deleted_channel_waits_alone_and_goes_on_when_it_is_made_again(server):
    log = SmallLog()

    async def use(surface):
        await surface.post(posting(log, "one"))
        root = await surface.post(posting(log, "a case", thread=CASE))
        server.delete_channel("a-arena")
        item = posting(log, "two", thread=CASE, root=root)
        for _ in range(2):
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(item)
            assert str(caught.value) == (
                "the server has no channel #a-arena that Moot can see; run: moot discord setup"
            )
            assert not caught.value.everywhere
            assert not caught.value.maybe_posted
        with pytest.raises(SurfaceDown):
            await surface.find(item)
        await surface.post(posting(log, "elsewhere", "#admin"))
        server.add_channel("a-arena")
        await until(lambda: "#a-arena" in surface._places.channel_ids())
        assert await surface.find(item) is None
        await surface.post(item)

    on(server, use)
    assert [json.loads(from_discord(m.payload)[0])["body"]["text"] for m in server.messages("a-arena")] == [
        "two"
    ]


def test_a_missing_permission_says_which_command_explains_it(server):
    log = SmallLog()

    async def use(surface):
        server.deny("MANAGE_WEBHOOKS", "a-arena")
        with pytest.raises(SurfaceDown) as caught:
            await surface.post(posting(log, "x"))
        return caught.value

    error = on(server, use)
    assert not error.everywhere
    assert "does not let Moot" in str(error)
    assert str(error).endswith("run: moot discord setup --check")


def test_a_renamed_channel_stays_what_it_is_also_after_a_new_start(server):
    log = SmallLog()
    on(server, lambda surface: surface.post(posting(log, "one")))
    server.rename_channel("a-arena", "old-names")
    inbox = Inbox()

    async def use(surface):
        id = server.person_writes("ana", "old-names", "hello")
        await until(lambda: server.replies(id))
        await surface.post(posting(log, "two"))

    on(server, use, inbound=inbox)
    assert len(server.messages("old-names")) == 3
    assert [act.channel for act in inbox.acts] == ["#a-arena"]


def test_a_token_that_ends_ends_the_surface_and_loses_no_message(server):
    log = SmallLog()

    async def use(surface):
        watching = asyncio.create_task(surface.watch())
        server.revoke_token("another.token.altogether")
        with pytest.raises(SurfaceDown) as caught:
            await surface.post(posting(log, "x", "#bridge"))
        assert not caught.value.maybe_posted
        with pytest.raises(SurfaceConfigError, match="does not know the bot's token"):
            await watching

    on(server, use)


def test_find_reads_on_for_as_long_as_it_could_still_be_there(server):
    log = SmallLog()

    async def use(surface):
        first, early = posting(log, "0"), posting(log, "never posted")
        await surface.post(first)
        for n in range(1, 45):
            await surface.post(posting(log, str(n)))
        for n in range(80):
            server.person_writes("ana", "a-arena", f"words {n}")
        late = posting(log, "never posted either")
        assert await surface.find(first) is not None
        assert await surface.find(early) is None
        before = len(calls(server, "GET", "/messages"))
        assert await surface.find(late) is None
        return len(calls(server, "GET", "/messages")) - before

    assert on(server, use) == 2


def test_find_ends_after_sixty_of_our_own_that_are_older(server):
    log = SmallLog()

    async def use(surface):
        for n in range(101):
            await surface.post(posting(log, str(n)))
        before = len(calls(server, "GET", "/messages"))
        assert await surface.find(posting(log, "never posted")) is None
        return len(calls(server, "GET", "/messages")) - before

    assert on(server, use) == 1


def test_an_urgent_message_is_found_however_many_it_has_overtaken(server):
    log = SmallLog()

    async def use(surface):
        overtaken = [posting(log, str(n)) for n in range(70)]
        urgent = escalation(log)
        id = await surface.post(urgent)
        for item in overtaken:
            await surface.post(replace(item, channel=urgent.channel))
        return id, await surface.find(urgent)

    id, found = on(server, use)
    assert found == id


def test_somebody_elses_webhook_is_not_taken_for_ours(server):
    log = SmallLog()
    item = posting(log, "x")
    server.add_webhook("a-arena", "Moot #a-arena")

    async def use(surface):
        return await surface.post(item)

    on(server, use)
    assert len(server.webhooks("a-arena")) == 2


def test_a_mark_that_somebody_else_posted_proves_nothing(server):
    log = SmallLog()
    item = posting(log, "x")

    async def use(surface):
        id = await surface.post(item)
        forged = server.world.messages[id.split("/")[1]]
        assert await surface.find(item) == id
        forged |= {"application_id": None, "webhook_id": "1"}
        return await surface.find(item)

    assert on(server, use) is None
