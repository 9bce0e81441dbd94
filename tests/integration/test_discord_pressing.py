"""Buttons and slash commands on Discord: deferred at once, answered to the person alone, good for ever."""

import asyncio

import pytest

from moot.channels.chat.commands import commands
from moot.channels.discord.pressing import NOT_TAKEN, STRANGE
from moot.channels.discord.slash import listed
from moot.channels.surface import ActReply
from tests.doubles.discord_faults import DROP_AFTER, DROP_BEFORE, delay, limited, refused, status
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import Inbox, escalation, posting, register, started, until, with_channels
from tests.doubles.small_log import SmallLog

CASE = "esc_20260222_1338"
CALLBACK = "POST /interactions/*"
ANSWER = "PATCH /webhooks/*/@original"


@pytest.fixture
def server():
    with DiscordServer() as running:
        yield with_channels(running)


def on(server, use, inbox):
    async def main():
        async with started(server, inbox) as surface:
            return await use(surface)

    return asyncio.run(main())


async def escalated(surface, log=None):
    id = await surface.post(escalation(log or SmallLog()))
    return id.split("/")[1]


def registered(server):
    asyncio.run(register(server))


def only_reply(server, id):
    (reply,) = server.replies(id)
    return reply


def test_a_press_is_an_act_and_only_who_pressed_is_answered(server):
    inbox = Inbox()

    async def use(surface):
        message = await escalated(surface)
        ids = [server.person_clicks("ana", message, label) for label in ("Acknowledge", "2: Deploy")]
        await until(lambda: all(server.replies(id) for id in ids))
        return message, ids

    message, ids = on(server, use, inbox)
    acts = sorted(inbox.acts, key=lambda act: act.kind)
    assert [act.kind for act in acts] == ["ack", "answer"]
    assert [act.fields for act in acts] == [
        {"escalation_id": CASE},
        {"escalation_id": CASE, "option": 2, "text": None},
    ]
    assert sorted(act.platform_message_id for act in acts) == sorted(ids)
    assert {act.reply_to for act in acts} == {f"{server.channel_id('admin')}/{message}"}
    assert {act.user_id for act in acts} == {server.user_id("ana")}
    assert {act.channel for act in acts} == {"#admin"}
    for id in ids:
        assert only_reply(server, id).is_ephemeral
        assert only_reply(server, id).text == "Noted as message 7."
        assert server.acked_in_time(id)


@pytest.mark.parametrize("place", ["channel", "thread"])
def test_a_press_and_a_command_count_where_the_server_describes_no_channel(server, place):
    """`channel` is optional in an interaction; `channel_id` is there."""
    registered(server)
    server.world.says_channel = False
    inbox = Inbox()

    async def use(surface):
        message = await escalated(surface)
        where = "b-ops"
        if place == "thread":
            log = SmallLog()
            root = await surface.post(posting(log, "root", "#b-ops", thread="hyp_1"))
            reply = await surface.post(posting(log, "reply", "#b-ops", root, thread="hyp_1"))
            where = reply.split("/")[0]
        ids = [
            server.person_clicks("ana", message, "Acknowledge"),
            server.person_commands("ana", where, "note", text="here"),
        ]
        await until(lambda: all(server.replies(id) for id in ids))
        return message, ids

    message, ids = on(server, use, inbox)
    acts = {act.kind: act for act in inbox.acts}
    assert acts["ack"].channel == "#admin"
    assert acts["ack"].reply_to == f"{server.channel_id('admin')}/{message}"
    assert acts["command"].channel == "#b-ops"
    assert [only_reply(server, id).text for id in ids] == ["Noted as message 7."] * 2


def test_an_error_behind_a_press_ends_with_an_answer(server):
    async def broken(_act):
        raise LookupError("nobody thought of this")

    async def use(surface):
        message = await escalated(surface)
        id = server.person_clicks("ana", message, "Acknowledge")
        await until(lambda: server.replies(id))
        return id

    assert only_reply(server, on(server, use, broken)).text == NOT_TAKEN.text


def test_a_slow_society_is_waited_for_and_the_press_is_deferred_before(server):
    answer = asyncio.Event()
    inbox = Inbox()

    async def slow(act):
        await answer.wait()
        return await inbox(act)

    async def use(surface):
        message = await escalated(surface)
        ids = [server.person_clicks("ana", message, "Acknowledge") for _ in range(50)]
        await until(lambda: all(server.acked_in_time(id) for id in ids))
        assert not any(server.replies(id) for id in ids)
        answer.set()
        await until(lambda: all(server.replies(id) for id in ids))

    on(server, use, slow)
    assert len(inbox.acts) == 50


def test_a_button_works_after_a_restart_and_a_day_late(server):
    inbox = Inbox(ActReply("Refused: it was resolved meanwhile", ok=False))
    message = on(server, escalated, inbox)
    server.advance(86_400)

    async def use(_surface):
        id = server.person_clicks("ana", message, "Acknowledge")
        await until(lambda: server.replies(id))
        return id

    id = on(server, use, inbox)
    assert [act.kind for act in inbox.acts] == ["ack"]
    assert only_reply(server, id).text == "Refused: it was resolved meanwhile"


def test_two_admins_and_one_who_presses_twice_each_get_an_answer_of_their_own(server):
    inbox = Inbox()

    async def use(surface):
        message = await escalated(surface)
        ids = [server.person_clicks(who, message, "2: Deploy") for who in ("ana", "bob", "ana")]
        await until(lambda: all(server.replies(id) for id in ids))
        return ids

    ids = on(server, use, inbox)
    assert len({act.platform_message_id for act in inbox.acts}) == 3
    assert len({act.user_id for act in inbox.acts}) == 2
    assert all(len(server.replies(id)) == 1 for id in ids)


LOST = {
    "receipt": (CALLBACK, 1, [DROP_AFTER, DROP_BEFORE, status(502), delay(0.05)]),
    "answer": (
        ANSWER,
        2,
        [DROP_AFTER, DROP_BEFORE, status(502), limited(0.05), limited(0.05, everywhere=True)],
    ),
}


@pytest.mark.parametrize(
    ("call", "count", "fault"),
    [(call, count, fault) for call, count, faults in LOST.values() for fault in faults],
)
def test_a_receipt_or_an_answer_that_is_lost_is_given_again_and_once(server, call, count, fault):
    inbox = Inbox()

    async def use(surface):
        message = await escalated(surface)
        server.faults.add(call, count, fault)
        id = server.person_clicks("ana", message, "Acknowledge")
        await until(lambda: server.replies(id))
        return id

    id = on(server, use, inbox)
    assert only_reply(server, id).text == "Noted as message 7."
    assert len(inbox.acts) == 1


def test_a_press_counts_also_when_discord_has_given_it_up(server):
    inbox = Inbox()

    async def use(surface):
        message = await escalated(surface)
        server.faults.add(CALLBACK, 1, refused(404, 10062))
        server.person_clicks("ana", message, "Acknowledge")
        await until(lambda: inbox.acts)

    on(server, use, inbox)
    assert [act.kind for act in inbox.acts] == ["ack"]


def test_an_intake_that_breaks_ends_nothing(server):
    inbox = Inbox()

    async def broken(act):
        await inbox(act)
        if len(inbox.acts) == 1:
            raise LookupError("a bug")
        return inbox.reply

    async def use(surface):
        message = await escalated(surface)
        server.person_clicks("ana", message, "Acknowledge")
        await until(lambda: inbox.acts)
        id = server.person_clicks("ana", message, "Acknowledge")
        await until(lambda: server.replies(id))

    on(server, use, broken)
    assert len(inbox.acts) == 2


def test_commands_come_in_as_the_lines_that_people_would_type(server):
    registered(server)
    inbox, log = Inbox(ActReply("all is well")), SmallLog()

    async def use(surface):
        root = await surface.post(posting(log, "a case", thread=CASE))
        await surface.post(posting(log, "more", thread=CASE, root=root))
        thread = root.split("/")[1]
        ids = [
            server.person_commands("ana", "admin", "halt", reason="fire  drill"),
            server.person_commands("ana", "b-ops", "status"),
            server.person_commands("ana", "admin", "reply", id=CASE, option_or_text="2"),
            server.person_commands("ana", "admin", "take", seat="critic"),
            server.person_commands(
                "ana", "a-arena", "override", case="hyp_1", verdict="REJECT", why="too thin"
            ),
            server.person_commands("ana", thread, "note", text="about the case"),
        ]
        await until(lambda: all(server.replies(id) for id in ids))
        return ids, root

    ids, root = on(server, use, inbox)
    acts = sorted(inbox.acts, key=lambda act: int(act.platform_message_id))
    assert [act.platform_message_id for act in acts] == ids
    assert [act.fields["text"] for act in acts] == [
        "/halt fire  drill",
        "/status",
        f"/reply {CASE} 2",
        "/take critic",
        "/override hyp_1 REJECT too thin",
        "/note about the case",
    ]
    assert [act.channel for act in acts] == ["#admin", "#b-ops", "#admin", "#admin", "#a-arena", "#a-arena"]
    assert [act.reply_to for act in acts] == [None] * 5 + [root]
    assert all(only_reply(server, id).is_ephemeral for id in ids)


def test_every_command_of_the_society_is_one_of_discords(server):
    registered(server)
    assert [one["name"] for one in listed()] == [command.name for command in commands()]
    inbox = Inbox()

    async def use(_surface):
        ids = []
        for command in listed():
            given = {
                one["name"]: one.get("choices", [{"value": "x"}])[0]["value"] for one in command["options"]
            }
            ids.append(server.person_commands("ana", "admin", command["name"], **given))
        await until(lambda: all(server.replies(id) for id in ids))

    on(server, use, inbox)
    assert len(inbox.acts) == len(commands())


def test_an_option_of_two_words_where_one_is_meant_gets_a_line_and_is_no_act(server):
    registered(server)
    inbox = Inbox()

    async def use(_surface):
        id = server.person_commands("ana", "admin", "reply", id="esc 1", option_or_text="2")
        await until(lambda: server.replies(id))
        return id

    id = on(server, use, inbox)
    assert only_reply(server, id).text == "/reply: the id is one word, without blanks"
    assert inbox.acts == []


def test_a_long_answer_keeps_its_lines_and_is_cut_to_what_discord_takes(server):
    registered(server)
    inbox = Inbox(ActReply("\n".join(f"line {n:3}  *x* ```" for n in range(400))))

    async def use(_surface):
        id = server.person_commands("ana", "admin", "status")
        await until(lambda: server.replies(id))
        return id

    id = on(server, use, inbox)
    assert only_reply(server, id).text.lstrip("`\n").startswith("line   0  *x*")


def test_a_button_of_somebody_elses_gets_a_calm_line(server):
    inbox = Inbox()

    async def use(surface):
        message = await escalated(surface)
        server.world.messages[message]["components"][0]["components"][0]["custom_id"] = "poll|1"
        id = server.person_clicks("ana", message, "poll|1")
        await until(lambda: server.replies(id))
        return id

    id = on(server, use, inbox)
    assert only_reply(server, id).text == STRANGE
    assert inbox.acts == []
