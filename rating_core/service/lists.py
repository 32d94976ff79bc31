"""Published lists (§7, L15): a board is frozen as 第N期 of its pool."""

from dataclasses import dataclass

from rating_core.directory import Actor
from rating_core.ledger import Draft, ListPublished, ListRow
from rating_core.names import clean_text
from rating_core.rules.display import board_order
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.state import PoolState, PublishedList
from rating_core.times import day_of

MAX_TITLE = 40


@dataclass(frozen=True, slots=True)
class Published:
    """第`number`期 of a pool, as of `as_of` (ms), published by ledger row `seq`."""

    number: int
    title: str
    pool: str
    as_of: int
    rows: tuple[ListRow, ...]
    seq: int


def default_title(pool: str, as_of: int) -> str:
    """Return the title of a list to which nobody gave one (§7)."""
    day = day_of(as_of)
    return f"传统{pool}跳棋等级分排行榜{day.year}年{day.month}月{day.day}日"


def check_title(title: str) -> str:
    """Return a title as it is kept: one line of at most 40 characters, without @; "" if there is none.

    Raises Refusal, also where something is given that holds no letter or digit.
    """
    title = " ".join(clean_text(title[: 10 * MAX_TITLE]).split())
    if title and not any(map(str.isalnum, title)):
        raise Refusal("list_title_empty")
    if len(title) > MAX_TITLE:
        raise Refusal("list_title_long", most=MAX_TITLE, length=len(title))
    if "@" in title or "＠" in title:
        raise Refusal("list_title_at")
    return title


def counter(pool: str) -> str:
    """Return the name of the counter that gives the numbers of a pool's lists, each once."""
    return f"list {pool}"


def newest(tx: Tx, pool: str) -> PublishedList | None:
    """Return the last list of a pool that was not voided."""
    return next(reversed(tx.state.lists.get(pool, ())), None)


async def publish(
    tx: Tx, actor: Actor, pool: str, as_of: int, said_at: int, title: str = "", *, standings: PoolState | None = None
) -> Published:
    """Freeze the board as it stands now, with what this transaction appended, as the next 第N期 of the pool (§7).

    `as_of` (ms) is the date that the list bears, by which N goes (L12). A number is given once, also where the list
    is voided later. `standings`: what is frozen instead, a season's end, whether or not it is another board than the
    last list's. Raises Refusal: nobody on the board, a title that cannot be, or a board that is the last list's still.
    """
    title = check_title(title) or default_title(pool, as_of)
    final = standings is not None
    if standings is None:
        tx.read_own()
        standings = tx.book.state.pools[pool]
    rows: list[ListRow] = []
    for rank, (lowered, rating, _, _, player) in enumerate(board_order(standings, tx.directory, as_of), start=1):
        s = standings.standings[player]
        rows.append((player, rank, -lowered, -rating, s.wins, s.draws, s.losses, s.peak, s.peak_at))
    if not rows:
        raise Refusal("list_empty", pool=pool)
    last = newest(tx, pool)
    if last is not None and last.rows == tuple(rows) and not final:
        raise Refusal("list_current", pool=pool, number=last.number, title=await tx.lists.title(last.seq))
    actor = await tx.known(actor)
    number = await tx.counters.take(counter(pool))
    entry = ListPublished(number, as_of, tuple(rows))
    row, _ = await tx.append(Draft(entry, said_at, actor.account_id, pool))
    await tx.lists.add(row.seq, title)
    await tx.journal(actor, said_at, "发布榜单", about=f"第{number}期", detail=f"账{row.seq} {pool} {title}")
    return Published(number, title, pool, as_of, entry.rows, row.seq)
