"""Digests: SHA-256 over RFC 8785 canonical JSON, written ``sha256:<64 hex digits>``."""

import hashlib
import re
from typing import Any

import rfc8785

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def sha256_of(data: bytes) -> str:
    """Digest of raw bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def canonical_json(value: Any) -> bytes:
    """RFC 8785 canonical JSON bytes of ``value``.

    Raises:
        ValueError: ``value`` holds NaN, an infinity, an integer beyond 2**53 or a non-JSON type.
    """
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise ValueError(str(error)) from error


def digest_of(value: Any) -> str:
    """Digest of a JSON value; raises as :func:`canonical_json` does."""
    return sha256_of(canonical_json(value))


def is_digest(value: object) -> bool:
    """Whether ``value`` is a well-formed digest; empty and ``None`` are not."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None
