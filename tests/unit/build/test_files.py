import os
from pathlib import Path

import pytest

from agent_litmus.build import files
from agent_litmus.build.files import Entry, select
from agent_litmus.errors import LitmusConfigError

from .conftest import write


def _names(root: Path, include: tuple[str, ...] = ("**/*",), exclude: tuple[str, ...] = ()) -> list[str]:
    return [entry.path for entry in select(root, include, exclude).entries]


def test_include_and_exclude_are_gitignore_patterns(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "b.md": "", "data/x.py": "", "data/deep/y.py": "", "t.txt": ""})
    assert _names(tmp_path, ("*.py", "!b.py")) == ["a.py", "data/deep/y.py", "data/x.py"]
    assert _names(tmp_path, ("*.py", "*.md"), ("data/",)) == ["a.py", "b.md"]
    assert _names(tmp_path, ("/*.py",)) == ["a.py"]


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".ENV",
        ".env.local",
        "deep/.env.production",
        "prod.env",
        "server.pem",
        "server.key",
        "id_rsa",
        "id_ed25519.pub",
        "credentials.json",
        "Credentials",
        ".netrc",
        ".npmrc",
        ".aws/config",
        ".git/config",
        "__pycache__/a.cpython-311.pyc",
        ".venv/bin/x",
        "node_modules/a/index.js",
        "runs/1/journal.jsonl",
    ],
)
def test_names_on_the_denylist_never_come_in_even_when_included_by_name(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"a.py": "", name: "x"})
    selection = select(tmp_path)
    assert [entry.path for entry in selection.entries] == ["a.py"]
    assert selection.denied
    with pytest.raises(LitmusConfigError, match="gives no file"):
        select(tmp_path, (f"/{name}",))


def test_a_module_that_handles_credentials_is_not_taken_for_them(tmp_path: Path) -> None:
    write(tmp_path, {"credentials_store.py": "", "pkg/runs/x.py": ""})
    assert _names(tmp_path) == ["credentials_store.py", "pkg/runs/x.py"]


def test_a_virtual_environment_is_left_out_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "myenv/pyvenv.cfg": "", "myenv/lib/x.py": ""})
    assert _names(tmp_path) == ["a.py"]


def test_gitignored_files_are_left_out_and_deeper_files_win(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n",
            "a.py": "",
            "a.log": "",
            "build/x.py": "",
            "sub/.gitignore": "!keep.log\nlocal.py\n",
            "sub/keep.log": "",
            "sub/other.log": "",
            "sub/local.py": "",
        },
    )
    assert _names(tmp_path) == [".gitignore", "a.py", "sub/.gitignore", "sub/keep.log"]


def test_ignore_rules_of_the_working_copy_above_the_root_count(tmp_path: Path) -> None:
    write(
        tmp_path,
        {".git/HEAD": "", ".git/info/exclude": "private.py\n", ".gitignore": "*.log\n/agent/tmp/\n"},
    )
    write(tmp_path / "agent", {"a.py": "", "a.log": "", "private.py": "", "tmp/x.py": ""})
    assert _names(tmp_path / "agent") == ["a.py"]


def test_ignore_rules_above_that_ignore_the_root_itself_do_not_empty_it(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", ".gitignore": "dist/\n", "dist/agent/a.py": ""})
    assert _names(tmp_path / "dist" / "agent") == ["a.py"]


def test_ignore_files_outside_a_working_copy_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.py\n", "agent/a.py": ""})
    assert _names(tmp_path / "agent") == ["a.py"]


def test_an_invalid_line_of_an_ignore_file_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "!\n*.log\n", "a.py": "", "a.log": ""})
    assert _names(tmp_path) == [".gitignore", "a.py"]


def test_a_flagged_file_is_an_error_that_names_file_rule_and_remedy(tmp_path: Path) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    write(tmp_path, {"a.py": f"KEY = '{key}'\n", "b.py": "", "c/d.py": f"# {key}\n"})
    with pytest.raises(LitmusConfigError) as caught:
        select(tmp_path)
    assert f"{tmp_path}/a.py" in caught.value.message
    assert f"{tmp_path}/c/d.py" in caught.value.message
    assert "aws-access-key" in caught.value.message
    assert "exclude = ['/a.py', '/c/d.py']" in caught.value.hint
    assert key not in str(caught.value)
    assert _names(tmp_path, exclude=("/a.py", "/c/d.py")) == ["b.py"]


def test_links_inside_the_root_stay_links(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "sub/b.py": ""})
    (tmp_path / "sub" / "a.py").symlink_to("../a.py")
    (tmp_path / "dir").symlink_to("sub")
    (tmp_path / "dangling").symlink_to("absent")
    entries = select(tmp_path).entries
    assert {e.path: e.link for e in entries if e.link} == {
        "sub/a.py": "../a.py",
        "dir": "sub",
        "dangling": "absent",
    }
    assert not [e for e in entries if e.path.startswith("dir/")]


@pytest.mark.parametrize("target", ["../outside.txt", "/etc/hostname", "up/../../outside.txt"])
def test_links_that_leave_the_root_are_refused(tmp_path: Path, target: str) -> None:
    root = tmp_path / "root"
    write(root, {"a.py": "", "up/x": ""})
    (tmp_path / "outside.txt").write_text("x")
    (root / "link").symlink_to(target)
    with pytest.raises(LitmusConfigError, match=r"root/link: the link to .* leaves the agent's root"):
        select(root)
    assert _names(root, exclude=("/link",)) == ["a.py", "up/x"]


def test_an_absolute_link_is_refused_even_if_it_stays_inside(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    (tmp_path / "link").symlink_to(tmp_path / "a.py")
    with pytest.raises(LitmusConfigError, match="is absolute"):
        select(tmp_path)


def test_a_link_through_a_directory_link_that_leaves_the_root_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, {"deep/er/a.py": ""})
    (root / "in").symlink_to("deep/er")
    (root / "link").symlink_to("in/../../../outside")
    with pytest.raises(LitmusConfigError, match="root/link"):
        select(root)


def test_a_named_pipe_is_refused_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LitmusConfigError, match="neither a file"):
        select(tmp_path)


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("")
    with pytest.raises(LitmusConfigError, match=r"caf\\xe9\.py.*not UTF-8"):
        select(tmp_path)


def test_names_with_spaces_and_unicode_are_kept(tmp_path: Path) -> None:
    write(tmp_path, {"my café/über file.py": ""})
    assert select(tmp_path).entries == (Entry("my café/über file.py"),)


def test_a_pattern_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    with pytest.raises(LitmusConfigError, match=r"'promts/\*' gives no file"):
        select(tmp_path, ("*.py", "promts/*"))


def test_an_invalid_pattern_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match=r"\[agent\] include"):
        select(tmp_path, ("!",))


def test_an_empty_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match="gives no file"):
        select(tmp_path)


def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    (tmp_path / "a.py").chmod(0)
    if os.access(tmp_path / "a.py", os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(LitmusConfigError, match=r"a\.py: cannot be read"):
        select(tmp_path)


def test_more_than_a_build_may_hold_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a": "", "b": "", "c": ""})
    monkeypatch.setattr(files, "MAX_FILES", 2)
    with pytest.raises(LitmusConfigError, match="2 files"):
        select(tmp_path)
    monkeypatch.setattr(files, "MAX_FILES", 3)
    assert len(select(tmp_path).entries) == 3
