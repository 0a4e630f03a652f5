"""What servers say that speak first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services.dialogue import LINE_LIMIT, MAIL_LIMIT, MAX_MAILS, Ftp, Smtp, dialogue_on

MAIL = b"EHLO x\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<Evil@X.test>\r\nRCPT TO: two@x.test\r\nDATA\r\n"
TEXT = b"To: somebody@else.test\r\nSubject: =?utf-8?b?aMOp?=\r\n\r\nbody\r\n..dot\r\n.\r\n"


def codes(replies: bytes) -> list[bytes]:
    return [line[:3] for line in replies.splitlines() if line[3:4] != b"-"]


def test_a_mail_is_handed_over_for_those_named_to_the_server() -> None:
    smtp = Smtp()
    assert codes(smtp.feed(MAIL + TEXT + b"QUIT\r\n")) == [b"250", b"250", b"250", b"250", b"354", b"250", b"221"]
    (mail,) = smtp.mails
    assert mail.recipients == ("evil@x.test", "two@x.test")
    assert (mail.subject, mail.body, mail.clipped) == ("hé", "body\n.dot\n", False)
    assert smtp.over


@pytest.mark.parametrize(
    ("line", "answers", "expected"),
    [
        (b"AUTH PLAIN AGEAYg==\r\n", [], [b"235"]),
        (b"AUTH PLAIN\r\n", [b"AGEAYg==\r\n"], [b"334", b"235"]),
        (b"AUTH LOGIN\r\n", [b"dQ==\r\n", b"cA==\r\n"], [b"334", b"334", b"235"]),
        (b"AUTH LOGIN dQ==\r\n", [b"cA==\r\n"], [b"334", b"235"]),
    ],
    ids=["plain", "plain-asked", "login", "login-user"],
)
def test_any_login_is_accepted(line: bytes, answers: list[bytes], expected: list[bytes]) -> None:
    smtp = Smtp()
    assert codes(b"".join(map(smtp.feed, [line, *answers]))) == expected
    assert codes(smtp.feed(b"NOOP\r\n")) == [b"250"]


def test_tls_is_offered_once() -> None:
    smtp = Smtp()
    assert b"STARTTLS" in smtp.feed(b"EHLO x\r\n")
    assert codes(smtp.feed(b"STARTTLS\r\n")) == [b"220"]
    assert smtp.wants_tls
    assert b"STARTTLS" not in smtp.feed(b"EHLO x\r\n")


@pytest.mark.parametrize(
    "text", [b"a" * (LINE_LIMIT + 1) + b"\r\n", b"line\r\n" * (MAIL_LIMIT // 4)], ids=["line", "mail"]
)
def test_a_mail_beyond_the_limits_is_cut_and_says_so(text: bytes) -> None:
    smtp = Smtp()
    smtp.feed(MAIL + text + b".\r\n")
    (mail,) = smtp.mails
    assert mail.clipped
    assert len(mail.raw) <= MAIL_LIMIT


def test_mails_without_end_are_not_all_kept() -> None:
    smtp = Smtp()
    smtp.feed((MAIL + TEXT) * (MAX_MAILS + 5))
    assert len(smtp.mails) == MAX_MAILS


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: text/plain; charset=none\n\nhello",
        b"Content-Type: multipart/mixed\n\nhello",
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\n!\n--b--",
        b"\xff\xfe: \xff\n\nhello",
        b"",
    ],
)
def test_a_mail_that_is_none_is_still_text(raw: bytes) -> None:
    smtp = Smtp()
    smtp.feed(MAIL + raw + b"\r\n.\r\n")
    (mail,) = smtp.mails
    assert isinstance(mail.subject, str)
    assert isinstance(mail.body, str)


@given(st.lists(st.binary(max_size=40)), st.sampled_from([Smtp, lambda: Ftp("192.0.2.1")]))
def test_whatever_is_said_is_taken(pieces: list[bytes], make: type[Smtp]) -> None:
    whole, parts = make(), make()
    assert whole.feed(b"".join(pieces)) == b"".join(map(parts.feed, pieces))


@given(st.lists(st.integers(0, len(MAIL + TEXT)), max_size=5).map(sorted))
def test_a_mail_is_the_same_however_it_is_cut(cuts: list[int]) -> None:
    smtp, data = Smtp(), MAIL + TEXT
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        smtp.feed(data[start:end])
    assert [(m.subject, m.body, m.recipients) for m in smtp.mails] == [
        ("hé", "body\n.dot\n", ("evil@x.test", "two@x.test"))
    ]


def test_files_are_taken_over_a_connection_to_the_same_address() -> None:
    ftp = Ftp("::ffff:192.0.2.1")
    said = ftp.feed(b"USER u\r\nPASS p\r\nTYPE I\r\nPASV\r\nEPSV\r\nSTOR x\r\nLIST\r\nQUIT\r\n")
    assert codes(said) == [b"331", b"230", b"200", b"227", b"229", b"150", b"226", b"550", b"221"]
    assert b"(192,0,2,1,156,85)" in said
    assert ftp.over


@pytest.mark.parametrize(
    ("port", "kind"), [(25, Smtp), (465, Smtp), (587, Smtp), (2525, Smtp), (21, Ftp), (80, type(None))]
)
def test_mail_and_file_servers_speak_first(port: int, kind: type) -> None:
    assert isinstance(dialogue_on(port, "192.0.2.1"), kind)
