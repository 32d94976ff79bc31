"""Nobody uses a desk command on a matter in which he himself plays or is the subject (§5 D)."""

from collections.abc import Set

from rating_core.directory import Actor, Directory
from rating_core.service.refusal import Confidential, Refusal


def check_own_case(directory: Directory, actor: Actor, players: Set[int], at: int | None = None) -> None:
    """Refuse a desk command that concerns `players`, where the actor is or ever was bound to one of them.

    `at` (ms): when the games were posted, or now, where 蒙面人公用号 may be concerned. Raises Refusal; Confidential
    where he is in it as that.
    """
    if directory.is_or_was_in(actor.account_id, players):
        raise Refusal("own_case")
    if at is not None and directory.is_masked_in(actor.account_id, players, at):
        raise Confidential
