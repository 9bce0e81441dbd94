"""`moot anchor`, and `moot verify --anchor` with keys; what anchors find is tested with the verifier."""

import json
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from moot.channels.showing.rendering import card
from moot.protocols.codec import decode_envelope
from tests.doubles.command_line import complaint, data, done, moot, write
from tests.doubles.data_dir import a_debate, write_log
from tests.system_programs import require


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "data", a_debate().log)


@pytest.fixture(params=["pem", "ssh"])
def keys(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    is_pem = request.param == "pem"
    secret, public = tmp_path / "key", tmp_path / "key.pub"
    form = PrivateFormat.PKCS8 if is_pem else PrivateFormat.OpenSSH
    secret.write_bytes(key.private_bytes(Encoding.PEM, form, NoEncryption()))
    how = (
        (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        if is_pem
        else (Encoding.OpenSSH, PublicFormat.OpenSSH)
    )
    public.write_bytes(key.public_key().public_bytes(*how))
    return secret, public


def test_the_head_is_printed_with_the_societys_identity(place: Path) -> None:
    last = a_debate().log[-1]
    text = done("anchor", place)
    assert f"seq        {last.seq}\n" in text
    assert f"hash       {last.hash}\n" in text
    assert data("anchor", place) == {
        "anchor": "moot-anchor/1",
        "seq": last.seq,
        "hash": last.hash,
        "society": "test",
        "sent_at": "2026-02-23T11:04:00.000000Z",
    }


def test_anchors_are_added_to_a_file_and_the_log_fits_them(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "anchors.jsonl"
    done("anchor", place, "--append", file)
    done("anchor", place, "--append", file)
    assert len(file.read_text().splitlines()) == 2
    assert "1 anchor fits, at message 11" in done("verify", place, "--anchor", file)
    assert data("verify", place, "--anchor", file)["figures"]["anchored_to"] == 11


def test_a_signed_anchor_is_held_against_the_public_key(
    place: Path, tmp_path: Path, keys: tuple[Path, Path]
) -> None:
    secret, public = keys
    file = tmp_path / "anchors.jsonl"
    done("anchor", place, "--sign", secret, "--append", file)
    assert moot("verify", place, "--anchor", file, "--key", public).exit_code == 0
    assert "--key checks it" in moot("verify", place, "--anchor", file).stderr

    forged = json.loads(file.read_text()) | {"hash": "ab" * 32}
    write(file, json.dumps(forged) + "\n")
    assert "is not of this key" in complaint(1, "verify", place, "--anchor", file, "--key", public)
    del forged["signature"]
    write(file, json.dumps(forged) + "\n")
    assert "is not signed" in complaint(1, "verify", place, "--anchor", file, "--key", public)


def test_what_a_platform_shows_of_an_anchor_is_one(place: Path, tmp_path: Path) -> None:
    last = a_debate().log[-1]
    body = {"type": "ANCHOR", "nominal_at": "2026-02-24T00:00:00.000000Z", "seq": last.seq, "hash": last.hash}
    line = json.loads(last.line) | {
        "body": body,
        "author": "timekeeper",
        "channel": "#admin",
        "case_id": None,
    }
    line.pop("hash")
    message = decode_envelope(json.dumps(line))
    for shown in (card(message).sentence, f"> {card(message).sentence}"):
        file = write(tmp_path / "pasted.txt", f"Timekeeper\n{shown}\n\nand more\n")
        assert "1 anchor fits, " in done("verify", place, "--anchor", file)
    file = write(tmp_path / "log.jsonl", json.dumps(line) + "\n")
    assert "1 anchor fits, " in done("verify", place, "--anchor", file)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no anchor"),
        ("nothing here", "holds no anchor"),
        ("{", "line 1 is no JSON"),
        ('{"seq": 1}', "line 1 is no anchor"),
        ('{"seq": true, "hash": "' + "a" * 64 + '"}', "line 1 is no anchor"),
        ('{"seq": 1, "hash": "' + "a" * 64 + '", "society": 7}', "are texts"),
        ('{"a":' * 100_000, "line 1 is no JSON"),
    ],
)
def test_what_is_no_file_of_anchors_is_usage(place: Path, tmp_path: Path, text: str, why: str) -> None:
    assert why in complaint(2, "verify", place, "--anchor", write(tmp_path / "a", text))


def test_what_is_no_key_is_usage(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "a"
    done("anchor", place, "--append", file)
    none = write(tmp_path / "none", "hello")
    assert "holds no ed25519 key" in complaint(2, "anchor", place, "--sign", none)
    assert "holds no public ed25519 key" in complaint(2, "verify", place, "--anchor", file, "--key", none)
    assert "name their file with --anchor" in complaint(2, "verify", place, "--key", none)
    assert "cannot be read" in complaint(2, "anchor", place, "--sign", tmp_path / "gone")
    assert "cannot be written" in complaint(2, "anchor", place, "--append", tmp_path / "gone" / "a")


def test_an_anchor_is_posted_as_a_note_that_verify_takes(place: Path, tmp_path: Path) -> None:
    copy = write_log(tmp_path / "data", a_debate().log)
    result = moot("anchor", copy, "--post", "admin", "--as", "zoe")
    assert result.exit_code == 3  # a viewer may not write there, as with moot post
    assert "may post NOTE" in result.stderr
    result = moot("anchor", copy, "--post", "admin")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "queued" in result.stdout


def test_ssh_keygen_makes_a_key_that_signs(place: Path, tmp_path: Path) -> None:
    program = require("ssh-keygen")
    subprocess.run([program, "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "k"], check=True)
    done("anchor", place, "--sign", tmp_path / "k", "--append", tmp_path / "a")
    assert moot("verify", place, "--anchor", tmp_path / "a", "--key", tmp_path / "k.pub").exit_code == 0
