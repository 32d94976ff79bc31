"""A made-up league of 300 with most of a year's games; the same each time."""

from dataclasses import dataclass
from itertools import accumulate
from random import Random

from rating_core.elo import expected_scores
from rating_core.rulebook import PLACINGS

from .scene import SEED, Seed, SeedPlayer
from .seed import Letter, SeedGame

PLAYERS = 300
FIRST_DAYS, DAYS = 10, 300
"""So many days in which everybody plays once, then so many in which they play as they like."""
REPORTS_A_DAY = 5
GAMES_A_REPORT = (2, 3, 3, 4, 5)
NEAR = 250.0
"""People play those about as strong as themselves, mostly."""
DRAWS = 0.12
SPREAD = 130.0
ZEAL_OF_CAST, MOST_ZEAL = 5.0, 12.0
"""Enough that each of the cast has a history worth a look."""
FIRST = (
    "南山 北海 东篱 西窗 秋水 春雨 夏荷 冬雪 青石 白鹭 紫藤 墨竹 "
    "碧波 赤霞 金桂 银杏 晨曦 暮云 疏影 暗香 听雨 观潮 踏雪 寻梅"
)
SECOND = "客 居士 书生 渔夫 樵夫 老翁 少年 散人 行者 先生 小子 琴师"
RARE = ("32强",) * 8 + ("16强",) * 5 + ("8强",) * 3 + ("4强", "4强", "亚军", "冠军")
ORDINARY = 80
"""Ordinary newcomers for each of the rare ones' whole list."""


@dataclass(slots=True)
class _Person:
    name: str
    strength: float
    zeal: float
    """How often he plays, compared with others."""


def build() -> Seed:
    """Return 300 players, the cast among them, and their games in order."""
    random = Random(300)
    names = [first + second for second in SECOND.split() for first in FIRST.split()]
    placings = ["普通"] * ORDINARY + list(RARE)
    others = [SeedPlayer(name, None, random.choice(placings)) for name in names]
    players = (*SEED.players, *others)[:PLAYERS]
    people = [
        _Person(
            player.name, PLACINGS[player.placing] + random.gauss(0, SPREAD),
            min(random.paretovariate(1.4), MOST_ZEAL) if player.qq is None else ZEAL_OF_CAST,
        )
        for player in players
    ]  # fmt: skip
    return Seed(players, tuple(_games(people, random)))


def _games(people: list[_Person], random: Random) -> list[SeedGame]:
    """Everybody begins with somebody about as strong; then who likes to play more plays more."""
    by_strength = sorted(people, key=lambda person: person.strength)
    games: list[SeedGame] = []
    for number, (one, other) in enumerate(zip(by_strength[::2], by_strength[1::2], strict=True)):
        games += _report(DAYS + FIRST_DAYS - number % FIRST_DAYS, one, other, random)
    games.sort(key=lambda game: -game.days_ago)
    zeal = list(accumulate(person.zeal for person in people))
    for days_ago in range(DAYS, 0, -1):
        met: set[str] = set()
        for _ in range(REPORTS_A_DAY):
            one, other = random.choices(people, cum_weights=zeal, k=2)
            far = abs(one.strength - other.strength) > NEAR
            if far or one is other or one.name in met or other.name in met:
                continue
            met |= {one.name, other.name}
            games += _report(days_ago, one, other, random)
    return games


def _report(days_ago: int, one: _Person, other: _Person, random: Random) -> list[SeedGame]:
    count = random.choice(GAMES_A_REPORT)
    return [SeedGame(days_ago, one.name, _result(one, other, random), other.name) for _ in range(count)]


def _result(one: _Person, other: _Person, random: Random) -> Letter:
    if random.random() < DRAWS:
        return "D"
    return "W" if random.random() < expected_scores(one.strength - other.strength)[0] else "L"
