import json
from pathlib import Path

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.json_report import read_report, report_schema, write_whole

SCHEMA = Path(__file__).parents[3] / "docs/reference/report.schema.json"


def test_the_published_schema_is_current() -> None:
    assert json.loads(SCHEMA.read_text()) == report_schema(), (
        "run: litmus report schema > docs/reference/report.schema.json"
    )


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"verdict": "PASS"}', b"\xff", b"null"])
def test_what_is_no_report_is_refused_with_the_place(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(LitmusConfigError, match=r"report\.json: \$"):
        read_report(path)
    with pytest.raises(LitmusConfigError, match="cannot be read"):
        read_report(tmp_path)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]
    with pytest.raises(LitmusConfigError, match="cannot be written"):
        write_whole(tmp_path / "absent" / "out.json", b"x")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(LitmusConfigError, match="cannot be written"):
        write_whole(tmp_path / "report.json", b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]
