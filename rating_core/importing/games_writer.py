"""Entering a file of games, in one transaction or not at all."""

from dataclasses import replace

from rating_core.directory import Actor
from rating_core.importing.games_plan import GamesPlan, Numbers
from rating_core.ledger import Draft, Games
from rating_core.service.transaction import Tx
from rating_core.store.import_store import ImportedFile
from rating_core.store.people_store import Counters


async def last_numbers(counters: Counters) -> Numbers:
    """Return the last short numbers given out."""
    return Numbers(**{name: await counters.last(name) for name in Numbers.__dataclass_fields__})


async def enter(tx: Tx, actor: Actor, plan: GamesPlan, digest: str, said_at: int) -> None:
    """Write everything a clear plan says; it must have been made of the book and the numbers as they stand here."""
    before = await last_numbers(tx.counters)
    if not plan.clear or plan.seq != tx.seq:
        raise ValueError("a plan is applied to the book of which it was made, and only when nothing stands against it")
    by = actor.account_id
    for name in Numbers.__dataclass_fields__:
        count = getattr(plan.numbers, name) - getattr(before, name)
        if count:
            await tx.counters.take(name, count)
    rows = await tx.append_all([_by(draft, by) for draft in plan.drafts])
    await tx.reports.add_all(
        [replace(report, account_id=by, seq=rows[place].seq) for place, report in plan.reports]
    )  # fmt: skip
    for player, names in plan.names:
        for name in names:
            await tx.name_player(player, name)
    for event in plan.events:
        await tx.people.add_event(event.number, event.name)
        tx.edit_directory().events[event.number] = event.name
    await tx.imports.add(ImportedFile(digest, tx.now, by, len(plan.games)))
    detail = f"{len(plan.games)}局，新棋手{len(plan.new_players)}人"
    await tx.journal(actor, said_at, "导入", detail=f"{detail}，文件{digest[:8]}")


def _by(draft: Draft, account: int) -> Draft:
    entry = replace(draft.entry, by=account) if isinstance(draft.entry, Games) else draft.entry
    return replace(draft, entry=entry, actor=account)
