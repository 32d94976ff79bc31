"""Posts that repeat a report: not recorded, but kept, so that 另记 can record them (§5 D)."""

from collections import Counter
from collections.abc import Sequence

from rating_core.report_text import GameLine
from rating_core.service.report_results import SameAs
from rating_core.service.transaction import Tx
from rating_core.store.report_store import Copy, Report, pair_text, same_key


async def as_copy(tx: Tx, draft: Report, same: Report) -> SameAs:
    """Keep a post that is not recorded, so that 另记 can record it; one said in private (no message id) is not kept."""
    copy = Copy(
        draft.chat, draft.message_id, same.report_id, draft.lines, draft.pool, draft.event_id, draft.weight,
        draft.account_id, draft.said_at,
    )  # fmt: skip
    if draft.message_id:
        await tx.reports.add_copy(copy)
    return SameAs(same)


async def overlapping(tx: Tx, draft: Report) -> Report | None:
    """Return an open report of a pair of the draft whose games are all in the draft, or the other way round."""
    pairs: dict[str, list[GameLine]] = {}
    for line in draft.lines:
        pairs.setdefault(pair_text([line]), []).append(line)
    for lines in pairs.values():
        games = Counter(single_keys(lines))
        for report in await tx.reports.open_of_pair(draft.pool, lines):
            others = Counter(single_keys(report.lines))
            if games <= others or others <= games:
                return report
    return None


def single_keys(lines: Sequence[GameLine]) -> list[str]:
    return [same_key([line]) for line in lines]
