"""What people are called: learned, kept, shown beside the seat, never instead of it."""

import asyncio

from moot.channels.log.lines import open_line
from moot.channels.showing.layout import parts
from moot.channels.showing.looks import look_of
from moot.channels.showing.namebook import NameBook
from moot.channels.showing.rendering import card, speaker
from moot.protocols.arena.messages import ArenaDraft
from moot.protocols.arena.seats import PLANNER
from moot.protocols.escalation.messages import EscalationResolved
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.officers import PersonNamed, SocietyStarted
from moot.protocols.kernel.seats import ADMIN, REFEREE, TIMEKEEPER, VIEWER
from tests.doubles.copying import replace
from tests.doubles.postings import posting
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory

ID = "234567890123456789"
ANN = Actor("human", "discord", ID)


def learned(*names):
    book, memory = NameBook(), SurfaceMemory()

    async def learn():
        for user_id, name in names:
            body = PersonNamed(platform="discord", user_id=user_id, display_name=name)
            await book.hear(SmallLog().append(body, channel="#admin", author=REFEREE), memory)

    asyncio.run(learn())
    return book, memory


def test_a_person_is_shown_by_the_name_that_they_have_there():
    book, _ = learned((ID, "Ann"))
    log = SmallLog()
    said = log.say("hello", author=ADMIN, actor=ANN)
    assert speaker(said) == f"Admin ({ID} on discord)"
    assert speaker(said, book.who) == "Admin (Ann on discord)"
    assert card(said, book.who).sentence == "Admin (Ann on discord) notes: hello"
    assert look_of([said], here="discord", who=book.who)[1].name == "Admin (Ann)"
    assert look_of([said], here="slack", who=book.who)[1].name == "Admin (Ann on discord)"


def test_who_answered_is_shown_by_name_too():
    book, _ = learned((ID, "Ann"))
    body = EscalationResolved(escalation_id="esc_1", how="answered", by=ID, effect="none")
    said = SmallLog().append(body, channel="#admin", author=REFEREE, case_id="esc_1")
    assert "answered by Ann" in card(said, book.who).sentence
    assert ID in said.line and "Ann" not in said.line


def test_names_survive_a_new_start_and_the_newest_counts():
    _, memory = learned((ID, "Ann"), (ID, "Anna"))
    again = NameBook()
    asyncio.run(again.recall(memory))
    assert again.names == {ID: "Anna"}


def test_which_mind_spoke_survives_a_new_start():
    log, memory = SmallLog(), SurfaceMemory()

    def starts(planner):
        config = {"minds": {"planner": planner}}
        fields = {
            "society_id": "s",
            "rules_version": "2",
            "seed": 1,
            "data": {},
            "speed": 1.0,
            "clock": "virtual",
        }
        body = SocietyStarted(**fields, config=config, durability="none", moot_version="0")
        asyncio.run(NameBook().hear(log.append(body, channel="#admin", author=TIMEKEEPER), memory))

    def drafts():
        return open_line(log.append(ArenaDraft(run_id="arena_1", text="Hold."), author=PLANNER).line)

    first = drafts()
    starts({"module": "mine:Planner"})
    mine = drafts()
    starts("simulated")
    last = drafts()
    again = NameBook()
    asyncio.run(again.recall(memory))
    assert [speaker(one, again.who) for one in (first, mine, last)] == [
        "Planner (simulated, no model)",
        "Planner",
        "Planner (simulated, no model)",
    ]
    assert look_of([mine], who=again.who)[1].name == "Planner"
    assert look_of([last], who=again.who)[1].name == "Planner (simulated, no model)"


def test_whatever_a_platform_shows_of_a_rehearsal_says_so_after_a_new_start_too():
    log, memory = SmallLog(), SurfaceMemory()
    body = SocietyStarted(
        society_id="s", rules_version="2", seed=1, data={}, speed=1.0, clock="real", config={},
        durability="none", moot_version="0", rehearsal=0.0,
    )  # fmt: skip
    asyncio.run(NameBook().hear(log.append(body, channel="#admin", author=TIMEKEEPER), memory))
    again = NameBook()
    asyncio.run(again.recall(memory))
    said = log.say("hello", author=ADMIN, actor=ANN)
    draft = log.append(ArenaDraft(run_id="arena_1", text="Hold."), author=PLANNER)
    assert speaker(draft, again.who) == "Planner (rehearsal; simulated, no model)"
    assert card(said, again.who).sentence == f"Admin (rehearsal; {ID} on discord) notes: hello"
    assert look_of([said], here="discord", who=again.who)[1].name == f"Admin (rehearsal; {ID})"
    assert look_of([said, draft], who=again.who)[1].name == "Moot (rehearsal)"


def test_a_name_like_a_seats_never_stands_alone():
    book, _ = learned((ID, "Referee"))
    said = SmallLog().say("hello", author=VIEWER, actor=ANN)
    assert speaker(said, book.who) == f"Viewer (Referee ({ID}) on discord)"


def test_the_message_that_names_somebody_says_whom():
    book, _ = learned((ID, "Ann"))
    body = PersonNamed(platform="discord", user_id=ID, display_name="Anna")
    said = SmallLog().append(body, channel="#admin", author=REFEREE)
    assert card(said, book.who).sentence == f"Referee learns that {ID} on discord is called Anna"


def test_folded_messages_name_people_too():
    book, _ = learned((ID, "Ann"))
    log = SmallLog()
    said = [log.say(text, author=ADMIN, actor=ANN) for text in ("one", "two")]
    item = replace(posting({"type": "NOTE", "text": "a"}), envelope=said[0], folded=(said[1],), who=book.who)
    assert [line.partition(" ")[2] for line in parts(item).lines] == [
        "Admin (Ann on discord) notes: one",
        "Admin (Ann on discord) notes: two",
    ]
