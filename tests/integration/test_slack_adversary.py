"""Bad input: odd tokens, channels, people, texts and requests against the Slack surface."""

import asyncio
import json

import pytest
import structlog

from moot.channels.slack.scopes import BOT_SCOPES
from moot.channels.surface import ActReply, RateLimited, SurfaceConfigError, SurfaceDown
from tests.doubles.read_back import from_slack, from_slack_file
from tests.doubles.slack_scenes import (
    BUTTONS,
    NASTY,
    by_http,
    mirrored,
    one_line,
    posting,
    workspace,
)
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until


@pytest.fixture
def server(monkeypatch):
    with workspace(monkeypatch) as server:
        yield server


def refused_start(server, **options):
    async def scene():
        async with mirrored(server, **options):
            pass

    with pytest.raises(SurfaceConfigError) as caught:
        asyncio.run(scene())
    assert server.bot_token not in str(caught.value)
    assert server.app_token not in str(caught.value)
    return one_line(caught.value)


@pytest.mark.parametrize("error", ["invalid_auth", "token_revoked", "account_inactive", "token_expired"])
@pytest.mark.parametrize("which", ["bot", "app"])
def test_a_wrong_token_is_told_in_one_line(server, error, which):
    server.spoil_token(error, server.bot_token if which == "bot" else server.app_token)
    assert which in refused_start(server)


def test_tokens_in_each_others_place_are_told(server, monkeypatch):
    monkeypatch.setenv("MOOT_SLACK_BOT_TOKEN", server.app_token)
    assert "begins with xoxb-" in refused_start(server)


@pytest.mark.parametrize("scope", [scope.name for scope in BOT_SCOPES])
def test_a_missing_scope_is_named(server, scope):
    server.drop_scope(scope)
    assert scope in refused_start(server)


def test_an_app_token_without_its_scope_and_socket_mode_switched_off_are_told(server):
    server.set_scopes(token=server.app_token)
    assert "connections:write" in refused_start(server)
    server.set_scopes("connections:write", token=server.app_token)
    server.faults.add("apps.connections.open", 1, "error", code="socket_mode_disabled")
    assert "Socket Mode" in refused_start(server)


@pytest.mark.parametrize("trouble", ["scope", "token"])
def test_what_is_taken_away_while_it_runs_ends_watch_with_what_to_do(server, trouble):
    async def scene():
        async with mirrored(server) as (surface, _):
            watching = asyncio.create_task(surface.watch())
            await asyncio.sleep(0)
            if trouble == "scope":
                server.drop_scope("chat:write")
            else:
                server.spoil_token("token_revoked")
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(posting(SmallLog()))
            assert not caught.value.maybe_posted
            with pytest.raises(SurfaceConfigError) as told:
                await asyncio.wait_for(watching, 60)
            return one_line(told.value)

    assert ("chat:write" if trouble == "scope" else "revoked") in asyncio.run(scene())


def test_a_workspace_that_refuses_a_new_connection_ends_watch(server):
    async def scene():
        async with mirrored(server) as (surface, _):
            watching = asyncio.create_task(surface.watch())
            server.faults.add("apps.connections.open", 1000, "error", code="link_disabled")
            server.disconnect("link_disabled")
            with pytest.raises(SurfaceConfigError) as told:
                await asyncio.wait_for(watching, 30)
            return one_line(told.value)

    assert "Socket Mode" in asyncio.run(scene())


@pytest.mark.parametrize("fate", ["deleted", "archived", "read-only"])
def test_a_channel_that_takes_nothing_holds_up_no_other(server, fate):
    async def scene():
        log = SmallLog()
        async with mirrored(server) as (surface, _):
            if fate == "deleted":
                server.delete_channel("a-arena")
            elif fate == "archived":
                server.archive_channel("a-arena")
            else:
                server.channel("a-arena").is_read_only = True
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(posting(log))
            await surface.post(posting(log, channel="#admin"))
            assert not caught.value.everywhere
            assert not caught.value.maybe_posted
            return one_line(caught.value)

    assert "a-arena" in asyncio.run(scene())
    assert len(server.posts("admin")) == 1


def test_an_app_that_was_put_out_of_a_channel_goes_back_in(server):
    async def scene():
        async with mirrored(server) as (surface, _):
            server.kick("a-arena")
            await surface.post(posting(SmallLog()))

    asyncio.run(scene())
    assert len(server.posts("a-arena")) == 1


def test_a_renamed_channel_stays_the_channel_it_was_also_after_a_restart(server):
    memory = SurfaceMemory()

    async def scene():
        log = SmallLog()
        async with mirrored(server, memory) as (surface, society):
            await surface.post(posting(log, "one"))
        server.channel("a-arena").name = "battlefield"
        async with mirrored(server, memory) as (surface, society):
            await surface.post(posting(log, "two"))
            server.person_writes("ana", "battlefield", "a note")
            await until(lambda: society.acts)
            return society.acts[0].channel

    assert asyncio.run(scene()) == "#a-arena"
    assert len(server.posts("battlefield")) == 2


def hears(server, *acts, more=0):
    """Let people act, then a last note; returns the society and the ids of the acts."""

    async def scene():
        async with mirrored(server) as (_, society):
            ids = [act() for act in acts]
            server.person_writes("zoe", "admin", "the end")
            await until(lambda: "the end" in society.texts)
            server.settle()
            return society, ids

    return asyncio.run(scene())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("✅👍 yes", ":white_check_mark::+1: yes"),
        ("a &lt;b&gt; & <c>", "a &lt;b&gt; & <c>"),
        ("tell @bob in #admin see https://x.org/?a=1&b=2", "tell @bob in #admin see https://x.org/?a=1&b=2"),
        ("*bold* /halt `x`", "*bold* /halt `x`"),
        ("two\nlines", "two\nlines"),
        ("w" * 40_000, "w" * 40_000),
        ("@here come", "@here come"),
    ],
)  # fmt: skip
def test_what_people_write_is_handed_in_as_they_see_it(server, text, kept):
    server.user_id("bob")
    society, _ = hears(server, lambda: server.person_writes("ana", "a-arena", text))
    assert society.texts == [kept, "the end"]
    assert society.acts[0].user_name == "ana"


@pytest.mark.parametrize(
    "how",
    [
        {"is_bot": True},
        {"subtype": "channel_join"},
        {"subtype": "channel_topic"},
        {"subtype": "reminder_add"},
        {"is_raw": True, "text": " "},
    ],
)
def test_what_nobody_said_is_no_act(server, how):
    text = how.pop("text", "words")
    society, ids = hears(server, lambda: server.person_writes("ana", "a-arena", text, **how))
    assert society.texts == ["the end"]
    assert server.replies(ids[0]) == []


@pytest.mark.parametrize("subtype", ["me_message", "thread_broadcast"])
def test_words_of_other_kinds_are_acts(server, subtype):
    society, _ = hears(server, lambda: server.person_writes("ana", "a-arena", "words", subtype=subtype))
    assert society.texts == ["words", "the end"]


def test_a_file_with_words_is_an_act_and_one_without_is_answered(server):
    def write(text):
        return lambda: server.person_writes("ana", "a-arena", text, files=("x.png",))

    society, ids = hears(server, write("see this"), write(""))
    assert society.texts == ["see this", "the end"]
    assert [reply.kind for reply in server.replies(ids[1])] == ["ephemeral"]


def test_an_edit_gets_one_calm_word_and_unfurls_and_deletions_none(server):
    async def scene():
        async with mirrored(server) as (_, society):
            edited = server.person_writes("ana", "a-arena", "first")
            unfurled = server.person_writes("bob", "a-arena", "see https://x.org")
            gone = server.person_writes("cem", "a-arena", "oops")
            await until(lambda: len(society.acts) == 3)
            server.person_edits(edited, "second")
            server.unfurls(unfurled)
            server.person_deletes(gone)
            await until(lambda: [r for r in server.replies(edited) if r.is_ephemeral])
            server.person_writes("zoe", "admin", "the end")
            await until(lambda: "the end" in society.texts)
            server.settle()
            told = {
                name: [r.text for r in server.replies(name) if r.is_ephemeral]
                for name in (edited, unfurled, gone)
            }
            return society.texts, [told[name] for name in (edited, unfurled, gone)]

    texts, (edited, unfurled, gone) = asyncio.run(scene())
    assert texts == ["first", "see https://x.org", "oops", "the end"]
    assert len(edited) == 1
    assert "first said" in edited[0]
    assert (unfurled, gone) == ([], [])


def test_a_deleted_parent_of_a_thread_gets_no_word(server):
    def act():
        root = server.person_writes("ana", "a-arena", "root")
        server.person_writes("bob", "a-arena", "reply", reply_to=root)
        server.person_deletes(root)
        return root

    society, (root,) = hears(server, act)
    assert society.texts == ["root", "reply", "the end"]
    assert [r for r in server.replies(root) if r.is_ephemeral] == []


def test_a_button_pressed_twice_and_by_two_admins_is_handed_in_each_time_and_answered_each_time(server):
    async def scene():
        async with mirrored(server) as (surface, society):
            society.answer = lambda act: ActReply(f"{act.user_name}: <!channel> *no*", ok=False)
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            clicks = [server.person_clicks(who, message, "Acknowledge") for who in ("ana", "ana", "bob")]
            await until(lambda: all(server.replies(click) for click in clicks))
            await until(lambda: all(server.acked_in_time(click) for click in clicks))
            return message, society.acts, [server.replies(click) for click in clicks]

    message, acts, replies = asyncio.run(scene())
    assert [act.kind for act in acts] == ["ack"] * 3
    assert len({act.platform_message_id for act in acts}) == 3
    assert {act.reply_to for act in acts} == {message}
    assert [len(told) for told in replies] == [1, 1, 1]
    assert all(told[0].is_ephemeral for told in replies)
    assert [told[0].text for told in replies] == [f"{who}: <!channel> *no*" for who in ("ana", "ana", "bob")]
    assert len(server.posts("admin")) == 1


def test_an_answer_that_comes_after_the_response_url_is_told_all_the_same(server):
    async def scene():
        async with mirrored(server) as (surface, society):
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            server.channel("admin").members.add(server.user_id("ana"))
            society.may_go_on.clear()
            click = server.person_clicks("ana", message, "Acknowledge")
            await until(lambda: server.acked_in_time(click))
            for url in server.people.response_urls.values():
                url.expires_at = 0.0
            society.may_go_on.set()
            await until(lambda: server.replies(click))
            return server.replies(click)

    (told,) = asyncio.run(scene())
    assert (told.kind, told.is_ephemeral) == ("ephemeral", True)


def test_a_society_that_takes_its_time_is_no_reason_to_be_late(server):
    async def scene():
        async with mirrored(server) as (surface, society):
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            society.may_go_on.clear()
            names = [
                server.person_clicks("ana", message, "Acknowledge"),
                server.person_commands("ana", "admin", "/moot", "halt now"),
                server.person_writes("ana", "a-arena", "note"),
            ]
            await until(lambda: all(server.acked_in_time(name) for name in names))
            await until(lambda: len(society.acts) == 3)
            society.may_go_on.set()
            await until(lambda: all(server.replies(name) for name in names))
            return society.acts

    assert len(asyncio.run(scene())) == 3


@pytest.mark.parametrize(
    ("said", "kept"),
    [("halt now <b>", "/halt now <b>"), ("", "/help"), ("  /status ", "/status"), ("a & b", "/a & b")],
)
def test_a_slash_command_is_handed_in_as_typed(server, said, kept):
    society, _ = hears(server, lambda: server.person_commands("ana", "a-arena", "/moot", said))
    assert sorted(society.texts) == sorted([kept, "the end"])


def test_a_click_of_a_button_that_is_none_of_ours_is_left_alone(server):
    async def scene():
        async with mirrored(server) as (surface, society):
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            for button in server.posts("admin")[0].blocks:
                for element in button.get("elements", ()):
                    if element.get("type") == "button":
                        element |= {"action_id": "moot|answer|99999999999999999999|", "value": "moot|no"}
            click = server.person_clicks("ana", message, "Acknowledge")
            server.person_writes("zoe", "admin", "the end")
            await until(lambda: "the end" in society.texts)
            await until(lambda: server.acked_in_time(click))
            return [act.kind for act in society.acts]

    assert asyncio.run(scene()) == ["command"]


@pytest.mark.parametrize(
    "text", [NASTY, "x" * 19_900, NASTY * 170, "\u202e\x00 \ud83d\ude00😀" * 50, "&" * 19_900]
)
def test_any_text_is_posted_plainly_and_carries_its_line(server, text):
    log = SmallLog()
    item = posting(log, text.encode("utf-8", "replace").decode())

    async def scene():
        async with mirrored(server) as (surface, _):
            return await surface.post(item)

    asyncio.run(scene())
    (shown,) = server.posts("a-arena")
    if shown.payload_file is None:
        assert from_slack(shown.metadata) == [item.envelope.line]
    else:
        assert from_slack_file(shown.payload_file.content) == [item.envelope.line]
    if text == NASTY:
        assert NASTY in shown.text
    assert server.oddities == []


@pytest.mark.parametrize(
    ("action", "stands"),
    [("drop_before", False), ("drop_after", True), ("fatal", True), ("status", False), ("garbage", False)],
)
@pytest.mark.parametrize("place", ["channel", "thread"])
def test_after_an_unknown_outcome_it_is_found_if_it_stands(server, action, stands, place):
    async def scene():
        log = SmallLog()
        async with mirrored(server) as (surface, _):
            root = await surface.post(posting(log, "root", thread="CASE-1")) if place == "thread" else None
            item = posting(log, "doubtful", root=root, thread="CASE-1" if root else None)
            server.faults.add("chat.postMessage", 1, action)
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(item)
            assert caught.value.maybe_posted
            for n in range(3):
                await surface.post(posting(log, f"later {n}"))
            found = await surface.find(item)
            other = await surface.find(posting(log, "never posted"))
            return found, other

    found, other = asyncio.run(scene())
    ids = [m.id for m in server.posts("a-arena") if "doubtful" in m.text]
    assert ids == ([found] if stands else [])
    assert (found is not None) == stands
    assert other is None


def test_nobody_else_can_pass_off_a_message_as_ours(server):
    async def scene():
        async with mirrored(server) as (surface, _):
            name = server.person_writes("evil", "a-arena", "copied", is_bot=True)
            meta = {"event_type": "moot_message", "event_payload": {"nonce": "log:1", "messages": "[]"}}
            server.workspace.message(name).metadata = meta
            return await surface.find(posting(SmallLog(), "real"))

    assert asyncio.run(scene()) is None


def test_a_pause_that_slack_wants_is_told_with_its_length(server):
    server.faults.add("chat.postMessage", 1, "ratelimited", retry_after_s=17)

    async def scene():
        async with mirrored(server) as (surface, _):
            with pytest.raises(RateLimited) as caught:
                await surface.post(posting(SmallLog()))
            return caught.value.retry_after_s

    assert asyncio.run(scene()) == 17
    assert server.posts("a-arena") == []


def test_a_thread_whose_parent_is_gone_loses_no_message(server):
    async def scene():
        log = SmallLog()
        async with mirrored(server) as (surface, _):
            root = await surface.post(posting(log, "root", thread="CASE-1"))
            server.faults.add("chat.postMessage", 1, "error", code="cannot_reply_to_message")
            await surface.post(posting(log, "reply", thread="CASE-1", root=root))

    asyncio.run(scene())
    assert [m.thread_ts for m in server.posts("a-arena")] == [None, None]


def test_metadata_that_slack_finds_too_large_travels_as_a_file(server):
    server.desk.metadata_most = 200
    log = SmallLog()
    item = posting(log, "w" * 400)

    async def scene():
        async with mirrored(server) as (surface, _):
            for step in ("files.getUploadURLExternal", "upload", "files.completeUploadExternal"):
                server.faults.add(step, 1, "status", status=500)
                with pytest.raises(SurfaceDown) as caught:
                    await surface.post(item)
                assert not caught.value.maybe_posted
            return await surface.post(item)

    posted = asyncio.run(scene())
    (shown,) = server.posts("a-arena")
    assert shown.id == posted
    assert from_slack_file(shown.payload_file.content) == [item.envelope.line]


def test_a_clock_that_is_ten_minutes_off_is_told_and_nothing_is_taken(server):
    payload = server.delivery(server.person_writes("ana", "a-arena", "old")).payload
    # Slack's own repetitions of it are over before anybody listens.
    server.settle()

    async def scene():
        async with by_http(server) as (url, _, society):
            with structlog.testing.capture_logs() as logs:
                for skew_s in (-600.0, 600.0, -301.0):
                    answer = await asyncio.wrap_future(server.post_event(url, payload, skew_s=skew_s))
                    assert answer.status == 401
                forged = await asyncio.wrap_future(server.post_event(url, payload, secret="guess"))
                assert forged.status == 401
                bare = await asyncio.wrap_future(
                    server.post_event(
                        url, payload, headers={"X-Slack-Signature": "", "X-Slack-Request-Timestamp": "x"}
                    )
                )
                assert bare.status == 401
            assert society.acts == []
            late = await asyncio.wrap_future(server.post_event(url, payload, skew_s=-290.0))
            again = await asyncio.wrap_future(server.post_event(url, payload))
            assert (late.status, again.status) == (200, 200)
            await until(lambda: society.acts)
            return society.texts, [entry.get("why", "") for entry in logs]

    texts, why = asyncio.run(scene())
    assert texts == ["old"]
    assert any("clock" in line for line in why)
    assert not any(server.signing_secret in line for line in why)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("events_api", b"not json"), ("events_api", b"\xff\xfe"), ("events_api", b"[]"), ("events_api", b""),
        ("events_api", b'{"event": 7}'), ("events_api", b"x" * (2 << 20)), ("events_api", b"null"),
        ("interactive", b"payload=%7B"), ("interactive", b"payload=7"), ("interactive", b"x=1"),
        ("slash_commands", b"command=%2Fmoot"), ("slash_commands", b"ssl_check=1&token=x"),
        ("events_api", b"[" * 100_000),
    ],
)  # fmt: skip
def test_a_signed_body_that_makes_no_sense_ends_nothing(server, kind, body):
    async def scene():
        async with by_http(server) as (url, _, society):
            answer = await asyncio.wrap_future(server.post_event(url, body, kind=kind))
            server.person_writes("ana", "a-arena", "still there?")
            await until(lambda: society.acts)
            return answer, society.texts

    answer, texts = asyncio.run(scene())
    assert texts == ["still there?"]
    assert answer.status < 500 and answer.status != 0
    assert "Traceback" not in answer.body


def test_everything_works_by_http_too(server):
    async def scene():
        async with by_http(server) as (url, surface, society):
            challenge = await asyncio.wrap_future(server.verify_url(url))
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            names = [
                server.person_clicks("ana", message, "Acknowledge"),
                server.person_commands("ana", "admin", "/moot", "halt a+b & <c>"),
                server.person_writes("ana", "a-arena", "note"),
            ]
            await until(lambda: all(server.replies(name) for name in names))
            await until(lambda: all(server.acked_in_time(name) for name in names))
            return json.loads(challenge.body)["challenge"], sorted(society.texts)

    challenge, texts = asyncio.run(scene())
    assert challenge == "3eZbrw1aB"
    assert texts == ["/halt a+b & <c>", "note"]


def test_no_secret_and_no_traceback_is_ever_logged(server, caplog, capsys):
    caplog.set_level("DEBUG")

    async def scene():
        async with mirrored(server) as (surface, _):
            for action in ("drop_after", "status", "garbage", "error"):
                server.faults.add("chat.postMessage", 1, action)
                with pytest.raises(SurfaceDown):
                    await surface.post(posting(SmallLog()))
            server.send_raw("nonsense")
            server.faults.add("apps.connections.open", 1, "error", code="internal_error")
            server.cut()
            await until(lambda: server.connections == 0)
            server.spoil_token("token_revoked")
            with pytest.raises(SurfaceDown):
                await surface.post(posting(SmallLog()))
            server.spoil_token("active")
            await until(lambda: server.connections, within_s=50)

    asyncio.run(scene())
    seen = capsys.readouterr()
    said = caplog.text + seen.out + seen.err
    for secret in (server.bot_token, server.app_token, server.signing_secret, "Traceback"):
        assert secret not in said
