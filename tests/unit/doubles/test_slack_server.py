"""The fake Slack server, driven by the real libraries over real sockets."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.app.async_server import AsyncSlackAppServer
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.doubles.slack_faults import Limits
from tests.doubles.slack_server import SlackServer
from tests.doubles.slack_state import BOT_USER
from tests.doubles.slack_text import mrkdwn, typed
from tests.doubles.waiting import until

BUTTON = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}, "value": "1"}
ROW = {"type": "actions", "block_id": "row", "elements": [BUTTON]}


@pytest.fixture
def server():
    with SlackServer("a-arena", "admin", scale=0.001, limits=Limits(scale=0)) as server:
        yield server


def client_of(server, token=None, **how):
    # Without the library's own retries: a fault is to be seen as it is.
    return AsyncWebClient(token=token or server.bot_token, base_url=server.api, retry_handlers=[], **how)


def arena(server):
    return server.channel("a-arena").id


def post(server, **args):
    """Post with a client of its own; returns the answer."""

    async def run():
        channel = args.pop("channel", None) or arena(server)
        return (await client_of(server).chat_postMessage(channel=channel, **args)).data

    return asyncio.run(run())


def call(server, method, token=None, /, **args):
    """Call any method; returns the answer, also a refusal."""

    async def run():
        try:
            return (await client_of(server, token).api_call(method, params=args)).data
        except SlackApiError as error:
            return error.response.data

    return asyncio.run(run())


def refusal(server, **args):
    with pytest.raises(SlackApiError) as caught:
        post(server, **args)
    return caught.value.response.data


@asynccontextmanager
async def listening(server, *, acks=True):
    """Connect over Socket Mode; yields the list of requests that came."""
    client = SocketModeClient(server.app_token, web_client=client_of(server), ping_interval=0.2)
    came = []

    async def take(client, request):
        came.append(request)
        if acks:
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))

    client.socket_mode_request_listeners.append(take)
    await client.connect()
    await until(lambda: server.connections)
    try:
        yield came
    finally:
        await client.close()


@asynccontextmanager
async def bolt(server, *, path="/slack/events"):
    """Run a bolt app; yields it, what it heard, and the address of its web server (HTTP mode)."""
    app = AsyncApp(client=client_of(server), signing_secret=server.signing_secret)
    heard = []

    @app.event("message")
    async def message(event):
        heard.append(event)

    @app.event("app_mention")
    async def mention(event):
        heard.append(event)

    @app.action("go")
    async def pressed(ack, body, respond):
        await ack()
        heard.append(body)
        await respond("pressed")

    @app.command("/moot")
    async def command(ack, body):
        heard.append(body)
        await ack(f"you said {body['text']}")

    runner = web.AppRunner(AsyncSlackAppServer(0, path, app, "127.0.0.1").web_app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    try:
        yield app, heard, f"http://127.0.0.1:{port}{path}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def socket_bolt(server):
    async with bolt(server) as (app, heard, _):
        handler = AsyncSocketModeHandler(app, server.app_token, ping_interval=0.2)
        await handler.connect_async()
        await until(lambda: server.connections)
        try:
            yield heard
        finally:
            await handler.close_async()


def test_a_bolt_app_hears_messages_mentions_clicks_and_commands(server):
    async def scene():
        async with socket_bolt(server) as heard:
            root = await client_of(server).chat_postMessage(channel=arena(server), text="x", blocks=[ROW])
            written = server.person_writes(
                "ana", "a-arena", "hello @moot & <all>", reply_to=f"{arena(server)}/{root['ts']}"
            )
            await until(lambda: len(heard) == 2)
            click = server.person_clicks("ana", f"{arena(server)}/{root['ts']}", "Go")
            command = server.person_commands("ana", "admin", "/moot", "halt now")
            await until(lambda: server.replies(click) and server.replies(command))
            await until(lambda: server.acked_in_time(click))
            return root["ts"], written, click, command, heard

    ts, written, click, command, heard = asyncio.run(scene())
    assert {event["type"] for event in heard[:2]} == {"message", "app_mention"}
    assert heard[0]["text"] == f"hello <@{BOT_USER}> &amp; &lt;all&gt;"
    assert (heard[0]["thread_ts"], heard[0]["user"]) == (ts, server.user_id("ana"))
    assert all(server.acked_in_time(name) for name in (written, click, command))
    assert [reply.text for reply in server.replies(click)] == ["pressed"]
    assert [(reply.text, reply.is_ephemeral) for reply in server.replies(command)] == [
        ("you said halt now", True)
    ]


def test_an_event_that_is_not_acknowledged_comes_again_with_its_event_id(server):
    server.courier.redeliver_after_s = 0.05

    async def scene():
        async with listening(server, acks=False) as came:
            name = server.person_writes("ana", "a-arena", "hello")
            await until(lambda: len(came) == 4)
            await until(lambda: server.delivery(name).is_over)
            return name, came

    name, came = asyncio.run(scene())
    assert len({request.payload["event_id"] for request in came}) == 1
    assert len({request.envelope_id for request in came}) == 4
    assert [request.retry_attempt for request in came] == [0, 1, 2, 3]
    assert [request.retry_reason for request in came] == ["", "timeout", "timeout", "timeout"]
    assert not server.acked_in_time(name)


def test_an_acknowledged_event_comes_once_and_to_one_connection(server):
    async def scene():
        async with listening(server) as one, listening(server) as two:
            await until(lambda: server.connections == 2)
            names = [server.person_writes("ana", "a-arena", f"n{n}") for n in range(6)]
            await until(lambda: all(server.acked_in_time(name) for name in names))
            return len(one), len(two)

    one, two = asyncio.run(scene())
    assert one + two == 6
    assert one and two


def test_a_click_that_nobody_acknowledges_comes_once_and_slack_says_so(server):
    ts = post(server, text="x", blocks=[ROW])["ts"]
    server.courier.redeliver_after_s = 0.05

    async def scene():
        async with listening(server, acks=False) as came:
            click = server.person_clicks("ana", f"{arena(server)}/{ts}", "go")
            await until(lambda: server.replies(click))
            return server.replies(click), came

    replies, came = asyncio.run(scene())
    assert [(reply.kind, reply.text) for reply in replies] == [("slack", "operation_timeout")]
    assert [request.type for request in came].count("interactive") == 1
    lonely = server.person_commands("ana", "admin", "/moot", "status")
    server.settle()
    assert [reply.text for reply in server.replies(lonely)] == ["dispatch_failed"]


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
def test_the_library_follows_a_disconnect_to_a_new_address(server, reason):
    async def scene():
        async with listening(server) as came:
            server.disconnect(reason)
            await until(lambda: server.opened >= 2 and server.connections == 1)
            server.person_writes("ana", "a-arena", "still there?")
            await until(lambda: came)

    asyncio.run(scene())
    assert len([c for c in server.calls if c.method == "apps.connections.open"]) >= server.opened >= 2


def test_the_library_comes_back_after_a_cut_and_after_a_restart(server):
    port = server.port

    async def scene():
        async with listening(server) as came:
            server.cut()
            await until(lambda: server.opened == 2 and server.connections == 1)
            server.restart()
            await until(lambda: server.opened == 3 and server.connections == 1)
            server.person_writes("ana", "a-arena", "still there?")
            await until(lambda: came)

    asyncio.run(scene())
    assert server.port == port


def test_the_library_leaves_a_connection_whose_pings_nobody_answers(server):
    server.be_zombie()

    async def scene():
        async with listening(server):
            await until(lambda: server.opened > 1)

    asyncio.run(scene())


def test_a_ticket_opens_one_connection_and_goes_stale(server):
    url = call(server, "apps.connections.open", server.app_token)["url"]

    async def scene():
        async with aiohttp.ClientSession() as session:
            async with session.ws_connect(url) as ws:
                hello = await ws.receive_json()
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(url)
            server.sockets.ticket_ttl_s = -1.0
            stale = server.sockets.new_ticket()
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(stale)
            return hello

    hello = asyncio.run(scene())
    assert (hello["type"], hello["num_connections"]) == ("hello", 1)


def test_people_act_while_the_server_is_down_and_it_is_in_the_history_afterwards(server):
    server.stop()
    with pytest.raises(aiohttp.ClientConnectionError):
        post(server, text="x")
    server.person_writes("ana", "a-arena", "anybody there?")
    server.start()
    assert [m["text"] for m in call(server, "conversations.history", channel=arena(server))["messages"]] == [
        "anybody there?"
    ]


def heard_events(server, act):
    async def scene():
        async with listening(server) as came:
            act()
            last = server.person_writes("zoe", "admin", "the end")
            await until(lambda: server.delivery(last).is_over)
            return [r.payload["event"] for r in came if r.payload["event"].get("text") != "the end"]

    return asyncio.run(scene())


def test_our_own_messages_and_changes_come_back_as_events(server):
    def act():
        # In a thread of its own: this one has a running loop.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor() as pool:
            ts = pool.submit(post, server, text="mine", username="Explorer").result()["ts"]
            pool.submit(call, server, "chat.update", channel=arena(server), ts=ts, text="changed").result()

    first, second = heard_events(server, act)
    assert (first["subtype"], first["username"], first["bot_id"]) == (
        "bot_message",
        "Explorer",
        server.bot_id,
    )
    assert "user" not in first
    assert (second["subtype"], second["message"]["bot_id"]) == ("message_changed", server.bot_id)
    assert "bot_id" not in second


def test_edits_deletions_and_unfurls_are_events_of_their_own_shape(server):
    def act():
        name = server.person_writes("ana", "a-arena", "one")
        server.person_edits(name, "two")
        server.unfurls(name)
        server.person_deletes(name)
        root = server.person_writes("ana", "a-arena", "root")
        server.person_writes("bob", "a-arena", "reply", reply_to=root)
        server.person_deletes(root)

    said, edited, unfurled, gone, _, _, tomb = heard_events(server, act)
    assert said["text"] == "one"
    assert (edited["previous_message"]["text"], edited["message"]["text"]) == ("one", "two")
    assert edited["message"]["edited"]["user"] == server.user_id("ana")
    assert unfurled["message"]["text"] == unfurled["previous_message"]["text"] == "two"
    assert (gone["subtype"], gone["deleted_ts"]) == ("message_deleted", said["ts"])
    assert (tomb["subtype"], tomb["message"]["subtype"]) == ("message_changed", "tombstone")


@pytest.mark.parametrize("cause", ["not subscribed", "no scope", "not a member"])
def test_nothing_comes_from_where_the_app_may_not_hear(server, cause):
    if cause == "not subscribed":
        server.subscriptions.discard("message.channels")
    elif cause == "no scope":
        server.drop_scope("channels:history")
    else:
        server.kick("a-arena")
    name = server.person_writes("ana", "a-arena", "hello")
    assert server.delivery(name) is None


def test_events_can_be_dropped_doubled_and_turned_round(server):
    def act():
        server.faults.events("drop", 1, "message")
        server.person_writes("ana", "a-arena", "never")
        server.faults.events("duplicate", 1, "message")
        server.person_writes("ana", "a-arena", "twice")
        server.faults.events("reorder", 2, "message")
        server.person_writes("ana", "a-arena", "first")
        server.person_writes("ana", "a-arena", "second")

    assert [event["text"] for event in heard_events(server, act)] == ["twice", "twice", "second", "first"]


def test_a_bolt_app_takes_signed_requests_and_refuses_skewed_and_forged_ones(server):
    name = server.person_writes("ana", "a-arena", "hello")
    payload = server.delivery(name).payload

    async def scene():
        async with bolt(server) as (_, heard, url):
            send = {
                "good": server.post_event(url, payload),
                "four minutes": server.post_event(url, payload, skew_s=-240),
                "behind": server.post_event(url, payload, skew_s=-600),
                "ahead": server.post_event(url, payload, skew_s=600),
                "forged": server.post_event(url, payload, secret="another"),
                "challenge": server.verify_url(url),
            }
            answers = {key: await asyncio.wrap_future(future) for key, future in send.items()}
            return answers, len(heard)

    answers, heard = asyncio.run(scene())
    statuses = {key: answer.status for key, answer in answers.items()}
    good = ("good", "four minutes", "challenge")
    assert statuses == {key: 200 if key in good else 401 for key in statuses}
    assert json.loads(answers["challenge"].body) == {"challenge": "3eZbrw1aB"}
    assert heard == 2


def test_in_http_mode_everything_goes_to_the_request_url(server):
    ts = post(server, text="x", blocks=[ROW])["ts"]

    async def scene():
        async with bolt(server) as (_, heard, url):
            server.use_http(url)
            written = server.person_writes("ana", "a-arena", "hello")
            click = server.person_clicks("ana", f"{arena(server)}/{ts}", "go")
            command = server.person_commands("ana", "admin", "/moot", "halt a & b")
            await until(lambda: len(heard) == 3 and server.replies(click) and server.replies(command))
            await until(lambda: server.acked_in_time(written))
            return [reply.text for name in (click, command) for reply in server.replies(name)]

    assert asyncio.run(scene()) == ["pressed", "you said halt a &amp; b"]


def test_a_request_url_that_fails_is_tried_again_with_the_reason(server):
    seen = []

    async def broken(request):
        seen.append((request.headers.get("X-Slack-Retry-Num"), request.headers.get("X-Slack-Retry-Reason")))
        return web.Response(status=500, headers={"X-Slack-No-Retry": "1"} if len(seen) == 3 else {})

    async def scene():
        app = web.Application()
        app.router.add_post("/", broken)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.use_http(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        name = server.person_writes("ana", "a-arena", "hello")
        await until(lambda: server.delivery(name).is_over)
        await runner.cleanup()

    asyncio.run(scene())
    assert seen == [(None, None), ("1", "http_error"), ("2", "http_error")]


def test_a_response_url_takes_five_replies_and_no_word_more(server):
    ts = post(server, text="x", blocks=[ROW])["ts"]
    click = server.person_clicks("ana", f"{arena(server)}/{ts}", "go")
    url = server.delivery(click).payload["response_url"]

    async def scene():
        hook = AsyncWebhookClient(url)
        return [(await hook.send(text=f"r{n}")).status_code for n in range(6)]

    assert asyncio.run(scene()) == [200] * 5 + [404]
    told = [reply for reply in server.replies(click) if reply.kind == "response_url"]
    assert [(reply.text, reply.is_ephemeral) for reply in told] == [(f"r{n}", True) for n in range(5)]


def test_tokens_and_scopes_are_checked_in_slacks_own_words(server):
    assert call(server, "auth.test")["bot_id"] == server.bot_id
    assert call(server, "auth.test", "xoxb-no")["error"] == "invalid_auth"
    assert call(server, "auth.test", server.app_token)["error"] == "not_allowed_token_type"
    assert call(server, "apps.connections.open")["error"] == "not_allowed_token_type"
    server.drop_scope("chat:write.customize")
    refused = refusal(server, text="x", username="Explorer")
    assert (refused["error"], refused["needed"]) == ("missing_scope", "chat:write.customize")
    assert "chat:write" in refused["provided"].split(",")
    for error in ("token_revoked", "account_inactive", "invalid_auth"):
        server.spoil_token(error)
        assert call(server, "auth.test")["error"] == error
    assert call(server, "no.such")["error"] == "unknown_method"


def test_a_call_without_a_token_is_not_authed(server):
    async def scene():
        async with aiohttp.ClientSession() as session, session.post(server.api + "auth.test") as response:
            return await response.json()

    assert asyncio.run(scene()) == {"ok": False, "error": "not_authed"}


def test_get_form_json_and_multipart_are_read_alike(server):
    head = {"Authorization": f"Bearer {server.bot_token}"}
    body = {
        "channel": arena(server),
        "text": "how",
        "metadata": '{"event_type": "a", "event_payload": {"n": 1}}',
    }

    async def scene():
        async with aiohttp.ClientSession(headers=head) as session:
            url = server.api + "chat.postMessage"
            form = aiohttp.FormData(body)
            form.add_field("file", b"x", filename="x")
            whole = {**body, "metadata": json.loads(body["metadata"])}
            for how in ({"params": body}, {"data": body}, {"json": whole}, {"data": form}):
                async with session.post(url, **how) as response:
                    assert (await response.json())["ok"]
            async with session.get(url, params=body) as response:
                assert (await response.json())["ok"]

    asyncio.run(scene())
    assert [m.metadata["event_payload"] for m in server.posts("a-arena")] == [{"n": 1}] * 5


def test_channels_refuse_in_slacks_own_words(server):
    assert refusal(server, channel="C0NONE", text="x")["error"] == "channel_not_found"
    server.kick("a-arena")
    assert refusal(server, text="x")["error"] == "not_in_channel"
    assert call(server, "conversations.join", channel=arena(server))["ok"]
    server.channel("a-arena").is_read_only = True
    assert refusal(server, text="x")["error"] == "restricted_action"
    server.archive_channel("a-arena")
    assert refusal(server, text="x")["error"] == "is_archived"
    gone = arena(server)
    server.delete_channel("a-arena")
    assert refusal(server, channel=gone, text="x")["error"] == "channel_not_found"


def test_channels_are_made_listed_joined_and_described(server):
    made = call(server, "conversations.create", name="b-new")["channel"]
    assert made["is_member"]
    assert call(server, "conversations.create", name="b-new")["error"] == "name_taken"
    assert call(server, "conversations.create", name="B New")["error"] == "invalid_name_specials"
    assert call(server, "conversations.create", name="n" * 81)["error"] == "invalid_name_maxlength"
    first = call(server, "conversations.list", limit=2)
    cursor = first["response_metadata"]["next_cursor"]
    second = call(server, "conversations.list", limit=2, cursor=cursor)
    names = [channel["name"] for page in (first, second) for channel in page["channels"]]
    assert names == ["a-arena", "admin", "b-new"]
    assert second["response_metadata"]["next_cursor"] == ""
    assert (
        call(server, "conversations.setTopic", channel=made["id"], topic="t")["channel"]["topic"]["value"]
        == "t"
    )
    assert call(server, "users.info", user=server.user_id("ana"))["user"]["profile"]["display_name"] == "ana"
    assert call(server, "users.info", user="U0NOBODY")["error"] == "user_not_found"


def section(text="x", **more):
    return {"type": "section", "text": {"type": "plain_text", "text": text}, **more}


def field(length):
    return {"type": "plain_text", "text": "f" * length}


def button(**more):
    return {"type": "actions", "elements": [{**BUTTON, **more}]}


@pytest.mark.parametrize(
    ("fits", "too_much", "pointer"),
    [
        ([section("s" * 3000)], [section("s" * 3001)], "/blocks/0/text/text"),
        ([section("s")], [section("")], "/blocks/0/text/text"),
        ([section(fields=[field(1)] * 10)], [section(fields=[field(1)] * 11)], "/blocks/0/fields"),
        ([section(fields=[field(2000)])], [section(fields=[field(2001)])], "/blocks/0/fields/0/text"),
        ([section(block_id="b" * 255)], [section(block_id="b" * 256)], "/blocks/0/block_id"),
        ([section()] * 50, [section()] * 51, "/blocks"),
        ([{"type": "header", "text": field(150)}], [{"type": "header", "text": field(151)}], "/blocks/0/text/text"),
        ([button(value="v" * 2000)], [button(value="v" * 2001)], "/blocks/0/elements/0/value"),
        ([button(action_id="a" * 255)], [button(action_id="a" * 256)], "/blocks/0/elements/0/action_id"),
        ([button(text=field(75))], [button(text=field(76))], "/blocks/0/elements/0/text/text"),
        ([button(style="danger")], [button(style="red")], "/blocks/0/elements/0/style"),
        ([button()], [button(colour="red")], "/blocks/0/elements/0"),
        (
            [{"type": "actions", "elements": [{**BUTTON, "action_id": str(n)} for n in range(25)]}],
            [{"type": "actions", "elements": [{**BUTTON, "action_id": str(n)} for n in range(26)]}],
            "/blocks/0/elements",
        ),
        (
            [{"type": "context", "elements": [field(1)] * 10}],
            [{"type": "context", "elements": [field(1)] * 11}],
            "/blocks/0/elements",
        ),
        ([ROW], [{**ROW, "elements": [BUTTON, BUTTON]}], "/blocks/0/elements/1/action_id"),
        ([section(block_id="a")], [section(block_id="a"), section(block_id="a")], "/blocks/1/block_id"),
        ([section()], [{"type": "section"}], "/blocks/0"),
        ([section()], [{"type": "input"}], "/blocks/0/type"),
    ],
)  # fmt: skip
def test_blocks_are_held_to_their_limits(server, fits, too_much, pointer):
    post(server, text="x", blocks=fits)
    refused = refusal(server, text="x", blocks=too_much)
    assert refused["error"] == "invalid_blocks"
    assert any(m.endswith(f"[json-pointer:{pointer}]") for m in refused["response_metadata"]["messages"])
    assert len(server.posts("a-arena")) == 1


def test_a_section_that_is_too_long_is_refused_in_slacks_own_words(server):
    assert refusal(server, text="x", blocks=[section("s" * 3001)])["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    ]


def test_all_blocks_together_text_metadata_and_attachments_have_limits(server):
    post(server, text="x", blocks=[section("s" * 3000)] * 4)
    assert refusal(server, text="x", blocks=[section("s" * 3000)] * 5)["error"] == "msg_blocks_too_long"
    assert refusal(server, text="x", blocks="[{")["error"] == "invalid_blocks_format"
    assert call(server, "chat.postMessage", channel=arena(server), text=" ")["error"] == "no_text"
    assert refusal(server, text="x", attachments=[{"text": "a"}] * 101)["error"] == "too_many_attachments"
    long = post(server, text="t" * 40_001)
    assert (long["warning"], len(long["message"]["text"])) == ("message_truncated", 40_000)
    update = call(server, "chat.update", channel=arena(server), ts=long["ts"], text="t" * 4_001)
    assert update["error"] == "msg_too_long"

    def metadata(size, kind="moot_message"):
        return {"event_type": kind, "event_payload": {"nonce": "l:1", "messages": "m" * size}}

    post(server, text="x", metadata=metadata(8_000))
    assert refusal(server, text="x", metadata=metadata(16_000))["error"] == "metadata_too_large"
    server.desk.metadata_most = 1_000
    assert refusal(server, text="x", metadata=metadata(8_000))["error"] == "metadata_too_large"
    assert refusal(server, text="x", metadata=metadata(1, "a b"))["error"] == "invalid_metadata_schema"
    assert refusal(server, text="x", metadata="{")["error"] == "invalid_metadata_format"


@pytest.mark.parametrize(
    ("sent", "seen", "pings", "markup"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c", [], []),
        ("*bold* _it_ ~st~ `co`", "bold it st co", [], ["code", "bold", "italic", "strike"]),
        ("2 * 3 * 4 snake_case_name a~b~c", "2 * 3 * 4 snake_case_name a~b~c", [], []),
        ("*\u200bzero width stops nothing*", "\u200bzero width stops nothing", [], ["bold"]),
        ("&gt; quoted", " quoted", [], ["quote"]),
        ("```x *y*```", "x *y*", [], ["code block"]),
        ("<!channel> <!here|here> <@U0ANA>", "@channel here @ana", ["<!channel>", "<!here>", "<@U0ANA>"], []),
        ("&lt;!channel&gt; @here", "<!channel> @here", [], []),
        ("<https://x.org|click> <https://y.org>", "click https://y.org", [], ["link to https://x.org"]),
        (":fire: 10:30:45 :nonsense:", "🔥 10:30:45 :nonsense:", [], ["emoji"]),
    ],
)  # fmt: skip
def test_mrkdwn_is_shown_as_slack_shows_it(sent, seen, pings, markup):
    shown = mrkdwn(sent, {"U0ANA": "ana"})
    assert (shown.text, shown.pings, shown.markup) == (seen, pings, markup)


def test_bare_calls_count_where_names_are_linked(server):
    post(server, text="hi @channel")
    assert server.pings == []
    post(server, text="hi @channel", link_names=True)
    post(server, text="hi @here", parse="full")
    assert len(server.pings) == 2


def test_plain_text_is_literal_and_the_fallback_text_may_still_call(server):
    plain = {"type": "plain_text", "text": "*a* &lt; <!channel> :fire:", "emoji": False}
    post(server, text="fallback", blocks=[{"type": "section", "text": plain}])
    assert server.posts("a-arena")[0].text == "*a* &lt; <!channel> :fire:"
    assert (server.pings, server.formatted) == ([], [])
    post(server, text="<!here> *b*", blocks=[section(":fire:")])
    assert server.posts("a-arena")[1].text == "🔥"
    assert len(server.pings) == 1
    assert len(server.formatted) == 1


def test_what_people_type_becomes_entities(server):
    text = typed(
        "see https://x.org/?a=1&b=2 @ana @nobody #a-arena #none ✅ @here 1<2",
        {"ana": "U1"},
        {"a-arena": "C1"},
    )
    assert text == (
        "see <https://x.org/?a=1&amp;b=2> <@U1> @nobody <#C1|a-arena> #none :white_check_mark: <!here> 1&lt;2"
    )


def test_history_is_newest_first_in_pages_without_replies(server):
    meta = {"event_type": "moot_message", "event_payload": {"nonce": "l:1", "messages": "[]"}}
    root = post(server, text="m0", metadata=meta)["ts"]
    for number in range(1, 5):
        post(server, text=f"m{number}")
    replies = [post(server, text=f"r{number}", thread_ts=root, metadata=meta)["ts"] for number in range(3)]
    first = call(server, "conversations.history", channel=arena(server), limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    second = call(server, "conversations.history", channel=arena(server), limit=3, cursor=cursor)
    texts = [m["text"] for page in (first, second) for m in page["messages"]]
    assert texts == ["m4", "m3", "m2", "m1", "m0"]
    assert (first["has_more"], second["has_more"]) == (True, False)
    assert second["messages"][-1]["metadata"] == {"event_type": "moot_message"}
    assert (second["messages"][-1]["reply_count"], second["messages"][-1]["latest_reply"]) == (3, replies[-1])
    whole = call(server, "conversations.history", channel=arena(server), include_all_metadata=1)
    assert whole["messages"][-1]["metadata"] == meta
    after = call(server, "conversations.history", channel=arena(server), oldest=first["messages"][2]["ts"])
    assert [m["text"] for m in after["messages"]] == ["m4", "m3"]
    thread = call(
        server, "conversations.replies", channel=arena(server), ts=root, include_all_metadata=1, limit=2
    )
    assert [m["text"] for m in thread["messages"]] == ["m0", "r0", "r1"]
    assert thread["messages"][1]["metadata"] == meta
    assert (
        call(server, "conversations.replies", channel=arena(server), ts="1.000001")["error"]
        == "thread_not_found"
    )
    assert (server.posts("a-arena")[0].nonce, server.posts("a-arena")[0].payload) == ("l:1", "[]")


def test_ephemeral_words_and_reactions_reach_the_person(server):
    name = server.person_writes("ana", "a-arena", "note")
    ts = name.split("/")[1]
    ana = server.user_id("ana")
    assert call(server, "chat.postEphemeral", channel=arena(server), user=ana, text="psst")["ok"]
    bob = call(server, "chat.postEphemeral", channel=arena(server), user=server.user_id("bob"), text="psst")
    assert bob["error"] == "user_not_in_channel"
    react = {"channel": arena(server), "timestamp": ts, "name": "white_check_mark"}
    assert call(server, "reactions.add", **react)["ok"]
    assert call(server, "reactions.add", **react)["error"] == "already_reacted"
    told = [(reply.kind, reply.text, reply.is_ephemeral) for reply in server.replies(name)]
    assert told == [("reaction", ":white_check_mark:", False), ("ephemeral", "psst", True)]


def test_a_file_goes_up_in_three_steps_and_comes_back(server):
    async def scene():
        client = client_of(server)
        done = await client.files_upload_v2(filename="payload.json", content='{"a": "ü"}')
        file = done["files"][0]
        async with aiohttp.ClientSession() as session:
            async with session.get(
                file["url_private"], headers={"Authorization": f"Bearer {server.bot_token}"}
            ) as got:
                body = await got.text()
            async with session.get(file["url_private"]) as got:
                page = await got.text()
            steps = await client.files_getUploadURLExternal(filename="x", length=5)
            async with session.post(steps["upload_url"], data=b"123") as short:
                status = short.status
        with pytest.raises(SlackApiError, match="file_not_found"):
            await client.files_completeUploadExternal(files=[{"id": steps["file_id"]}])
        return file, body, page, status

    file, body, page, status = asyncio.run(scene())
    assert body == '{"a": "ü"}'
    assert "Sign in" in page
    assert status == 400
    meta = {"event_type": "moot_message", "event_payload": {"nonce": "l:1", "file": file["id"]}}
    post(server, text="x", metadata=meta)
    assert server.posts("a-arena")[0].payload == '{"a": "ü"}'


@pytest.mark.parametrize("name", ["Critic", None])
def test_a_post_shares_the_file_it_links_to_unless_it_is_under_another_name(server, name):
    async def scene():
        client = client_of(server)
        link = (await client.files_upload_v2(filename="x.json", content="{}"))["files"][0]["permalink"]
        await client.chat_postMessage(channel=arena(server), text=f"see <{link}|x.json>", username=name)

    asyncio.run(scene())
    (file,) = server.workspace.files.values()
    assert file.shared_in == ([] if name else [arena(server)])


def test_a_channel_takes_a_burst_and_then_says_when_to_come_again():
    limits = Limits(posts_per_s=2.0, post_burst=2)

    async def scene(server):
        client = client_of(server)
        room, other = arena(server), server.channel("admin").id
        for _ in range(2):
            await client.chat_postMessage(channel=room, text="x")
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel=room, text="x")
        assert caught.value.response.status_code == 429
        assert caught.value.response.data["error"] == "ratelimited"
        assert caught.value.response.headers["Retry-After"] == "1"
        await client.chat_postMessage(channel=other, text="x")
        with pytest.raises(SlackApiError):
            await client.chat_postMessage(channel=room, text="x")
        assert limits.impatient == [f"chat.postMessage {room}"]
        client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=3))
        await client.chat_postMessage(channel=room, text="in the end")

    with SlackServer("a-arena", "admin", limits=limits) as server:
        asyncio.run(scene(server))
        assert server.posts("a-arena")[-1].text == "in the end"


@pytest.mark.parametrize(
    ("action", "details", "raised", "was_taken"),
    [
        ("drop_before", {}, aiohttp.ClientError, False),
        ("drop_after", {}, aiohttp.ClientError, True),
        ("status", {"status": 503}, SlackApiError, False),
        ("garbage", {}, SlackApiError, False),
        ("error", {"code": "internal_error"}, SlackApiError, False),
        ("fatal", {}, SlackApiError, True),
        ("ratelimited", {"retry_after_s": 7}, SlackApiError, False),
        ("delay", {"seconds": 0.05}, None, True),
    ],
)
def test_faults_strike_as_often_as_told(server, action, details, raised, was_taken):
    server.faults.add("chat.*", 1, action, **details)
    if raised is None:
        post(server, text="first")
    else:
        with pytest.raises(raised):
            post(server, text="first")
    assert [m.text for m in server.posts("a-arena")] == (["first"] if was_taken else [])
    post(server, text="second")
    assert server.posts("a-arena")[-1].text == "second"


def test_connections_open_can_be_refused(server):
    server.faults.add("apps.connections.open", 1, "error", code="link_disabled")
    assert call(server, "apps.connections.open", server.app_token)["error"] == "link_disabled"
    assert call(server, "apps.connections.open", server.app_token)["ok"]
