"""Writing a plan in one transaction, and what the book would be with it."""

from dataclasses import dataclass, replace

from rating_core.book import Book
from rating_core.directory import Account, Actor, Directory
from rating_core.fold import fold_entry
from rating_core.importing.planner import Openings, Plan
from rating_core.ledger import Draft, IpChecked, OpeningBalance, PlayerRegistered, Void
from rating_core.service.transaction import Tx
from rating_core.store.ledger_store import LedgerStore


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import wrote."""

    players: int
    bindings: int
    openings: int


async def openings_of(ledger: LedgerStore, book: Book) -> Openings:
    """Return the opening balances in force."""
    found = {}
    for row in await ledger.rows_of(OpeningBalance.KIND):
        entry = row.entry()
        void = any(isinstance(correction, Void) for _, correction in book.corrections_of(row.seq))
        if isinstance(entry, OpeningBalance) and not void:
            found[entry.player, row.pool] = entry
    return found


def outcome(plan: Plan, book: Book, directory: Directory) -> tuple[Book, Directory]:
    """Return standings and names as they would be; neither the book nor the directory moves."""
    state, names = book.state.copy(), directory.copy()
    next_player = max(state.initial, default=0) + 1
    for number, new in enumerate(plan.players, start=next_player):
        names.roster.add(new.name, number)
        fold_entry(state, PlayerRegistered(number, new.initial, new.placing), 0, 0, "")
        if new.ip_checked:
            fold_entry(state, IpChecked(number, True), 0, 0, "")
        for account, qq in enumerate(new.qqs):
            names.put(Account(-(1000 * number + account), qq, number))
    for opening in plan.openings:
        player = names.roster.resolve(opening.name)
        assert player is not None
        fold_entry(state, replace(opening.entry, player=player), 0, 0, opening.pool)
    return Book(state), names


async def apply(tx: Tx, actor: Actor, plan: Plan, said_at: int) -> Imported:
    """Write everything a plan without problems says; the plan must have been made in this transaction."""
    if plan.problems:
        raise ValueError("a plan with problems is not applied")
    by = actor.account_id
    bindings = 0
    for new in plan.players:
        player = await tx.counters.take("player")
        await tx.append(Draft(PlayerRegistered(player, new.initial, new.placing), said_at, by))
        await tx.name_player(player, new.name)
        if new.ip_checked:
            await tx.append(Draft(IpChecked(player, True), said_at, by))
        for qq in new.qqs:
            await tx.bind(await tx.account(qq), player, by=by)
            bindings += 1
    for opening in plan.openings:
        player_id = tx.directory.roster.resolve(opening.name)
        assert player_id is not None
        await tx.append(Draft(replace(opening.entry, player=player_id), said_at, by, opening.pool))
    done = Imported(len(plan.players), bindings, len(plan.openings))
    await tx.journal(actor, said_at, "导入", detail=f"新棋手{done.players}，绑定{done.bindings}，期初分{done.openings}")
    return done
