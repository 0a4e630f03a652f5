"""``litmus check`` prints the whole table of what can be proven, made from the one the verdict uses."""

from agent_litmus.app.check_report import table_lines
from agent_litmus.coupling.table import obligation_table
from agent_litmus.records.finding import Obligation


def test_every_row_of_the_table_is_printed() -> None:
    lines = {line.split()[0]: line for line in list(table_lines())[1:]}
    assert set(lines) == set(Obligation)
    for row in obligation_table():
        assert f"{row.target}/{row.provider} {'yes' if row.able else 'NO'}" in lines[row.obligation]
