"""Results of drills."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table of drills."""
    op.create_table(
        "litmus_drills",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("name", "suite_digest", "tool_version")),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("faults", "detected")),
        sa.Column("missed", sa.Text, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("honest", "false_alarms")),
        sa.Column("restored", sa.Boolean, nullable=False),
    )
    op.create_index("ix_litmus_drills_suite_digest", "litmus_drills", ["suite_digest"])
