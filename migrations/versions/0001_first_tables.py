"""The first tables: ledger, people, reports, desk, wire."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQLITE_GUARDS = [
    f"CREATE TRIGGER ledger_no_{verb.lower()} BEFORE {verb} ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END"
    for verb in ("UPDATE", "DELETE")
]
# INSERT OR REPLACE deletes the old row without asking the trigger above
SQLITE_GUARDS.append(
    "CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger WHERE seq = NEW.seq) "
    "BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END"
)
POSTGRES_GUARDS = [
    "CREATE FUNCTION ledger_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the ledger only grows' USING ERRCODE = 'integrity_constraint_violation'; END $$",
    "CREATE TRIGGER ledger_no_change BEFORE UPDATE OR DELETE ON ledger "
    "FOR EACH ROW EXECUTE FUNCTION ledger_only_grows()",
    "CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON ledger "
    "FOR EACH STATEMENT EXECUTE FUNCTION ledger_only_grows()",
]


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("qq", sa.Text(), nullable=True),
        sa.Column("player_id", sa.BigInteger(), nullable=True),
        sa.Column("bound_at", sa.BigInteger(), nullable=True),
        sa.Column("bound_by", sa.BigInteger(), nullable=True),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name="pk_accounts"),
        sa.UniqueConstraint("qq", name="uq_accounts_qq"),
    )
    op.create_index("ix_accounts_player_id", "accounts", ["player_id"], unique=False)
    op.create_table(
        "applications",
        sa.Column(
            "application_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=True),
        sa.Column("placing", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("said_at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.BigInteger(), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("application_id", name="pk_applications"),
    )
    op.create_index("ix_applications_account_id", "applications", ["account_id"], unique=False)
    op.create_index("ix_applications_state", "applications", ["state"], unique=False)
    op.create_table(
        "challenges",
        sa.Column(
            "challenge_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("remind_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("challenge_id", name="pk_challenges"),
    )
    op.create_index("ix_challenges_remind_at", "challenges", ["remind_at"], unique=False)
    op.create_table(
        "chats",
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("watermark_at", sa.BigInteger(), nullable=False),
        sa.Column("watermark_seq", sa.BigInteger(), nullable=True),
        sa.Column("paused_until", sa.BigInteger(), nullable=True),
        sa.Column("paused_why", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("chat", name="pk_chats"),
    )
    op.create_table(
        "copies",
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("report_id", sa.BigInteger(), nullable=False),
        sa.Column("games", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=True),
        sa.Column("weight", sa.Text(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("said_at", sa.BigInteger(), nullable=False),
        sa.Column("used", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("chat", "message_id", name="pk_copies"),
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    op.create_table(
        "docket",
        sa.Column(
            "docket_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("docket_id", name="pk_docket"),
    )
    op.create_index("ix_docket_closed_at", "docket", ["closed_at"], unique=False)
    op.create_table(
        "events",
        sa.Column(
            "event_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name="pk_events"),
        sa.UniqueConstraint("name", name="uq_events_name"),
    )
    op.create_table(
        "inbox",
        sa.Column("inbox_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("twin", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("qq", sa.Text(), nullable=True),
        sa.Column("said_at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("about", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("inbox_id", name="pk_inbox"),
        sa.UniqueConstraint("key", name="uq_inbox_key"),
    )
    op.create_index("ix_inbox_chat_message_id", "inbox", ["chat", "message_id"], unique=False)
    op.create_index("ix_inbox_twin", "inbox", ["twin"], unique=False)
    op.create_table(
        "journal",
        sa.Column(
            "journal_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("said_at", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("journal_id", name="pk_journal"),
    )
    op.create_index("ix_journal_player_id", "journal", ["player_id"], unique=False)
    op.create_table(
        "ledger",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("said_at", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("v", sa.Integer(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("actor", sa.BigInteger(), nullable=False),
        sa.Column("refers_to", sa.BigInteger(), nullable=True),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_ledger"),
    )
    op.create_table(
        "ledger_head",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ledger_head"),
    )
    op.create_table(
        "names",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("skeleton", sa.Text(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_names"),
    )
    op.create_index("ix_names_player_id", "names", ["player_id"], unique=False)
    op.create_index("ix_names_skeleton", "names", ["skeleton"], unique=False)
    op.create_table(
        "outbox",
        sa.Column(
            "outbox_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("picture", sa.Text(), nullable=True),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("sending_at", sa.BigInteger(), nullable=True),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("outbox_id", name="pk_outbox"),
    )
    op.create_index("ix_outbox_chat_message_id", "outbox", ["chat", "message_id"], unique=False)
    op.create_index("ix_outbox_state_outbox_id", "outbox", ["state", "outbox_id"], unique=False)
    op.create_table(
        "previews",
        sa.Column(
            "preview_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("book_seq", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("preview_id", name="pk_previews"),
    )
    op.create_table(
        "reports",
        sa.Column(
            "report_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=True),
        sa.Column("weight", sa.Text(), nullable=False),
        sa.Column("games", sa.Text(), nullable=False),
        sa.Column("same_key", sa.Text(), nullable=False),
        sa.Column("pair_key", sa.Text(), nullable=False),
        sa.Column("chat", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("said_at", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=True),
        sa.Column("remind_at", sa.BigInteger(), nullable=True),
        sa.Column("expire_at", sa.BigInteger(), nullable=True),
        sa.Column("confirmed_by", sa.BigInteger(), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("report_id", name="pk_reports"),
    )
    op.create_index("ix_reports_pair_key", "reports", ["pair_key"], unique=False)
    op.create_index("ix_reports_same_key", "reports", ["same_key"], unique=False)
    op.create_index("ix_reports_state_report_id", "reports", ["state", "report_id"], unique=False)
    op.create_table(
        "roles",
        sa.Column("account_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.Column("granted_by", sa.BigInteger(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "role", name="pk_roles"),
    )
    op.create_table(
        "ledger_notes",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["ledger.seq"], name="fk_ledger_notes_seq"),
        sa.PrimaryKeyConstraint("seq", name="pk_ledger_notes"),
        comment="Why an entry was made, in the actor's words; erasable.",
    )
    op.create_table(
        "past_bindings",
        sa.Column(
            "binding_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("binding_id", name="pk_past_bindings"),
        comment="Whom an account was bound to before, so that nobody judges his own case (§5); erasable.",
    )
    op.create_table(
        "imports",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("games", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_imports"),
        comment="Files of games that were taken over, so that none is twice.",
    )
    op.create_table(
        "list_titles",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["ledger.seq"], name="fk_list_titles_seq"),
        sa.PrimaryKeyConstraint("seq", name="pk_list_titles"),
        comment="Titles of published lists in the scorekeeper's words; erasable. The lists are in the ledger.",
    )
    op.create_table(
        "masked_holders",
        sa.Column(
            "holder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("approved_by", sa.BigInteger(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("holder_id", name="pk_masked_holders"),
    )
    op.create_table(
        "merge_items",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["ledger.seq"], name="fk_merge_items_seq"),
        sa.PrimaryKeyConstraint("seq", "kind", "item", name="pk_merge_items"),
        comment="What went over to the right player with a merge (账seq), so that it can be undone; erasable.",
    )

    op.execute(f"INSERT INTO ledger_head (id, seq, hash) VALUES (1, 0, '{'0' * 64}')")
    sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in SQLITE_GUARDS if sqlite else POSTGRES_GUARDS:
        op.execute(statement)
