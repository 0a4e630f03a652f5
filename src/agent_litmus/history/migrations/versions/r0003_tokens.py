"""Tokens of runs, so that one that turns up in a later run is recognised."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Keep tokens beside the sketch of responses; runs recorded before have none."""
    op.add_column("litmus_sketches", sa.Column("tokens", sa.Text, nullable=False, server_default="[]"))
