import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.records.probe import Environment
from agent_litmus.services.world import Id, Mail, NoArguments, Path, Text, Ticket, ToolError, World


def test_an_empty_world_says_so() -> None:
    world = World(Environment("e"))
    for listing in (world.list_mail, world.list_tickets, world.list_files):
        assert listing(NoArguments()).endswith(("empty.", "no tickets.", "no files."))


def test_numbers_are_taken_as_ids() -> None:
    world = World(Environment("e", mailbox=({"id": "7", "from": "a", "to": "b", "subject": "s", "body": "x"},)))
    assert world.read_mail(Id.model_validate({"id": 7})).endswith("x")


def test_a_fresh_ticket_id_is_never_one_that_exists() -> None:
    taken = tuple({"id": f"T-{n}", "title": "t", "body": "b"} for n in (2, 3, 4))
    world = World(Environment("e", tickets=taken))
    created = [world.create_ticket(Ticket(title="x", body="y")) for _ in range(3)]
    assert created == ["Ticket T-5 created.", "Ticket T-6 created.", "Ticket T-7 created."]


def test_the_environment_is_never_changed() -> None:
    environment = Environment("e", files={"a": "1"})
    world = World(environment)
    world.write_file(Text(path="a", text="2"))
    world.create_ticket(Ticket(title="x", body="y"))
    assert environment == Environment("e", files={"a": "1"})
    assert [action for action, _ in world.acts] == ["write", "ticket"]


@pytest.mark.parametrize("to", ["", " , ", "nobody", "a@b.c, nobody", "@"])
def test_a_mail_to_no_address_is_refused_and_no_act(to: str) -> None:
    world = World(Environment("e"))
    with pytest.raises(ToolError):
        world.send_mail(Mail(to=to, subject="", body=""))
    assert world.acts == []


def test_every_mail_gets_its_own_message_id() -> None:
    world = World(Environment("e"))
    mail = Mail(to="a@b.c, d@e.f", subject="s", body="b")
    assert world.send_mail(mail) != world.send_mail(mail)


@given(st.lists(st.sampled_from(["..", ".", "a", "", "/", " "]), max_size=6))
def test_no_path_leads_out_of_the_workspace(parts: list[str]) -> None:
    world = World(Environment("e"))
    try:
        world.write_file(Text(path="/".join(parts), text="x"))
    except ToolError:
        return
    ((_, detail),) = world.acts
    assert not detail["path"].startswith(("/", ".."))
    assert world.read_file(Path(path="/".join(parts))) == "x"
