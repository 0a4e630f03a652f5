"""Protocols in which the server speaks first: just enough of them that a client says what it came to say.

Everything is accepted, so that what an agent sends arrives; nothing is ever given.
"""

import email
import email.policy
import re
from dataclasses import dataclass, field
from email.message import EmailMessage

LINE_LIMIT = 64 << 10
"""Longest line that is kept, in bytes."""
MAIL_LIMIT = 1 << 20
"""Bytes of one mail that are read for its subject and text; all of it is searched."""
MAX_MAILS = 100
"""Mails of one connection that are read one by one."""
SMTP_PORTS = frozenset({25, 465, 587, 2525})
IMPLICIT_TLS_PORT = 465
"""Mail over TLS from the first byte: the greeting waits for the handshake."""
_FTP_PORT = 21
_ADDRESS = re.compile(rb"<([^<>]*)>")
_PASSIVE_PORT = 40_021


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail that was handed over for delivery. Hostile."""

    recipients: tuple[str, ...]
    """Who it was handed over for, whatever its head says."""
    raw: bytes
    """Head and body, cut beyond the limit."""
    clipped: bool

    @property
    def subject(self) -> str:
        """The subject; empty if there is none."""
        return str(_parsed(self.raw).get("subject", "")) if self.raw else ""

    @property
    def body(self) -> str:
        """The text, decoded where it says how it is encoded."""
        message = _parsed(self.raw)
        try:
            part = message.get_body(("plain", "html"))
            return str(part.get_content()) if part is not None else self.raw.decode("utf-8", "replace")
        except Exception:  # noqa: BLE001 - hostile mails break the library in many ways; all of it is kept as it is
            return self.raw.partition(b"\n\n")[2].decode("utf-8", "replace")


def _parsed(raw: bytes) -> EmailMessage:
    message = email.message_from_bytes(raw.replace(b"\r\n", b"\n"), policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


class Dialogue:
    """A conversation line by line."""

    greeting = b""
    """What the server says first."""

    def __init__(self) -> None:
        self._rest = b""
        self.mails: list[Mail] = []
        """Mails accepted so far; whoever takes them away records them."""
        self.wants_tls = False
        """Whether the client was told to begin TLS."""
        self.over = False
        """Whether the client said goodbye."""

    def feed(self, data: bytes) -> bytes:
        """The replies to the next bytes."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:LINE_LIMIT]
        return b"".join(self.line(line.rstrip(b"\r")[:LINE_LIMIT]) for line in lines)

    def line(self, line: bytes) -> bytes:
        """The reply to one line, its end taken off."""
        raise NotImplementedError


@dataclass(slots=True)
class _Letter:
    """A mail being handed over."""

    recipients: list[str] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    open: bool = False

    def take(self, line: bytes) -> None:
        self.size += len(line) + 1 if len(line) < LINE_LIMIT else MAIL_LIMIT + 1
        if self.size <= MAIL_LIMIT:
            self.lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)

    def mail(self) -> Mail:
        return Mail(tuple(self.recipients), b"".join(line + b"\n" for line in self.lines), self.size > MAIL_LIMIT)


class Smtp(Dialogue):
    """Takes mails (RFC 5321), with any login, and with TLS if the client wants it."""

    greeting = b"220 sink ESMTP\r\n"

    def __init__(self) -> None:
        super().__init__()
        self._letter = _Letter()
        self._challenges: list[bytes] = []
        self._secured = False

    def line(self, line: bytes) -> bytes:
        """The reply to a command, a login's answer or a line of a mail."""
        if self._letter.open:
            return self._text(line)
        if self._challenges:
            self._challenges.pop()
            return self._challenges[-1] if self._challenges else b"235 accepted\r\n"
        verb = line.split(b" ", 1)[0].upper()
        if verb == b"EHLO":
            tls = b"" if self._secured else b"250-STARTTLS\r\n"
            return b"250-sink\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n" + tls + b"250 AUTH PLAIN LOGIN\r\n"
        if verb == b"STARTTLS":
            self.wants_tls = self._secured = True
            return b"220 go ahead\r\n"
        if verb == b"AUTH":
            return self._login(line.split())
        return self._envelope(verb, line)

    def _login(self, words: list[bytes]) -> bytes:
        asked = [b"334 UGFzc3dvcmQ6\r\n", b"334 VXNlcm5hbWU6\r\n"] if b"LOGIN" in words[1:2] else [b"334 \r\n"]
        self._challenges = asked[: len(asked) - len(words[2:])]
        return self._challenges[-1] if self._challenges else b"235 accepted\r\n"

    def _envelope(self, verb: bytes, line: bytes) -> bytes:
        if verb in {b"MAIL", b"RSET"}:
            self._letter = _Letter()
        elif verb == b"RCPT":
            found = _ADDRESS.search(line)
            address = found[1] if found else line.partition(b":")[2].strip()
            self._letter.recipients.append(address.decode("utf-8", "backslashreplace").lower())
        elif verb == b"DATA":
            self._letter.open = True
            return b"354 go ahead\r\n"
        elif verb == b"QUIT":
            self.over = True
            return b"221 bye\r\n"
        return b"250 ok\r\n"

    def _text(self, line: bytes) -> bytes:
        if line != b".":
            self._letter.take(line)
            return b""
        if len(self.mails) < MAX_MAILS:
            self.mails.append(self._letter.mail())
        self._letter = _Letter()
        return b"250 accepted\r\n"


_FTP = {
    b"USER": b"331 password?\r\n",
    b"PASS": b"230 welcome\r\n",
    b"SYST": b"215 UNIX Type: L8\r\n",
    b"FEAT": b"211 none\r\n",
    b"PWD": b'257 "/"\r\n',
    b"MKD": b'257 "/"\r\n',
    b"CWD": b"250 ok\r\n",
    b"EPSV": f"229 passive (|||{_PASSIVE_PORT}|)\r\n".encode(),
    b"STOR": b"150 go ahead\r\n226 stored\r\n",
    b"STOU": b"150 FILE: x\r\n226 stored\r\n",
    b"APPE": b"150 go ahead\r\n226 stored\r\n",
    b"QUIT": b"221 bye\r\n",
    **dict.fromkeys((b"LIST", b"NLST", b"MLSD", b"RETR", b"SIZE", b"MDTM"), b"550 no such file\r\n"),
    **dict.fromkeys((b"AUTH", b"PORT", b"EPRT"), b"502 not here\r\n"),
}


class Ftp(Dialogue):
    """Takes files (RFC 959) over data connections that it tells the client to open.

    Args:
        address: The server's address as the client reached it.
    """

    greeting = b"220 sink\r\n"

    def __init__(self, address: str) -> None:
        super().__init__()
        host = address.removeprefix("::ffff:").replace(".", ",")
        self._passive = f"227 passive ({host},{_PASSIVE_PORT >> 8},{_PASSIVE_PORT & 255})\r\n".encode()

    def line(self, line: bytes) -> bytes:
        """The reply to a command."""
        verb = line.split(b" ", 1)[0].upper()
        self.over = verb == b"QUIT"
        return self._passive if verb == b"PASV" else _FTP.get(verb, b"200 ok\r\n")


def dialogue_on(port: int, address: str) -> Dialogue | None:
    """The conversation that a server on ``port`` begins; ``None`` where the client speaks first."""
    if port in SMTP_PORTS:
        return Smtp()
    return Ftp(address) if port == _FTP_PORT else None
