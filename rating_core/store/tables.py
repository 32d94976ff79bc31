"""Every table of the database (SQLAlchemy Core).

The ledger is the truth. All other tables hold what is erasable (names, accounts), what still waits
(reports, applications) or what carries words (inbox, outbox). Times are integer milliseconds since the
epoch, UTC. Migrations create these tables; a test compares the two.
"""

from collections.abc import Iterable

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    or_,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def unindexed(column: Column[str]) -> ColumnElement[str]:
    """Return a text column as a value by which no index is searched: rows that are few by another column's."""
    return column.concat("")


def among(column: Column[str], values: Iterable[str]) -> ColumnElement[bool]:
    """Like `in_`, which SQLAlchemy writes out anew each time it runs."""
    return or_(*(column == value for value in values))


def _seal() -> Column[str]:
    """The checksum a row that grants rights carries over itself (store/sealed.py is the only one to write these)."""
    return Column("seal", Text, nullable=False)


# --- the ledger -------------------------------------------------------------------------------------------

ledger_head = Table(
    "ledger_head",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
    comment="One locked row: the last sequence number and its hash; the next row continues from it.",
)

ledger = Table(
    "ledger",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("said_at", BigInteger, nullable=False, comment="QQ time of the message that caused the entry"),
    Column("at", BigInteger, nullable=False, comment="our clock, never going back"),
    Column("kind", Text, nullable=False),
    Column("v", Integer, nullable=False),
    Column("pool", Text, nullable=False, comment="pool name, empty where an entry concerns no single pool"),
    Column("payload", Text, nullable=False, comment="canonical JSON: ids, numbers and dates only"),
    Column("actor", BigInteger, nullable=False, comment="accounts.account_id, 0 is the bot itself"),
    Column("refers_to", BigInteger, nullable=True),
    Column("hash", Text, nullable=False),
)

ledger_notes = Table(
    "ledger_notes",
    metadata,
    Column(
        "seq",
        BigInteger().with_variant(Integer, "sqlite"),
        ForeignKey("ledger.seq"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("reason", Text, nullable=False),
    comment="Why an entry was made, in the actor's words; erasable.",
)

counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
    comment="The last number given out: report, game, application, preview, challenge, player, account, event, list …",
)

# --- people -----------------------------------------------------------------------------------------------

names = Table(
    "names",
    metadata,
    Column("name", Text, primary_key=True, comment="normalised (names.normalize_name)"),
    Column("skeleton", Text, nullable=False, index=True, comment="names.skeleton: equal means confusable"),
    Column("player_id", BigInteger, nullable=False, index=True),
    Column("current", Boolean, nullable=False, comment="false: a former name, which still resolves"),
    Column("since", BigInteger, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("account_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("qq", Text, nullable=True, unique=True, comment="null once forgotten"),
    Column("player_id", BigInteger, nullable=True, index=True, comment="the roster name this QQ is bound to"),
    Column("bound_at", BigInteger, nullable=True),
    Column("bound_by", BigInteger, nullable=True),
    Column("card", Text, nullable=False, default="", comment="last group card seen; proves nothing"),
    _seal(),
)

roles = Table(
    "roles",
    metadata,
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    Column("role", Text, primary_key=True, comment="referee | scorekeeper"),
    Column("granted_at", BigInteger, nullable=False),
    Column("granted_by", BigInteger, nullable=False),
    _seal(),
)

events = Table(
    "events",
    metadata,
    Column("event_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    comment="Names of events; weight, pool and state are in the ledger.",
)

masked_holders = Table(
    "masked_holders",
    metadata,
    Column("holder_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("account_id", BigInteger, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=True, comment="null: holds it now"),
    Column("approved_by", BigInteger, nullable=False),
    _seal(),
    comment="Who held 蒙面人公用号 (L13), from when until when; erasable, and told to nobody.",
)

applications = Table(
    "applications",
    metadata,
    Column("application_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False, comment="register | claim | masked | erase | erase_for"),
    Column("account_id", BigInteger, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("player_id", BigInteger, nullable=True, comment="the claimed player"),
    Column("placing", Text, nullable=False),
    Column("chat", Text, nullable=False, comment="where the answer goes: g<group> or u<user>"),
    Column("message_id", Text, nullable=False),
    Column("said_at", BigInteger, nullable=False),
    Column("state", Text, nullable=False, index=True, comment="waiting | approved | refused"),
    Column("decided_by", BigInteger, nullable=True),
    Column("decided_at", BigInteger, nullable=True),
    Column("reason", Text, nullable=False, default=""),
)

past_bindings = Table(
    "past_bindings",
    metadata,
    Column("binding_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("account_id", BigInteger, nullable=False),
    Column("player_id", BigInteger, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    comment="Whom an account was bound to before, so that nobody judges his own case (§5); erasable.",
)

merge_items = Table(
    "merge_items",
    metadata,
    Column(
        "seq",
        BigInteger().with_variant(Integer, "sqlite"),
        ForeignKey("ledger.seq"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("kind", Text, primary_key=True, comment="name | account | report | application"),
    Column("item", Text, primary_key=True, comment="the name, or the number"),
    Column("current", Boolean, nullable=False, comment="of a name: it was the current one"),
    comment="What went over to the right player with a merge (账seq), so that it can be undone; erasable.",
)

# --- reports ----------------------------------------------------------------------------------------------

reports = Table(
    "reports",
    metadata,
    Column("report_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column(
        "state", Text, nullable=False, comment="waiting | confirmed | disputed | expired | effective | withdrawn | void"
    ),
    Column("pool", Text, nullable=False),
    Column("event_id", BigInteger, nullable=True),
    Column("weight", Text, nullable=False, comment="repr of the float, as posted"),
    Column("games", Text, nullable=False, comment="JSON list of [[left ids], result letter, [right ids]]"),
    Column(
        "same_key",
        Text,
        nullable=False,
        index=True,
        comment="equal for the same games in the same order, mirrored or not",
    ),
    Column("pair_key", Text, nullable=False, index=True, comment="equal for the same pair of sides; empty when mixed"),
    Column("chat", Text, nullable=False, comment="g<group> or u<user>"),
    Column("message_id", Text, nullable=False),
    Column("said_at", BigInteger, nullable=False, comment="the game's time: seasons and eligibility go by it"),
    Column("account_id", BigInteger, nullable=False, comment="who posted it"),
    Column("player_id", BigInteger, nullable=True, comment="the poster as a player of it; null: a referee or the desk"),
    Column("remind_at", BigInteger, nullable=True, comment="when the one reminder is due; null once sent"),
    Column("expire_at", BigInteger, nullable=True, comment="when it goes to the desk; null once there"),
    Column("confirmed_by", BigInteger, nullable=True),
    Column("decided_at", BigInteger, nullable=True),
    Column("reason", Text, nullable=False, default="", comment="of a dispute, void or confirmation by the desk"),
    Column("seq", BigInteger, nullable=True, comment="ledger entry once effective"),
    Index("ix_reports_state_report_id", "state", "report_id"),
)

copies = Table(
    "copies",
    metadata,
    Column("chat", Text, primary_key=True),
    Column("message_id", Text, primary_key=True, comment="of the post that was answered 「与#12相同」"),
    Column("report_id", BigInteger, nullable=False),
    Column("games", Text, nullable=False),
    Column("pool", Text, nullable=False),
    Column("event_id", BigInteger, nullable=True),
    Column("weight", Text, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("said_at", BigInteger, nullable=False),
    Column("used", Boolean, nullable=False, default=False),
)

challenges = Table(
    "challenges",
    metadata,
    Column("challenge_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("chat", Text, nullable=False, comment="where it was issued: g<group>"),
    Column("message_id", Text, nullable=False),
    Column("remind_at", BigInteger, nullable=True, index=True, comment="when the next reminder is due; null: none"),
    comment="Where forced challenges were issued, and their reminders; all else about them is in the ledger.",
)

# --- published lists --------------------------------------------------------------------------------------

list_titles = Table(
    "list_titles",
    metadata,
    Column(
        "seq",
        BigInteger().with_variant(Integer, "sqlite"),
        ForeignKey("ledger.seq"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("title", Text, nullable=False),
    comment="Titles of published lists in the scorekeeper's words; erasable. The lists are in the ledger.",
)

# --- moving in --------------------------------------------------------------------------------------------

imports = Table(
    "imports",
    metadata,
    Column("hash", Text, primary_key=True, comment="SHA-256 of the file"),
    Column("at", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("games", BigInteger, nullable=False),
    comment="Files of games that were taken over, so that none is twice.",
)

# --- the desk ---------------------------------------------------------------------------------------------

previews = Table(
    "previews",
    metadata,
    Column("preview_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("chat", Text, nullable=False),
    Column("book_seq", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("state", Text, nullable=False, comment="open | applied | dropped"),
)

journal = Table(
    "journal",
    metadata,
    Column("journal_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("said_at", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("action", Text, nullable=False),
    Column("about", Text, nullable=False, comment="short number such as #12, or empty"),
    Column("player_id", BigInteger, nullable=True, index=True),
    Column("detail", Text, nullable=False),
    Column("reason", Text, nullable=False),
    comment="/日志: who did what, when, why.",
)

docket = Table(
    "docket",
    metadata,
    Column("docket_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("kind", Text, nullable=False, comment="missed | failed_send | late_objection | old_command"),
    Column("about", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger, nullable=True, index=True),
    comment="What waits for the desk besides applications and reports.",
)

# --- the wire ---------------------------------------------------------------------------------------------

chats = Table(
    "chats",
    metadata,
    Column("chat", Text, primary_key=True, comment="g<group> or u<user>"),
    Column("watermark_at", BigInteger, nullable=False, comment="said_at of the newest message handled or passed over"),
    Column("watermark_seq", BigInteger, nullable=True, comment="its real_seq where the client sends one"),
    Column("paused_until", BigInteger, nullable=True, comment="no sends before this time"),
    Column("paused_why", Text, nullable=False, default=""),
)

inbox = Table(
    "inbox",
    metadata,
    Column("inbox_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False, unique=True, comment="idempotency key of the message or notice"),
    Column("twin", Text, nullable=False, index=True, comment="second key: chat, user, time and text hash"),
    Column("chat", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("qq", Text, nullable=True, comment="null once purged"),
    Column("said_at", BigInteger, nullable=False),
    Column("text", Text, nullable=True, comment="null once purged after 30 days"),
    Column("about", Text, nullable=False, default="", comment="short number this message led to, such as #12"),
    Index("ix_inbox_chat_message_id", "chat", "message_id"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("outbox_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("chat", Text, nullable=False),
    Column("state", Text, nullable=False, comment="held | pending | sending | unknown | sent | failed | dropped"),
    Column("kind", Text, nullable=False, comment="prompt | ack | forward | notice | reminder | answer"),
    Column("about", Text, nullable=False, default="", comment="short number, such as #12"),
    Column("text", Text, nullable=False, comment="with @ marks (wire.messages.at)"),
    Column("picture", Text, nullable=True, comment="drawn and sent instead of the text (wire.messages.Picture)"),
    Column("caption", Text, nullable=False, default="", comment="said beside the picture"),
    Column("quote", Text, nullable=True, comment="message id to quote"),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=True, comment="an answer nobody waits for any more is dropped"),
    Column("attempts", Integer, nullable=False, default=0),
    Column("sending_at", BigInteger, nullable=True),
    Column("message_id", Text, nullable=True, comment="QQ's id once sent"),
    Column("error", Text, nullable=False, default=""),
    Index("ix_outbox_state_outbox_id", "state", "outbox_id"),
    Index("ix_outbox_chat_message_id", "chat", "message_id"),
)
