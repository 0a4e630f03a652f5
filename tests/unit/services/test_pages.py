import pytest

from agent_litmus.services.pages import find_page

PAGES = {
    "http://a.test/": "root",
    "https://a.test/x": "x",
    "http://a.test/x?q=1": "x1",
    "http://a.test:8080/x": "port",
    "b.test/y": "bare",
}


@pytest.mark.parametrize(
    ("host", "path", "query", "body"),
    [
        ("a.test", "", "", "root"),
        ("A.TEST:80", "/", "", "root"),
        ("a.test:443", "/x", "", "x"),
        ("user:pw@a.test.", "/x/", "", "x"),
        ("a.test", "/x", "q=1", "x1"),
        ("a.test", "/x", "q=2", "x"),
        ("a.test:8080", "/x", "", "port"),
        ("b.test", "/y", "", "bare"),
    ],
)
def test_an_address_finds_its_page(host: str, path: str, query: str, body: str) -> None:
    assert find_page(PAGES, host, path, query) == body


@pytest.mark.parametrize(("host", "path"), [("a.test", "/z"), ("c.test", "/"), ("", ""), ("a.test:81", "/x")])
def test_another_address_finds_none(host: str, path: str) -> None:
    assert find_page(PAGES, host, path) is None


def test_an_unreadable_page_address_matches_nothing() -> None:
    assert find_page({"http://[bad": "x"}, "bad", "/") is None
