"""Database files of leagues of any size, written past the services, as the services would have written them.

One game a report, which is the most rows there can be for so many games. A file is kept as long as the folder is.
"""

import asyncio
import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rating_core.columns import GameColumns
from rating_core.fold import fold_games
from rating_core.ledger import GENESIS, Draft, Games, IpChecked, PlayerRegistered, Row, seal
from rating_core.names import skeleton
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import DEFAULT_POOL
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from rating_core.store.report_store import dump_lines, pair_text, same_key
from rating_core.store.sealed import seal_of
from rating_core.store.tables import accounts, metadata
from rating_core.trial import announce
from tests.bench.logs import FIRST, INITIAL, LAST, Game, columns_of, opened, synthetic

CHARACTERS = "山川云海星月风雨林石田江河湖松竹梅兰菊荷春夏秋冬东南西北金银铜铁红黄蓝白青紫"
FIRST_QQ = 2_000_000
BATCH = 20_000


def names() -> Iterator[str]:
    """Yield names of three characters, no two alike."""
    return ("".join(letters) for letters in itertools.product(CHARACTERS, repeat=3))


def write(folder: Path, games: Sequence[Game], players: int | None = None) -> Path:
    """Return a league's database with these games, and so many players at the least; player n is QQ FIRST_QQ + n."""
    path = folder / "ratings.db"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(_empty(path))
    found = sorted({player for game in games for player in game[:2]} | set(range(1, (players or 0) + 1)))
    columns, state = columns_of(games), opened(games)
    fold_games(state, columns, 0, len(columns))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        _people(connection, found)
        last = _ledger(connection, found, games, columns)
        _insert(connection, "reports", _reports(games, len(found)))
        most = max(found, default=0)
        numbers = {"player": most, "account": most, "report": len(games), "game": len(games)}
        connection.executemany("INSERT OR REPLACE INTO counters VALUES (?, ?)", numbers.items())
        connection.execute("INSERT OR REPLACE INTO ledger_head (id, seq, hash) VALUES (1, ?, ?)", (last.seq, last.hash))
        connection.commit()
    return path


def synthetic_league(folder: Path, games: int, players: int | None = None) -> Path:
    """Return the database of a made-up league."""
    return write(folder / f"{games}-{players or 0}", synthetic(games, players) if games else (), players)


async def _empty(path: Path) -> None:
    database = await Database.open(f"sqlite+aiosqlite:///{path}")
    await migrate(database, path.parent / "backups")
    await database.close()


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    columns = [column.name for column in metadata.tables[table].c]
    marks = ", ".join(f":{name}" for name in columns)
    rows = iter(rows)
    while batch := list(itertools.islice(rows, BATCH)):
        connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", batch)


def _people(connection: sqlite3.Connection, players: Sequence[int]) -> None:
    called = list(itertools.islice(names(), max(players, default=0)))
    known = [(player, called[player - 1]) for player in players]
    _insert(
        connection, "names",
        ({"name": name, "skeleton": skeleton(name), "player_id": player, "current": True, "since": FIRST}
         for player, name in known),
    )  # fmt: skip
    rows = (
        {"account_id": player, "qq": str(FIRST_QQ + player), "player_id": player, "bound_at": FIRST, "bound_by": 0,
         "card": name}
        for player, name in known
    )  # fmt: skip
    _insert(connection, "accounts", (row | {"seal": seal_of(accounts, row)} for row in rows))


def _ledger(
    connection: sqlite3.Connection, players: Sequence[int], games: Sequence[Game], columns: GameColumns
) -> Row:  # fmt: skip
    drafts = (Draft(PlayerRegistered(player, INITIAL, "普通"), FIRST, 0) for player in players)
    checks = (Draft(IpChecked(player, True), LAST, 0) for player in players)  # so that everybody may go on playing
    last = Row(0, 0, 0, "", 0, "", "", 0, None, GENESIS)

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal last
        for seq, draft in enumerate(itertools.chain(drafts, _drafts(games, columns), checks), 1):
            last = seal(draft, seq, draft.said_at, last.hash)
            yield asdict(last)

    _insert(connection, "ledger", rows())
    return last


def _line(game: Game) -> GameLine:
    return GameLine((game.left,), Result(game.result), (game.right,))


def _drafts(games: Sequence[Game], columns: GameColumns) -> Iterator[Draft]:
    for index, game in enumerate(games):
        told = announce(columns, range(index, index + 1), (_line(game),))
        entry = Games(
            index + 1, index + 1, game.at, game.weight, (_line(game),), game.left, None, game.right, told
        )  # fmt: skip
        yield Draft(entry, game.at, game.right, DEFAULT_POOL)


def _reports(games: Sequence[Game], before: int) -> Iterator[dict[str, Any]]:
    empty = dict.fromkeys((column.name for column in metadata.tables["reports"].c), None)
    for number, game in enumerate(games, 1):
        lines = (_line(game),)
        yield empty | {
            "report_id": number, "state": "effective", "pool": DEFAULT_POOL, "weight": repr(game.weight),
            "games": dump_lines(lines), "same_key": same_key(lines), "pair_key": pair_text(lines), "chat": "g1",
            "message_id": str(number), "said_at": game.at, "account_id": game.left, "player_id": game.left,
            "confirmed_by": game.right, "decided_at": game.at, "reason": "", "seq": before + number,
        }  # fmt: skip
