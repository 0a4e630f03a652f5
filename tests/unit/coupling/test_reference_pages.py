"""The reference pages name everything there is, and nothing that is not."""

import re
from pathlib import Path

from agent_litmus.coupling.findings import SIGNALS
from agent_litmus.coupling.obligations import PROVERS
from agent_litmus.records.finding import FindingState
from agent_litmus.records.verdict import ReasonCode, VerdictKind
from agent_litmus.verdict.exit import EXIT_CODES

DOCS = Path(__file__).parents[3] / "docs" / "reference"


def first_cells(page: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_signal_stands_on_the_page_in_its_order() -> None:
    assert first_cells("findings.md") == [signal.__name__ for signal in SIGNALS]


def test_every_proof_stands_beside_its_signal() -> None:
    page = (DOCS / "findings.md").read_text(encoding="utf-8")
    for obligation, signals in PROVERS.items():
        for signal in signals:
            assert f"| `{signal}` | {obligation} |" in page


def test_every_state_is_named() -> None:
    page = (DOCS / "findings.md").read_text(encoding="utf-8")
    assert all(f"`{state}`" in page for state in FindingState)


def test_every_verdict_and_reason_stands_on_the_page_in_its_order() -> None:
    assert first_cells("verdict.md") == [
        *(kind.value for kind in VerdictKind),
        *(code.value for code in ReasonCode),
    ]


def test_every_exit_code_stands_beside_its_verdict() -> None:
    page = (DOCS / "verdict.md").read_text(encoding="utf-8")
    assert all(f"| `{kind}` | {code} |" in page for kind, code in EXIT_CODES.items())
