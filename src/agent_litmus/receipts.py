"""Receipts: how the endpoint of a remote agent says which build answered, and how that is checked.

The harness sends a fresh nonce with every request, in the header :data:`NONCE`. The endpoint answers with::

    from agent_litmus.receipts import NONCE, receipt_headers

    headers = receipt_headers(key, BUILD_DIGEST, request.headers[NONCE], response_body, replica=HOSTNAME)
    return Response(response_body, headers=headers)

With a shared key the receipt is authenticated: HMAC-SHA256 (RFC 2104) over nonce, digest, replica and the hash of
the response body, so that neither an old receipt nor another response can be passed off. Without a key it is the
endpoint's word. This module needs nothing but the standard library.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

NONCE = "X-Litmus-Nonce"
"""Request header with the harness's nonce, and response header that gives it back."""
DIGEST = "X-Litmus-Build"
"""Response header with the build digest, ``sha256:<64 hex digits>``."""
REPLICA = "X-Litmus-Replica"
"""Response header that names the replica; may be absent."""
MAC = "X-Litmus-Mac"
"""Response header with the HMAC in hexadecimal digits; absent without a key."""
_DOMAIN = b"litmus-receipt-1"
_LIMIT = 512


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt as it was read from the headers of one response."""

    digest: str
    """Build digest; empty where none was sent."""
    nonce: str
    """Nonce that came back; empty where none did."""
    replica: str
    mac_valid: bool | None
    """Whether the HMAC is right; ``None``: there is no key to check it with."""
    why: str
    """What is wrong; empty if nothing is."""


def receipt_headers(
    key: bytes | None, digest: str, nonce: str, body: bytes, *, replica: str = ""
) -> dict[str, str]:
    """Headers an endpoint adds to one response.

    Args:
        key: Shared secret, 16 bytes or more; ``None``: the receipt is not authenticated.
        digest: Digest of the build that answers.
        nonce: The nonce of the request.
        body: The response body, byte for byte as it is sent.
        replica: Name of the replica that answers.

    Raises:
        ValueError: The key is too short, or a text is no single line of at most 512 printable ASCII characters.
    """
    for name, text in (("digest", digest), ("nonce", nonce), ("replica", replica)):
        if not _fit(text):
            raise ValueError(f"{name} is not a single line of at most {_LIMIT} printable ASCII characters")
    headers = {DIGEST: digest, NONCE: nonce} | ({REPLICA: replica} if replica else {})
    return headers if key is None else headers | {MAC: _mac(key, digest, nonce, replica, body)}


def check_receipt(key: bytes | None, headers: Mapping[str, str], nonce: str, body: bytes) -> Receipt:
    """Read and check the receipt of one response; what is wrong with it is said, never raised.

    Args:
        key: Shared secret; ``None``: nothing is authenticated.
        headers: Response headers; names are compared without regard to case.
        nonce: The nonce that was sent with the request.
        body: The response body as it was received, after transfer and content decoding.

    Raises:
        ValueError: The key is too short.
    """
    found = {name.lower(): value.strip() for name, value in headers.items()}
    digest, back, replica, mac = (found.get(name.lower(), "") for name in (DIGEST, NONCE, REPLICA, MAC))
    texts = (digest, back, replica)
    if not all(map(_fit, texts)):
        return Receipt("", "", "", None if key is None else False, "the receipt holds unprintable or endless text")
    valid = (
        None
        if key is None
        else hmac.compare_digest(mac.encode("utf-8", "replace"), _mac(key, digest, back, replica, body).encode())
    )
    return Receipt(digest, back, replica, valid, _why(digest, back, nonce, mac, valid=valid))


def _why(digest: str, back: str, nonce: str, mac: str, *, valid: bool | None) -> str:
    if not digest:
        return "no build digest was sent"
    if not nonce or back != nonce:
        return "the nonce of another request came back" if back else "the nonce did not come back"
    if valid is False:
        return "the HMAC is wrong" if mac else "no HMAC was sent"
    return ""


def _fit(text: str) -> bool:
    return len(text) <= _LIMIT and text.isascii() and (text.isprintable() or not text)


def _mac(key: bytes, digest: str, nonce: str, replica: str, body: bytes) -> str:
    if len(key) < 16:
        raise ValueError("the key of receipts must have 16 bytes or more")
    parts = (_DOMAIN, nonce.encode(), digest.encode(), replica.encode(), hashlib.sha256(body).hexdigest().encode())
    return hmac.new(key, b"\n".join(parts), hashlib.sha256).hexdigest()
