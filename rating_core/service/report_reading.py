"""What a message that looks like a report says, and whether its sender may report that (§4, §5, §7 D)."""

from dataclasses import dataclass

from rating_core.directory import Actor
from rating_core.names import clean_text
from rating_core.report_text import ReportProblems, ReportText, parse_report
from rating_core.rulebook import MASKED_NAME, POOLS
from rating_core.service.events import shut_event
from rating_core.service.report_results import EventRefused, InPrivate, MaskedFree, Outsider, Refused
from rating_core.service.transaction import Tx
from rating_core.state import pair_code


@dataclass(frozen=True, slots=True)
class Read:
    """A report that its sender may post: as one of its players (`plays`) or as a referee or scorekeeper."""

    text: ReportText
    players: frozenset[int]
    plays: bool


def read(
    tx: Tx, actor: Actor, text: str, said_at: int, events: dict[str, int]
) -> Read | Refused | Outsider | MaskedFree | InPrivate | EventRefused:
    """Read a report; a player's has one pair of sides, a referee or scorekeeper who plays in none may mix."""
    parsed = _parse(tx, text, events, mixed=actor.judge)
    if isinstance(parsed, ReportProblems):
        if not actor.judge and not _is_named(tx, actor, text, parsed):
            return Outsider()
        if tx.directory.masked is None and MASKED_NAME in clean_text(text):
            return MaskedFree()
        return shut_event(tx, parsed) or Refused(parsed)
    players = frozenset(player for line in parsed.lines for player in line.players)
    plays = actor.player_id in players
    if not plays and actor.judge and tx.directory.is_or_was_in(actor.account_id, players):
        return Outsider()  # his own games, by a name that has another QQ now
    if not plays and tx.directory.is_masked_in(actor.account_id, players, said_at):
        return InPrivate()
    if not plays and not actor.judge:
        return Outsider()
    if tx.directory.masked in players and tx.directory.holder_at(said_at) is None:
        return MaskedFree()
    if plays and len({pair_code(line.left, line.right) for line in parsed.lines}) > 1:
        own = _parse(tx, text, events, mixed=False)
        if isinstance(own, ReportProblems):
            return Refused(own)
    return Read(parsed, players, plays)


def _parse(tx: Tx, text: str, events: dict[str, int], *, mixed: bool) -> ReportText | ReportProblems:
    return parse_report(
        text, tx.directory.roster, side_size=None, events=tuple(events), pools=tuple(POOLS), mixed=mixed
    )


def _is_named(tx: Tx, actor: Actor, text: str, found: ReportProblems) -> bool:
    """Whether a player's own name stands in a report that cannot be read, or may be meant in it."""
    if actor.player_id is None:
        return False
    name = tx.directory.name_of(actor.player_id)
    return name in clean_text(text) or any(name in near for p in found.problems for near in p.suggestions)
