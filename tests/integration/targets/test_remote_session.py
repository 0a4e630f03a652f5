"""One session with an agent behind a URL: what is sent, what counts as an answer, what its receipt is."""

import asyncio
import gzip
import json
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agent_litmus.errors import LitmusConfigError, LitmusSandboxError
from agent_litmus.receipts import NONCE
from agent_litmus.records.effect import Channel, ChannelState, ContainmentState
from agent_litmus.records.session import EndpointReceipt, ExitKind
from agent_litmus.sandbox.protocol import Launch, Limits, SandboxSpec
from agent_litmus.services.authority import Authority
from agent_litmus.targets.remote import RemoteProvider
from agent_litmus.targets.wire import MAX_RESPONSE

from .conftest import DIGEST, OTHER, Asked, Said, Script, Simulator, session, signed

pytestmark = pytest.mark.integration


def test_an_answer_comes_with_the_receipt_of_this_very_response(simulator: Simulator) -> None:
    result, facts = session(simulator.endpoint(auth="Bearer secret-credential"))
    (asked,) = simulator.asked
    assert (result.exit.kind, result.exit.code, result.stdout) == (ExitKind.EXITED, 0, b"done")
    assert facts.endpoint == (EndpointReceipt(DIGEST, asked.nonce, mac_valid=True),)
    assert (facts.process_fresh, facts.workspace_fresh, facts.base_unchanged) == (None, None, None)
    assert asked.method == "POST"
    assert asked.headers["authorization"] == "Bearer secret-credential"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.document.keys() == {"prompt", "session", "nonce", "seed", "mcp"}
    assert (asked.document["prompt"], asked.document["seed"]) == ("Say done.", 1)
    assert asked.document["nonce"] == asked.nonce
    assert asked.document["mcp"]["url"].startswith("http://127.0.0.1:")


def test_every_session_has_a_nonce_a_port_and_a_path_of_its_own(simulator: Simulator) -> None:
    endpoint = simulator.endpoint()
    for _ in range(2):
        session(endpoint)
    first, second = simulator.asked
    assert first.nonce != second.nonce
    assert first.document["mcp"]["url"].rpartition("/")[2] != second.document["mcp"]["url"].rpartition("/")[2]


SAID: dict[str, tuple[Script, str]] = {
    "server error": (lambda _: Said(status=500), "status 500"),
    "refused": (lambda _: Said(status=401), "status 401"),
    "no content": (lambda _: Said(b"", 204), "status 204"),
    "redirect": (lambda a: Said(status=307, headers={"Location": a.headers["host"]}), "a redirect"),
    "empty": (lambda a: signed(a, b""), "is empty"),
    "braces": (lambda a: signed(a, b"{}"), "key 'answer'"),
    "list": (lambda a: signed(a, b"[]"), "key 'answer'"),
    "null": (lambda a: signed(a, b'{"answer": null}'), "not text"),
    "blank": (lambda a: signed(a, b'{"answer": " \\n"}'), "'answer' is empty"),
    "no json": (lambda a: signed(a, b"done"), "not JSON"),
    "no text": (lambda a: signed(a, b"\xff\xfe\xff"), "not JSON"),
    "deep": (lambda a: signed(a, b"[" * 100_000), "not JSON"),
    "page": (lambda _: Said(b"<html>", headers={"Content-Type": "text/html"}), "'text/html'"),
    "no type": (lambda _: Said(headers={}), "of type ''"),
    "encoded": (
        lambda _: Said(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}),
        "content encoding 'gzip'",
    ),
    "endless": (lambda a: signed(a, b" " * (MAX_RESPONSE + 1)), "longer than"),
    "cut": (lambda _: Said(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"), "broke off"),
    "nothing": (lambda _: Said(raw=b""), "broke off"),
    "no http": (lambda _: Said(raw=b"hello\r\n\r\n"), "broke off"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_no_answer_is_never_taken_for_one(simulator: Simulator, name: str) -> None:
    simulator.script, why = SAID[name]
    result, facts = session(simulator.endpoint())
    assert not result.exit.clean
    assert result.stdout == b""
    assert why in result.exit.why
    assert len(simulator.asked) == 1
    assert all(not receipt.why for receipt in facts.endpoint)


def test_an_error_page_without_a_receipt_has_none_and_one_with_a_receipt_keeps_it(simulator: Simulator) -> None:
    simulator.script = lambda _: Said(status=502)
    assert session(simulator.endpoint())[1].endpoint == ()

    def other_build(asked: Asked) -> Said:
        said = signed(asked, digest=OTHER)
        said.status = 503
        return said

    simulator.script = other_build
    assert [receipt.digest for receipt in session(simulator.endpoint())[1].endpoint] == [OTHER]


RECEIPTS: dict[str, tuple[Script, bool | None, str]] = {
    "none": (lambda _: Said(), False, "no build digest"),
    "another key": (lambda a: signed(a, key="another key of 16"), False, "HMAC is wrong"),
    "old nonce": (lambda a: signed(a, nonce="0" * 32), True, "another request"),
    "another body": (lambda a: Said(b'{"answer": "x"}', headers=signed(a).headers), False, "HMAC is wrong"),
}


@pytest.mark.parametrize("name", RECEIPTS)
def test_an_answer_with_a_wrong_receipt_is_kept_with_what_is_wrong(simulator: Simulator, name: str) -> None:
    simulator.script, valid, why = RECEIPTS[name]
    result, facts = session(simulator.endpoint())
    assert result.exit.clean
    (receipt,) = facts.endpoint
    assert receipt.mac_valid is valid
    assert why in receipt.why


def test_without_a_key_a_receipt_is_the_endpoints_word(simulator: Simulator) -> None:
    (receipt,) = session(simulator.endpoint(key=""))[1].endpoint
    assert (receipt.digest, receipt.mac_valid, receipt.why) == (DIGEST, None, "")


def test_a_lone_surrogate_is_no_reason_to_fall_over(simulator: Simulator) -> None:
    simulator.script = lambda a: signed(a, b'{"answer": "a\\ud800b"}')
    assert session(simulator.endpoint())[0].stdout == b"a?b"


def test_an_answer_beyond_the_cap_is_said_to_be_cut(simulator: Simulator) -> None:
    body = json.dumps({"answer": "x" * (Limits().output_bytes + 1)}).encode()
    simulator.script = lambda a: signed(a, body)
    result, _ = session(simulator.endpoint())
    assert result.truncated
    assert len(result.stdout) == Limits().output_bytes


def test_an_endpoint_that_does_not_answer_is_waited_for_no_longer_than_allowed(simulator: Simulator) -> None:
    release = threading.Event()

    def wait(asked: Asked) -> Said:
        release.wait(60)
        return signed(asked)

    simulator.script = wait
    result, facts = session(simulator.endpoint(), seconds=0.2)
    release.set()
    assert (result.exit.kind, result.stdout, facts.endpoint) == (ExitKind.TIMEOUT, b"", ())


def test_an_endpoint_that_is_not_there_was_never_started(simulator: Simulator) -> None:
    endpoint = simulator.endpoint(url="http://127.0.0.1:1/agent")
    result, _ = session(endpoint)
    assert result.exit.kind is ExitKind.NOT_STARTED
    assert "no connection" in result.exit.why


def test_credentials_go_to_no_other_origin(simulator: Simulator) -> None:
    elsewhere = simulator.url.replace("127.0.0.1", "localhost")
    simulator.endpoint(auth="Bearer secret-credential", digest_url=elsewhere).ask()
    assert simulator.asked[-1].method == "GET"
    assert "authorization" not in simulator.asked[-1].headers
    simulator.endpoint(auth="Bearer secret-credential").ask()
    assert "authorization" in simulator.asked[-1].headers


def test_replicas_are_asked_until_all_have_spoken(simulator: Simulator) -> None:
    simulator.script = lambda a: signed(a, replica="abc"[len(simulator.asked) % 3])
    endpoint = simulator.endpoint()
    assert {r.replica for r in endpoint.ask(least=3)} == {"a", "b", "c"}
    assert "b" in {r.replica for r in endpoint.ask(wanted=["b"])}
    before = len(simulator.asked)
    assert {r.replica for r in endpoint.ask(wanted=["d"])} == {"a", "b", "c"}
    assert len(simulator.asked) - before == 16


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (lambda _: Said(status=405), "status 405"),
        (lambda _: Said(), "no build digest"),
        (lambda _: Said(raw=b""), "could not be asked"),
        (lambda a: signed(a, b" " * (MAX_RESPONSE + 1)), "longer than"),
    ],
    ids=["method", "receipt", "nothing", "endless"],
)
def test_an_endpoint_that_does_not_say_its_build_is_asked_once(
    simulator: Simulator, script: Script, why: str
) -> None:
    simulator.script = script
    (receipt,) = simulator.endpoint().ask()
    assert why in receipt.why
    assert len(simulator.asked) == 1


def test_a_replica_that_names_itself_by_a_secret_is_masked(simulator: Simulator) -> None:
    simulator.script = lambda a: signed(a, replica="secret-credential")
    (receipt,) = simulator.endpoint(auth="Bearer secret-credential").ask()
    assert receipt.replica == "[key removed]"


def test_the_provider_claims_nothing_that_it_does_not_see(simulator: Simulator) -> None:
    report = RemoteProvider(simulator.endpoint(), "127.0.0.1").report
    seen = {r.channel: r.state for r in report.channels if r.state is not ChannelState.NOT_OBSERVED}
    assert seen == {Channel.TOOLS: ChannelState.PARTIAL, Channel.ANSWER: ChannelState.OBSERVED}
    assert {r.channel for r in report.channels} == set(Channel)
    assert not any(r.state is ContainmentState.ENFORCED for r in report.containment)
    assert all(r.why for r in report.channels)
    assert all(r.why for r in report.containment)


def test_a_host_that_is_not_this_machine_is_refused_before_anything_runs(simulator: Simulator) -> None:
    with pytest.raises(LitmusConfigError, match=r"run\.tools_host.*192\.0\.2\.1"):
        RemoteProvider(simulator.endpoint(), "192.0.2.1")


def test_a_command_is_not_run_elsewhere(simulator: Simulator) -> None:
    async def start(launch: Launch) -> None:
        opened = await RemoteProvider(simulator.endpoint(), "127.0.0.1").open(SandboxSpec("s", {}))
        try:
            await opened.start(launch)
        finally:
            await opened.close()

    for launch in (Launch(("true",), {}), Launch(("true",), {NONCE: "n"})):
        with pytest.raises(LitmusSandboxError, match="a command cannot be run"):
            asyncio.run(start(launch))
    assert simulator.asked == []


def test_nothing_can_be_looked_at_where_the_agent_is_not(simulator: Simulator) -> None:
    async def look() -> None:
        opened = await RemoteProvider(simulator.endpoint(), "127.0.0.1").open(SandboxSpec("s", {"a": "b"}))
        assert opened.look("a").state == "unreadable"
        assert opened.read("a") is None
        assert (await opened.command(("true",), 1)).exit_code is None
        assert opened.effects() == ()
        await opened.close()
        await opened.close()

    asyncio.run(look())


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "unknown"])
def test_an_endpoint_is_reached_over_tls_if_its_certificate_is_trusted(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, trusted: bool
) -> None:
    authority = Authority()
    context = authority.context("127.0.0.1")
    simulator.server.socket = context.wrap_socket(simulator.server.socket, server_side=True)
    (tmp_path / "ca.pem").write_text(authority.pem)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    endpoint = simulator.endpoint(url=simulator.url.replace("http:", "https:"))
    (asked,) = endpoint.ask()
    result, facts = session(endpoint)
    if trusted:
        assert (asked.why, result.exit.clean, len(facts.endpoint)) == ("", True, 1)
    else:
        assert "could not be asked" in asked.why
        assert (result.exit.kind, simulator.asked) == (ExitKind.NOT_STARTED, [])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_tools_are_served_at_the_host_that_the_configuration_names(simulator: Simulator, host: str) -> None:
    async def reach() -> None:
        opened = await RemoteProvider(simulator.endpoint(), host).open(SandboxSpec("s", {}))
        url = urlsplit(opened.paths.tools_url)
        assert url.hostname == host
        _, writer = await asyncio.open_connection(host, url.port)
        writer.close()
        await opened.close()
        with pytest.raises(OSError, match="onnect"):
            await asyncio.open_connection(host, url.port)

    asyncio.run(reach())
