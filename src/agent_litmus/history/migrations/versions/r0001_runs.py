"""Runs, and what they came to."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables of runs."""
    op.create_table(
        "litmus_runs",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("ref", sa.Text, nullable=False),
        sa.Column("protected", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("suite_id", "suite_digest", "agent")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("agent_digest", "report_digest")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("results_digest", "normalised_results_digest")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("verdict", "reason")),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("episodes", "unassessed")),
        sa.Column("partial", sa.Boolean, nullable=False),
        sa.Column("calibration_median", sa.Double),
        sa.Column("tool_version", sa.Text, nullable=False),
        sa.Column("restored", sa.Boolean, nullable=False),
    )
    op.create_index("ix_litmus_runs_suite_digest", "litmus_runs", ["suite_digest"])
    _of_run("litmus_reasons", sa.Column("code", sa.Text, nullable=False))
    _of_run(
        "litmus_tallies",
        sa.Column("category", sa.Text),
        sa.Column("metric", sa.Text, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("good", "bad", "unknown")),
    )
    _of_run(
        "litmus_cells",
        sa.Column("cell", sa.Text, nullable=False),
        sa.Column("episodes", sa.BigInteger, nullable=False),
    )
    _of_run(
        "litmus_estimates",
        sa.Column("metric", sa.Text, nullable=False),
        *(sa.Column(name, sa.Double) for name in ("value", "low", "high")),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("n", "eligible", "unassessed")),
        sa.Column("method", sa.Text, nullable=False),
    )
    op.create_table(
        "litmus_sketches",
        sa.Column("run_id", sa.Text, _run(), primary_key=True),
        sa.Column("responses", sa.Text, nullable=False),
    )
    op.create_table(
        "litmus_origin",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("stamp", sa.Text, nullable=False),
    )


def _of_run(name: str, *columns: sa.Column[Any]) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run_id", sa.Text, _run(), nullable=False),
        *columns,
    )
    op.create_index(f"ix_{name}_run_id", name, ["run_id"])


def _run() -> sa.ForeignKey:
    return sa.ForeignKey("litmus_runs.run_id", ondelete="CASCADE")
