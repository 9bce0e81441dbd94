import base64
import json
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.protocols.kernel.redact import (
    AUDIT_BYTES,
    OWN_TOKEN,
    SECRETS,
    _mark,
    cap,
    keepsake,
    may_hold_secret,
    redact,
    redact_under,
)

# Put together from pieces, so that no scanner takes this file for a leak.
DISCORD = "MTA" + "x" * 23 + "." + "Gh7k2P" + "." + "q" * 38
SLACK = "xox" + "b-123456789012-abcdefABCDEF"
SLACK_APP = "xap" + "p-1-A012345-678-abcdef"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
OPENAI = "s" + "k-proj-" + "a1B2" * 8
ANTHROPIC = "s" + "k-ant-api03-" + "z" * 30
STRIPE = "s" + "k_live_" + "9" * 24
GITHUB = "gh" + "p_" + "a" * 36
GOOGLE = "AI" + "za" + "b" * 35
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxIn0" + ".c2ln"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIabc\ndef==\n-----END RSA " + "PRIVATE KEY-----"

CONSOLE = OWN_TOKEN + "a1_-" * 8

ALL = [CONSOLE, DISCORD, SLACK, SLACK_APP, AWS, OPENAI, ANTHROPIC, STRIPE, GITHUB, GOOGLE, JWT, KEY]


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        (DISCORD, "discord_token"),
        (SLACK, "slack_token"),
        (SLACK_APP, "slack_token"),
        (AWS, "aws_key"),
        (OPENAI, "api_key"),
        (ANTHROPIC, "api_key"),
        (STRIPE, "api_key"),
        (GITHUB, "github_token"),
        (CONSOLE, "console_token"),
        (GOOGLE, "google_key"),
        (JWT, "jwt"),
        (KEY, "private_key"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "see {} there", '{{"text": "{}"}}', "a,{};b", "\n{}\n"])
def test_a_secret_anywhere_is_replaced_by_its_kind_and_nothing_else_is_touched(secret, kind, around):
    assert redact(around.format(secret)) == around.format(f"[redacted:{kind}]")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("password=hunter2", "password=[redacted:password]"),
        ("DB_PASSWORD: hunter2 next", "DB_PASSWORD: [redacted:password] next"),
        ("passwd = 'a b c' next", "passwd = '[redacted:password]' next"),
        ('{"password": "hun\\"ter2", "a": 1}', '{"password": "[redacted:password]", "a": 1}'),
        ('{"api_key":"abc"}', '{"api_key":"[redacted:password]"}'),
        ("aws_secret_access_key=wJalr/XUtn", "aws_secret_access_key=[redacted:password]"),
        ("https://x/?access_token=abc&page=2", "https://x/?access_token=[redacted:password]&page=2"),
        (r'{"a":"{\"token\":\"abc\",\"b\":1}"}', r'{"a":"{\"token\":\"[redacted:password]\",\"b\":1}"}'),
        (r"secret=\x\y", "secret=[redacted:password]"),
        ("Authorization: Bearer abc", "Authorization: Bearer [redacted:authorization]"),
        ('"authorization":"Basic dXNlcjpwYXNz"', '"authorization":"Basic [redacted:authorization]"'),
        ("curl -H 'bearer " + "a" * 20 + "'", "curl -H 'bearer [redacted:bearer]'"),
        ("postgres://moot:s3cret@host/db", "postgres://moot:[redacted:credentials]@host/db"),
        ("https://discord.com/api/webhooks/1/ab-c", "https://discord.com/api/webhooks/[redacted:webhook]"),
        ("https://hooks.slack.com/services/T0/B0/x", "https://hooks.slack.com/services/[redacted:webhook]"),
    ],
)
def test_a_value_that_its_name_gives_away_is_replaced_and_its_name_stays(text, clean):
    assert redact(text) == clean


def test_a_private_key_that_was_cut_off_is_redacted_to_its_end():
    assert redact("x " + KEY[:50]) == "x [redacted:private_key]"


@pytest.mark.parametrize(
    "text",
    [
        "The Critic's risk score is 0.85; tail_risk 0.4.",
        "budget_tokens: 4096",
        "a bearer of bad news, the secretary, a token gesture",
        "hyp_20260223_1030_2/assess-1/critic",
        "https://example.org/a/b?c=d#e",
        "task-force sk-iing desk-2-desk",
        "0" * 64,
        '{"type":"VERDICT","confidence":0.7,"reasoning":"signal decay: fast"}',
    ],
)
def test_ordinary_text_is_kept(text):
    assert redact(text) == text


PIECES = st.sampled_from(
    [
        DISCORD,
        SLACK,
        AWS,
        OPENAI,
        JWT,
        KEY,
        KEY[:40],
        "password",
        "=",
        ": ",
        '"',
        '\\"',
        "'",
        " ",
        "&",
        "eyJ",
        "a" * 30,
        "authorization",
        "Bearer ",
        "[redacted:",
        "]",
        "token",
        "://u:",
        "@",
        ".",
        "\\",
        "\n",
        "sk-",
        "key",
    ]
)


SCRAPS = st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)


@given(SCRAPS)
@example("authorization=password 0")
@example("Authorization: Bearer " + JWT)
@example('authorization = "Basic abc" x')
def test_redacting_twice_changes_nothing_more(text):
    once = redact(text)
    assert redact(once) == once


def _slowly(text):
    for secret in SECRETS:
        text = secret.pattern.sub(partial(_mark, secret.kind), text)
    return text


@given(SCRAPS)
@example("passphrase\tis\thunter2 bearer\n" + "a" * 20)
@example("password\t:\r\nhunter2")
@example("\udcff password=hunter2")
@example("\u00fc://u\u00fc:p\u00e4ss@host")
@example("pa\u017f\u017fword=\u212a")
def test_the_quick_look_misses_nothing_in_a_text_or_in_its_json(text):
    assert redact(text) == _slowly(text)
    for written in (
        text,
        json.dumps(text),
        json.dumps(text, ensure_ascii=False),
        json.dumps(json.dumps(text)),
    ):
        if redact(text) != text:
            assert may_hold_secret(written), written


@pytest.mark.parametrize(
    "secret", [*ALL, "password is hunter22", "pwd = x", "Authorization: x", "https://a:b@c/"]
)
def test_the_quick_look_sees_each_secret_alone_and_in_json(secret):
    assert redact(secret) != secret
    assert may_hold_secret(json.dumps({"a": [f"x {secret}"]}))
    assert may_hold_secret(f"{secret} \u00e4")


@pytest.mark.parametrize(
    "text",
    [
        "Authorization of the budget: the admin's; the bearer: nobody",
        "a pass: 12 of 14, key: value, tokens: 4096, https://example.org/a:b",
        "the password is wrong, the API key is missing",
        "esc_20260222_1331 hyp_20260223_1018_2 cycle_20260223_1000 " + "0f" * 32,
    ],
)
def test_the_quick_look_takes_no_ordinary_text_for_a_secret_that_it_then_changes(text):
    assert redact(text) == text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_value_alone_in_the_line_below_its_name_is_redacted_and_prose_below_it_is_not(end):
    assert redact(f"Password:{end}hunter2{end}ok") == f"Password:{end}[redacted:password]{end}ok"
    for prose in ("- a bullet of words", "VERDICT: APPROVED", "VERDICT:REVISE", '"two words"'):
        assert redact(f"the token:{end}{prose}{end}") == f"the token:{end}{prose}{end}"


def test_an_open_quote_ends_with_its_line():
    assert redact("secret: 'abc def\nVERDICT: APPROVED") == "secret: '[redacted:password]\nVERDICT: APPROVED"


@pytest.mark.parametrize(
    "key", ["token", "api_key", "apiKey", "DISCORD_TOKEN", "clientSecret", "pwd", "credentials"]
)
def test_a_value_under_a_telling_key_is_redacted_whole(key):
    assert redact_under(key, "abc def") == "[redacted:password]"
    assert redact_under(key, "[redacted:jwt]") == "[redacted:jwt]"
    assert redact_under(key, "") == ""


@pytest.mark.parametrize(
    "key", ["resume_ref", "session_id", "tokens", "token_count", "api_key_env", "key", "keys"]
)
def test_a_value_under_another_key_is_only_looked_through(key):
    assert redact_under(key, "abc") == "abc"
    assert redact_under(key, "pwd=abc") == "pwd=[redacted:password]"


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_surrounding_text_saves_a_slack_token_or_a_key_block(before, after):
    assert SLACK[:20] not in redact(before + SLACK + after)
    assert "MIIabc" not in redact(before + KEY + after)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "eyJ",
        "eyJaaaaaaaa.",
        "eyJ-",
        "-----BEGIN PRIVATE KEY-----",
        "password=",
        "password:\\",
        "authorization:",
        "bearer ",
        "://a:",
        "xoxb-",
        "sk-",
        "a.b-",
        '"password":"',
        'token\\\\"=\\\\"',
        " ",
        "A" * 28 + ".aaaaaa.",
        "\\",
        "authorization: a ",
        "mfa.",
    ],
)
def test_hostile_text_takes_linear_time(unit):
    """Quadratic patterns would not be done with it before the suite's limit for a test."""
    once = redact(unit * (1_000_000 // len(unit)))
    assert redact(once) == once


def test_every_pattern_has_a_kind_of_its_own():
    assert len({secret.kind for secret in SECRETS}) == len(SECRETS)


def test_data_up_to_the_limit_is_kept_whole():
    assert cap(b"x" * AUDIT_BYTES) == (b"x" * AUDIT_BYTES, False)


def test_data_beyond_the_limit_is_cut_and_marked():
    assert cap(b"abcd", 3) == (b"abc", True)


def test_a_keepsake_is_redacted_before_it_is_cut():
    text = json.dumps({"pad": "x" * (AUDIT_BYTES - 20), "note": SLACK})
    kept, truncated = keepsake(text.encode())
    assert truncated is True
    assert b"xox" not in base64.b64decode(kept)
    assert len(base64.b64decode(kept)) == AUDIT_BYTES


@given(st.binary(max_size=200))
def test_bytes_that_are_not_text_survive_when_they_hold_no_secret(data):
    kept, truncated = keepsake(b"\xff" + data)
    if b"redacted" not in base64.b64decode(kept):
        assert (base64.b64decode(kept), truncated) == (b"\xff" + data, False)
