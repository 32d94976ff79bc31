"""What goes over to the right player with a merge of two names, and back when it is undone (§10).

Games and all other entries follow by the fold; here are the erasable things: names, QQs, and what still waits.
"""

from dataclasses import replace

from rating_core.ledger import Merged
from rating_core.service.transaction import Tx
from rating_core.store.people_store import MergeItem
from rating_core.store.report_store import Report


def _renamed(report: Report, player: int, to: int) -> Report:
    def who(one: int) -> int:
        return to if one == player else one

    lines = tuple(line.renamed(who) for line in report.lines)
    return replace(report, lines=lines, player_id=to if report.player_id == player else report.player_id)


async def take_over(tx: Tx, seq: int, merged: Merged, by: int) -> None:
    """Give the right player what is the wrong one's, after ledger row `seq` merged them."""
    wrong, right = merged.player, merged.into
    directory = tx.edit_directory()
    items: list[MergeItem] = []
    for name, current in await tx.people.names_of(wrong):
        items.append(MergeItem("name", name, current))
        await tx.people.hand_over_name(name, right, current=False)
    for item in sorted(items, key=lambda item: item.current):
        if item.current:
            directory.merged_names[wrong] = item.item
        directory.roster.remove(item.item)
    for item in items:
        directory.roster.add(item.item, right, current=False)
    for account_id in sorted(directory.by_player.get(wrong, ())):
        items.append(MergeItem("account", str(account_id)))
        await tx.bind(directory.by_id[account_id], right, by=by)
    for report in await tx.reports.open_ones():
        if wrong in report.players:
            items.append(MergeItem("report", str(report.report_id)))
            await tx.reports.save(_renamed(report, wrong, right))
    for application in await tx.people.waiting_applications():
        if application.player_id == wrong:
            items.append(MergeItem("application", str(application.application_id)))
            await tx.people.hand_over_application(application.application_id, right)
    await tx.people.keep_merge_items(seq, items)
    directory.merged = tx.book.merged


async def give_back(tx: Tx, seq: int, merged: Merged, by: int) -> tuple[int, ...]:
    """Give the wrong player back what went over with the merge in row `seq`, after that was undone.

    What the right player has no more (a name or QQ that went on, a report that ended) is left where it is. Return
    the reports that took effect meanwhile: their games remain the right player's.
    """
    wrong, right = merged.player, tx.book.alias(merged.into)
    directory = tx.edit_directory()
    directory.merged = tx.book.merged
    stay: list[int] = []
    items = await tx.people.merge_items(seq)
    for item in sorted(items, key=lambda item: not item.current):
        if item.kind == "name" and directory.roster.find(item.item) == right:
            directory.roster.remove(item.item)
            directory.roster.add(item.item, wrong, current=item.current)
            await tx.people.hand_over_name(item.item, wrong, current=item.current)
    for item in items:
        if item.kind == "account":
            account = directory.by_id[int(item.item)]
            if account.player_id == right:
                await tx.bind(account, wrong, by=by)
        elif item.kind == "report":
            report = await tx.reports.get(int(item.item))
            if report is not None and report.open:
                await tx.reports.save(_renamed(report, right, wrong))
            elif report is not None and report.state == "effective":
                stay.append(report.report_id)
        elif item.kind == "application":
            await tx.people.hand_over_application(int(item.item), wrong)
    return tuple(stay)
