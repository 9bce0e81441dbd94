"""`moot discord setup` against a server over real sockets."""

import asyncio
import json

import pytest

import moot.cli.setup.discord  # noqa: F401  # declares the command
from moot.channels.discord.rights import RIGHTS
from moot.protocols.rulebook import rulebook
from tests.doubles.command_line import complaint, data, done, write
from tests.doubles.command_line import moot as run
from tests.doubles.discord_faults import refused, status
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import TOKEN, started, until


@pytest.fixture
def server():
    with DiscordServer() as running:
        # Windows are twenty times as short here: to spend one of Discord's size takes 1,000 requests a second.
        running.buckets.everywhere = 1_000
        yield running


@pytest.fixture
def config(tmp_path, server):
    return write(
        tmp_path / "society.toml",
        f'[surfaces.discord]\nguild = "{server.guild_id}"\napi = "{server.api}"\ngateway = "{server.gateway}"\n',
    )


def setup(server, config, *more):
    return run("discord", "setup", "--config", config, *more, **{TOKEN: server.token})


def state(server):
    return (
        [(one["name"], one["id"]) for one in server.channels()],
        [one["id"] for one in server.webhooks()],
        dict(server.world.commands),
        list(server.world.emojis),
    )


def test_an_empty_server_gets_all_it_needs_and_the_second_time_there_is_nothing_to_do(server, config):
    first = setup(server, config)
    assert first.exit_code == 0, first.output
    names = {one["name"]: one for one in server.channels()}
    assert {channel.name.removeprefix("#") for channel in rulebook().public} <= set(names)
    assert "calls" not in names, "what is private is nobody's but the admins'"
    category = names["Moot"]["id"]
    for channel in rulebook().public:
        it = names[channel.name.removeprefix("#")]
        assert it["parent_id"] == category
        assert it["topic"] == channel.purpose
        (hook,) = server.webhooks(it["id"])
        assert hook["name"] == f"Moot {channel.name.removeprefix('#')}"
        assert hook["application_id"] == server.application_id
    assert len(server.world.emojis) == 26
    before = state(server)

    second = setup(server, config)
    assert second.exit_code == 0
    assert second.stdout.splitlines()[-1] == "nothing to do"
    assert state(server) == before
    assert not [c for c in server.calls if c.status == 429]


def test_check_changes_nothing_and_says_what_is_missing(server, config):
    before = state(server)
    result = setup(server, config, "--check")
    assert result.exit_code == 1
    assert state(server) == before
    assert "✗ channel     no channel #a-arena; run: moot discord setup\n" in result.stdout
    assert result.stdout.splitlines()[-1] == "31 things missing"
    setup(server, config)
    assert setup(server, config, "--check").exit_code == 0


def test_only_what_is_missing_is_made(server, config):
    setup(server, config)
    kept = [one for one in state(server)[0] if one[0] != "b-desk"]
    server.delete_channel("b-desk")
    server.rename_channel("a-arena", "the-old-arena")
    hooks = {one["id"] for one in server.webhooks()}

    result = setup(server, config)

    assert result.stdout.splitlines()[-1] == "2 things made"
    assert [one[0] for one in state(server)[0]] == [
        *("the-old-arena" if name == "a-arena" else name for name, _ in kept),
        "b-desk",
    ]
    assert hooks < {one["id"] for one in server.webhooks()}


def test_people_may_write_only_where_the_configuration_lets_them(server, config):
    config.write_text(
        config.read_text() + '\n[viewers]\nreads = ["#a-arena", "#bridge"]\nwrites = ["#a-arena"]\n'
    )
    setup(server, config)
    ana = server.world.add_user("ana")

    def may(name):
        bits = server.world.permissions(ana, server.channel_id(name))
        return bool(bits & 1 << 10), bool(bits & 1 << 11)

    assert (may("a-arena"), may("bridge"), may("admin")) == ((True, True), (True, False), (False, False))
    bot = server.world.permissions(server.world.bot, server.channel_id("admin"))
    assert bot & 1 << 10
    assert bot & 1 << 11


def test_the_admins_role_may_write_where_bots_alone_speak_and_so_use_slash_commands(server, config):
    """Discord offers a command only to who may send messages in that channel."""
    ann = server.world.add_user("ann")
    role = server.world.give_role(ann, "moot admins")
    config.write_text(config.read_text() + f'admin_role = "{role}"\n\n[viewers]\nwrites = ["#a-arena"]\n')
    result = setup(server, config)
    assert "✓ admins      their role may write in every channel" in result.stdout
    for channel in rulebook().public:
        server.person_commands("ann", channel.name, "status")
    with pytest.raises(PermissionError):
        server.person_commands("eve", "admin", "status")
    (hidden,) = [one for one in server.world.channels.values() if one["name"] == "b-ops"]
    hidden["permission_overwrites"] = [one for one in hidden["permission_overwrites"] if one["id"] != role]
    result = setup(server, config, "--check")
    assert result.exit_code == 1
    said = " ".join(result.stdout.split())
    assert "✗ admins their role may not write in #b-ops; there: Edit Channel → Permissions" in said


def test_without_a_role_it_says_what_admins_go_without(server, config):
    result = setup(server, config)
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    assert 'no slash commands; to change that, name a role: admin_role = "ID"' in said


def test_a_webhook_that_has_another_name_is_known_by_where_it_stands(server, config):
    setup(server, config)
    for hook in server.world.webhooks.values():
        hook["name"] = "Captain Hook"
    result = setup(server, config)
    assert result.stdout.splitlines()[-1] == "nothing to do"
    assert len(server.webhooks()) == len(rulebook().public)


def test_a_server_that_does_not_say_what_the_bot_may_do_is_told_in_one_line(server, config):
    server.world.says_permissions = False
    result = setup(server, config)
    assert result.exit_code == 0, result.output
    assert "✓ permissions unknown: the server does not say what the bot may do" in result.stdout


def test_each_missing_permission_comes_with_its_reason_and_the_link(server, config):
    server.deny("MANAGE_WEBHOOKS")
    result = setup(server, config, "--check")
    assert result.exit_code == 1
    assert "Manage Webhooks (to let every role speak under its own name and picture)" in result.stdout
    assert f"guild_id={server.guild_id}" in result.stdout
    assert "Traceback" not in result.output


def test_the_link_asks_for_what_is_explained_and_nothing_else(server, config):
    for name in ("MANAGE_WEBHOOKS", "ADD_REACTIONS"):
        server.deny(name)
    line = next(
        line for line in setup(server, config, "--check").stdout.splitlines() if "permissions " in line
    )
    asked = int(line.split("permissions=")[1].split("&")[0])
    assert asked == sum(right.bit for right in RIGHTS)
    assert not asked & (1 << 3 | 1 << 17), "neither Administrator nor Mention Everyone"


def test_a_missing_intent_is_told_with_where_to_click_and_the_rest_is_made(server, config):
    server.message_content(False)
    result = setup(server, config)
    assert result.exit_code == 1
    assert "✗ intents     Message Content Intent is off" in result.stdout
    assert 'switch on "Message Content Intent"' in result.stdout
    assert len(server.webhooks()) == len(rulebook().public)


def test_without_a_chosen_server_it_lists_those_that_the_bot_is_in(tmp_path, server):
    config = write(tmp_path / "s.toml", f'[surfaces.discord]\napi = "{server.api}"\n')
    result = setup(server, config)
    assert result.exit_code == 1
    assert f"the bot is in: Test guild is {server.guild_id}" in result.stdout
    assert "oauth2/authorize" in result.stdout


def test_a_bot_that_was_not_invited_gets_the_link(tmp_path, server):
    config = write(tmp_path / "s.toml", f'[surfaces.discord]\nguild = "42"\napi = "{server.api}"\n')
    result = setup(server, config)
    assert result.exit_code == 1
    assert (
        "✗ server      the bot is not in the server 42; whoever manages that server opens https://"
        in result.stdout
    )


def test_it_tells_programs_in_json(server, config):
    # What the library warns of is none of what a program reads.
    server.buckets.everywhere = 10
    found = data("discord", "setup", "--config", config, **{TOKEN: server.token})
    assert found["ok"]
    assert len(found["made"]) == 31
    assert data("discord", "setup", "--config", config, **{TOKEN: server.token})["made"] == []


@pytest.mark.parametrize(
    ("token", "says"),
    [
        ("", "set MOOT_DISCORD_TOKEN, or name a file in token_file"),
        ("MTk.wrong.token", "does not know the bot's token"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--check"]])
def test_a_token_that_will_not_do_is_a_thing_that_is_missing(server, config, token, says, more):
    result = run("discord", "setup", "--config", config, *more, **{TOKEN: token})
    first, last = result.stdout.splitlines()
    assert (result.exit_code, result.stderr, last) == (1, "", "1 thing missing")
    assert first.startswith("✗ token")
    assert says in first

    told = run("discord", "setup", "--config", config, *more, "--json", **{TOKEN: token})
    found = json.loads(told.stdout)
    assert (told.exit_code, found["ok"], found["made"]) == (1, False, [])
    (check,) = found["checks"]
    assert (check["name"], check["ok"]) == ("token", False)
    assert says in check["found"]


def test_a_token_file_that_others_can_read_is_refused(tmp_path, server, config):
    secret = write(tmp_path / "token", server.token)
    secret.chmod(0o644)
    config.write_text(config.read_text() + f'token_file = "{secret}"\n')
    said = run("discord", "setup", "--config", config, **{TOKEN: ""})
    assert said.exit_code == 1
    assert f"chmod 600 {secret}" in said.stdout
    secret.chmod(0o600)
    assert "made" in done("discord", "setup", "--config", config, **{TOKEN: ""})


def test_a_platform_that_is_away_gets_one_line(server, config):
    server.stop()
    said = complaint(1, "discord", "setup", "--config", config, **{TOKEN: server.token})
    assert "Discord cannot be reached" in said
    server.start()


@pytest.mark.parametrize(
    "fault", [status(503), refused(403, 50013), refused(400, 30013, "Maximum number of channels reached")]
)
def test_what_cannot_be_made_stops_it_with_one_line_and_it_goes_on_from_there(server, config, fault):
    server.faults.add("POST /guilds/*/channels", 1, fault)
    result = setup(server, config)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    assert setup(server, config).exit_code == 0
    assert len(server.webhooks()) == len(rulebook().public)


def test_a_surface_says_what_it_finds_before_and_after_also_while_it_runs(server, config):
    async def look():
        async with started(server) as surface:
            found = await surface.check()
            id = server.person_writes("ana", "a-arena", "still here?")
            await until(lambda: server.replies(id))
            return found

    server.add_channel("a-arena")
    before = asyncio.run(look())
    assert [check.name for check in before[:4]] == ["token", "intents", "server", "permissions"]
    assert all(check.is_ok for check in before[:4])
    assert {check.to_do for check in before[4:] if not check.is_ok} == {"run: moot discord setup"}
    setup(server, config)
    assert all(check.is_ok for check in asyncio.run(look()))


def test_help_shows_examples(server):
    assert "moot discord setup --config my-society.toml" in done("discord", "setup", "--help")
