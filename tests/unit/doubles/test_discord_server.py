"""The Discord double, driven by the real discord.py client over sockets."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import aiohttp
import pytest

from moot.channels.discord.library import Route, discord
from tests.doubles import discord_faults as faults
from tests.doubles.discord_guest import Guest, guest
from tests.doubles.discord_server import DiscordServer
from tests.doubles.waiting import until

Scene = Callable[[Guest], Coroutine[Any, Any, None]]


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer() as one:
        one.add_channel("a-arena", "Moot")
        yield one


def play(server: DiscordServer, scene: Scene, **more: Any) -> None:
    async def whole() -> None:
        async with guest(server, **more) as client:
            await scene(client)

    asyncio.run(whole())


def buttons(*labels: str) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for label in labels:
        view.add_item(discord.ui.Button(label=label, custom_id=f"moot|{label}|case-1"))
    return view


async def posted(client: Guest, text: str = "hello", **more: Any) -> discord.WebhookMessage:
    hook = await client.room().create_webhook(name="moot")
    return await hook.send(text, wait=True, **more)


# logging in


def test_a_wrong_token_is_refused(server: DiscordServer) -> None:
    server.revoke_token("another")
    server.token = "the-old-one"
    with pytest.raises(discord.LoginFailure):
        play(server, lambda _: asyncio.sleep(0))


def test_the_guild_arrives_with_its_channels_and_the_bots_rights(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        assert [channel.name for channel in client.guilds[0].text_channels] == ["a-arena"]
        assert [category.name for category in client.guilds[0].categories] == ["Moot"]
        assert client.room().category == client.guilds[0].categories[0]
        rights = client.guilds[0].me.guild_permissions
        assert rights.manage_webhooks and rights.manage_threads and not rights.administrator
        assert client.application_flags.gateway_message_content_limited

    play(server, scene)


def test_the_bots_guild_and_channels_can_be_read_without_connecting(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        guild = await client.fetch_guild(int(server.guild_id))
        assert [channel.name for channel in await guild.fetch_channels()] == ["Moot", "a-arena"]
        made = await guild.create_text_channel("B Desk", topic="what it is")
        assert (made.name, made.topic) == ("b-desk", "what it is")
        with pytest.raises(discord.NotFound) as caught:
            await client.fetch_channel(1)
        assert caught.value.code == 10003

    play(server, scene, is_connected=False)


def test_a_privileged_intent_that_is_off_in_the_portal_closes_the_connection_with_4014(
    server: DiscordServer,
) -> None:
    server.message_content(False)

    async def scene(client: Guest) -> None:
        assert client.connecting is not None
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await client.connecting

    play(server, scene)


def test_without_the_intent_the_texts_of_others_are_empty(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        server.person_writes("ana", "a-arena", "secret")
        await until(lambda: client.heard)
        assert client.heard == [""]

    play(server, scene, may_read=False)


def test_without_the_flag_the_history_is_empty_of_texts_too(server: DiscordServer) -> None:
    server.message_content(False)
    server.person_writes("ana", "a-arena", "secret")

    async def scene(client: Guest) -> None:
        assert [message.content async for message in client.room().history()] == [""]

    play(server, scene, may_read=False)


def test_a_revoked_token_ends_the_connection_with_4004(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        assert client.connecting is not None
        server.revoke_token("another")
        with pytest.raises(discord.ConnectionClosed) as caught:
            await client.connecting
        assert caught.value.code == 4004

    play(server, scene)


# posting


def test_a_webhook_post_stands_under_its_own_name_with_its_file_and_buttons(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        embed = discord.Embed(title="Title", description="a *b*").add_field(name="f", value="1")
        embed.set_footer(text=r"message \*5\*")
        made = await posted(
            client,
            r"hi \*there\*",
            username="The Judge",
            avatar_url="https://example.org/a.png",
            embed=embed,
            view=buttons("Yes"),
            file=discord.File(io.BytesIO(b'{"a":1}'), "payload.json"),
        )
        (message,) = server.messages("a-arena")
        assert (message.id, message.author_name, message.payload) == (str(made.id), "The Judge", b'{"a":1}')
        assert message.avatar_url == "https://example.org/a.png"
        assert message.text == "hi *there*\nTitle\na b\nf: 1\nmessage \\*5\\*"
        assert [item["label"] for item in message.components] == ["Yes"]
        assert server.formatted == [("italic", "*b*")]
        assert await made.attachments[0].read() == b'{"a":1}'
        assert server.pings == []

    play(server, scene)


def test_the_history_can_be_paged_both_ways(server: DiscordServer) -> None:
    ids = [server.person_writes("ana", "a-arena", str(number)) for number in range(130)]

    async def scene(client: Guest) -> None:
        room = client.room()
        assert [m.content async for m in room.history(limit=None)] == [str(n) for n in range(129, -1, -1)]
        after = discord.Object(int(ids[5]))
        assert [m.content async for m in room.history(limit=None, after=after)] == [
            str(n) for n in range(6, 130)
        ]
        before = discord.Object(int(ids[3]))
        assert [m.content async for m in room.history(before=before)] == ["2", "1", "0"]
        around = discord.Object(int(ids[50]))
        assert [m.content async for m in room.history(around=around, limit=3)] == ["51", "50", "49"]

    play(server, scene)


def test_a_nonce_is_honoured_for_the_bots_own_messages_and_ignored_for_webhooks(
    server: DiscordServer,
) -> None:
    async def scene(client: Guest) -> None:
        one = await client.room().send("once", nonce="abc")
        two = await client.room().send("twice", nonce="abc")
        assert one.id == two.id
        hook = await client.room().create_webhook(name="moot")
        async with aiohttp.ClientSession() as http:
            for _ in range(2):
                body = {"content": "again", "nonce": "abc", "enforce_nonce": True}
                async with http.post(f"{server.api}/webhooks/{hook.id}/{hook.token}", json=body) as answer:
                    assert answer.status == 204
        assert [message.text for message in server.messages()] == ["once", "again", "again"]

    play(server, scene)


def test_whoever_would_be_woken_is_written_down(server: DiscordServer) -> None:
    ana = server.user_id("ana")

    async def scene(client: Guest) -> None:
        none = discord.AllowedMentions.none()
        await posted(client, f"@everyone <@{ana}>", allowed_mentions=none)
        assert server.pings == []
        await posted(client, f"@everyone <@{ana}>")
        assert [ping.split()[0] for ping in server.pings] == ["@everyone", f"<@{ana}>"]
        said = client.room().get_partial_message(int(server.person_writes("ana", "a-arena", "hi")))
        await said.reply("quiet", allowed_mentions=none)
        await said.reply("loud")
        assert len(server.pings) == 3

    play(server, scene)


# limits


def test_an_empty_message_and_a_too_large_file_have_codes_of_their_own(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        with pytest.raises(discord.HTTPException) as empty:
            await client.room().send(" ")
        assert (empty.value.status, empty.value.code) == (400, 50006)
        for size, code in ((10 * 1024**2, 0), (10 * 1024**2 + 1, 40005), (40 * 1024**2, 40005)):
            file = discord.File(io.BytesIO(b"x" * size), "big.bin")
            if code:
                with pytest.raises(discord.HTTPException) as caught:
                    await client.room().send(file=file)
                assert (caught.value.status, caught.value.code) == (413, code)
            else:
                await client.room().send(file=file)

    play(server, scene, is_connected=True)


def test_sixteen_webhooks_in_a_channel_are_one_too_many_and_names_are_checked(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        with pytest.raises(discord.HTTPException) as named:
            await client.room().create_webhook(name="not Discord")
        assert named.value.code == 50035
        for number in range(15):
            await client.room().create_webhook(name=f"hook {number}")
        with pytest.raises(discord.HTTPException) as caught:
            await client.room().create_webhook(name="one more")
        assert caught.value.code == 30007
        assert len(await client.room().webhooks()) == 15

    play(server, scene)


def test_emojis_are_kept_and_checked(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        picture = b"\x89PNG\r\n\x1a\n" + b"0" * 100
        made = await client.create_application_emoji(name="moot_judge", image=picture)
        assert [one.name for one in await client.fetch_application_emojis()] == ["moot_judge"]
        async with aiohttp.ClientSession() as http, http.get(f"{server.cdn}/emojis/{made.id}.png") as answer:
            assert await answer.read() == picture
        for name, image in (
            ("moot_judge", picture),
            ("no-dash", picture),
            ("large", picture + b"0" * 256 * 1024),
        ):
            with pytest.raises(discord.HTTPException) as caught:
                await client.create_application_emoji(name=name, image=image)
            assert caught.value.code == 50035

    play(server, scene)


# rights and things that are gone


def test_a_right_taken_away_is_missed_and_a_hidden_channel_has_no_name(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        room = client.room()
        server.deny("MANAGE_WEBHOOKS", "a-arena")
        with pytest.raises(discord.Forbidden) as caught:
            await room.create_webhook(name="moot")
        assert caught.value.code == 50013
        await until(lambda: not room.permissions_for(room.guild.me).manage_webhooks)
        server.deny("VIEW_CHANNEL", "a-arena")
        with pytest.raises(discord.Forbidden) as caught:
            await room.send("x")
        assert caught.value.code == 50001
        await until(lambda: room.name == "___hidden___")
        assert "a-arena" not in [channel.name for channel in await room.guild.fetch_channels()]
        server.allow("VIEW_CHANNEL", "a-arena")
        await until(lambda: room.name == "a-arena")

    play(server, scene)


def test_what_is_gone_is_unknown(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        room = client.room()
        hook = await room.create_webhook(name="moot")
        made = await hook.send("x", wait=True)
        server.delete_webhook(str(hook.id))
        calls: list[tuple[int, Callable[[], Coroutine[Any, Any, Any]]]] = [
            (10015, lambda: hook.send("x", wait=True)),
            (10008, lambda: room.fetch_message(1)),
            (10014, lambda: room.get_partial_message(made.id).add_reaction("text")),
        ]
        for code, call in calls:
            with pytest.raises(discord.HTTPException) as caught:
                await call()
            assert caught.value.code == code
        second = await room.create_webhook(name="moot")
        with pytest.raises(discord.NotFound) as unknown:
            await second.send("x", thread=discord.Object(made.id), wait=True)
        assert unknown.value.code == 10003
        server.delete_channel("a-arena")
        await until(lambda: not client.guilds[0].text_channels)
        with pytest.raises(discord.NotFound) as gone:
            await second.send("x", wait=True)
        assert gone.value.code == 10015

    play(server, scene)


def test_a_post_reopens_an_archived_thread_but_not_a_locked_one(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        hook = await client.room().create_webhook(name="moot")
        root = await hook.send("root", wait=True)
        thread = await client.room().get_partial_message(root.id).create_thread(name="case 1")
        assert thread.id == root.id
        with pytest.raises(discord.HTTPException) as twice:
            await client.room().get_partial_message(root.id).create_thread(name="case 1")
        assert twice.value.code == 160004
        first = await hook.send("one", thread=thread, wait=True)
        server.archive(str(thread.id))
        with pytest.raises(discord.HTTPException) as caught:
            await thread.get_partial_message(first.id).add_reaction("✅")
        assert caught.value.code == 50083
        await hook.send("two", thread=thread, wait=True)
        assert not server.threads("a-arena")[0]["thread_metadata"]["archived"]
        server.archive(str(thread.id), locked=True)
        with pytest.raises(discord.HTTPException) as locked:
            await hook.send("three", thread=thread, wait=True)
        assert locked.value.code == 50083
        await thread.edit(archived=False, locked=False)
        await hook.send("four", thread=thread, wait=True)
        server.archive(str(thread.id))
        server.archived_stays()
        with pytest.raises(discord.HTTPException) as stays:
            await hook.send("five", thread=thread, wait=True)
        assert stays.value.code == 50083
        assert [m.text for m in server.messages("a-arena") if m.thread_id] == ["one", "two", "four"]

    play(server, scene)


# people


def test_an_answered_click_is_seen_by_the_person_alone(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        made = await posted(client, "halt?", view=buttons("Yes"))
        click = server.person_clicks("ana", str(made.id), "Yes")
        await until(lambda: client.clicks)
        it = client.clicks[0]
        data: Any = it.data
        assert data["custom_id"] == "moot|Yes|case-1" and it.user.name == "ana"
        assert it.message is not None and it.message.id == made.id
        assert not server.acked_in_time(click) and server.replies(click) == []
        await it.response.defer(ephemeral=True, thinking=True)
        assert server.acked_in_time(click) and server.replies(click) == []
        await it.followup.send("done", ephemeral=True)
        await it.followup.send("and more", ephemeral=True)
        assert [(reply.text, reply.is_ephemeral) for reply in server.replies(click)] == [
            ("done", True),
            ("and more", True),
        ]
        assert [message.text for message in server.messages()] == ["halt?"]

    play(server, scene)


def test_a_second_answer_is_refused_with_40060_and_a_late_one_with_10062(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        made = await posted(client, "halt?", view=buttons("Yes"))
        server.person_clicks("ana", str(made.id), "Yes")
        await until(lambda: client.clicks)
        first = client.clicks[0]
        await first.response.send_message("done")
        first.response._response_type = None
        with pytest.raises(discord.HTTPException) as again:
            await first.response.send_message("done")
        assert again.value.code == 40060
        late = server.person_clicks("ana", str(made.id), "moot|Yes|case-1")
        await until(lambda: len(client.clicks) == 2)
        server.advance(3.1)
        with pytest.raises(discord.NotFound) as caught:
            await client.clicks[1].response.defer()
        assert caught.value.code == 10062
        assert not server.acked_in_time(late)
        server.advance(15 * 60)
        with pytest.raises(discord.HTTPException) as over:
            await first.followup.send("too late")
        assert over.value.code == 50027

    play(server, scene)


def test_a_button_of_an_old_message_works_after_a_restart(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        await posted(client, "halt?", view=buttons("Yes"))

    play(server, scene)
    port = server.port
    server.restart(forget_sessions=True)
    server.advance(86_400)
    assert server.port == port

    async def later(client: Guest) -> None:
        server.person_clicks("ana", server.messages("a-arena")[0].id, "Yes")
        await until(lambda: client.clicks)
        await client.clicks[0].response.edit_message(content="halted", view=None)
        (message,) = server.messages("a-arena")
        assert message.text == "halted" and message.components == [] and message.is_edited

    play(server, later)


def test_a_command_must_be_registered_and_fit(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        tree = discord.app_commands.CommandTree(client)
        told: list[str] = []

        @tree.command(name="halt", description="Stop.")
        async def halt(interaction: discord.Interaction, reason: str) -> None:
            told.append(reason)
            await interaction.response.send_message("halted", ephemeral=True)

        with pytest.raises(LookupError, match="no command /halt"):
            server.person_commands("ana", "a-arena", "halt", reason="now")
        tree.copy_global_to(guild=discord.Object(int(server.guild_id)))
        await tree.sync(guild=discord.Object(int(server.guild_id)))
        assert [
            one.name for one in await tree.fetch_commands(guild=discord.Object(int(server.guild_id)))
        ] == ["halt"]
        with pytest.raises(LookupError, match="needs reason"):
            server.person_commands("ana", "a-arena", "halt")
        done = server.person_commands("ana", "a-arena", "halt", reason="now")
        await until(lambda: server.replies(done))
        assert told == ["now"] and server.replies(done)[0].text == "halted"
        body = [{"name": "Halt Now", "description": "x"}]
        with pytest.raises(discord.HTTPException) as caught:
            await client.http.bulk_upsert_global_commands(int(server.application_id), body)
        assert caught.value.code == 50035

    play(server, scene)


def test_edits_deletions_reactions_and_replies_are_told(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        edits: list[str] = []
        gone: list[int] = []

        @client.event
        async def on_raw_message_edit(payload: discord.RawMessageUpdateEvent) -> None:
            edits.append(payload.message.content)

        @client.event
        async def on_raw_message_delete(payload: discord.RawMessageDeleteEvent) -> None:
            gone.append(payload.message_id)

        said = server.person_writes("ana", "a-arena", "one")
        await until(lambda: client.heard)
        server.person_edits(said, "two")
        await until(lambda: edits == ["two"])
        message = await client.room().fetch_message(int(said))
        await message.add_reaction("✅")
        await message.reply("noted", allowed_mentions=discord.AllowedMentions.none())
        kinds = [(reply.text, reply.is_reaction) for reply in server.replies(said)]
        assert kinds == [("noted", False), ("✅", True)]
        server.person_deletes(said)
        await until(lambda: gone == [int(said)])
        long = server.person_writes("ana", "a-arena", "x" * 40_000)
        await until(lambda: len(client.heard) == 2)
        assert client.heard[1] == ""
        assert (await client.room().fetch_message(int(long))).attachments[0].filename == "message.txt"

    play(server, scene)


# the connection


def test_what_was_missed_is_replayed_after_a_resume(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        server.stop()
        for number in range(3):
            server.person_writes("ana", "a-arena", f"missed {number}")
        server.start()
        # RESUMED follows the last that was missed.
        await until(lambda: "resumed" in client.events, within_s=60)
        assert client.heard == ["missed 0", "missed 1", "missed 2"]
        assert client.events.count("ready") == 1

    play(server, scene)


def test_a_refused_resume_makes_a_new_session_that_missed_it(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        server.refuse_resumes()
        server.faults.add("GATEWAY MESSAGE_CREATE", 1, faults.LOSE)
        server.person_writes("ana", "a-arena", "missed")
        server.close_gateway(4000)
        await until(lambda: client.events.count("ready") == 2)
        server.person_writes("ana", "a-arena", "heard")
        await until(lambda: client.heard)
        assert client.heard == ["heard"] and "resumed" not in client.events

    play(server, scene)


@pytest.mark.parametrize(
    ("trouble", "is_resumed"),
    [
        (lambda server: server.ask_reconnect(), True),
        (lambda server: server.invalidate(resumable=True), True),
        (lambda server: server.invalidate(resumable=False), False),
        (lambda server: server.close_gateway(4000), True),
        (lambda server: server.close_gateway(4009), False),
    ],
    ids=["op 7", "op 9 true", "op 9 false", "4000", "4009"],
)
def test_each_way_to_lose_the_connection_ends_as_discord_says(
    server: DiscordServer, trouble: Callable[[DiscordServer], None], is_resumed: bool
) -> None:
    async def scene(client: Guest) -> None:
        trouble(server)
        await until(lambda: client.events[1:] and client.events[-1] in ("ready", "resumed"))
        assert ("resumed" in client.events) == is_resumed
        server.person_writes("ana", "a-arena", "still here")
        await until(lambda: client.heard == ["still here"])

    play(server, scene)


def test_a_zombie_connection_is_left_by_the_client_and_resumed() -> None:
    with DiscordServer(heartbeat_s=0.2) as quick:
        quick.add_channel("a-arena")

        async def scene(client: Guest) -> None:
            quick.zombie()
            quick.person_writes("ana", "a-arena", "unheard")
            await until(lambda: client.heard == ["unheard"] and len(client.events) > 2, within_s=60)
            assert client.events[:3] == ["ready", "disconnect", "resumed"]

        play(quick, scene, heartbeat_timeout=1.0)


# trouble on command


def test_a_cut_connection_before_the_post_leaves_nothing_and_after_it_the_message(
    server: DiscordServer,
) -> None:
    async def scene(client: Guest) -> None:
        hook = await client.room().create_webhook(name="moot")
        for action, count in ((faults.DROP_BEFORE, 0), (faults.DROP_AFTER, 1)):
            server.faults.add("POST /webhooks/*", 1, action)
            with pytest.raises((aiohttp.ClientError, OSError)):
                await hook.send("x", wait=True)
            assert len(server.messages()) == count
            assert server.calls[-1].status is None

    play(server, scene)


def test_a_limit_of_discords_is_waited_for_and_one_of_cloudflares_is_not(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        hook = await client.room().create_webhook(name="moot")
        server.faults.add("POST /webhooks/*", 2, faults.limited(0.02))
        await hook.send("waited", wait=True)
        server.faults.add("POST */messages", 1, faults.limited(0.02, everywhere=True))
        await client.room().send("waited too")
        assert [call.status for call in server.calls if call.status == 429] == [429] * 3
        server.faults.add("POST /webhooks/*", 1, faults.limited(600, has_via=False))
        with pytest.raises(discord.HTTPException) as caught:
            await hook.send("banned", wait=True)
        assert caught.value.status == 429
        assert [message.text for message in server.messages()] == ["waited", "waited too"]

    play(server, scene)


def test_the_sixth_webhook_post_in_a_window_is_too_many_and_the_headers_tell(server: DiscordServer) -> None:
    with DiscordServer(rate_scale=10.0) as slow:
        slow.add_channel("a-arena")
        hook = slow.add_webhook("a-arena", "moot")

        async def scene() -> None:
            url = f"{slow.api}/webhooks/{hook['id']}/{hook['token']}"
            async with aiohttp.ClientSession() as http:
                left = []
                for _ in range(5):
                    async with http.post(url, json={"content": "x"}) as answer:
                        assert answer.status == 204
                        left.append(answer.headers["X-RateLimit-Remaining"])
                        assert 0 < float(answer.headers["X-RateLimit-Reset-After"]) <= 20
                assert left == ["4", "3", "2", "1", "0"]
                async with http.post(url, json={"content": "x"}) as answer:
                    told = await answer.json()
                    assert answer.status == 429 and not told["global"] and 0 < told["retry_after"] <= 20
                    assert answer.headers["Via"] and answer.headers["X-RateLimit-Scope"] == "user"

        asyncio.run(scene())
        assert len(slow.messages()) == 5


def test_a_client_that_obeys_the_headers_is_never_limited(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        hook = await client.room().create_webhook(name="moot")
        await asyncio.gather(*(hook.send(str(number), wait=True) for number in range(23)))
        assert len(server.messages()) == 23
        assert all(call.status != 429 for call in server.calls)

    play(server, scene)


def test_too_much_of_everything_is_a_global_limit() -> None:
    with DiscordServer(rate_scale=10.0) as slow:

        async def scene() -> None:
            headers = {"Authorization": f"Bot {slow.token}"}
            async with aiohttp.ClientSession(headers=headers) as http:
                told: dict[str, Any] = {}
                kinds: Any = {}
                for number in range(51):
                    path = "users/@me" if number % 2 else f"guilds/{slow.guild_id}"
                    async with http.get(f"{slow.api}/{path}") as answer:
                        told, kinds = await answer.json(), answer.headers
                assert told["global"] is True
                assert kinds["X-RateLimit-Global"] == "true"

        asyncio.run(scene())


def test_garbage_and_errors_come_as_told(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        server.faults.add("GET /users/*", 1, faults.garbage())
        assert await client.http.request(Route("GET", "/users/@me")) == "<html>502 Bad Gateway</html>"
        server.faults.add("GET /users/*", 1, faults.refused(403, 50001, "Missing Access"))
        with pytest.raises(discord.Forbidden):
            await client.fetch_user(int(server.application_id))
        server.faults.add("GET /users/*", 1, faults.delay(0.01))
        await client.fetch_user(int(server.application_id))

    play(server, scene)


def test_events_can_come_twice_in_another_order_or_never(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        for action in (faults.DUPLICATE, faults.REORDER, faults.LOSE):
            server.faults.add("GATEWAY MESSAGE_CREATE", 1, action)
            for number in (1, 2):
                server.person_writes("ana", "a-arena", f"{action.kind} {number}")
        await until(lambda: "lose 2" in client.heard)
        assert client.heard == [
            "duplicate 1", "duplicate 1", "duplicate 2", "reorder 2", "reorder 1", "lose 2",
        ]  # fmt: skip

    play(server, scene)


def test_a_garbled_event_ends_the_clients_connection_with_an_error(server: DiscordServer) -> None:
    async def scene(client: Guest) -> None:
        assert client.connecting is not None
        server.faults.add("GATEWAY MESSAGE_CREATE", 1, faults.GARBAGE_EVENT)
        server.person_writes("ana", "a-arena", "x")
        with pytest.raises(KeyError):
            await client.connecting

    play(server, scene)


def test_the_gateway_compresses_as_the_client_asks(server: DiscordServer) -> None:
    async def scene() -> None:
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(server.gateway + "?v=10&encoding=json") as plain,
        ):
            hello = json.loads((await plain.receive()).data)
            assert hello["op"] == 10 and hello["d"]["heartbeat_interval"] == 41250
            await plain.send_json({"op": 8, "d": {}})
            assert (await plain.receive()).data == 4003

    asyncio.run(scene())
