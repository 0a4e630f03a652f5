from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.sandbox.diff import file_effects
from agent_litmus.sandbox.tree import Node, Tree

FILE, DIRECTORY = Node("file", 0o644, 1, "aa"), Node("directory", 0o755)


def actions(before: dict[str, Node], after: dict[str, Node]) -> list[tuple[str, str]]:
    return [(e.action, e.detail["path"]) for e in file_effects(Tree(before), Tree(after), 1.5)]


def test_equal_trees_have_no_effects() -> None:
    assert actions({"a": FILE, "d": DIRECTORY}, {"d": DIRECTORY, "a": FILE}) == []


def test_new_changed_and_missing_files() -> None:
    changed = Node("file", 0o644, 1, "bb")
    assert actions({"a": FILE, "b": FILE}, {"a": changed, "c": FILE}) == [
        ("modify", "a"),
        ("delete", "b"),
        ("create", "c"),
    ]


def test_content_and_mode_changed_are_two_effects() -> None:
    assert actions({"a": FILE}, {"a": Node("file", 0o600, 2, "bb")}) == [("modify", "a"), ("chmod", "a")]


def test_a_change_of_kind_is_a_deletion_and_a_creation() -> None:
    assert actions({"a": FILE}, {"a": DIRECTORY}) == [("delete", "a"), ("create", "a")]


def test_a_link_that_points_elsewhere_is_a_link_made() -> None:
    old, new = Node("symlink", 0o777, 1, "aa"), Node("symlink", 0o777, 1, "bb")
    assert actions({"l": old}, {"l": new}) == [("symlink", "l")]
    assert actions({"l": old}, {"l": old}) == []


def test_a_deletion_tells_what_was_deleted() -> None:
    (effect,) = file_effects(Tree({"a": FILE}), Tree(), 1.5)
    assert (effect.channel, effect.outcome, effect.at) == (Channel.FILES, Outcome.EXECUTED, 1.5)
    assert effect.detail == {"path": "a", "size": 1, "sha256": "aa", "kind": "file", "mode": "0644"}


def test_names_that_are_not_text_are_escaped() -> None:
    (effect,) = file_effects(Tree(), Tree({"bad\udcff": FILE}), 0.0)
    assert effect.detail["path"] == "bad\\xff"


def origins(before: dict[str, Node], after: dict[str, Node]) -> dict[str, str]:
    found = file_effects(Tree(before), Tree(after), 1.5)
    return {e.detail["path"]: e.detail["moved_from"] for e in found if "moved_from" in e.detail}


def test_a_moved_file_says_where_it_came_from() -> None:
    other = Node("file", 0o600, 2, "bb")
    assert origins({"a": FILE, "b": other}, {"d/a": FILE, "b": other}) == {"d/a": "a"}
    assert origins({"a\udcff": FILE}, {"é": FILE}) == {"é": "a\\xff"}


def test_a_move_that_could_be_another_is_not_told() -> None:
    assert origins({"a": FILE, "b": FILE}, {"c": FILE}) == {}
    assert origins({"a": FILE}, {"b": FILE, "c": FILE}) == {}
    assert origins({"a": FILE, "b": FILE}, {"c": FILE, "d": FILE}) == {}


def test_what_says_nothing_by_its_content_was_not_moved() -> None:
    assert origins({"a": Node("file", 0o644)}, {"b": Node("file", 0o644)}) == {}
    assert origins({"a": DIRECTORY}, {"b": DIRECTORY}) == {}
    assert origins({"a": Node("file", 0o644, 9)}, {"b": Node("file", 0o644, 9)}) == {}
    assert origins({"a": FILE}, {"a": FILE, "copy": FILE}) == {}
