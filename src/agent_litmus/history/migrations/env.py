"""What Alembic runs: every missing step on the connection it is given, in the transaction that is open there."""

from alembic import context

from agent_litmus.history.tables import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
)
context.run_migrations()
