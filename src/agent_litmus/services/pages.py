"""Finds the environment's page for an address, for the tool server and for the HTTP sink alike."""

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

EMPTY_PAGE = "ok\n"
"""What an address answers that the environment has no page for."""

_DEFAULT_PORTS = (":80", ":443")


def find_page(pages: Mapping[str, str], host: str, path: str, query: str = "") -> str | None:
    """The page at an address, or ``None``; see :func:`find_url`."""
    url = find_url(pages, host, path, query)
    return None if url is None else pages[url]


def find_url(pages: Iterable[str], host: str, path: str, query: str = "") -> str | None:
    """The URL of the page at an address, as the suite writes it, or ``None``.

    The scheme plays no part (a page is the same over HTTP and HTTPS), nor do default ports, letter case of the host
    or a final slash; a page without a query answers every query.

    Args:
        pages: URLs.
        host: Host, with its port where it is not the default.
        path: Path, percent-encoded as in the URL.
        query: Query without the question mark.
    """
    known = {address: url for url in pages if (address := _address(url)) is not None}
    wanted = (_host(host), path.rstrip("/"))
    return known.get((*wanted, query), known.get((*wanted, "")))


def _address(url: str) -> tuple[str, str, str] | None:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
    except ValueError:
        return None
    return _host(parts.netloc), parts.path.rstrip("/"), parts.query


def _host(netloc: str) -> str:
    host = netloc.rpartition("@")[2].lower()
    for port in _DEFAULT_PORTS:
        host = host.removesuffix(port)
    return host.rstrip(".")
