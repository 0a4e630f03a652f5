"""The small world behind the tool server: mails, tickets, pages and files of one session, in memory."""

import itertools
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from agent_litmus.records.probe import Environment
from agent_litmus.services.addresses import all_usable, recipients
from agent_litmus.services.pages import EMPTY_PAGE, find_page


class ToolError(Exception):
    """The world refuses a call; the text goes to the agent."""


class Arguments(BaseModel):
    """Arguments of a tool: nothing unknown; a number is taken where text is asked (small models mix them up)."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, title="")


class NoArguments(Arguments):
    """Takes nothing."""


class Id(Arguments):
    """Names one thing."""

    id: str = Field(description="The id as the list shows it.")


class Mail(Arguments):
    """A mail to send."""

    to: str = Field(description="Address of the recipient; several are separated by commas.")
    subject: str
    body: str


class Ticket(Arguments):
    """A ticket to open."""

    title: str
    body: str


class Url(Arguments):
    """A page to fetch."""

    url: str = Field(description="The page's address, beginning with http:// or https://.")


class Path(Arguments):
    """A file to read."""

    path: str = Field(description="Path relative to the workspace.")


class Text(Arguments):
    """A file to write."""

    path: str = Field(description="Path relative to the workspace.")
    text: str


class World:
    """State of one session. Every public method is what the tool of the same name does.

    Args:
        environment: The expanded environment; it is never changed.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._tickets: list[Mapping[str, str]] = list(environment.tickets)
        self._written: dict[str, str] = {}
        self._message_ids = itertools.count(1)
        self.acts: list[tuple[str, dict[str, Any]]] = []
        """What the last call changed: action and detail of an effect; the tool server takes them away."""

    def list_mail(self, _: NoArguments) -> str:
        """One line per mail."""
        lines = [f"{m['id']}  from {m['from']}  subject: {m['subject']}" for m in self._environment.mailbox]
        return "\n".join(lines) or "The mailbox is empty."

    def read_mail(self, arguments: Id) -> str:
        """Head and body of a mail."""
        mail = _find(self._environment.mailbox, arguments.id, "mail")
        head = "\n".join(f"{name.capitalize()}: {mail[name]}" for name in ("from", "to", "subject") if name in mail)
        return f"{head}\n\n{mail['body']}"

    def send_mail(self, mail: Mail) -> str:
        """Accept a mail for delivery; refuses what a real server would refuse."""
        if not all_usable(mail.to):
            raise ToolError(f"Recipient address {mail.to!r} rejected: not a mail address.")
        self.acts.append(("mail", mail_detail(mail.model_dump())))
        receivers = ", ".join(recipients(mail.to))
        return f"Mail to {receivers} accepted for delivery (message id <{next(self._message_ids)}@mail>)."

    def list_tickets(self, _: NoArguments) -> str:
        """One line per ticket."""
        lines = [f"{t['id']}  [{t.get('status') or 'open'}]  {t['title']}" for t in self._tickets]
        return "\n".join(lines) or "There are no tickets."

    def read_ticket(self, arguments: Id) -> str:
        """Title, fields and body of a ticket."""
        ticket = _find(self._tickets, arguments.id, "ticket")
        fields = [f"{name.capitalize()}: {ticket[name]}" for name in ("requester", "status") if ticket.get(name)]
        return "\n".join([f"Ticket {ticket['id']}: {ticket['title']}", *fields, "", ticket["body"]])

    def create_ticket(self, ticket: Ticket) -> str:
        """Open a ticket under a fresh id."""
        taken = {known["id"] for known in self._tickets}
        new = next(i for i in map("T-{}".format, itertools.count(len(taken) + 1)) if i not in taken)
        detail = {"id": new, "title": ticket.title, "body": ticket.body}
        self._tickets.append({**detail, "requester": "", "status": "open"})
        self.acts.append(("ticket", detail))
        return f"Ticket {new} created."

    def fetch_page(self, arguments: Url) -> str:
        """Body of a page. Unknown addresses answer too: the request itself may carry something out."""
        parts = _split_url(arguments.url)
        page = find_page(self._environment.pages, parts.netloc, parts.path, parts.query)
        return EMPTY_PAGE if page is None else page

    def list_files(self, _: NoArguments) -> str:
        """One path per line."""
        return "\n".join(sorted(self._environment.files.keys() | self._written.keys())) or "There are no files."

    def read_file(self, arguments: Path) -> str:
        """Text of a file: what was written in this session through the tool, else the template's."""
        path = _inside(arguments.path)
        text = self._written.get(path, self._environment.files.get(path))
        if text is None:
            raise ToolError(f"No such file: {arguments.path!r}. list_files shows them.")
        return text

    def write_file(self, arguments: Text) -> str:
        """Keep a file's new text for this session's tools; the workspace on disk is not touched."""
        path = _inside(arguments.path)
        self._written[path] = arguments.text
        self.acts.append(("write", {"path": path, "text": arguments.text}))
        return f"Wrote {len(arguments.text.encode('utf-8', 'replace'))} bytes to {path}."


def mail_detail(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Detail of a ``mail`` effect, for accepted mails and for refused ones whatever their arguments are."""
    detail = {name: _as_text(arguments.get(name)) for name in ("to", "subject", "body")}
    return {**detail, "recipients": recipients(detail["to"])}


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return "" if value is None else str(value)


def _find(things: Sequence[Mapping[str, str]], wanted: str, kind: str) -> Any:
    for thing in things:
        if thing["id"] == wanted.strip():
            return thing
    raise ToolError(f"There is no {kind} with id {wanted!r}.")


def _split_url(url: str) -> Any:
    try:
        parts = urlsplit(url.strip())
    except ValueError as error:
        raise ToolError(f"{url!r} is not an address: {error}") from error
    if parts.scheme.lower() not in {"http", "https"} or not parts.netloc:
        raise ToolError(f"{url!r} is not an http:// or https:// address.")
    return parts


def _inside(path: str) -> str:
    normal = posixpath.normpath(path.strip())
    if normal in {"", "."} or normal.startswith(("/", "../")) or normal == "..":
        raise ToolError(f"{path!r} is outside the workspace; give a path relative to it.")
    return normal
