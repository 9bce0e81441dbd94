import pytest

from moot.protocols.calls import rights as calls
from moot.protocols.escalation import rights as escalation
from moot.protocols.kernel import rights as kernel
from moot.protocols.kernel.catalogue import Channel, Matrix, Right, Viewers
from moot.protocols.kernel.errors import Forbidden
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import ADMIN, REFEREE, VIEWER, Seat
from moot.protocols.lab import rights as lab
from moot.protocols.research import rights as research
from moot.protocols.research.seats import CRITIC
from moot.protocols.rulebook import Rulebook, rulebook
from moot.protocols.trading import rights as trading
from moot.protocols.trading.seats import TRADER

CHANNEL_NAMES = [
    "#a-arena",
    "#a-verdict",
    "#a-research",
    "#a-report",
    "#b-ops",
    "#b-desk",
    "#b-risk",
    "#b-report",
    "#bridge",
    "#r-arena",
    "#r-panel",
    "#motions",
    "#calls",
    "#admin",
    "#lab",
]

# type | authors | channel ("*" any), copied by hand from the message tables.
TABLE = """
CYCLE_TRIGGER           timekeeper           #a-arena
CYCLE_DEFERRED          timekeeper           #a-arena
CYCLE_SKIPPED           timekeeper           #a-arena
RESEARCH_NOTE           explorer             #a-research
HYPOTHESIS              explorer             #a-arena
RISK_ASSESSMENT         critic               #a-arena
REBUTTAL                explorer             #a-arena
CONCEDE                 explorer             #a-arena
EXTEND_DEBATE           evolver              #a-arena
VERDICT                 evolver              #a-verdict
REVISE_REQUEST          evolver              #a-arena
REVISED_HYPOTHESIS      explorer             #a-arena
FINAL_VERDICT           evolver              #a-verdict
BACKTEST_RESULT         evolver              #a-verdict
STRATEGY_MOVED          evolver,operator,admin,referee #bridge
MICRO_CYCLE_REPORT      evolver              #a-report
PRINCIPLE_SYNTHESIS     evolver              #a-report
DAILY_REPORT            evolver              #a-report
WEEKLY_REPORT           evolver              #a-report
THRESHOLD_REVIEW        evolver              #a-arena
THRESHOLDS_ADJUSTED     critic               #a-arena
META_REFLECTION         evolver              #a-report
ARCHITECTURE_PROPOSAL   explorer             #a-arena
ARCHITECTURE_CRITIQUE   critic               #a-arena
ARCHITECTURE_REBUTTAL   explorer             #a-arena
ARCHITECTURE_VERDICT    evolver              #a-arena
CAUSAL_RECORD           evolver,referee      #a-report
REFLECTION              evolver,referee      #a-report
SOCIETY_STARTED         timekeeper           #admin
SOCIETY_STOPPED         timekeeper           #admin
CONFIG_CHANGED          timekeeper           #admin
CLOCK_SET               timekeeper           #admin
ANCHOR                  timekeeper           #admin
TIMEOUT_PING            referee              *
DUTY_NOTICE           referee              *
RULING                  referee              *
VIOLATION               referee              *
AUDIT                   referee              #admin
PERSON_NAMED            referee              #admin
ESCALATION              referee              #admin
ESCALATION_PAGED        referee              #admin
ESCALATION_ACK          admin                #admin
ESCALATION_ANSWER       admin                #admin
ESCALATION_RESOLVED     referee              #admin
MODE_CHANGED            referee              #a-arena,#b-ops
NOTE                    admin,viewer         *
OVERRIDE                admin                *
SEAT_TAKEN              admin,referee        #admin
SEAT_RELEASED           admin,referee        #admin
STOP                    admin                #admin
TRADING_DAY             timekeeper           #b-ops
DEPLOY_PROPOSAL         operator             #b-ops
DEPLOY_REVIEW           guardian,trader      #b-ops
DEPLOY_DECISION         operator             #b-ops
DEPLOY_NOTICE           operator             #b-ops
RISK_CHECK              guardian             #b-risk
RISK_ALERT              guardian             #b-risk
RISK_DISCUSSION         operator             #b-ops
RISK_DECISION           operator             #b-ops
RISK_PROJECTION         guardian             #b-ops
FEASIBILITY             trader               #b-ops
HALT                    guardian,operator,admin #b-risk
RESUME                  operator,admin       #b-ops
RESUME_CONFIRMED        guardian,admin       #b-risk
PROMOTION_PROPOSAL      operator             #b-ops
PROMOTION_REVIEW        guardian,trader      #b-ops
PROMOTION_DECISION      operator             #b-ops
SIGNAL                  trader               #b-desk
ORDER                   trader               #b-desk
NO_ORDER                trader               #b-desk
EXECUTION               trader               #b-desk
DESK_CHECK              trader               #b-desk
PRE_MARKET_CHECK        operator             #b-ops
MARKET_CLOSE            operator             #b-ops
CHECK_NEW_STRATEGIES    operator             #b-ops
OVERNIGHT_RISK_CHECK    guardian             #b-risk
TRADING_SUMMARY         operator             #b-report
DAILY_TRADING_REPORT    operator             #b-report
WEEKLY_TRADING_REPORT   operator             #b-report
METRICS_RECORDED        guardian             #bridge
PERFORMANCE_FEEDBACK    evolver              #bridge
FEEDBACK_RESPONSE       operator             #bridge
RECALL_FLAG             guardian             #b-risk
RECALL_REQUEST          operator             #bridge
HEALTH_CHECK            referee              #admin
CALL_RESERVED           bursar               #calls
CALL_SETTLED            bursar               #calls
CALL_REFUSED            bursar               #calls
BUDGET_SET              admin                #admin
EXPERIMENT_STARTED      lab                  #lab
EXPERIMENT_BATCH        lab                  #lab
EXPERIMENT_ENDED        lab                  #lab
"""
EXPECTED = {
    (seat, channel, kind)
    for kind, seats, where in map(str.split, TABLE.strip().splitlines())
    for seat in seats.split(",")
    for channel in (CHANNEL_NAMES if where == "*" else where.split(","))
    if not (seat == "viewer" and channel in ("#admin", "#calls"))
}
TYPES = [line.split()[0] for line in TABLE.strip().splitlines()]

A = {"#a-arena", "#a-verdict", "#a-research", "#a-report", "#bridge", "#admin"}
B = {"#b-ops", "#b-desk", "#b-risk", "#b-report", "#bridge", "#admin"}
READS = {
    **dict.fromkeys(("explorer", "critic", "evolver"), A),
    **dict.fromkeys(("operator", "guardian", "trader"), B),
    **{key: {"#r-arena"} for key in ("planner", "reviewer", "finalizer")},
    **{key: {"#r-panel"} for key in ("eic", "methodology", "domain", "perspective", "da", "synthesizer")},
    **{key: {"#motions"} for key in ("advocate", "judge")},
    "critic": A | {"#motions"},
    **{
        key: set(CHANNEL_NAMES)
        for key in ("orchestrator", "referee", "timekeeper", "liaison", "bursar", "lab", "admin")
    },
    "viewer": set(CHANNEL_NAMES) - {"#calls"},
}

PLACES = (rulebook().channels, rulebook().seats.values())

ROWS = (
    *kernel.OFFICERS_RIGHTS,
    *kernel.PEOPLES_RIGHTS,
    *escalation.RIGHTS,
    *calls.RIGHTS,
    *lab.RIGHTS,
    *research.RIGHTS,
    *trading.RIGHTS,
    *(row for row in trading.ABROAD if row.type == "STRATEGY_MOVED"),
)


@pytest.fixture(scope="module")
def matrix():
    return Matrix(ROWS, *PLACES)


def test_there_are_exactly_the_fifteen_channels_each_with_a_purpose():
    assert [channel.name for channel in rulebook().channels] == CHANNEL_NAMES
    assert all(channel.purpose for channel in rulebook().channels)


@pytest.mark.rule("messages", "R-D2")
def test_every_combination_of_seat_channel_and_type_is_as_the_table_says(matrix):
    wrong = [
        (seat, channel, kind)
        for seat in rulebook().seats
        for channel in CHANNEL_NAMES
        for kind in TYPES
        if matrix.may_write(seat, channel, kind) is not ((seat, channel, kind) in EXPECTED)
    ]
    assert wrong == []


@pytest.mark.rule("messages")
def test_check_refuses_exactly_what_may_write_denies(matrix):
    for seat in rulebook().seats:
        for channel in [*CHANNEL_NAMES, "#nowhere"]:
            for kind in [*TYPES, "GOSSIP"]:
                if (seat, channel, kind) in EXPECTED:
                    matrix.check(seat, channel, kind)
                else:
                    with pytest.raises(Forbidden):
                        matrix.check(seat, channel, kind)


def test_every_type_stands_in_the_rows(matrix):
    assert matrix.types == set(TYPES)


def test_every_seat_reads_what_the_table_says(matrix):
    assert {seat: set(matrix.readable(seat)) for seat in rulebook().seats} == READS
    assert all(
        matrix.may_read(seat, name) is (name in READS[seat])
        for seat in rulebook().seats
        for name in CHANNEL_NAMES
    )


def test_whoever_may_write_in_a_channel_reads_it(matrix):
    assert all(matrix.may_read(Seat(seat), channel) for seat, channel, _ in EXPECTED)


@pytest.mark.parametrize(
    ("author", "channel", "kind", "rule", "field", "sentence"),
    [
        (
            "critic",
            "#a-verdict",
            "VERDICT",
            "messages",
            "author",
            "critic may not post VERDICT: only evolver may",
        ),
        (
            "evolver",
            "#a-arena",
            "VERDICT",
            "messages",
            "channel",
            "evolver may post VERDICT in #a-verdict, not in #a-arena",
        ),
        (
            "explorer",
            "#b-ops",
            "HYPOTHESIS",
            "R-B11",
            "channel",
            "explorer is of System A and has no part in #b-ops",
        ),
        (
            "trader",
            "#a-arena",
            "REBUTTAL",
            "R-B11",
            "channel",
            "trader is of System B and has no part in #a-arena",
        ),
        (
            "critic",
            "#bridge",
            "STRATEGY_MOVED",
            "messages",
            "author",
            "only admin, evolver, operator or referee may",
        ),
        ("viewer", "#admin", "NOTE", "messages", "channel", "viewer may post NOTE in #a-arena, "),
        ("admin", "#c-arena", "NOTE", "messages", "channel", "there is no channel '#c-arena'"),
        ("admin", "#admin", "GOSSIP", "messages", "body.type", "nobody may post GOSSIP"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_would_be_allowed(
    matrix, author, channel, kind, rule, field, sentence
):
    with pytest.raises(Forbidden) as refusal:
        matrix.check(Seat(author), channel, kind)
    assert (refusal.value.rule, refusal.value.field) == (rule, field)
    assert sentence in refusal.value.why


def test_config_narrows_what_viewers_read_and_write():
    matrix = Matrix(
        ROWS,
        rulebook().channels,
        rulebook().seats.values(),
        Viewers(reads=frozenset({"#a-arena", "#lab"}), writes=frozenset({"#lab"})),
    )
    assert matrix.readable(VIEWER) == {"#a-arena", "#lab"}
    assert [name for name in CHANNEL_NAMES if matrix.may_write(VIEWER, name, "NOTE")] == ["#lab"]
    assert all(matrix.may_write(ADMIN, name, "NOTE") for name in CHANNEL_NAMES)


def test_viewers_read_and_write_a_private_channel_only_where_the_configuration_names_it():
    papers = Channel("#papers", "papers", "what is for few", is_private=True)
    book = Rulebook((*rulebook().protocols, Protocol(name="papers", channels=[papers])))
    public = {channel.name for channel in book.public}
    assert public == {channel.name for channel in rulebook().public}
    for viewers in (Viewers(), Viewers(book.named(["*"]), book.named(["*"]))):
        matrix = book.rules(viewers).matrix
        assert matrix.readable(VIEWER) == public
        assert not matrix.may_write(VIEWER, "#papers", "NOTE")
        assert matrix.may_read(ADMIN, "#papers") and matrix.may_read(REFEREE, "#papers")
    named = book.named(["*", "#papers"])
    assert named == public | {"#papers"}
    assert book.rules(Viewers(named)).matrix.readable(VIEWER) == named
    assert book.named(["#papers"]) == {"#papers"}


def test_viewers_who_may_write_nowhere_are_told_which_setting_says_so():
    matrix = Matrix(ROWS, *PLACES, Viewers(writes=frozenset()))
    with pytest.raises(
        Forbidden, match=r"viewer may post NOTE in any channel where \[viewers\] writes names it"
    ):
        matrix.check(VIEWER, "#a-arena", "NOTE")


def test_a_viewer_asks_a_question_where_the_configuration_lets_viewers_write():
    rows, *places = (rulebook().rights, *PLACES)
    shut, opened = Matrix(rows, *places, Viewers(writes=frozenset({"#lab"}))), Matrix(rows, *places)
    with pytest.raises(Forbidden) as refused:
        shut.check(VIEWER, "#motions", "MOTION")
    assert refused.value.field == "channel"
    assert refused.value.why == (
        "viewer may post MOTION in #motions where [viewers] writes names it, and it does not"
    )
    opened.check(VIEWER, "#motions", "MOTION")


def test_config_lets_viewers_write_in_admin_but_nothing_except_notes():
    matrix = Matrix(ROWS, *PLACES, Viewers(writes=frozenset(CHANNEL_NAMES)))
    assert [kind for kind in TYPES if matrix.may_write(VIEWER, "#admin", kind)] == ["NOTE"]


def test_a_row_or_a_viewer_with_an_unknown_channel_is_our_bug():
    with pytest.raises(ValueError, match="NOTE: there is no channel #typo"):
        Matrix(
            [Right("NOTE", frozenset({ADMIN}), frozenset({"#typo"}))],
            rulebook().channels,
            rulebook().seats.values(),
        )
    with pytest.raises(ValueError, match="viewers: there is no channel #typo"):
        Matrix([], *PLACES, Viewers(reads=frozenset({"#typo"})))


def test_two_rows_of_one_type_add_up():
    rows = [
        Right("X", frozenset({CRITIC}), frozenset({"#bridge"})),
        Right("X", frozenset({TRADER}), frozenset({"#admin"})),
    ]
    matrix = Matrix(rows, *PLACES)
    assert matrix.may_write(CRITIC, "#bridge", "X") and matrix.may_write(TRADER, "#admin", "X")
    assert not matrix.may_write(CRITIC, "#admin", "X")
