"""The secrets of a remote agent's endpoint."""

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.config import RemoteConfig
from agent_litmus.targets.endpoint import open_endpoint

CONFIG = RemoteConfig("https://agent.example/ask", receipt_key_env="K", auth_env="A")
GOOD = {"K": "k" * 16, "A": "Bearer credential"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"K": ""}, "receipt_key_env: the environment variable K is not set"),
        ({"A": ""}, "auth_env: the environment variable A is not set"),
        ({"K": "k" * 15}, "fewer than 16 bytes"),
        ({"A": "Bearer a\nX: b"}, "single line"),
        ({"A": "Bearer a\n"}, "single line"),
        ({"A": "Bearer ä"}, "single line"),
    ],
    ids=["no key", "no credentials", "short key", "two lines", "line break", "no ASCII"],
)
def test_secrets_that_cannot_be_used_are_refused_and_not_repeated(change: dict[str, str], said: str) -> None:
    with pytest.raises(LitmusConfigError) as caught:
        open_endpoint(CONFIG, GOOD | change)
    assert said in caught.value.message
    assert "Bearer" not in caught.value.message


def test_what_is_secret_is_hidden_and_stands_in_no_repr() -> None:
    endpoint = open_endpoint(CONFIG, GOOD)
    assert {"credential", "k" * 16} <= set(endpoint.hidden)
    assert "credential" not in repr(endpoint)
    assert "kkkk" not in repr(endpoint)


def test_without_names_there_are_no_secrets() -> None:
    endpoint = open_endpoint(RemoteConfig("https://agent.example/ask"), {})
    assert (endpoint.key, endpoint.auth, endpoint.hidden) == (None, "", ())
    assert "Authorization" not in endpoint.headers("https://agent.example/ask", "n")


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://agent.example/build", True),
        ("https://agent.example:443/build", True),
        ("http://agent.example/build", False),
        ("https://agent.example:444/build", False),
        ("https://other.example/build", False),
    ],
    ids=["same", "port", "scheme", "other port", "host"],
)
def test_credentials_go_to_the_agents_own_origin(url: str, *, sent: bool) -> None:
    assert ("Authorization" in open_endpoint(CONFIG, GOOD).headers(url, "n")) is sent
