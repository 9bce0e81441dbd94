"""Settings: defaults, a file over them, variables over both; a wrong value is one line that says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.config.settings import ConfigError, load_settings
from moot.protocols.kernel.seats import ADMIN, VIEWER
from moot.protocols.rulebook import rulebook


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [name for name in os.environ if name.upper().startswith("MOOT_")]:
        monkeypatch.delenv(name)


LOCAL = '[models.local]\nurl = "http://127.0.0.1:8080/v1"\nmodel = "qwen3:8b"\n'


def file(directory: Path, text: str) -> Path:
    path = directory / "society.toml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(path: Path | None = None) -> str:
    with pytest.raises(ConfigError) as refused:
        load_settings(path)
    text = str(refused.value)
    assert "\n" not in text
    return text


def test_the_defaults_are_those_of_the_rulings() -> None:
    settings = load_settings()
    assert {name: schedule.cron for name, schedule in settings.schedules.items()} == {
        "micro": "0 */2 * * *",
        "daily": "0 22 * * *",
        "architecture": "0 15 * * sat",
    }
    assert settings.as_log()["minds"] == dict.fromkeys(rulebook().bots, "simulated")
    assert (settings.desk.enabled, settings.desk.capital) == (True, 1_000_000)
    assert settings.clock.human_wall_s == 600
    assert (settings.log.durability, settings.prices.source, settings.surfaces) == ("power", "sample", {})
    viewers = settings.viewers.viewers()
    assert viewers.reads == {channel.name for channel in rulebook().public}
    assert "#a-arena" in viewers.writes and "#admin" not in viewers.writes


def test_a_section_of_a_file_replaces_that_of_the_defaults(tmp_path: Path) -> None:
    settings = load_settings(file(tmp_path, '[clock]\nhuman_wall_s = 5\n[minds]\ncritic = "silent"\n'))
    assert settings.clock.human_wall_s == 5
    assert settings.as_log()["minds"] == {"critic": "silent"}
    assert settings.log.durability == "power", "other sections stay"


def test_what_a_file_leaves_out_keeps_its_default_as_the_page_on_configuring_says(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "configure.md"
    example = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    shipped = load_settings().model_dump()
    shown = load_settings(file(tmp_path, example))
    assert (shown.desk.enabled, shown.desk.capital) == (False, shipped["desk"]["capital"])
    assert shown.admins["console"] == ("owner", "ann")

    changed = {}
    for section in shipped:
        now = load_settings(file(tmp_path, f"[{section}]\n")).model_dump()
        if now[section] != shipped[section]:
            changed[section] = now[section]
    assert changed == {
        "admins": {},
        "minds": {},
        "schedules": {},
        "viewers": {"reads": ("*",), "writes": ()},
    }


def test_variables_override_the_file_field_by_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_CLOCK__HUMAN_WALL_S", "7")
    monkeypatch.setenv("MOOT_MINDS__CRITIC", "silent")
    monkeypatch.setenv("MOOT_LOG__DURABILITY", "process")
    settings = load_settings(file(tmp_path, "[clock]\nhuman_wall_s = 5\n"))
    assert settings.clock.human_wall_s == 7
    assert settings.as_log()["minds"] == dict.fromkeys(rulebook().bots, "simulated") | {"critic": "silent"}
    assert settings.log.durability == "process"


def test_the_variable_that_names_the_file_is_no_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_CONFIG", str(tmp_path))
    assert load_settings().prices.source == "sample"


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        ('[clock]\nhuman_wall_s = "long"', "clock.human_wall_s", "give a number, not 'long'"),
        ("[clock]\nhuman_wall_s = -1", "clock.human_wall_s", "choose at least 0, not -1"),
        ("[clok]\nhuman_wall_s = 1", "clok", "there is no such field: did you mean clock?"),
        (
            "[clock]\nhuman_wal_s = 1",
            "clock.human_wal_s",
            "there is no such field: did you mean human_wall_s?",
        ),
        ("clock = 3", "clock", "give an object with named fields, not 3"),
        ('[log]\ndurability = "forever"', "log.durability", "'power' or 'process'"),
        (
            '[minds]\ncritic = "clever"',
            "minds.critic",
            "choose simulated, silent, a class as package.module",
        ),
        (
            "[minds]\ncritic = 3",
            "minds.critic",
            "int is no kind of mind: choose simulated, silent, a class as",
        ),
        ("[minds]\ncritic = {}", "minds.critic", 'a class as package.module:Class, or {model = "NAME"}'),
        (
            '[minds]\ncritic = { model = "local" }',
            "minds",
            "critic: there is no [models.local], and no other model is configured: docs/how-to/use-a-model.md",
        ),
        (
            f'{LOCAL}[minds]\ncritic = {{ model = "locl" }}',
            "minds",
            "critic: there is no [models.locl]: did you mean local?",
        ),
        (
            f'{LOCAL}[minds]\ncritic = {{ model = "local", module = "a:M" }}',
            "minds.critic",
            "name a model or a module, not both",
        ),
        (f'{LOCAL}[minds]\nadmin = {{ model = "local" }}', "minds", "the seat 'admin' is for people"),
        ("[budget]\nusd = -1", "budget.usd", "choose at least 0, not -1"),
        ("[budget]\nusd = 0.0000001", "budget.usd", "choose at most 6 decimal places, not "),
        ("[budget]\nusd = nan", "budget.usd", "give a finite number"),
        ("[budget]\nusd = true", "budget.usd", "give a number of US dollars, such as 2.50"),
        ("[budget.day]\ncalls = 1.5", "budget.day.calls", "give a whole number, not 1.5"),
        ("[budget.day]\ncals = 1", "budget.day.cals", "there is no such field"),
        ("[budget]\ndays = 1", "budget.days", "there is no such field: did you mean day?"),
        (
            '[budget]\non_exhausted = "stop"',
            "budget.on_exhausted",
            "choose 'silent' or 'simulated', not 'stop'",
        ),
        (
            '[minds]\ncritic = { module = "my mind:M" }',
            "minds.critic",
            "or {model = \"NAME\"}, not 'my mind:M'",
        ),
        (
            '[minds]\ncritic = { module = "a:M", timeout_s = 0 }',
            "minds.critic.timeout_s",
            "choose more than 0, not 0",
        ),
        ('[minds]\ncritic = { module = "silent", tone = 1 }', "minds.critic", "silent takes no options"),
        ('[minds]\ncritc = "silent"', "minds", "no seat 'critc': did you mean critic?"),
        ('[minds]\nadmin = "a:M"', "minds", "the seat 'admin' is for people: choose "),
        (
            '[minds]\nreferee = "silent"',
            "minds",
            "the seat 'referee' is an officer's, which is code: choose ",
        ),
        ('[schedules]\nhourly = { cron = "0 * * * *" }', "schedules", "no schedule 'hourly': choose"),
        ('[schedules]\nmicro = { cron = "61 * * * *" }', "schedules", "micro: "),
        ("[schedules]\nmicro = {}", "schedules", "micro: "),
        ('[schedules]\nmicro = { at = ["soon"] }', "schedules", "micro: "),
        ('[viewers]\nreads = ["#nowhere"]', "viewers", "no channel '#nowhere'"),
        ("[desk]\ncapital = 10", "desk.capital", "choose at least 1,000, not 10"),
        ('[desk]\nenabled = "perhaps"', "desk.enabled", "give true or false, not 'perhaps'"),
        ("[admins]\ndiscord = [1234]", "admins.discord.0", "give a text, not 1234"),
        ('[surfaces]\nchat = { token = "x" }', "surfaces.chat.module", "is needed"),
        (
            '[surfaces]\ndiscord = { module = "no class" }',
            "surfaces.discord.module",
            "'no class' does not match ",
        ),
    ],
)
def test_a_wrong_value_is_one_line_that_names_file_setting_and_reason(
    tmp_path: Path, text: str, where: str, why: str
) -> None:
    path = file(tmp_path, text + "\n")
    assert complaint(path).startswith(f"{path}: {where}: ")
    assert why in complaint(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[clock", "is not TOML"),
        (b"\xff\xfe", "is not text in UTF-8: save it as such"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_toml_is_one_line(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "society.toml"
    if content is not None:
        path.write_bytes(content)
    assert complaint(path).startswith(f"{path}: {why}")


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("MOOT_CLOCK__HUMAN_WALL_S", "long", "clock.human_wall_s"),
        ("MOOT_ADMINS", "ann", "admins"),
        ("MOOT_LOG", "power", "log"),
        ("MOOT_VIEWERS__READS", "#a-arena", "reads"),
    ],
)
def test_a_wrong_variable_is_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, where: str
) -> None:
    monkeypatch.setenv(name, value)
    assert where in complaint()
    assert "Traceback" not in complaint()


def test_re5_admins_are_named_by_platform_and_everybody_else_is_a_viewer(tmp_path: Path) -> None:
    settings = load_settings(file(tmp_path, '[admins]\ndiscord = ["42", "43"]\n'))
    assert settings.seat_of("discord", "42") == ADMIN
    assert settings.seat_of("discord", "44") == VIEWER
    assert settings.seat_of("slack", "42") == VIEWER


def test_re5_the_owners_stand_among_the_admins_of_the_log() -> None:
    settings = load_settings(admins={"cli": ["ann"], "slack": ["U1"]})
    owned = settings.owned({"cli": "bob", "console": "owner", "discord": ""})
    assert owned.as_log()["admins"] == {"cli": ["bob", "ann"], "slack": ["U1"], "console": ["owner"]}
    assert owned.owned({"cli": "ann"}).admins == owned.admins
    assert settings.seat_of("cli", "bob") == VIEWER
    assert settings.seat_of("cli", "") == VIEWER


def test_what_the_log_keeps_holds_no_option_of_a_surface(tmp_path: Path) -> None:
    settings = load_settings(
        file(tmp_path, '[surfaces]\nchat = { module = "a.b:C", token = "xoxb-secret" }\n')
    )
    assert settings.surfaces["chat"].options() == {"token": "xoxb-secret"}
    logged = settings.as_log()
    assert logged["surfaces"] == {"chat": "a.b:C"}
    assert "secret" not in repr(logged)
    assert logged["schedules"]["micro"] == {"cron": "0 */2 * * *"}


def test_a_society_has_one_notebook_at_most():
    assert load_settings(arena={"notebook": "notes"}).arena.mcp == ""
    with pytest.raises(ConfigError, match="name one notebook"):
        load_settings(arena={"notebook": "notes", "mcp_url": "http://127.0.0.1:8000/mcp"})


@pytest.mark.parametrize("name", ["promotions", "architecture"])
def test_decisions_go_before_panels_only_where_panels_sit(tmp_path: Path, name: str) -> None:
    path = file(tmp_path, f'[panel]\nenabled = false\n{name} = "binding"\n')
    assert complaint(path) == f"{path}: panel: {name} is binding, but enabled = false leaves no panel to ask"
    path = file(tmp_path, f'[panel]\n{name} = "advisory"\n')
    assert load_settings(path).as_log()["panel"][name] == "advisory"
    assert load_settings(file(tmp_path, "[panel]\nenabled = false\n")).panel.promotions == "off"


def test_a_known_platform_needs_no_module_and_every_surface_a_name_that_can_be_a_files(
    tmp_path: Path,
) -> None:
    settings = load_settings(file(tmp_path, '[surfaces]\nslack = { prefix = "moot-" }\n'))
    assert settings.surfaces["slack"].module == "moot.channels.slack:SlackSurface"
    assert settings.surfaces["slack"].options() == {"prefix": "moot-"}
    for name in ("Up", "../x", "a b", "x" * 41):
        said = complaint(file(tmp_path, f'[surfaces."{name}"]\nmodule = "a:B"\n'))
        assert "a surface is named with 1 to 40 of a-z, 0-9, - and _" in said


def test_a_token_in_a_variable_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOOT_DISCORD_TOKEN", "MOOT_SLACK_BOT_TOKEN", "MOOT_SLACK_SIGNING_SECRET"):
        monkeypatch.setenv(name, "made-up")
    assert "made-up" not in str(load_settings().as_log())


def test_a_model_s_seat_is_logged_with_what_it_is_called_with(tmp_path: Path) -> None:
    settings = load_settings(
        file(tmp_path, f'{LOCAL}[minds]\ncritic = {{ model = "local", temperature = 0.3 }}\n')
    )
    assert settings.as_log()["minds"] == {"critic": {"model": "local", "temperature": 0.3}}
    assert settings.as_log()["models"]["local"]["model"] == "qwen3:8b"


def test_a_budget_is_logged_as_what_is_limited() -> None:
    assert "budget" not in load_settings().as_log()
    told = {"usd": 2.50, "day": {"tokens": 5}, "case": {"usd": "0.100000", "calls": 0}, "seat": {"usd": 20}}
    settings = load_settings(budget=told)
    assert settings.as_log()["budget"] == {
        "usd": "2.5",
        "day": {"tokens": 5},
        "case": {"usd": "0.1", "calls": 0},
        "seat": {"usd": "20"},
        "on_exhausted": "silent",
    }
    assert settings.budget.is_limited and not load_settings().budget.is_limited
    assert load_settings(budget={"calls": 0}).budget.is_limited
