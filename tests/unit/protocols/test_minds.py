"""Which mind fills which seat, by the log; and the label beside what no model and no person wrote."""

from datetime import UTC, datetime

import pytest

from moot.channels.log.lines import open_line
from moot.protocols.arena.messages import ArenaDraft
from moot.protocols.arena.seats import PLANNER, REVIEWER
from moot.protocols.kernel.envelope import BOT, OFFICER, Actor
from moot.protocols.kernel.minds import Minds, behind_scripts, by_model, models_in
from moot.protocols.kernel.officers import ConfigChanged, SocietyStarted
from moot.protocols.kernel.seats import TIMEKEEPER
from tests.doubles.small_log import SmallLog

ANN = Actor("human", "console", "ann")
OWN = {"module": "my_package.critics:Stern", "temper": 3}


class Life:
    """A log in which starts, changes and drafts follow each other; read by whoever asks."""

    def __init__(self) -> None:
        self.log = SmallLog()
        self.drafts = []

    def starts(self, models=None, **minds):
        config = {
            "schedules": {},
            **({"minds": minds} if minds else {}),
            **({"models": models} if models else {}),
        }
        body = SocietyStarted(
            society_id="s",
            config=config,
            rules_version="2",
            seed=1,
            data={},
            speed=1.0,
            clock="virtual",
            durability="none",
            moot_version="0",
        )
        self.log.append(body, channel="#admin", author=TIMEKEEPER, actor=OFFICER)

    def changes(self, **changes):
        body = ConfigChanged(changes=changes, reason="asked for")
        self.log.append(body, channel="#admin", author=TIMEKEEPER, actor=OFFICER)

    def drafts_by(self, actor=BOT, author=PLANNER):
        body = ArenaDraft(run_id="arena_1", round_index=1, text="Hold half.")
        self.drafts.append(self.log.append(body, channel="#r-arena", author=author, actor=actor))

    def labels(self, envelopes=None):
        minds = Minds()
        for env in envelopes or self.log.envelopes:
            minds.learn(env)
        return [minds.label(env) for env in self.drafts]


def test_a_seat_for_which_nothing_is_said_is_simulated():
    life = Life()
    life.drafts_by()
    life.starts()
    life.drafts_by()
    assert life.labels() == ["simulated, no model"] * 2


def test_the_label_is_right_at_every_message():
    life = Life()
    life.starts(planner="simulated")
    life.drafts_by()
    life.drafts_by(actor=ANN)
    life.starts(planner=OWN, reviewer="simulated")
    life.drafts_by()
    life.drafts_by(author=REVIEWER)
    life.drafts_by(actor=ANN)
    life.changes(minds={"planner": "scripted"})
    life.drafts_by()
    life.changes(viewers={"reads": []})
    life.drafts_by()
    life.starts(planner="scripted and simulated")
    life.drafts_by()
    expected = [
        "simulated, no model",
        "",
        "",
        "simulated, no model",
        "",
        "scripted, no model",
        "scripted, no model",
        "scripted and simulated, no model",
    ]
    assert life.labels() == expected
    assert life.labels(reversed(life.log.envelopes)) == expected, "in whatever order it is learned"
    guest = [open_line(env.line) for env in life.log.envelopes]
    assert life.labels(guest) == expected, "as a guest reads it"


def test_who_wrote_is_named():
    life = Life()
    life.starts(planner=OWN)
    life.drafts_by()
    life.drafts_by(actor=ANN)
    life.drafts_by(author=REVIEWER)
    minds = Minds()
    minds.learn(life.log.envelopes[0])
    assert [minds.author(env) for env in life.drafts] == [
        "the mind my_package.critics:Stern",
        "a person",
        "simulated, no model",
    ]


@pytest.mark.parametrize(
    ("name", "model", "author"),
    [
        ("local", "qwen3:8b", "the model local (qwen3:8b)"),
        ("qwen3-8b", "qwen3:8b", "the model qwen3:8b"),
        ("local", "", "the model local"),
    ],
)
def test_a_model_is_named_as_configured_and_by_its_own_name(name, model, author):
    life = Life()
    life.starts({name: {"model": model}} if model else None, planner={"model": name, "temperature": 0.3})
    life.drafts_by()
    life.changes(minds={"reviewer": {"model": name}})
    life.drafts_by(author=REVIEWER)
    minds = Minds()
    for env in life.log.envelopes:
        minds.learn(env)
    assert [minds.author(env) for env in life.drafts] == [author, author]
    again = Minds()
    again.put(1, dict(minds.at(1)))
    assert again.author(life.drafts[0]) == author, "as a gateway keeps it"


MODELS = {"local": {"model": "a/b (c):8b"}}


@pytest.mark.parametrize(
    ("given", "named", "beside"),
    [
        ({"model": "local"}, "the model local (a/b (c):8b)", "by the model a/b (c):8b"),
        (
            {"model": "local", "scripted": True},
            "scripted and the model local (a/b (c):8b)",
            "scripted and by the model a/b (c):8b",
        ),
        ({"model": "x"}, "the model x", "by the model x"),
        ({"module": "the:Model"}, "the:Model", ""),
    ],
)
def test_a_model_s_mind_is_told_from_others_by_its_name(given, named, beside):
    minds = Minds()
    minds.put(0, {"planner": given}, MODELS)
    assert minds.of(PLANNER, 1) == named
    assert by_model(named) == beside
    told = models_in({"minds": {"planner": given, "reviewer": given}, "models": MODELS})
    assert told == ({named: ["planner", "reviewer"]} if beside else {})


def test_a_script_before_a_model_stands_in_the_log_beside_it():
    both = behind_scripts({"planner": {"model": "local", "temperature": 0.3}}, ["planner"])
    assert both == {"planner": {"model": "local", "temperature": 0.3, "scripted": True}}


@pytest.mark.parametrize(
    "given",
    [None, 7, "simulated", [], {"planner": None}, {"planner": {}}, {"planner": 7}, {"planner": {"model": 7}}],
)
def test_a_configuration_of_any_shape_is_taken(given):
    minds = Minds()
    minds.put(1, given)
    assert isinstance(minds.of(PLANNER, 2), str)


def test_a_mind_that_calls_itself_modelless_has_no_label_of_ours():
    minds = Minds()
    minds.put(1, {"planner": {"module": "simulated"}, "reviewer": "a mind, no model"})
    life = Life()
    life.drafts_by()
    life.drafts_by(author=REVIEWER)
    assert minds.label(life.drafts[1]) == ""
    assert minds.label(life.drafts[0]) == ""


def test_only_news_is_news():
    minds = Minds()
    assert not minds.put(1, {"planner": "simulated"})
    assert minds.put(2, {"planner": "scripted"})
    assert not minds.put(3, {"planner": "scripted"})
    assert minds.put(4, {})
    assert [minds.of(PLANNER, seq) for seq in range(1, 6)] == [
        "simulated", "scripted", "scripted", "simulated", "simulated",
    ]  # fmt: skip


def test_a_script_speaks_before_the_mind_that_sits_there():
    assert behind_scripts({"planner": "mine:Planner"}, ["reviewer", "planner"]) == {
        "planner": "scripted and mine:Planner",
        "reviewer": "scripted and simulated",
    }
    life = Life()
    life.starts(planner="scripted and mine:Planner", reviewer="scripted and simulated")
    life.drafts_by()
    life.drafts_by(author=REVIEWER)
    assert life.labels() == ["", "scripted and simulated, no model"]


def test_a_start_is_told_to_the_docket():
    from moot.clock import VirtualClock
    from moot.workshop import workshop

    async def main(clock):
        async with workshop(clock, {}, seed=1, named={"planner": "scripted"}) as shop:
            return shop.minds.of(PLANNER, 1), shop.minds.of(REVIEWER, 1)

    start = datetime(2026, 2, 23, tzinfo=UTC)
    assert VirtualClock(start).run(main) == ("scripted", "simulated")
