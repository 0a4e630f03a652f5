import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agent_litmus.build.manifest import compute_build
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.build import AgentBuild, changed_components

from .conftest import agent_at, config_of, install, make_venv, site_of, write

pytestmark = pytest.mark.integration


@pytest.fixture
def root(tmp_path: Path) -> Path:
    agent_at(tmp_path / "desk")
    return tmp_path / "desk"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    python = make_venv(tmp_path / "venv")
    install(python)
    return python


def _build(root: Path, python: Path) -> AgentBuild:
    return compute_build(config_of(root, python))


def test_an_edited_file_of_an_installed_distribution_changes_the_digest(root: Path, python: Path) -> None:
    before = _build(root, python)
    (site_of(python) / "tinydep" / "__init__.py").write_text("ANSWER = 43\n")
    assert changed_components(before, _build(root, python)) == ("distributions/tinydep",)


def test_a_deleted_file_of_an_installed_distribution_changes_the_digest(root: Path, python: Path) -> None:
    before = _build(root, python)
    (site_of(python) / "tinydep" / "__init__.py").unlink()
    assert changed_components(before, _build(root, python)) == ("distributions/tinydep",)


def test_a_file_added_beside_a_distributions_own_changes_the_digest(root: Path, python: Path) -> None:
    before = _build(root, python)
    write(site_of(python), {"tinydep/extra.py": "", "loose.py": "X = 1\n"})
    assert changed_components(before, _build(root, python)) == ("site/loose.py", "site/tinydep")


def test_a_new_version_changes_the_digest(root: Path, python: Path) -> None:
    before = _build(root, python)
    shutil.rmtree(site_of(python) / "tinydep-1.0.dist-info")
    install(python, version="1.1")
    assert changed_components(before, _build(root, python)) == ("distributions/tinydep",)


def test_a_new_distribution_changes_the_digest(root: Path, python: Path) -> None:
    before = _build(root, python)
    install(python, name="other_dep")
    assert changed_components(before, _build(root, python)) == ("distributions/other-dep",)


def test_compiled_files_and_installers_notes_change_nothing(root: Path, python: Path) -> None:
    before = _build(root, python)
    info = "tinydep-1.0.dist-info"
    write(
        site_of(python),
        {
            "tinydep/__pycache__/__init__.cpython-311.pyc": "x",
            "tinydep/old.pyc": "x",
            f"{info}/INSTALLER": "another\n",
            f"{info}/REQUESTED": "",
            f"{info}/uv_cache.json": '{"timestamp": 1}',
            f"{info}/direct_url.json": '{"url": "file:///somewhere/tinydep.whl", "archive_info": {}}',
        },
    )
    assert _build(root, python) == before


def test_a_distribution_without_record_is_known_by_its_top_level(root: Path, tmp_path: Path) -> None:
    python = make_venv(tmp_path / "venv")
    site = install(python, record=False)
    before = _build(root, python)
    (site / "tinydep" / "__init__.py").write_text("ANSWER = 43\n")
    assert changed_components(before, _build(root, python)) == ("distributions/tinydep",)


def test_the_same_environment_at_another_place_gives_the_same_digest(
    root: Path, python: Path, tmp_path: Path
) -> None:
    other = make_venv(tmp_path / "somewhere" / "else" / "env")
    install(other)
    assert _build(root, other).digest == _build(root, python).digest


def test_the_harness_own_packages_are_not_in_it(root: Path, python: Path) -> None:
    names = [name for name in _build(root, python).components if name.startswith("distributions/")]
    assert names == ["distributions/tinydep"]
    bare = [name for name in _build(root, python).components if name.startswith("site/")]
    assert bare == []


def test_a_bare_interpreter_has_no_distributions(root: Path) -> None:
    names = compute_build(config_of(root)).components
    assert "runtime" in names
    assert not [name for name in names if name.startswith(("distributions/", "site/", "venv/"))]


def test_an_environment_inside_the_root_is_no_file_of_the_agent(root: Path) -> None:
    python = make_venv(root / ".venv")
    install(python)
    components = _build(root, python).components
    assert "distributions/tinydep" in components
    assert not [name for name in components if name.startswith("files/.venv")]


def test_a_leftover_without_metadata_is_still_covered(root: Path, python: Path) -> None:
    before = _build(root, python)
    write(site_of(python), {"~broken-1.0.dist-info/top_level.txt": "x\n"})
    assert changed_components(before, _build(root, python)) == ("site/~broken-1.0.dist-info",)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    write(
        project,
        {
            "pyproject.toml": "",
            "src/mylib/__init__.py": "V = 1\n",
            "src/mylib/__pycache__/x.pyc": "",
            "src/.env": "SECRET=1\n",
        },
    )
    return project


def _editable(python: Path, project: Path, files: dict[str, str]) -> None:
    site = site_of(python)
    info = "mylib-1.0.dist-info"
    listed = "".join(f"{name},,\n" for name in (*files, f"{info}/METADATA", f"{info}/RECORD"))
    write(
        site,
        files
        | {
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: mylib\nVersion: 1.0\n",
            f"{info}/direct_url.json": f'{{"url": "file://{project}", "dir_info": {{"editable": true}}}}',
            f"{info}/RECORD": listed,
        },
    )


def test_an_editable_install_is_covered_as_a_tree_without_its_env_file(
    root: Path, python: Path, project: Path
) -> None:
    _editable(python, project, {"_editable_impl_mylib.pth": f"{project}/src\n"})
    before = _build(root, python)
    assert [n for n in before.components if n.startswith("editable/")] == ["editable/mylib/mylib/__init__.py"]
    (project / "src" / "mylib" / "__init__.py").write_text("V = 2\n")
    assert changed_components(before, _build(root, python)) == ("editable/mylib/mylib/__init__.py",)


def test_an_editable_install_with_a_finder_is_covered(root: Path, python: Path, project: Path) -> None:
    finder = f"MAPPING: dict[str, str] = {{'mylib': '{project}/src/mylib'}}\nNAMESPACES = {{}}\n"
    _editable(
        python,
        project,
        {
            "__editable__.mylib-1.0.pth": "import __editable___mylib_1_0_finder; x = 1\n",
            "__editable___mylib_1_0_finder.py": finder,
        },
    )
    names = [n for n in _build(root, python).components if n.startswith("editable/")]
    assert names == ["editable/mylib-mylib/__init__.py"]


def test_moving_an_editable_project_changes_nothing(
    root: Path, python: Path, project: Path, tmp_path: Path
) -> None:
    _editable(python, project, {"_editable_impl_mylib.pth": f"{project}/src\n"})
    before = _build(root, python)
    moved = tmp_path / "moved" / "away"
    shutil.move(project, moved)
    _editable(python, moved, {"_editable_impl_mylib.pth": f"{moved}/src\n"})
    assert _build(root, python).digest == before.digest


def test_an_editable_install_that_cannot_be_followed_is_refused(root: Path, python: Path, project: Path) -> None:
    _editable(python, project, {"_mylib_loader.py": "# finds it by magic\n"})
    with pytest.raises(LitmusConfigError, match=r"mylib.*no \.pth file or finder"):
        _build(root, python)


def test_a_finder_that_cannot_be_read_is_refused(root: Path, python: Path, project: Path) -> None:
    _editable(python, project, {"__editable___mylib_1_0_finder.py": "MAPPING = {call(): 1}\n"})
    with pytest.raises(LitmusConfigError, match="MAPPING cannot be read"):
        _build(root, python)


def test_a_secret_in_an_editable_tree_is_refused(root: Path, python: Path, project: Path) -> None:
    _editable(python, project, {"_editable_impl_mylib.pth": f"{project}/src\n"})
    write(project, {"src/mylib/keys.py": "K = 'AKIA" + "ABCDEFGHIJKLMNOP'\n"})
    with pytest.raises(LitmusConfigError, match=r"keys\.py.*aws-access-key"):
        _build(root, python)


def test_the_agents_own_exclusions_count_in_an_editable_tree_below_its_root(root: Path, python: Path) -> None:
    write(root, {"src/mylib/__init__.py": "", "src/mylib/keys.py": "K = 'AKIA" + "ABCDEFGHIJKLMNOP'\n"})
    _editable(python, root, {"_editable_impl_mylib.pth": f"{root}/src\n"})
    agent = replace(config_of(root, python), exclude=("/src/mylib/keys.py",))
    names = [n for n in compute_build(agent).components if n.startswith("editable/")]
    assert names == ["editable/mylib/mylib/__init__.py"]


def test_a_path_file_that_points_to_a_home_is_refused(
    root: Path, python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people" / "someone").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "people" / "someone"))
    write(site_of(python), {"all.pth": f"{tmp_path / 'people'}\n"})
    with pytest.raises(LitmusConfigError, match="holds more than a project"):
        _build(root, python)


def test_a_broken_record_falls_back_to_the_top_level(root: Path, python: Path) -> None:
    write(site_of(python), {"tinydep-1.0.dist-info/RECORD": "a,b,c,d,e\n"})
    before = _build(root, python)
    (site_of(python) / "tinydep" / "__init__.py").write_text("ANSWER = 43\n")
    assert changed_components(before, _build(root, python)) == ("distributions/tinydep",)


def test_a_linked_file_counts_by_its_content(root: Path, python: Path, tmp_path: Path) -> None:
    package = site_of(python) / "tinydep" / "__init__.py"
    before = _build(root, python)
    package.rename(tmp_path / "cached.py")
    package.symlink_to(tmp_path / "cached.py")
    assert _build(root, python) == before
    (tmp_path / "cached.py").write_text("ANSWER = 43\n")
    assert changed_components(before, _build(root, python)) == ("distributions/tinydep",)
