"""Alembic's environment: the bot hands over its own connection and transaction (see store/migrate.py)."""

from alembic import context

from rating_core.store.tables import metadata

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("migrations are run by the bot itself at start: python bot.py")
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
