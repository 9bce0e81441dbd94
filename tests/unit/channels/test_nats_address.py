"""An address of NATS: what it says, what it does not show, what it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.channels.nats.address import NatsAddress, is_nats
from moot.protocols.kernel.errors import BadInput


def test_an_address_names_servers_society_and_who_calls() -> None:
    address = NatsAddress.parse("nats://ann:s%40cret@a.example:4333,b.example/desk")
    assert address.servers == ("nats://a.example:4333", "nats://b.example:4222")
    assert (address.society, address.user, address.password) == ("desk", "ann", "s@cret")
    assert not address.is_tls


def test_the_society_may_be_named_beside_the_address() -> None:
    assert NatsAddress.parse("tls://[::1]:4333", society="desk") == NatsAddress(("tls://[::1]:4333",), "desk")
    assert NatsAddress.parse("tls://h/desk", society="desk").is_tls


def test_neither_password_nor_user_is_ever_shown() -> None:
    address = NatsAddress.parse("nats://ann:secret@h1,h2:1/desk")
    assert str(address) == "nats://h1:4222,h2:1/desk"
    assert "secret" not in f"{address!r} {[address]}" and "ann" not in f"{address!r}"
    with pytest.raises(BadInput) as caught:
        NatsAddress.parse("http://ann:secret@h1/desk")
    assert "secret" not in str(caught.value)


def test_one_word_before_the_host_is_a_token() -> None:
    address = NatsAddress.parse("nats://t0ken@h/desk")
    assert (address.user, address.password) == ("", "t0ken")


def test_names_of_two_societies_never_meet() -> None:
    desk, odd = (NatsAddress.parse(f"nats://h/{name}") for name in ("desk", "INBOX_desk"))

    def names(address: NatsAddress) -> set[str]:
        return {
            address.stream,
            address.subject,
            address.inbox_stream,
            address.inbox_subject,
            address.bucket("lease"),
        }

    assert len(names(desk)) == 5
    assert not names(desk) & names(odd)


def test_files_of_credentials_and_certificates_are_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "desk.creds"
    file.write_text("x")
    environ = {"MOOT_NATS_CREDENTIALS": str(file), "MOOT_NATS_CA": ""}
    assert NatsAddress.parse("nats://h/desk", environ=environ).credentials == file
    with pytest.raises(BadInput, match=r"MOOT_NATS_CA names .*/none, which is no file"):
        NatsAddress.parse("nats://h/desk", environ={"MOOT_NATS_CA": str(tmp_path / "none")})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nats://h", "names no society"),
        ("nats://h/", "names no society"),
        ("nats:///desk", "no address of NATS"),
        ("h:4222/desk", "no address of NATS"),
        ("nats://h/desk/more", "more than servers and a society"),
        ("nats://h/desk?x=1", "more than servers and a society"),
        ("nats://h/de.sk", "no society's name"),
        ("nats://h/-desk", "no society's name"),
        (f"nats://h/{'x' * 65}", "no society's name"),
        ("nats://h:99999/desk", "no host of NATS"),
        ("nats://h:port/desk", "no host of NATS"),
        ("nats://h1,,h2/desk", "no host of NATS"),
        ("nats://[::1/desk", "no address of NATS"),
    ],
)
def test_what_is_no_address_is_said_in_a_line(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as caught:
        NatsAddress.parse(text)
    assert "\n" not in str(caught.value)


def test_two_names_of_a_society_are_one_too_many() -> None:
    with pytest.raises(BadInput, match="the address names the society desk, and --society lab"):
        NatsAddress.parse("nats://h/desk", society="lab")


def test_a_directory_is_not_taken_for_an_address() -> None:
    assert is_nats("nats://h/desk") and is_nats("tls://h")
    assert not is_nats("nats") and not is_nats("./tls:/x") and not is_nats("moot-data")
