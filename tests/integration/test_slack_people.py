"""What people do in Slack: acknowledged in time, taken once, answered privately."""

import asyncio
import json
from collections import Counter

import pytest
from structlog.testing import capture_logs

from moot.channels.chat.words import ONLY_EMOJI
from moot.channels.slack.events import EDITED, NO_WORDS
from moot.channels.surface import ActReply, InboundAct
from moot.protocols.escalation.messages import Escalation
from moot.protocols.kernel.seats import REFEREE
from tests.doubles.live_slack import Society, living, never, posting, slack_server
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until


@pytest.fixture
def server(monkeypatch):
    with slack_server(monkeypatch) as running:
        yield running


def on(server, use, society=None, memory=None, **options):
    async def main():
        async with living(server, society, memory, **options) as surface:
            return await use(surface)

    return asyncio.run(main())


def escalation(log):
    body = Escalation(
        escalation_id="esc_1", level="URGENT", system="A", trigger="t", context="c", suggested_actions=("s",),
        trigger_code="x", evidence_seqs=(1,),
        options=({"n": 1, "label": "Stop", "effect": "none"}, {"n": 2, "label": "Go", "effect": "none"}),
    )  # fmt: skip
    return log.append(body, channel="#admin", author=REFEREE, case_id="esc_1")


def delivered(server, name):
    """Whether the last delivery of something is over, retries and all."""
    delivery = server.delivery(name)
    return delivery is not None and delivery.is_over


def test_a_message_comes_in_as_a_note_in_plain_words_and_gets_a_mark(server):
    society = Society()
    bob = server.user_id("bob")

    async def use(_surface):
        text = f"<@{bob}> a &lt;b&gt; &amp; <https://x.example|there> *so* :tada:"
        said = server.person_writes("ana", "a-arena", text, is_raw=True)
        await until(lambda: server.replies(said))
        return said

    said = on(server, use, society)
    assert society.acts == [
        InboundAct(
            platform="slack", user_id="U0ANA", user_name="ana", platform_message_id=said, channel="#a-arena",
            kind="command", fields={"text": "@bob a <b> & there (https://x.example) *so* :tada:"},
        )
    ]  # fmt: skip
    assert [(reply.kind, reply.text) for reply in server.replies(said)] == [
        ("reaction", ":white_check_mark:")
    ]
    assert server.acked_in_time(said)


def test_what_is_said_in_a_thread_names_the_message_that_opened_it(server):
    society, log = Society(), SmallLog()

    async def use(surface):
        root = await surface.post(posting(log.say("x", case_id="hyp_1")))
        first = server.person_writes("ana", "a-arena", "why?", reply_to=root)
        await until(lambda: server.replies(first))
        second = server.person_writes("bob", "a-arena", "because", reply_to=first)
        await until(lambda: server.replies(second))
        return root

    root = on(server, use, society)
    assert [act.reply_to for act in society.acts] == [root, root]


def test_a_refusal_is_told_to_that_person_alone_in_their_thread_without_markup(server):
    async def refuse(_act):
        return ActReply("Refused: <!channel> *nobody* may", ok=False)

    async def use(surface):
        root = await surface.post(posting(SmallLog().say("x", case_id="hyp_1")))
        said = server.person_writes("ana", "a-arena", "/halt now", reply_to=root)
        await until(lambda: server.replies(said))
        return root, server.replies(said)

    root, (reply,) = on(server, use, Society(refuse))
    assert (reply.kind, reply.is_ephemeral, reply.user) == ("ephemeral", True, "U0ANA")
    assert reply.text == "Refused: <!channel> *nobody* may"
    assert reply.thread_ts == root.partition("/")[2]
    assert server.pings == server.formatted == []


def test_an_answer_of_many_lines_keeps_its_columns_and_fits(server):
    async def answer(_act):
        return ActReply("\n".join(f"{n:>4}  <b> & *row*" for n in range(2_000)))

    async def use(_surface):
        asked = server.person_commands("ana", "admin", "/moot", "status")
        await until(lambda: server.replies(asked))
        return server.replies(asked)[0]

    reply = on(server, use, Society(answer))
    assert reply.is_ephemeral
    assert reply.blocks[0]["elements"][0]["type"] == "rich_text_preformatted"
    assert server.formatted == []


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("status", "/status"),
        ("halt the <b> & market", "/halt the <b> & market"),
        ("/halt x", "/halt x"),
        ("", "/help"),
    ],
)
def test_the_slash_command_is_a_command_and_its_answer_is_private(server, text, means):
    society = Society()

    async def use(_surface):
        trigger = server.person_commands("ana", "bridge", "/moot", text)
        await until(lambda: server.replies(trigger))
        return trigger

    trigger = on(server, use, society)
    (act,) = society.acts
    assert (act.kind, act.fields["text"], act.channel) == ("command", means, "#bridge")
    assert act.platform_message_id == f"trigger/{trigger}"
    assert [reply.is_ephemeral for reply in server.replies(trigger)] == [True]
    assert server.acked_in_time(trigger)


def test_a_mention_is_a_command_once_although_slack_tells_of_it_twice(server):
    society = Society()

    async def use(_surface):
        said = server.person_writes("ana", "a-arena", f"<@{server.bot_user}> status", is_raw=True)
        await until(lambda: server.replies(said))
        note = server.person_writes("ana", "a-arena", f"<@{server.bot_user}>, mind the tail", is_raw=True)
        await until(lambda: server.replies(note))

    on(server, use, society)
    assert society.texts == ["/status", "mind the tail"]
    mentions = [d for d in server.courier.deliveries if d.name == "app_mention"]
    assert len(mentions) == 2


def test_a_mention_in_any_other_channel_is_a_command_and_other_talk_there_is_not_heard(server):
    society = Society()
    server.add_channel("lunch")

    async def use(_surface):
        server.person_writes("ana", "lunch", "what is for lunch?")
        said = server.person_writes("ana", "lunch", f"<@{server.bot_user}> escalations", is_raw=True)
        await until(lambda: server.replies(said))

    on(server, use, society)
    assert [(act.channel, act.fields["text"]) for act in society.acts] == [("#admin", "/escalations")]


@pytest.mark.parametrize(
    ("label", "kind", "fields"),
    [
        ("moot|ack|esc_1", "ack", {"escalation_id": "esc_1"}),
        ("moot|answer|2|esc_1", "answer", {"escalation_id": "esc_1", "option": 2, "text": None}),
    ],
)
def test_a_button_is_an_act_of_the_person_and_answers_them_alone(server, label, kind, fields):
    society = Society()

    async def use(surface):
        posted = await surface.post(posting(escalation(SmallLog())))
        click = server.person_clicks("ana", posted, label)
        await until(lambda: server.replies(click))
        return posted, click

    posted, click = on(server, use, society)
    (act,) = society.acts
    assert (act.kind, dict(act.fields), act.user_id, act.user_name) == (kind, fields, "U0ANA", "ana")
    assert (act.platform_message_id, act.reply_to) == (f"trigger/{click}", posted)
    assert [(reply.kind, reply.is_ephemeral) for reply in server.replies(click)] == [("response_url", True)]
    assert server.acked_in_time(click)


def test_a_button_works_after_a_restart_and_a_second_press_is_an_act_of_its_own(server):
    memory, society = SurfaceMemory(), Society()
    posted = on(server, lambda surface: surface.post(posting(escalation(SmallLog()))), memory=memory)

    async def use(_surface):
        clicks = [server.person_clicks(user, posted, "moot|answer|1|esc_1") for user in ("ana", "ana", "bob")]
        await until(lambda: all(server.replies(click) for click in clicks))
        return clicks

    clicks = on(server, use, society, memory)
    assert {act.platform_message_id for act in society.acts} == {f"trigger/{click}" for click in clicks}
    assert len({act.platform_message_id for act in society.acts}) == 3


def test_an_act_that_takes_long_is_acknowledged_in_time_all_the_same(server):
    go = asyncio.Event()

    async def slow(_act):
        await go.wait()
        return ActReply("done", seq=1)

    async def use(surface):
        posted = await surface.post(posting(escalation(SmallLog())))
        click = server.person_clicks("ana", posted, "moot|ack|esc_1")
        await until(lambda: delivered(server, click))
        assert server.acked_in_time(click)
        assert not server.replies(click)
        go.set()
        await until(lambda: server.replies(click))

    on(server, use, Society(slow))


def test_an_answer_url_that_is_worn_out_gives_way_to_an_ephemeral_message(server):
    server.faults.add("response_url", 9, "status", status=404)

    async def use(_surface):
        server.person_commands("ana", "admin", "/moot", "status")
        await until(lambda: [call for call in server.calls if call.method == "chat.postEphemeral"])

    on(server, use)
    told = [call.args for call in server.calls if call.method == "chat.postEphemeral"]
    assert [args["user"] for args in told] == ["U0ANA"]


def test_own_messages_other_bots_and_slackbot_are_not_heard(server):
    """K21: no ring of bots."""
    society, log = Society(), SmallLog()

    async def use(surface):
        posted = await surface.post(posting(log.say("ours https://x.example")))
        server.unfurls(posted)
        server.person_writes("robo", "a-arena", "beep", is_bot=True)
        server.person_writes("USLACKBOT", "a-arena", "reminder")
        server.person_writes("ana", "a-arena", "joined", subtype="channel_join")
        last = server.person_writes("ana", "a-arena", "I am a person")
        await until(lambda: server.replies(last))

    on(server, use, society)
    assert society.texts == ["I am a person"]


def test_an_edit_gets_one_calm_word_and_changes_nothing(server):
    society = Society()

    async def use(_surface):
        said = server.person_writes("ana", "a-arena", "first https://x.example")
        await until(lambda: server.replies(said))
        server.unfurls(said)
        server.person_edits(said, "second")
        await until(lambda: len(server.replies(said)) == 2)
        server.person_deletes(said)
        last = server.person_writes("ana", "a-arena", "end")
        await until(lambda: server.replies(last))
        return said

    said = on(server, use, society)
    assert society.texts == ["first https://x.example", "end"]
    assert [reply.text for reply in server.replies(said)] == [":white_check_mark:", EDITED]


def test_files_and_emoji_without_words_are_told(server):
    society = Society()

    async def use(_surface):
        file = server.person_writes("ana", "a-arena", "", files=("cat.png",))
        server.person_writes("ana", "a-arena", "look", files=("cat.png",))
        emoji = server.person_writes("bob", "a-arena", ":+1: :wave::skin-tone-3: 🎉")
        server.person_writes("ana", "a-arena", ":tada: done")
        await until(lambda: len(society.acts) == 2 and server.replies(file) and server.replies(emoji))
        return file, emoji

    file, emoji = on(server, use, society)
    assert society.texts == ["look", ":tada: done"]
    assert [reply.text for reply in server.replies(file)] == [NO_WORDS]
    assert [reply.text for reply in server.replies(emoji)] == [ONLY_EMOJI]


def test_forty_thousand_characters_come_in_whole(server):
    society = Society()

    async def use(_surface):
        said = server.person_writes("ana", "a-arena", "x" * 40_000)
        await until(lambda: server.replies(said))

    on(server, use, society)
    assert [len(str(text)) for text in society.texts] == [40_000]


def test_retries_and_duplicates_of_an_event_give_one_act_and_one_answer(server):
    """The server repeats what was not acknowledged, with the same event id and another envelope id."""
    society, log = Society(), SmallLog()

    async def use(surface):
        server.faults.events("duplicate", 2)
        said = server.person_writes("ana", "a-arena", "twice on the wire")
        posted = await surface.post(posting(escalation(log)))
        click = server.person_clicks("ana", posted, "moot|ack|esc_1")
        await until(lambda: server.replies(said) and server.replies(click))
        event = server.delivery(said).payload
        for n in range(3):
            envelope = {"envelope_id": f"again-{n}", "type": "events_api", "payload": event}
            server.send_raw(json.dumps({**envelope, "retry_attempt": n + 1, "retry_reason": "timeout"}))
        last = server.person_writes("ana", "a-arena", "end")
        await until(lambda: server.replies(last))
        return said, click

    said, click = on(server, use, society)
    assert Counter(society.texts) == Counter(["twice on the wire", None, "end"])
    assert len(server.replies(said)) == len(server.replies(click)) == 1
    acked = [ack.get("envelope_id") for text in server.sockets.received for ack in [json.loads(text)]]
    assert {"again-0", "again-1", "again-2"} <= set(acked)


def test_events_out_of_order_are_all_heard(server):
    society = Society()

    async def use(_surface):
        server.faults.events("reorder", 3)
        said = [server.person_writes("ana", "a-arena", f"word {n}") for n in range(3)]
        await until(lambda: all(map(server.replies, said)))

    on(server, use, society)
    assert sorted(map(str, society.texts)) == ["word 0", "word 1", "word 2"]


@pytest.mark.parametrize("how", ["cut", "refresh_requested", "warning", "restart"])
def test_after_a_break_in_the_connection_what_was_said_meanwhile_comes_in_once(server, how):
    society, memory = Society(), SurfaceMemory()

    async def use(surface):
        watching = asyncio.create_task(surface.watch())
        root = await surface.post(posting(SmallLog().say("x", case_id="hyp_1")))
        first = server.person_writes("ana", "a-arena", "before")
        await until(lambda: server.replies(first))
        opened = server.opened
        server.faults.events("drop", 3)
        if how == "cut":
            server.cut()
        elif how == "restart":
            await asyncio.to_thread(server.stop)
        missed = [
            server.person_writes("ana", "a-arena", "in the gap"),
            server.person_writes("bob", "a-arena", "in its thread", reply_to=root),
            server.person_writes("bob", "admin", "elsewhere"),
        ]
        if how == "restart":
            await asyncio.to_thread(server.start)
        elif how != "cut":
            server.disconnect(how)
        await until(lambda: server.opened > opened, within_s=40.0)
        await until(lambda: all(map(server.replies, missed)), within_s=40.0)
        last = server.person_writes("ana", "a-arena", "after")
        await until(lambda: server.replies(last))
        assert not watching.done()
        watching.cancel()

    on(server, use, society, memory)
    assert sorted(map(str, society.texts)) == ["after", "before", "elsewhere", "in its thread", "in the gap"]
    in_thread = next(act for act in society.acts if act.fields["text"] == "in its thread")
    assert in_thread.reply_to is not None


def test_what_was_said_while_nobody_ran_comes_in_after_the_next_start_but_nothing_from_before_the_first(
    server,
):
    memory, society = SurfaceMemory(), Society()
    server.person_writes("ana", "a-arena", "long before Moot")

    async def first(surface):
        root = await surface.post(posting(SmallLog().say("x", case_id="hyp_1")))
        said = server.person_writes("ana", "a-arena", "hello")
        await until(lambda: server.replies(said))
        await until(lambda: surface.is_caught_up)
        return root

    root = on(server, first, society, memory)
    missed = [
        server.person_writes("ana", "a-arena", "while away"),
        server.person_writes("bob", "a-arena", "in a thread", reply_to=root),
        server.person_writes("bob", "admin", "in a quiet channel"),
    ]

    async def second(_surface):
        await until(lambda: all(map(server.replies, missed)))

    on(server, second, society, memory)
    on(server, second, society, memory)
    assert sorted(map(str, society.texts)) == ["hello", "in a quiet channel", "in a thread", "while away"]


def test_a_thread_whose_first_message_is_far_back_is_read_as_well(server):
    memory, society, log = SurfaceMemory(), Society(), SmallLog()

    async def first(surface):
        root = await surface.post(posting(log.say("x", case_id="hyp_1")))
        for n in range(210):
            await surface.post(posting(log.say(f"{n}")))
        said = server.person_writes("ana", "a-arena", "now")
        await until(lambda: server.replies(said))
        return root

    root = on(server, first, society, memory)
    missed = server.person_writes("ana", "a-arena", "an old case", reply_to=root)

    async def second(_surface):
        await until(lambda: server.replies(missed))

    on(server, second, society, memory)
    assert society.texts == ["now", "an old case"]


@pytest.mark.parametrize("kind", ["message", "button", "command"])
def test_an_act_that_was_acknowledged_and_not_answered_comes_again_after_a_crash(server, kind):
    """Slack forgets a button and a command once it is acknowledged: they are written down before."""
    memory, hung, society = SurfaceMemory(), Society(never), Society()

    async def act(surface):
        posted = await surface.post(posting(escalation(SmallLog())))
        name = {
            "message": lambda: server.person_writes("ana", "a-arena", "hello?"),
            "button": lambda: server.person_clicks("ana", posted, "moot|ack|esc_1"),
            "command": lambda: server.person_commands("ana", "admin", "/moot", "halt x"),
        }[kind]()
        await until(lambda: hung.acts and delivered(server, name))
        return name

    name = on(server, act, hung, memory)

    async def answered(_surface):
        await until(lambda: server.replies(name))

    on(server, answered, society, memory)
    assert society.acts == hung.acts
    assert len(server.replies(name)) == 1
    assert json.loads(memory.texts["open"]) == []


def test_what_cannot_be_written_down_is_not_acknowledged_and_comes_again(server):
    class Full(SurfaceMemory):
        is_full = True

        async def put(self, key, value):
            if key == "open" and self.is_full:
                raise OSError("disk full")
            await super().put(key, value)

    memory, society = Full(), Society()
    server.courier.ack_within_s = 20.0
    server.courier.retry_after_s = (0.0, 1.0, 1.0)

    async def use(_surface):
        said = server.person_writes("ana", "a-arena", "hold on")
        await until(lambda: len(server.delivery(said).attempts) > 1, within_s=30.0)
        assert not server.acked_in_time(said)
        memory.is_full = False
        await until(lambda: server.replies(said), within_s=30.0)

    on(server, use, society, memory)
    assert society.texts == ["hold on"]


GARBAGE = [
    "no json", "[]", "{}", '{"type": 7}', '{"type": "events_api"}',
    '{"type": "events_api", "envelope_id": "g1", "payload": 5}',
    '{"type": "events_api", "envelope_id": "g2", "payload": {"event": "text"}}',
    '{"type": "events_api", "envelope_id": "g3", "payload": {"type": "event_callback", "event": {"type": "message"}}}',
    '{"type": "events_api", "envelope_id": "g4", "payload": {"event": {"type": "message", "channel": [], "ts": {}}}}',
    '{"type": "interactive", "envelope_id": "g5", "payload": {"type": "block_actions", "actions": "x", "user": 1}}',
    '{"type": "interactive", "envelope_id": "g6", "payload": {"type": "block_actions", "actions": [{"action_id": 1}]}}',
    '{"type": "slash_commands", "envelope_id": "g7", "payload": {"command": "/moot", "text": null}}',
    '{"type": "weather", "envelope_id": "g8", "payload": {"x": "y"}}',
    '{"type": "events_api", "envelope_id": null, "payload": {"event": {}}}',
]  # fmt: skip


def test_garbage_is_passed_over_and_what_comes_after_it_is_heard(server):
    society = Society()

    async def use(surface):
        watching = asyncio.create_task(surface.watch())
        for text in GARBAGE:
            server.send_raw(text)
        said = server.person_writes("ana", "a-arena", "still here")
        await until(lambda: server.replies(said))
        assert not watching.done()
        watching.cancel()

    with capture_logs() as lines:
        on(server, use, society)
    assert society.texts == ["still here"]
    assert all("\n" not in str(line) and "Traceback" not in str(line) for line in lines)


def test_people_are_named_by_their_ids_where_slack_does_not_say(server):
    society = Society()
    server.faults.add("users.info", 9, "error", code="user_not_found")

    async def use(_surface):
        said = server.person_writes("ana", "a-arena", "<@U0BOBBY> hi", is_raw=True)
        await until(lambda: server.replies(said))

    on(server, use, society)
    (act,) = society.acts
    assert (act.user_name, act.fields["text"]) == ("U0ANA", "@U0BOBBY hi")


def test_when_slack_wants_a_pause_the_person_is_told_after_it(server):
    server.faults.add("reactions.add", 1, "ratelimited", retry_after_s=0)
    server.faults.add("reactions.add", 1, "drop_after")

    async def use(_surface):
        said = server.person_writes("ana", "a-arena", "x")
        await until(lambda: server.replies(said))
        return said

    said = on(server, use)
    assert [reply.kind for reply in server.replies(said)] == ["reaction"]
