from pathlib import Path

from agent_litmus.app.compare import FIGURES, Outcome
from agent_litmus.app.score import DIMENSIONS, Conventions, Tasks
from agent_litmus.formats.agentdojo.schema import KNOWN_VERSIONS
from agent_litmus.scoring.pool.figures import SHARES

DOCS = Path(__file__).parents[3] / "docs"


def test_the_reference_explains_every_figure_option_and_outcome() -> None:
    page = (DOCS / "reference/score.md").read_text()
    names = {*SHARES, *FIGURES, "cor", "unassessed", "clean_win", "both_done", "unknown_pairs", "spsr", "spfr"}
    missing = [name for name in (*names, *Outcome, *Tasks) if f"`{name}`" not in page]
    assert not missing
    assert all(f"--conventions {name}" in page for name in Conventions)
    assert all(name in page for name in DIMENSIONS)


def test_the_how_to_names_the_version_behind_the_table() -> None:
    assert "v1.1.2" in (DOCS / "how-to/agentdojo.md").read_text()
    assert "v1.1.2" in KNOWN_VERSIONS
