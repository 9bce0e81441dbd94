"""Messages out to Slack: the real library against a server that keeps Slack's limits and misbehaves on command."""

import asyncio
import json

import pytest

from moot.channels.slack import rendering
from moot.channels.surface import PostRefused, RateLimited, SurfaceConfigError, SurfaceDown
from moot.protocols.escalation.messages import Escalation
from moot.protocols.kernel.people import Note, Stop
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.research.seats import EVOLVER
from tests.doubles import read_back
from tests.doubles.live_slack import Society, id_, living, posting, slack_server
from tests.doubles.slack_state import BOT_USER
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until

NASTY = "*bold* _it_ `code` <b> & <!channel> @everyone <https://x.example|y> :smile: ~no~"


@pytest.fixture
def server(monkeypatch):
    with slack_server(monkeypatch) as running:
        yield running


def sent(server):
    return [call for call in server.calls if call.method == "chat.postMessage"]


def post(server, *items, memory=None, **options):
    async def main():
        async with living(server, memory=memory, **options) as surface:
            return [await surface.post(item) for item in items]

    return asyncio.run(main())


def fails(server, item, **options):
    async def main():
        async with living(server, **options) as surface:
            with pytest.raises((SurfaceDown, RateLimited, PostRefused)) as caught:
                await surface.post(item)
            return caught.value

    error = asyncio.run(main())
    assert "\n" not in str(error)
    assert server.bot_token not in str(error)
    return error


def test_a_role_speaks_under_its_own_name_and_icon_in_the_right_channel(server):
    log = SmallLog()
    (posted,) = post(server, posting(log.say("mind the tail", "#a-verdict", author=EVOLVER)))
    (message,) = server.posts("a-verdict")
    assert posted == message.id
    assert (message.author_name, message.icon_emoji) == ("Evolver", ":seedling:")
    assert "Evolver notes: mind the tail" in message.text


def test_our_text_is_never_markup_and_calls_nobody(server):
    log = SmallLog()
    post(server, posting(log.say(NASTY)))
    assert NASTY in server.posts("a-arena")[0].text
    assert server.pings == server.formatted == server.oddities == []


def test_the_typed_json_travels_along_and_reads_back_as_it_stood_in_the_log(server):
    log = SmallLog()
    said = [log.say(f'fold {n} “ü” \\ "q"') for n in range(3)]
    post(server, posting(said[0], folded=tuple(said[1:])))
    (message,) = server.posts("a-arena")
    assert read_back.from_slack(message.metadata) == [envelope.line for envelope in said]
    assert message.nonce == "log:1"


@pytest.mark.parametrize("place", ["channel", "thread"])
def test_a_message_too_long_for_metadata_brings_its_json_as_a_file_that_people_there_can_open(server, place):
    """Slack shares no file by a link in a post that has a `username`, so the upload itself shares it."""
    log = SmallLog()
    root, envelope = log.say("root", case_id="hyp_1"), log.say("word " * 2_500, case_id="hyp_1")

    async def main():
        society = Society()
        async with living(server, society) as surface:
            at = await surface.post(posting(root)) if place == "thread" else None
            await surface.post(posting(envelope, root=at))
            server.person_writes("ana", "a-arena", "the end")
            await until(lambda: society.texts)
            return at, society.texts

    at, texts = asyncio.run(main())
    thread = at.partition("/")[2] if at else None
    message = server.posts("a-arena")[-1]
    file = message.payload_file
    assert read_back.from_slack_file(file.content) == [envelope.line]
    assert rendering.file_of(message.metadata) == file.id
    assert file.name == "payload.json"
    assert file.shared_in == [message.channel_id]
    (shared,) = [one for one in server.messages("a-arena") if one.files]
    assert (shared.thread_ts, shared.files) == (thread, [file])
    assert texts == ["the end"], "what the app itself shares is nobody's words"


@pytest.mark.parametrize("fault", ["drop_after", "status"])
def test_a_file_whose_sharing_had_no_answer_is_shared_once(server, fault):
    item = posting(SmallLog().say("word " * 2_500))
    server.faults.add("files.completeUploadExternal", 1, fault)

    async def main():
        async with living(server) as surface:
            with pytest.raises(SurfaceDown):
                await surface.post(item)
            await surface.post(item)

    asyncio.run(main())
    (shared,) = [one for one in server.messages("a-arena") if one.files]
    assert shared.files == [server.posts("a-arena")[0].payload_file]


def test_our_own_post_is_found_also_where_it_names_our_user_and_no_bot(server):
    item = posting(SmallLog().say("there"))

    async def main():
        async with living(server) as surface:
            posted = await surface.post(item)
            message = server.workspace.message(posted)
            message.bot_id, message.user, message.subtype = None, BOT_USER, None
            return posted, await surface.find(item)

    posted, found = asyncio.run(main())
    assert found == posted


def test_a_file_goes_to_the_channel_when_its_thread_is_gone(server):
    log = SmallLog()
    item = posting(
        log.say("word " * 2_500, case_id="hyp_1"),
        root=id_(f"{server.channel('a-arena').id}/1000000000.000001"),
    )
    post(server, item)
    (shared,) = [one for one in server.messages("a-arena") if one.files]
    assert shared.thread_ts is None


def test_metadata_that_slack_refuses_goes_into_a_file(monkeypatch):
    with slack_server(monkeypatch, metadata_most=300) as server:
        log = SmallLog()
        envelope = log.say("word " * 60)
        post(server, posting(envelope))
        (message,) = server.posts("a-arena")
        assert read_back.from_slack_file(message.payload_file.content) == [envelope.line]
        assert message.nonce == "log:1"


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
@pytest.mark.parametrize("fault", ["drop_after", "status"])
def test_an_upload_that_breaks_posts_nothing_and_is_tried_anew(server, step, fault):
    log = SmallLog()
    item = posting(log.say("word " * 2_500))
    server.faults.add(step, 1, fault)

    async def main():
        async with living(server) as surface:
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(item)
            assert not caught.value.maybe_posted
            assert not server.posts("a-arena")
            await surface.post(item)

    asyncio.run(main())
    assert read_back.from_slack_file(server.posts("a-arena")[0].payload_file.content) == [item.envelope.line]


def test_where_files_are_forbidden_the_message_goes_without_one(server):
    server.faults.add("files.getUploadURLExternal", 1, "error", code="file_uploads_disabled")
    post(server, posting(SmallLog().say("word " * 2_500)))
    (message,) = server.posts("a-arena")
    assert message.nonce == "log:1"
    assert message.payload is None


def test_a_case_is_a_thread_and_its_escalation_has_buttons(server):
    log = SmallLog()
    body = Escalation(
        escalation_id="esc_1", level="URGENT", system="A", trigger="t", context="c", suggested_actions=("s",),
        trigger_code="x", evidence_seqs=(1,), options=({"n": 1, "label": "Stop", "effect": "none"},),
    )  # fmt: skip
    first = log.append(body, channel="#admin", author=REFEREE, case_id="esc_1")
    second = log.say("and more", "#admin", case_id="esc_1")
    (root,) = post(server, posting(first))
    post(server, posting(second, root=root))
    top, reply = server.posts("admin")
    assert (top.thread_ts, reply.thread_ts) == (None, top.ts)
    assert [button["action_id"] for button in top.buttons] == ["moot|ack|esc_1", "moot|answer|1|esc_1"]


@pytest.mark.parametrize(
    ("fault", "how", "is_there"),
    [
        ("drop_before", {}, False),
        ("drop_after", {}, True),
        ("status", {"status": 503}, False),
        ("status", {"status": 500}, False),
        ("garbage", {}, False),
        ("fatal", {}, True),
        ("error", {"code": "internal_error"}, False),
        ("error", {"code": "service_unavailable"}, False),
    ],
)
def test_an_unknown_outcome_is_told_and_never_repeated_by_the_library(server, fault, how, is_there):
    server.faults.add("chat.postMessage", 1, fault, **how)
    error = fails(server, posting(SmallLog().say("once")))
    assert isinstance(error, SurfaceDown)
    assert (error.maybe_posted, error.everywhere) == (True, True)
    assert len(sent(server)) == 1
    assert len(server.posts("a-arena")) == is_there


def test_a_slack_that_cannot_be_reached_surely_took_nothing(server):
    item = posting(SmallLog().say("later"))

    async def main():
        async with living(server) as surface:
            await asyncio.to_thread(server.stop)
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(item)
            await asyncio.to_thread(server.start)
            await surface.post(item)
            return caught.value

    error = asyncio.run(main())
    assert (error.maybe_posted, error.everywhere) == (False, True)
    assert len(server.posts("a-arena")) == 1


@pytest.mark.parametrize(
    ("action", "how", "pause_s"),
    [
        ("ratelimited", {"retry_after_s": 7}, 7.0),
        ("error", {"code": "rate_limited"}, 5.0),
        ("error", {"code": "message_limit_exceeded"}, 5.0),
    ],
)
def test_a_post_that_comes_too_soon_has_its_channel_pause(server, action, how, pause_s):
    """Slack takes about one message a second in a channel, whatever goes on in others."""
    server.faults.add("chat.postMessage", 1, action, channel="a-arena", **how)
    here = fails(server, posting(SmallLog().say("x")))
    assert isinstance(here, RateLimited)
    assert (here.retry_after_s, here.everywhere) == (pause_s, False)
    assert len(post(server, posting(SmallLog().say("x", "#b-risk")))) == 1
    assert len(sent(server)) == 2


@pytest.mark.parametrize("method", ["conversations.history", "files.getUploadURLExternal"])
def test_any_other_call_that_comes_too_soon_has_everything_pause(server, method):
    """Slack counts them for the whole workspace."""

    async def main():
        async with living(server) as surface:
            await until(lambda: surface.is_caught_up)
            server.faults.add(method, 1, "ratelimited", retry_after_s=7)
            server.faults.add("chat.postMessage", 1, "error", code="metadata_too_large")
            call = surface.find if method == "conversations.history" else surface.post
            with pytest.raises(RateLimited) as caught:
                await call(posting(SmallLog().say("x")))
            return caught.value

    pause = asyncio.run(main())
    assert (pause.retry_after_s, pause.everywhere) == (7.0, True)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("token_revoked", "it was revoked: reinstall the app and copy the new one"),
        ("invalid_auth", "copy it again"),
        ("account_inactive", "the app was removed from the workspace"),
    ],
)
async def test_a_token_that_is_refused_ends_the_watch_with_what_to_do(server, code, says):
    async with living(server) as surface:
        watching = asyncio.create_task(surface.watch())
        server.spoil_token(code)
        with pytest.raises(SurfaceDown) as caught:
            await surface.post(posting(SmallLog().say("x")))
        assert not caught.value.maybe_posted
        with pytest.raises(SurfaceConfigError, match=says):
            await watching


async def test_a_scope_taken_away_is_named(server):
    async with living(server) as surface:
        watching = asyncio.create_task(surface.watch())
        server.drop_scope("chat:write")
        with pytest.raises(SurfaceDown):
            await surface.post(posting(SmallLog().say("x")))
        with pytest.raises(SurfaceConfigError, match="add chat:write under OAuth & Permissions"):
            await watching


def test_a_channel_that_is_archived_or_closed_waits_alone(server):
    server.archive_channel("a-arena")
    archived = fails(server, posting(SmallLog().say("x")))
    assert (archived.maybe_posted, archived.everywhere) == (False, False)
    assert "#a-arena in Slack: it is archived; unarchive it" in str(archived)
    server.channel("admin").is_read_only = True
    closed = fails(server, posting(SmallLog().say("x", "#admin")))
    assert (closed.maybe_posted, closed.everywhere) == (False, False)
    post(server, posting(SmallLog().say("x", "#bridge")))


def test_a_deleted_channel_waits_until_it_is_made_anew_and_is_found_there(server, monkeypatch):
    log = SmallLog()

    async def main():
        async with living(server) as surface:
            first = await surface.post(posting(log.say("x", case_id="hyp_1")))
            server.delete_channel("a-arena")
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(posting(log.say("y", case_id="hyp_1"), root=first))
            assert "run: moot slack setup" in str(caught.value)
            assert not caught.value.everywhere
            server.add_channel("a-arena", is_member=False)
            monkeypatch.setattr("moot.channels.slack.rooms.LOOK_AGAIN_S", 0.0)
            await surface.post(posting(log.say("z", case_id="hyp_1"), root=first))

    asyncio.run(main())
    assert [message.nonce for message in server.posts("a-arena")] == ["log:3"]


def test_a_channel_we_were_put_out_of_is_joined_again(server):
    async def main():
        async with living(server) as surface:
            server.kick("a-arena")
            await surface.post(posting(SmallLog().say("back")))

    asyncio.run(main())
    assert len(server.posts("a-arena")) == 1


def test_a_channel_that_was_renamed_is_the_same_channel(server):
    memory, log = SurfaceMemory(), SmallLog()
    post(server, posting(log.say("x")), memory=memory)
    server.channel("a-arena").name = "the-arena"
    post(server, posting(log.say("y")), memory=memory)
    assert [message.nonce for message in server.posts("the-arena")] == ["log:1", "log:2"]


def test_channels_may_have_a_prefix(monkeypatch):
    with slack_server(monkeypatch, "moot-a-arena", "a-arena") as server:
        post(server, posting(SmallLog().say("x")), prefix="moot-")
        assert len(server.posts("moot-a-arena")) == 1
        assert not server.posts("a-arena")


def test_where_a_thread_is_gone_the_message_goes_to_the_channel_and_is_found_there(server):
    log = SmallLog()
    (root,) = post(server, posting(log.say("x", case_id="hyp_1")))
    gone = id_(f"{root.partition('/')[0]}/1000.000001")
    item = posting(log.say("y", case_id="hyp_1"), root=gone)

    async def main():
        async with living(server) as surface:
            server.faults.add("chat.postMessage", 1, "error", code="thread_not_found")
            posted = await surface.post(item)
            assert await surface.find(item) == posted

    asyncio.run(main())
    assert server.posts("a-arena")[1].thread_ts is None


@pytest.mark.parametrize("code", ["msg_too_long", "invalid_blocks", "msg_blocks_too_long", "no_text"])
def test_a_message_that_slack_never_takes_is_refused_with_its_reason(server, code):
    server.faults.add("chat.postMessage", 1, "error", code=code)
    error = fails(server, posting(SmallLog().say("x")))
    assert isinstance(error, PostRefused)
    assert code in str(error)


def test_a_code_that_nobody_knows_holds_the_channel_and_loses_nothing(server):
    server.faults.add("chat.postMessage", 1, "error", code="a_new_reason")
    error = fails(server, posting(SmallLog().say("x")))
    assert isinstance(error, SurfaceDown)
    assert (error.maybe_posted, error.everywhere) == (False, False)
    assert "a_new_reason" in str(error)


def test_a_post_is_found_by_its_nonce_in_channel_and_thread_also_by_another_process(server):
    log = SmallLog()
    first, second, third = (posting(log.say(str(n), case_id="hyp_1")) for n in range(3))
    (root,) = post(server, first)
    reply = posting(second.envelope, root=root, in_reply_to=root)
    (answer,) = post(server, reply)
    server.person_writes("ana", "a-arena", "between")

    async def main():
        async with living(server) as surface:
            return [
                await surface.find(first), await surface.find(reply),
                await surface.find(posting(third.envelope, root=root)),
            ]  # fmt: skip

    assert asyncio.run(main()) == [root, answer, None]


def test_another_apps_metadata_is_not_taken_for_ours(server):
    log = SmallLog()
    item = posting(log.say("x"))
    post(server, item)
    server.messages("a-arena")[0].bot_id = "B0OTHER"

    async def main():
        async with living(server) as surface:
            return await surface.find(item)

    assert asyncio.run(main()) is None


@pytest.mark.parametrize(
    ("later", "is_urgent", "is_found"), [(55, False, True), (60, False, False), (70, True, True)]
)
def test_the_search_ends_after_sixty_earlier_messages_of_ours_but_for_an_urgent_one(
    server, later, is_urgent, is_found
):
    """Urgent messages overtake any number; for the rest, what stands behind sixty smaller ones was not posted."""
    log = SmallLog()
    items = [posting(log.say(str(n))) for n in range(later)]
    body = Stop(scope="society", why="enough") if is_urgent else Note(text="wanted")
    wanted = posting(log.append(body))

    async def main():
        async with living(server) as surface:
            posted = await surface.post(wanted)
            for item in items:
                await surface.post(item)
            return posted, await surface.find(wanted)

    posted, found = asyncio.run(main())
    assert found == (posted if is_found else None)


def test_no_token_is_in_anything_that_was_sent_but_the_header(server):
    post(server, posting(SmallLog().say("x")))
    told = json.dumps([call.args for call in server.calls], default=str)
    assert server.bot_token not in told
    assert server.app_token not in told
