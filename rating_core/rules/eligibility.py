"""Who may not play a counted game now, by which clause and until when (§5; L7, L8, L11)."""

from dataclasses import dataclass

from rating_core.rulebook import IP_CHECK_RATING
from rating_core.rules.season import pending_bar
from rating_core.state import State
from rating_core.times import day_of


@dataclass(frozen=True, slots=True)
class Bar:
    """Why a player may not play: the clause, and until when (ms; None: until a scorekeeper acts)."""

    player: int
    clause: str
    until: int | None
    pending: bool = False
    """The settlement that will archive him is not executed yet (§8 D)."""


def bar_of(state: State, pool: str, player: int, at: int) -> Bar | None:
    """Return what keeps a registered player from posting a game at `at` (ms) in `pool`; None if he may play."""
    if (until := state.leave_until.get(player, 0)) > at:
        return Bar(player, "L8", until)
    standing = state.look(pool, player)
    if standing.archived and standing.barred_until > at:
        return Bar(player, "L7", standing.barred_until)
    if (pending := pending_bar(state, pool, player, at)) is not None:
        return Bar(player, "L7", pending, pending=True)
    if standing.rating >= IP_CHECK_RATING.on(day_of(at)) and player not in state.ip_checked:
        return Bar(player, "L11", None)
    return None
