"""The endpoint of a remote agent: its secrets, its receipts, and the question which build answers."""

import secrets
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2

from agent_litmus.errors import LitmusConfigError
from agent_litmus.receipts import DIGEST, MAC, NONCE, REPLICA, check_receipt
from agent_litmus.records.config import RemoteConfig
from agent_litmus.records.session import EndpointReceipt
from agent_litmus.services.scrub import Scrubber
from agent_litmus.targets.wire import JSON, MAX_RESPONSE, Reply, flaw

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_RECEIPT = tuple(name.lower() for name in (DIGEST, NONCE, REPLICA, MAC))
_ASK_SECONDS = 30.0
_ASKS_PER_REPLICA = 16
_SHORTEST_KEY = 16
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a remote agent is reached, with what it is reached by."""

    config: RemoteConfig
    key: bytes | None = field(repr=False)
    """Shared key of the receipts; ``None``: they are the endpoint's word."""
    auth: str = field(repr=False)
    """Value of the ``Authorization`` header; empty: none is sent."""
    tls: ssl.SSLContext = field(default_factory=httpx2.create_ssl_context, repr=False)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Texts that must stand in no record."""
        words = self.auth.split() + ([self.key.decode("utf-8", "replace")] if self.key else [])
        return tuple(words)

    def headers(self, url: str, nonce: str) -> dict[str, str]:
        """Headers of a request to ``url``; credentials go to the agent's own origin alone."""
        headers = {NONCE: nonce, "Accept": JSON, "Accept-Encoding": "identity", "User-Agent": "agent-litmus"}
        own = bool(self.auth) and _origin(url) == _origin(self.config.url)
        return headers | ({"Authorization": self.auth} if own else {})

    def trusts_environment(self, url: str) -> bool:
        """Whether a proxy of the environment may be used; never for this machine."""
        return urlsplit(url).hostname not in _LOOPBACK

    def receipt(self, reply: Reply, nonce: str, *, due: bool) -> EndpointReceipt | None:
        """The receipt of a response.

        Args:
            reply: The response.
            nonce: The nonce that was sent.
            due: Whether it must have one. A proxy's error page has none, and nothing is read from that.
        """
        if not reply.whole or not (due or any(name in reply.headers for name in _RECEIPT)):
            return None
        found = check_receipt(self.key, reply.headers, nonce, reply.body)
        replica = Scrubber(*self.hidden).text(found.replica)
        return EndpointReceipt(found.digest, found.nonce, found.mac_valid, replica, found.why)

    def ask(self, *, least: int = 1, wanted: Iterable[str] = ()) -> tuple[EndpointReceipt, ...]:
        """Ask for the build until enough replicas have answered; never raises for what comes back.

        Args:
            least: Least number of replicas, told apart by their names.
            wanted: Names of replicas that must be among them.

        Returns:
            One receipt for every different thing that was said. Fewer replicas than asked for mean that
            the rest did not answer in many attempts.
        """
        names = frozenset(wanted)
        said: dict[tuple[str, str, bool | None, str], EndpointReceipt] = {}
        for _ in range(_ASKS_PER_REPLICA * max(least, len(names), 1)):
            got = self._ask_once()
            said.setdefault((got.digest, got.replica, got.mac_valid, got.why), got)
            heard = {receipt.replica for receipt in said.values()}
            if got.why or (len(heard) >= least and names <= heard):
                break
        return tuple(said.values())

    def _ask_once(self) -> EndpointReceipt:
        url, nonce = self.config.digest_url or self.config.url, secrets.token_hex(16)
        try:
            reply = self._get(url, self.headers(url, nonce))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return _no_receipt(f"the endpoint could not be asked: {type(error).__name__}")
        why = flaw(reply)
        found = self.receipt(reply, nonce, due=not why)
        return found or _no_receipt(why)

    def _get(self, url: str, headers: Mapping[str, str]) -> Reply:
        deadline = time.monotonic() + _ASK_SECONDS
        body, whole = bytearray(), True
        with (
            httpx2.Client(
                verify=self.tls, timeout=httpx2.Timeout(10.0), trust_env=self.trusts_environment(url)
            ) as client,
            client.stream("GET", url, headers=dict(headers)) as response,
        ):
            for chunk in response.iter_raw():
                body += chunk
                if len(body) > MAX_RESPONSE or time.monotonic() > deadline:
                    whole = False
                    break
            return Reply(response.status_code, lowered(response.headers), bytes(body), whole)


def lowered(headers: httpx2.Headers) -> dict[str, str]:
    """Headers by lower-case names; repeated ones are joined, so that no receipt can be read from two."""
    return {name.lower(): value for name, value in headers.items()}


def open_endpoint(config: RemoteConfig, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint with its secrets from the environment.

    Raises:
        LitmusConfigError: A variable is not set, the key is too short, or a header cannot hold the credentials.
    """
    key = _variable("receipt_key_env", config.receipt_key_env, environment)
    auth = _variable("auth_env", config.auth_env, environment)
    if key and len(key.encode()) < _SHORTEST_KEY:
        raise LitmusConfigError(
            f"$.agent.receipt_key_env: {config.receipt_key_env} holds fewer than {_SHORTEST_KEY} bytes",
            hint="make a key with `openssl rand -hex 32` and give it to the endpoint too",
        )
    if not (auth.isascii() and (auth.isprintable() or not auth)) or auth != auth.strip():
        raise LitmusConfigError(
            f"$.agent.auth_env: {config.auth_env} is no single line of printable ASCII characters",
            hint="export the header's value as it stands, such as `Bearer …`, without a line break",
        )
    return Endpoint(config, key.encode() if key else None, auth)


def _variable(where: str, name: str, environment: Mapping[str, str]) -> str:
    value = environment.get(name, "") if name else ""
    if name and not value:
        raise LitmusConfigError(
            f"$.agent.{where}: the environment variable {name} is not set",
            hint=f"export {name} where litmus runs; it stands in no journal and no report",
        )
    return value


def _no_receipt(why: str) -> EndpointReceipt:
    return EndpointReceipt("", "", None, "", why)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
