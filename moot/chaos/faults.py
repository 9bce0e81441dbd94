"""What can go wrong in a world, by class: how often each is drawn, how long it lasts, how large it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from moot.protocols.kernel.errors import BadInput

MINUTE: Final = 60.0
HOUR: Final = 3_600.0


class Fault(NamedTuple):
    """A row of the table.

    Attributes:
        weight: How often it is drawn beside the others of its class.
        lasts_s: How long a spell of it lasts at least and at most, in seconds; (0, 0) happens once.
        sizes: How large it is at least and at most, in its own unit; drawn evenly by order of magnitude.
        clocks: In whose time it can happen; empty: in any.
        buses: On which buses it can happen; empty: on any.
        is_act: Whether somebody does it so and so often while it lasts, instead of its striking what others do.
        is_whole: Whether it is in force from a world's start to its end.
        live: What people are told when it is made to happen before their eyes (`moot up --chaos`); empty: it is not.
    """

    weight: float = 1.0
    lasts_s: tuple[float, float] = (10 * MINUTE, 12 * HOUR)
    sizes: tuple[float, float] = (1.0, 1.0)
    clocks: tuple[str, ...] = ()
    buses: tuple[str, ...] = ()
    is_act: bool = False
    is_whole: bool = False
    live: str = ""

    def size(self, share: float) -> float:
        """Return the size at a share, in [0, 1), of the orders of magnitude that it can have."""
        least, most = self.sizes
        return float(least * (most / least) ** share)


def _act(weight: float = 1.0, most: float = 12.0, live: str = "") -> Fault:
    """Return an act that is done once to so many times in a spell."""
    return Fault(weight, (MINUTE, 8 * HOUR), (1.0, most), is_act=True, live=live)


ONCE: Final = (0.0, 0.0)
LONG: Final = (HOUR, 72 * HOUR)
WEEKS: Final = (24 * HOUR, 30 * 24 * HOUR)
SECONDS: Final = (1.0, 20_000.0)
PACED: Final = ("accelerated",)
FILES: Final = ("sqlite",)
WALLED: Final = ("accelerated", "real")

FAULTS: Final[Mapping[str, Mapping[str, Fault]]] = {
    "bots": {
        "silent": Fault(2.0, live="its bot says nothing"),
        "slow": Fault(sizes=(1.0, 40.0), live="its bot is slow"),
        "hasty": Fault(live="its bot answers before it has thought"),
        "late": Fault(2.0, sizes=(0.1, 10.0), live="its bot answers when the ruling is due"),
        "dies": Fault(live="its bot dies over its task"),
        "twice": Fault(2.0, sizes=(1.0, 3.0), live="its bot answers twice or more"),
        "any": Fault(2.0, live="its bot answers at random"),
        "forgets": Fault(2.0, WEEKS, (1.0, 7_200.0)),
        "contrary": Fault(4.0, LONG),
        "interrupt": Fault(3.0, LONG),
        "echo": _act(2.0, live="a bot says again what was said"),
        "stray": _act(2.0, live="a bot speaks out of turn"),
        "flood": _act(0.5, 3.0, live="bots say very much at once"),
        "ring": _act(0.5, 3.0, live="two bots answer each other without end"),
        "deposed": _act(2.0, live="a bot speaks for a seat that a person took or left"),
    },
    "models": {
        "invalid_json": Fault(lasts_s=LONG, live="the model answers with broken JSON"),
        "truncated": Fault(lasts_s=LONG, live="the model's answer is cut off"),
        "misfit": Fault(lasts_s=LONG, live="the model answers something else"),
        "refused": Fault(lasts_s=LONG, live="the model refuses"),
        "empty": Fault(lasts_s=LONG, live="the model answers nothing"),
        "no_reply": Fault(lasts_s=LONG, live="the model's server sends no reply"),
        "rate": Fault(lasts_s=LONG),
        "rate_told": Fault(lasts_s=LONG, sizes=(1.0, 200.0)),
        "server": Fault(lasts_s=LONG, live="the model's server breaks"),
        "hangs": Fault(lasts_s=LONG, live="the model does not answer in time"),
        "drip": Fault(lasts_s=LONG),
        "other_model": Fault(lasts_s=LONG),
        "no_usage": Fault(lasts_s=LONG),
        "wrong_usage": Fault(lasts_s=LONG),
        "tool_loop": Fault(lasts_s=LONG),
        "no_price": Fault(0.3, ONCE, is_whole=True),
    },
    "people": {
        "take": _act(2.0),
        "answer": _act(5.0),
        "release": _act(1.0),
        "escalation": _act(2.0),
        "contradiction": _act(1.0),
        "override": _act(1.0),
        "stop": _act(0.6, 3.0),
        "halt": _act(0.7, 4.0),
        "resume": _act(0.7, 4.0),
        "say_again": _act(4.0),
        "garbage": _act(2.0),
        "interrupt": Fault(3.0, LONG),
        "prompt": Fault(6.0, WEEKS),
        "hostile": _act(1.0),
    },
    "crash": {
        "kill": Fault(1.0, ONCE, SECONDS),
        "restart": Fault(1.0, ONCE, SECONDS),
        "cut": Fault(4.0, ONCE, (2.0, 2_000.0)),
    },
    "store": {
        "error": Fault(3.0, (MINUTE, 6 * HOUR), live="the disk does not take its message"),
        "full": Fault(2.0, (MINUTE, 2 * HOUR), clocks=WALLED, buses=FILES),
        "memory_lost": Fault(1.0, ONCE, buses=FILES),
        "memory_torn": Fault(1.0, ONCE, buses=FILES),
        "snapshot_lost": Fault(1.0, ONCE, buses=FILES),
        "snapshot_torn": Fault(1.0, ONCE, buses=FILES),
    },
    "time": {
        "stall": Fault(1.0, ONCE, SECONDS, WALLED),
        "suspend": Fault(1.0, ONCE, SECONDS, ("real",)),
        "set": Fault(2.0, ONCE, SECONDS, ("real",)),
        "pause": Fault(1.0, ONCE, clocks=PACED),
        "go_on": Fault(2.0, ONCE, clocks=PACED),
        "step": Fault(1.0, ONCE, clocks=PACED),
        "speed": Fault(2.0, ONCE, clocks=PACED),
        "page": Fault(2.0, ONCE, clocks=PACED),
        "summer_time": Fault(0.3, ONCE, is_whole=True),
        "leap_day": Fault(0.2, ONCE, is_whole=True),
        "holiday": Fault(0.3, ONCE, is_whole=True),
    },
    "transport": {
        "twice": Fault(live="what a person posts arrives twice"),
        "late": Fault(2.0, sizes=(1.0, 7_200.0), live="what a person posts arrives late"),
        "cut": Fault(
            live="the gateway is cut off: nothing that is done on the page or a platform reaches the society"
        ),
        "surface_limited": Fault(lasts_s=LONG, sizes=(0.01, 0.2), buses=FILES),
        "surface_down": Fault(lasts_s=LONG, buses=FILES),
        "surface_lost": Fault(lasts_s=LONG, buses=FILES),
        "notebook_gone": Fault(lasts_s=LONG),
        "notebook_hangs": Fault(lasts_s=LONG),
    },
    "market": {
        "halted": Fault(2.0, (10 * MINUTE, 30 * HOUR)),
        "gap": Fault(1.0, (MINUTE, 8 * HOUR)),
        "thin": Fault(2.0, (10 * MINUTE, 30 * HOUR), (1.0, 1_000.0)),
        "split": Fault(2.0, (HOUR, 60 * HOUR), (0.1, 4.0)),
        "slump": Fault(3.0, (HOUR, 60 * HOUR), (0.3, 1.2)),
        "rejects": Fault(1.0, LONG),
        "late": Fault(2.0, LONG, (10.0, 7_200.0)),
        "partly": Fault(1.0, LONG, (1.5, 50.0)),
        "never": Fault(1.0, LONG),
    },
}
"""All faults, by class and name."""

CLASSES: Final = tuple(FAULTS)

CUT: Final = "transport.cut"
"""The one that a society's gateway knows, not only who posts."""

RATE: Final = 0.25
"""Share of occasions that a spell strikes, on average, unless somebody says otherwise."""


def fault(name: str) -> Fault:
    """Return the row of "class.name".

    Raises:
        KeyError: There is none.
    """
    kind, _, of = name.partition(".")
    return FAULTS[kind][of]


def classes_of(named: str) -> tuple[str, ...]:
    """Read classes as a command line names them, "a,b"; in the table's order.

    Raises:
        BadInput: There is no such class.
    """
    wanted = [one.strip() for one in named.split(",") if one.strip()]
    return checked(wanted)


def checked(wanted: Collection[str]) -> tuple[str, ...]:
    """Return classes in the table's order.

    Raises:
        BadInput: There is no such class, or none is named.
    """
    for one in wanted:
        if one not in FAULTS:
            raise BadInput(f"faults: there is no class {one[:40]!r}: choose from {', '.join(CLASSES)}")
    if not wanted:
        raise BadInput(f"faults: name one or more of {', '.join(CLASSES)}")
    return tuple(one for one in CLASSES if one in wanted)


def check_rate(rate: float, named: str = "rate") -> float:
    """Return a rate, if it is one.

    Raises:
        BadInput: It is not in [0, 1].
    """
    if not 0.0 <= rate <= 1.0:
        raise BadInput(f"{named} {rate:g}: it is a share from 0 to 1")
    return rate
