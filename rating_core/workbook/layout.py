"""Sheets and columns of the workbook: as they are written, and as they are found again when it is read back."""

from dataclasses import dataclass
from functools import cached_property

from rating_core.times import DAY_MS, HOUR_MS

GAMES, BOARD, ARCHIVE, PLAYERS, CHANGES, CALCULATOR = "战绩", "榜单", "封存名单", "棋手", "调整", "计算器"
SHEETS = (GAMES, BOARD, ARCHIVE, PLAYERS, CHANGES, CALCULATOR)

COUNTED, UNCOUNTED, VOID = "是", "不计(L6)", "作废"
"""What stands in the column 计分: whether a game counts, or why not."""
ARCHIVED, LISTED = "封存", "在榜"
CHECKED = "是"
NO_REFEREE = "免裁判"

NUMBER, DAY, POOL, RESULT, WEIGHT, EVENT, COUNTS, REPORT, EFFECTIVE = (
    "局", "日期", "榜", "结果", "系数", "赛事", "计分", "报分", "生效时间",
)  # fmt: skip
PLAYER_TITLES = ("左方", "左方同伴", "右方", "右方同伴")
SLOT_TITLES = ("左", "左伴", "右", "右伴")
"""By the slots of the Book's columns: left first, left second, right first, right second."""

PLAYER_COLUMNS = (
    "名字", "名次", "原始分", "IP核验", "曾用名", "期初榜", "期初分", "胜", "平", "负", "历史最高分", "最高分日期",
    "本季盘数", "状态", "截至",
)  # fmt: skip
CHANGE_COLUMNS = (
    "账", "在局后", "时间", "类别", "榜", "棋手", "加减", "旧分", "新分", "对方", "发起时间", "到期", "赛季", "赛事",
    "系数", "裁判",
)  # fmt: skip
BOARD_COLUMNS = (
    "榜", "名次", "棋手", "等级分", "实际分", "盘数", "胜", "平", "负", "胜率", "历史最高分", "最高分日期", "分数涨跌",
    "排名涨跌", "差盘数", "IP", "号", "名序", "上期分", "上期名次",
)  # fmt: skip
ARCHIVE_COLUMNS = ("榜", "棋手", "实际分", "盘数", "胜", "平", "负", "封存日期", "原因", "可参赛日期")

OPENING, ADJUSTMENT, FORFEIT, SETTLEMENT, LEAVE, EVENT_OPENED, EVENT_CLOSED = (
    "期初", "调分", "约战扣分", "结算", "请假", "赛事新建", "赛事结束",
)  # fmt: skip
"""What stands in the column 类别 of 调整."""


@dataclass(frozen=True)
class GameColumns:
    """The columns of 战绩; `size` is the largest side: 2 adds the columns of the partners."""

    size: int

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots that have columns."""
        return (0, 2) if self.size == 1 else (0, 1, 2, 3)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The headers in their order."""
        left = [PLAYER_TITLES[slot] for slot in self.slots if slot < 2]
        right = [PLAYER_TITLES[slot] for slot in self.slots if slot >= 2]
        figures = [figure(slot, what) for what in ("旧分", "变化", "新分") for slot in self.slots]
        ids = [figure(slot, "号") for slot in self.slots]
        head = (NUMBER, DAY, POOL, *left, RESULT, *right, WEIGHT, EVENT, COUNTS)
        return (*head, *figures, REPORT, EFFECTIVE, *ids)

    @cached_property
    def places(self) -> dict[str, int]:
        """Header → position, from 0."""
        return {title: place for place, title in enumerate(self.titles)}


def figure(slot: int, what: str) -> str:
    """Return the header of a player's 旧分, 变化, 新分 or 号."""
    return f"{SLOT_TITLES[slot]}{what}"


_FIRST_SERIAL = 25569
"""1970-01-01 as spreadsheets count days."""
_OFFSET_MS = 8 * HOUR_MS


def serial(ms: int) -> float:
    """Return an instant as a spreadsheet counts it: days in Shanghai; exact to the millisecond."""
    days, rest = divmod(ms + _OFFSET_MS, DAY_MS)
    return _FIRST_SERIAL + days + rest / DAY_MS


def from_serial(value: float) -> int:
    """Return the instant (ms) of a spreadsheet's number of days."""
    return round((value - _FIRST_SERIAL) * DAY_MS) - _OFFSET_MS
