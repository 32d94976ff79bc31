"""Named points at which a test can kill the process, as a power cut would.

TIAOQI_FAILPOINT=name kills at the first hit, name:3 at the third. Without it nothing happens.
"""

import os

NAMES = (
    # a message: its effect, inbox row and answers are one transaction
    "before_commit",
    "after_commit",
    # a row of the outbox: marked, sent, answered, marked; or found out about afterwards
    "before_send",
    "after_send",
    "after_mark",
    "before_found",
    "before_resend",
    "after_recover",
    # what was said while the bot was away: read, handed on, its answers merged
    "history_read",
    "history_handed_on",
    "before_merge_commit",
    "after_merge_commit",
    # deadlines and reminders by the clock
    "before_due_commit",
    "after_due_commit",
    # the copy is whole but has no name yet; it has
    "backup_copied",
    "backup_named",
    # a settlement without its list; its list taken back without it
    "settlement_entered",
    "rollback_entered",
    # the tables are made, their transaction is open; it is not
    "before_migration_commit",
    "after_migration_commit",
)
"""Every name; tests/reliability/kill.py kills at each of them."""

_wanted, _, _count = os.environ.get("TIAOQI_FAILPOINT", "").partition(":")
_left = int(_count or 1)
if _wanted and _wanted not in NAMES:
    raise ValueError(f"no failpoint {_wanted!r}")


def hit(name: str) -> None:
    """Die here, without cleaning up, if this is the point asked for."""
    global _left
    if name == _wanted:
        _left -= 1
        if _left <= 0:
            os._exit(137)
