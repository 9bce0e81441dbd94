"""Who fills which seat: from what a configuration, a command line or a caller says to the mind itself."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from moot.config.minds import LONGEST_S, MindSettings, mind_seat
from moot.config.protocols import import_named
from moot.config.settings import ConfigError
from moot.minds.mind import Mind
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import first_fault
from moot.protocols.kernel.minds import SILENT, SIMULATED
from moot.protocols.kernel.redact import redact
from moot.protocols.kernel.seats import Seat

MindSource = Mind | type[Mind] | str | Mapping[str, Any] | MindSettings
"""What fills a seat: an instance; a class; "package.module:Class"; {"module": that, ...its options}; "simulated";
"silent"; {"model": NAME, ...its options}."""


class UnusableMind(ConfigError, BadInput):
    """Say in one line which seat's mind cannot be used, why, and what to do."""


class Chosen(NamedTuple):
    """What fills a seat.

    Attributes:
        name: What it is called: "simulated", "silent", "package.module:Class", or the NAME of a model.
        mind: A mind of one's own; None for the others.
        timeout_s: Wall seconds that one answer of one's own mind may take.
        model: Which model fills the seat, and what it is called with; None where none does.
    """

    name: str
    mind: Mind | None = None
    timeout_s: float = Mind.timeout_s
    model: MindSettings | None = None


MindSources = Mapping[str, "MindSource | Chosen"]
"""What fills the seats that are named; the others are simulated."""


def chosen(given: MindSources, seats: Collection[Seat] | None = None) -> dict[str, Chosen]:
    """Find, check and make the minds that somebody names.

    A module is looked for where Python looks, and then in the working directory.

    Args:
        given: What fills which seat; what was chosen before passes as it is.
        seats: Those that may be filled here; None: every seat of a bot.

    Raises:
        UnusableMind: No such seat, module or class; a class that is no Mind; options that it does not take.
    """
    return {_seat(name, seats): _chosen(f"minds.{name}", source) for name, source in given.items()}


def _seat(name: object, seats: Collection[Seat] | None) -> Seat:
    try:
        return mind_seat(name, seats)
    except ValueError as exc:
        raise UnusableMind(f"minds: {exc}") from None


def _chosen(where: str, source: object) -> Chosen:
    if isinstance(source, Chosen):
        return source
    if isinstance(source, Mind):
        return _made(where, source, _name_of(type(source)), None)
    if isinstance(source, type):
        return _made(where, _instance(where, source, _name_of(source), {}), _name_of(source), None)
    try:
        plain = MindSettings.model_validate(source)
    except ValidationError as exc:
        field, why = first_fault(exc, "")
        raise UnusableMind(f"{where}{field and f'.{field}'}: {why}") from None
    where = plain.where(where)
    if plain.model:
        return Chosen(plain.model, model=plain)
    if plain.module in (SIMULATED, SILENT):
        return Chosen(plain.module)
    made = _instance(where, _found(where, plain.module), plain.module, plain.options())
    return _made(where, made, plain.module, plain.timeout_s)


def _made(where: str, mind: Mind, name: str, timeout_s: float | None) -> Chosen:
    limit = type(mind).timeout_s if timeout_s is None else timeout_s
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= LONGEST_S:
        raise UnusableMind(
            f"{where}: timeout_s is a number of seconds above 0, up to {LONGEST_S:g}, not {limit!r}"
        )
    return Chosen(name, mind, float(limit))


def _name_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _found(where: str, dotted: str) -> object:
    """Import what `package.module:Class` names."""
    module_name, _, attribute = dotted.partition(":")
    try:
        module = import_named(module_name)
    except (Exception, SystemExit) as exc:
        missing = exc.name if isinstance(exc, ModuleNotFoundError) else None
        if missing is not None and f"{module_name}.".startswith(f"{missing}."):
            raise UnusableMind(
                f"{where}: there is no module {missing!r}: install it, or start where it can be imported"
            ) from None
        raise UnusableMind(f"{where}: {module_name} cannot be imported: {told(exc)}") from None
    if not hasattr(module, attribute):
        own = [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, Mind) and not inspect.isabstract(value)
        ]
        hint = f"; it has {', '.join(sorted(own))}" if own else ""
        raise UnusableMind(f"{where}: {module_name} has no {attribute}{hint}")
    return getattr(module, attribute)


def _instance(where: str, kind: object, name: str, options: Mapping[str, Any]) -> Mind:
    """Make a mind of its class and options."""
    if not (isinstance(kind, type) and issubclass(kind, Mind)):
        raise UnusableMind(f"{where}: {name} is no Mind: write class {name.rpartition(':')[2]}(moot.Mind)")
    if inspect.isabstract(kind):
        raise UnusableMind(f"{where}: {name} has no method answer(self, view)")
    try:
        takes = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        takes = ()  # type: ignore[assignment]  # it cannot be told: the call will
    names = [one.name for one in takes if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    takes_all = any(one.kind is one.VAR_KEYWORD for one in takes)
    if not takes_all and (unknown := sorted(set(options) - set(names))):
        raise UnusableMind(
            f"{where}: {name} takes no option {unknown[0]!r}; it takes {', '.join(names) or 'none'}"
        )
    needed = [one.name for one in takes if one.name in names and one.default is one.empty]
    if lacking := [one for one in needed if one not in options]:
        raise UnusableMind(f"{where}: {name} needs the option {lacking[0]!r}")
    try:
        return kind(**options)
    except (Exception, SystemExit) as exc:
        raise UnusableMind(f"{where}: {name} cannot be made: {told(exc)}") from None


def told(exc: BaseException) -> str:
    """Say in one line what was raised, without secrets, which options may hold."""
    text = " ".join(redact(str(exc)).split())
    return f"{type(exc).__name__}: {text}"[:500] if text else type(exc).__name__


def named(minds: Mapping[str, Chosen]) -> dict[str, Any]:
    """Return what a log says of what fills each seat; one's own options stay out of it, as those of surfaces."""
    return {seat: one.model.as_log() if one.model else one.name for seat, one in minds.items()}
