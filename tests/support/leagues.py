"""A league in memory with something of everything, and a large one by chance: for what has to carry a whole book."""

import random
from dataclasses import replace

from rating_core.ledger import (
    Adjustment,
    ChallengeForfeited,
    ChallengeIssued,
    EventClosed,
    EventOpened,
    IpChecked,
    LeaveTaken,
    Merged,
    OpeningBalance,
    PlayerRegistered,
    Settlement,
)
from rating_core.rulebook import MASKED_INITIAL, MASKED_NAME
from tests.support.books import Books
from tests.support.rows import line, ms

PAIRS = "单跳2v2"


def rich() -> Books:
    """Every kind of entry: balances, IP checks, events, farming, voids, amendments, a merge, forfeits, a settlement."""
    books = Books()
    add, rows, directory = books.add, books.rows, books.directory
    books.join("张三", "李四", "老 顽童", "王五")
    books.join("冠军哥", rating=2300.0)
    directory.roster.add(MASKED_NAME, 6)
    rows.add(PlayerRegistered(6, MASKED_INITIAL, MASKED_NAME))
    books.join("=cmd|calc!A1", "<b>&甲</b>", "错名")
    books.bind("张三", "10001")
    add(IpChecked(5, True))
    opening = OpeningBalance(2, 2111.123456789012, 20, 5, 8, ms("2025-06-01"), 3, False, 2150.5, ms("2025-03-04"))
    add(opening, at="2025-06-01 09:00", pool="单跳1v1")
    add(replace(opening, player=4, rating=1950.25, archived=True, peak=None, peak_at=None), pool=PAIRS)
    cup = books.event("皇后杯", 1.2)
    books.play("张三 胜胜平 李四", at="2025-06-02 20:00:07")
    rows.play([line(1, "W", 5), line(1, "L", 5)], at=ms("2025-06-03 20:00"), confirmed_at=ms("2025-06-04 08:30:01"))
    books.play("张三 胜 王五", at="2025-06-05 20:00", event=cup, weight=1.2)
    rows.play([line(3, "W", 7), line(7, "D", 8)], at=ms("2025-06-05 21:00"), event=cup, weight=1.2)
    wrong = books.play("张三 胜负胜 王五", at="2025-07-01 20:00")
    books.void(wrong, rows.game - 1)
    books.amend(wrong, rows.game, "张三 平 王五")
    books.void(books.play("王五 胜 李四", at="2025-07-02 20:00"))
    books.play("张三 李四 胜胜 冠军哥 王五", at="2025-07-03 20:00", pool=PAIRS)
    books.play("冠军哥 胜胜胜胜胜负 李四", at="2025-07-04 19:00")
    rows.play([line(9, "W", 7)], at=ms("2025-07-04 20:00"))
    directory.merged = {9: 8}
    directory.roster.remove("错名")
    directory.roster.add("错名", 8, current=False)
    add(Merged(9, 8))
    add(Adjustment(1, -12.5), at="2025-07-05 10:00")
    add(ChallengeIssued(1, 1, 4, ms("2025-07-13 10:00")), at="2025-07-06 10:00")
    add(ChallengeForfeited(1, 4, 50.0), at="2025-07-13 10:00")
    rows.play([line(6, "W", 1)], at=ms("2025-07-20 20:00"))
    add(LeaveTaken(5, ms("2026-01-01"), ("单跳1v1", PAIRS)), at="2025-08-01 12:00", pool="")
    friendly = len(directory.events) + 1
    directory.events[friendly] = "鬼面赛"
    rows.add(EventOpened(friendly, 0.0, False), pool=PAIRS)
    add(EventClosed(cup), at="2025-12-01 12:00")
    verdicts = ((1, 20.0), (3, 20.0), (5, 0.0), (7, 20.0))
    add(Settlement(2025, ms("2026-02-01"), verdicts), at="2026-01-02 12:00")
    books.play("张三 胜 李四", at="2026-02-03 20:00")
    rows.play([line(3, "D", 1), line(2, "W", 3)], at=ms("2026-02-03 21:00"))
    void_row = add(Adjustment(1, 100.0), at="2026-02-04 10:00")
    books.void(void_row)
    books.play("李四 负 王五", at="2026-02-05 20:00")
    return books


def large(games: int, players: int = 200, seed: int = 5, pool: str = "单跳1v1") -> Books:
    """A league by chance: the first game is an event's, so that its result moves nobody's farming (L6)."""
    chance = random.Random(seed)
    books = Books()
    for number in range(1, players + 1):
        books.join(f"棋手{number:03}", rating=chance.choice([2000.0, 2050.0, 2100.0, 2200.0, 2300.0, 2390.0]))
    cup = books.event("皇后杯", 1.2, pool)
    size = 2 if "2v2" in pool else 1
    everybody = range(1, players + 1)
    first = line(tuple(everybody[:size]), "W", tuple(everybody[size : 2 * size]))
    books.rows.play([first], event=cup, weight=1.2, pool=pool)
    for number in range(1, games):
        chosen = chance.sample(everybody, 2 * size)
        event = cup if number % 3 == 0 else None
        game = line(tuple(chosen[:size]), chance.choice("WWDLL"), tuple(chosen[size:]))
        books.rows.play([game], event=event, weight=1.2 if event else 1.0, pool=pool)
        if number % 500 == 0:
            books.add(Adjustment(chosen[0], chance.choice([-20.0, 7.25])), pool=pool)
    return books
