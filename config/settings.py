"""Load and check what a deployment chooses: defaults, then a TOML file, then MOOT_* variables."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from moot.config.budget import BudgetSettings, models_as_log
from moot.config.minds import MindSettings, mind_seat
from moot.config.models import MODEL_NAME, ModelSettings, no_model
from moot.config.prompts import PromptSettings
from moot.config.protocols import UnusableProtocol, install
from moot.config.sections import (
    PLATFORMS,
    SURFACE_NAME,
    ArenaSettings,
    ClockSettings,
    ConsoleSettings,
    DeskSettings,
    LogSettings,
    MotionSettings,
    PanelSettings,
    PriceSettings,
    ProtocolSettings,
    ScheduleSettings,
    SurfaceSettings,
    ViewerSettings,
)
from moot.protocols.kernel.errors import MootError
from moot.protocols.kernel.faults import line
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import ADMIN, VIEWER, Seat
from moot.protocols.research.calendar import POLICIES, Schedule
from moot.protocols.rulebook import rulebook

DEFAULTS: Final = Path(__file__).with_name("society.toml")


class ConfigError(MootError):
    """Say which setting is wrong, where, and what to do; one line."""


class _Spoken(BaseSettings):
    """What has to be known before seats and channels can be judged: which protocols are spoken."""

    model_config = SettingsConfigDict(env_prefix="MOOT_", env_nested_delimiter="__", extra="ignore")

    protocols: ProtocolSettings = ProtocolSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let variables override what the files say."""
        return env_settings, init_settings


class Settings(_Spoken):
    """The effective configuration of a society."""

    model_config = SettingsConfigDict(
        env_prefix="MOOT_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    schedules: dict[str, ScheduleSettings] = Field(default_factory=dict)
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    minds: dict[str, MindSettings] = Field(default_factory=dict)
    admins: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    viewers: ViewerSettings = ViewerSettings()
    clock: ClockSettings = ClockSettings()
    log: LogSettings = LogSettings()
    prices: PriceSettings = PriceSettings()
    desk: DeskSettings = DeskSettings()
    arena: ArenaSettings = ArenaSettings()
    panel: PanelSettings = PanelSettings()
    motion: MotionSettings = MotionSettings()
    budget: BudgetSettings = BudgetSettings()
    prompts: PromptSettings = PromptSettings()
    console: ConsoleSettings = ConsoleSettings()
    surfaces: dict[str, SurfaceSettings] = Field(default_factory=dict)

    @field_validator("schedules")
    @classmethod
    def _known_schedules(cls, value: dict[str, ScheduleSettings]) -> dict[str, ScheduleSettings]:
        for name, schedule in value.items():
            if name not in POLICIES:
                raise ValueError(f"there is no schedule {name!r}: choose {', '.join(POLICIES)}")
            try:
                Schedule(schedule.spec())
            except ValueError as exc:
                raise ValueError(f"{name}: {exc}") from None
        return value

    @field_validator("minds")
    @classmethod
    def _known_seats(cls, value: dict[str, MindSettings], info: ValidationInfo) -> dict[str, MindSettings]:
        models = info.data.get("models")  # none where those are wrong themselves
        for name, mind in value.items():
            mind_seat(name)
            if mind.model and models is not None and mind.model not in models:
                raise ValueError(f"{name}: {no_model(mind.model, models)}")
        return value

    @field_validator("models")
    @classmethod
    def _named_in_short(cls, value: dict[str, ModelSettings]) -> dict[str, ModelSettings]:
        for name in value:
            if not MODEL_NAME.fullmatch(name):
                raise ValueError(f"a model is named with 1 to 40 of a-z, 0-9, - and _, not {name[:60]!r}")
        return value

    @field_validator("surfaces", mode="before")
    @classmethod
    def _known_platforms(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {
            name: {"module": PLATFORMS[name], **how}
            if name in PLATFORMS and isinstance(how, Mapping)
            else how
            for name, how in value.items()
        }

    @field_validator("surfaces")
    @classmethod
    def _named_as_files(cls, value: dict[str, SurfaceSettings]) -> dict[str, SurfaceSettings]:
        for name in value:
            if not SURFACE_NAME.fullmatch(name):
                raise ValueError(f"a surface is named with 1 to 40 of a-z, 0-9, - and _, not {name[:60]!r}")
        return value

    @field_validator("viewers")
    @classmethod
    def _known_channels(cls, value: ViewerSettings) -> ViewerSettings:
        for name in (*value.reads, *value.writes):
            if name != "*" and name not in rulebook().channel_names:
                raise ValueError(f"there is no channel {name!r}")
        return value

    @model_validator(mode="after")
    def _known_switches(self) -> Settings:
        for one in rulebook().protocols:
            if one.switch and not hasattr(getattr(self, one.switch, None), "enabled"):
                raise ValueError(
                    f"{one.switch}.enabled, which switches the protocol {one.name}, is no setting"
                )
        return self

    def as_log(self) -> dict[str, Any]:
        """Return the effective values as SOCIETY_STARTED carries them.

        Surfaces and minds of one's own are without their options, models without where their keys are. Prompts stand
        there where models are told them.
        """
        plain = self.model_dump(
            mode="json",
            exclude={"surfaces", "schedules", "protocols", "minds", "models", "budget", "prompts"},
        )
        plain |= models_as_log(self.models, self.budget)
        if rulebook().added:
            plain["protocols"] = list(rulebook().added)
        plain["schedules"] = {name: schedule.spec() for name, schedule in self.schedules.items()}
        plain["minds"] = {seat: mind.as_log() for seat, mind in self.minds.items()}
        plain["surfaces"] = {name: surface.module for name, surface in self.surfaces.items()}
        return plain

    @classmethod
    def of_log(cls, told: Mapping[str, Any]) -> Settings:
        """Return the settings that a log's configuration says, whatever files and variables say now.

        What `as_log` leaves out, it has not: surfaces, the options of one's own minds, where keys are.

        Raises:
            ConfigError: This Moot does not know a setting, or it is not one any more.
        """
        plain = {
            name: value
            for name, value in told.items()
            if name not in ("surfaces", "protocols", "minds", "prompts")
        }
        folder = told.get("prompts", {}).get("folder", "")
        if folder and Path(folder).is_dir():
            plain["prompts"] = {"folder": folder}
        plain["models"] = {
            name: {key: value for key, value in model.items() if key in ModelSettings.model_fields}
            for name, model in told.get("models", {}).items()
        }
        try:
            return _AsLogged(**plain)
        except ValidationError as exc:
            raise ConfigError(f"its configuration: {line(exc, 'settings', _names(exc))}") from None

    def owned(self, owners: Mapping[str, str]) -> Settings:
        """Return these settings with owners among the admins, so that the log names whoever may decide (R-E5).

        Args:
            owners: User ids by platform; an empty one is nobody.
        """
        admins = dict(self.admins)
        for platform, user_id in owners.items():
            if user_id and user_id not in admins.get(platform, ()):
                admins[platform] = (user_id, *admins.get(platform, ()))
        return self.model_copy(update={"admins": admins})

    def switches_on(self, protocol: Protocol) -> bool:
        """Say whether bots fill the seats of a protocol."""
        return not protocol.switch or bool(getattr(self, protocol.switch).enabled)

    def seat_of(self, platform: str, user_id: str) -> Seat:
        """Say what a person on a platform is: admin or viewer (R-E5)."""
        return ADMIN if user_id in self.admins.get(platform, ()) else VIEWER


class _AsLogged(Settings):
    """Settings that are what is given, and nothing else."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *others: PydanticBaseSettingsSource,
        **named: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take no variable."""
        return (init_settings,)


def load_settings(path: Path | None = None, **over: Any) -> Settings:
    """Load the effective configuration.

    Args:
        path: A TOML file whose sections replace those of the shipped one.
        over: Sections that replace both.

    Raises:
        ConfigError: A value is wrong; the file, the setting and the reason are named.
    """
    try:
        own = {} if path is None else _read(path)
        values = {**_read(DEFAULTS), **own, **over}
        install(_Spoken(protocols=values.get("protocols", {})).protocols.modules)
        settings = Settings(**values)
    except ValidationError as exc:
        raise ConfigError(f"{path or 'configuration'}: {line(exc, 'settings', _names(exc))}") from None
    except UnusableProtocol as exc:
        raise ConfigError(str(exc)) from None
    except SettingsError as exc:
        raise ConfigError(f"environment: {_unreadable(exc)}") from None
    if path is not None and "minds" not in over:
        written = own.get("minds", {})
        for seat, mind in settings.minds.items():
            # A variable may say something else than the file.
            if seat in written and mind == MindSettings.model_validate(written[seat]):
                mind.stands_in(path)
    return settings


def _names(exc: ValidationError) -> Collection[str]:
    """Return the names that may stand where the first fault is."""
    section, *rest = exc.errors(include_url=False)[0]["loc"] or ("",)
    if not rest:
        return Settings.model_fields
    field = Settings.model_fields.get(str(section))
    held: Any = field.annotation if field else None
    is_section = isinstance(held, type) and issubclass(held, BaseModel) and len(rest) == 1
    return tuple(held.model_fields) if is_section else ()


def _unreadable(exc: SettingsError) -> str:
    """Say which MOOT_* variable is not the JSON that its setting wants."""
    for name in sorted(os.environ):
        section, _, field = name.upper().removeprefix("MOOT_").partition("__")
        is_meant = name.upper().startswith("MOOT_") and f'"{section.lower()}"' in str(exc)
        if is_meant and not _is_json(os.environ[name]):
            setting = ".".join(part.lower() for part in (section, *field.split("__")) if part)
            return f"{name}: {setting} is written as JSON there, such as {_EXAMPLES[bool(field)]}"
    return str(exc)


_EXAMPLES: Final = ('{"cli": ["ann"]}', '["#a-arena"]')


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def text_of(path: Path) -> str:
    """Read a configuration file.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeError:
        raise ConfigError(f"{path}: is not text in UTF-8: save it as such") from None
    except OSError as exc:
        raise ConfigError(f"{path}: cannot be read: {(exc.strerror or str(exc)).lower()}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{path}: is not TOML: {exc}") from None
