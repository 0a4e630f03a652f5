import io

import pytest

from agent_litmus.build import secrets
from agent_litmus.build.secrets import find_secret, find_secret_in

# Put together here so that no scanner takes this file for a leak.
SECRETS = {
    "private-key": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow",
    "private-key escaped": "-----BEGIN " + "PRIVATE KEY-----\\nMIIEow",
    "private-key pgp": "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\r\n",
    "aws-access-key": "id = AK" + "IAABCDEFGHIJKLMNOP",
    "openai-style-key": "s" + "k-abcdefghijklmnopqrstuvwx",
    "openai-style-key project": "s" + "k-proj-abcdefghijklmnopqrstuvwx",
    "openai-style-key versioned": "s" + "k-ant-api03-abcdefghijklmnopqrstuvwx",
    "github-token": "gh" + "p_" + "a1B2" * 9,
    "github-token fine": "github" + "_pat_" + "a1B2" * 9,
    "gitlab-token": "gl" + "pat-abcdefghij0123456789",
    "slack-token": "xo" + "xb-1234567890-abc",
    "google-api-key": "AI" + "za" + "a" * 35,
    "hugging-face-token": "h" + "f_" + "a" * 34,
    "groq-key": "gs" + "k_" + "a" * 48,
    "npm-token": "np" + "m_" + "a" * 36,
    "pypi-token": "py" + "pi-AgE" + "a" * 60,
    "stripe-key": "s" + "k_live_" + "a" * 24,
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("frame", ["{}", 'key = "{}"', "\x00\xff{}\n"])
def test_a_well_known_kind_of_key_is_found_wherever_it_stands(name: str, frame: str) -> None:
    assert find_secret(frame.format(SECRETS[name]).encode("latin-1")) == name.partition(" ")[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a risk-averse, task-abcdefghijklmnopqrstuvwxyz approach",
        'if "-----BEGIN ' + 'PRIVATE KEY-----" in text:',
        "AKIAIOSFODNN7" + "EXAMPLE",
        "s" + "k-short",
        "-----BEGIN PUBLIC KEY-----\nMIIB",
        "class='sk-toggleable__content-arrow'",
        "xAKIA" + "ABCDEFGHIJKLMNOP",
    ],
)
def test_what_only_resembles_a_key_is_let_through(text: str) -> None:
    assert find_secret(text.encode()) is None


@pytest.mark.parametrize("before", [0, 990, 1010, 1020, 1030, 5000])
def test_a_key_is_found_across_the_pieces_a_large_file_is_read_in(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "_CHUNK", 1024)
    text = " " * before + SECRETS["aws-access-key"] + " " * 3000
    assert find_secret_in(io.BytesIO(text.encode())) == "aws-access-key"


def test_a_large_file_without_a_key_is_let_through() -> None:
    assert find_secret_in(io.BytesIO(b"x" * 10_000_000)) is None
