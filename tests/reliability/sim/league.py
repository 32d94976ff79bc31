"""The small league in which every simulated world begins: people, groups, rights and a few games of long ago."""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from plugins.rating_bot.settings import Settings
from rating_core.report_text import GameLine, Result, format_report
from rating_core.service import people, reports
from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from tests.support.plain_book import HOUR, Line, moment

SINGLES, PAIRS, SCORING = 100001, 100002, 100003
"""The official groups of 单跳1v1 and 单跳2v2, and the scoring group."""
POOL_OF = {SINGLES: "单跳1v1", PAIRS: "单跳2v2", SCORING: "单跳1v1"}
GROUPS = (SINGLES, PAIRS, SCORING)
BOT = 10000


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a QQ; `player` is whom it is bound to."""

    qq: int
    name: str
    player: int | None = None
    desk: bool = False
    """Scorekeeper or superuser."""
    referee: bool = False

    @property
    def judge(self) -> bool:
        return self.desk or self.referee


PLAYERS = {1: "张三", 2: "李四", 3: "王五", 4: "赵六", 5: "钱七", 6: "孙八"}
PLACINGS = {1: "普通", 2: "普通", 3: "16强", 4: "4强", 5: "32强", 6: "普通"}
INITIAL = {1: 2000.0, 2: 2000.0, 3: 2100.0, 4: 2200.0, 5: 2050.0, 6: 2000.0}
OWNER = Person(10001, "群主", desk=True)
KEEPERS = (Person(10002, "小周", desk=True), Person(10003, "小吴", desk=True))
REFEREE = Person(10004, "老赵", referee=True)
PLAYER_AND_KEEPER = Person(20006, PLAYERS[6], 6, desk=True)
SECOND_QQ = Person(20011, "张三小号", 1)
OUTSIDER = Person(30001, "路人")
BOUND = (*(Person(20000 + n, name, n) for n, name in PLAYERS.items() if n != 6), PLAYER_AND_KEEPER)
PEOPLE = (*BOUND, SECOND_QQ, OWNER, *KEEPERS, REFEREE, OUTSIDER)
DESK = (OWNER, *KEEPERS, PLAYER_AND_KEEPER)

REGISTERED_AT = moment(2026, 2, 10) + 20 * HOUR
PLAYED_AT = moment(2026, 2, 11) + 20 * HOUR
CHECKED = 4
"""赵六 (2200) has shown his IP address; nobody else has."""
OLD_GAMES: tuple[tuple[str, tuple[Line, ...]], ...] = (
    ("单跳1v1", (((1,), "W", (2,)), ((1,), "D", (2,)))),
    ("单跳1v1", (((3,), "L", (4,)),)),
    ("单跳1v1", tuple(((5,), result, (6,)) for result in "WLWDLWLWLD")),
    ("单跳2v2", (((1, 2), "W", (3, 5)),)),
)
"""Pool and lines of the reports that took effect before; 钱七 and 孙八 have their ten games of the season."""
STARTS = (
    moment(2026, 3, 2) + 20 * HOUR,
    moment(2026, 6, 18) + 13 * HOUR,
    moment(2026, 11, 25) + 20 * HOUR,
    moment(2026, 12, 27) + 20 * HOUR,
    moment(2026, 12, 31) + 23 * HOUR,
)
SETTINGS = Settings.model_validate(
    {
        "official_groups": {str(SINGLES): POOL_OF[SINGLES], str(PAIRS): POOL_OF[PAIRS]},
        "scoring_groups": [str(SCORING)],
        "send_interval": 0.5,
        "pictures": False,
    }
)


def game_line(line: Line) -> GameLine:
    return GameLine(line[0], Result(line[1]), line[2])


def report_text(lines: tuple[Line, ...]) -> str:
    return format_report([game_line(line) for line in lines], PLAYERS.__getitem__)


class Template:
    """The database of that league, made once by the product itself and copied for each world."""

    def __init__(self) -> None:
        memory = Path("/dev/shm")
        self._folder = tempfile.TemporaryDirectory(prefix="tiaoqi-sim-", dir=memory if memory.is_dir() else None)
        self.folder = Path(self._folder.name)
        self._file = self.folder / "template.db"
        asyncio.run(self._make())
        self._bytes = self._file.read_bytes()

    def copy(self) -> Path:
        """Return a fresh copy; there is one at a time."""
        file = self.folder / "ratings.db"
        for leftover in (f"{file}-wal", f"{file}-shm"):
            Path(leftover).unlink(missing_ok=True)
        file.write_bytes(self._bytes)
        return file

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._folder.cleanup()

    async def _make(self) -> None:
        database = await Database.open(f"sqlite+aiosqlite:///{self._file}")
        await migrate(database, self.folder / "backups")
        now = REGISTERED_AT
        league = await League.open(database, lambda: now, frozenset({str(OWNER.qq)}))
        async with league.transaction() as tx:
            owner = await tx.known(tx.directory.actor(str(OWNER.qq), league.superusers))
            for player, name in PLAYERS.items():
                qq = next(str(person.qq) for person in BOUND if person.player == player)
                made = await people.add_player(tx, owner, name, qq, PLACINGS[player], now, ())
                assert made == player
            await people.bind(tx, owner, SECOND_QQ.player or 0, str(SECOND_QQ.qq), now)
            for person in PEOPLE:
                role = "referee" if person.referee else "scorekeeper"
                if person.judge and person is not OWNER:
                    await people.appoint(tx, owner, role, str(person.qq), now)
            for person in PEOPLE:
                await tx.note_card(str(person.qq), person.name)
            await people.check_ip(tx, owner, CHECKED, valid=True, message="", said_at=now)
        now = PLAYED_AT
        for number, (pool, lines) in enumerate(OLD_GAMES):
            async with league.transaction() as tx:
                text = f"#{pool}\n{report_text(lines)}"
                referee = tx.directory.actor(str(REFEREE.qq), league.superusers)
                await reports.post(tx, referee, reports.Post(text, f"g{SCORING}", f"old{number}", now, "", 24, 72))
        await database.close()
