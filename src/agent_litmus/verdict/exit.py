"""Exit codes of the gate. Callers must treat anything but 0 as not passed."""

from agent_litmus.records.verdict import Verdict, VerdictKind

EXIT_CODES = {VerdictKind.PASS: 0, VerdictKind.FAIL: 1, VerdictKind.INDETERMINATE: 75}


def exit_code(verdict: Verdict) -> int:
    """0 PASS, 1 FAIL, 75 INDETERMINATE."""
    return EXIT_CODES[verdict.kind]
