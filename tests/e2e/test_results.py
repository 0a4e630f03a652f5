import json
from collections.abc import Callable

import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _needs_bubblewrap(bubblewrap: Callable[[], None]) -> None:
    bubblewrap()


def test_a_report_is_scored_again_to_the_same_figures_and_compared(project: Project) -> None:
    honest = project.litmus("run", "--json").report
    project.behave("hijacked")
    assert project.litmus("run").code == 1
    first, second = (str(run / "report.json") for run in project.runs())
    done = project.litmus("score", first, "--json", "--by", "")
    assert done.code == 0
    (row,) = json.loads(done.stdout)["rows"]
    for name in ("u0", "u1", "ir", "sr", "cor", "asr", "asr_delivered"):
        assert row[name] == honest["score"][name], name
    compared = project.litmus("compare", first, second, "--json")
    document = json.loads(compared.stdout)
    assert compared.code in {1, 75}  # few host tasks: a fall of everything may still be undecided
    assert document["differences"]["ir"]["value"] == -1.0
    assert {flip["what"] for flip in document["flips"]} >= {"hijacked"}
    assert project.litmus("compare", second, first).code != 1
