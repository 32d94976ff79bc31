"""The games of the sandbox league. Made up, and fixed so that what the visitor sees is the same each time."""

from dataclasses import dataclass
from typing import Literal

Letter = Literal["W", "D", "L"]
LETTERS: dict[str, Letter] = {"胜": "W", "平": "D", "负": "L"}


@dataclass(frozen=True, slots=True)
class SeedGame:
    """One game; neighbours with the same day and players were one report. `result` is the left side's."""

    days_ago: int
    left: str
    result: Letter
    right: str


REPORTS = """
88|赵六|胜|李四
87|小马哥|平胜|李四
86|李四|胜胜|张三
85|常胜将军|胜|张三
82|张三|负|石头
81|张三|负平|清风
79|王五|负负|云中鹤
78|清风|胜|李四
76|赵六|负|张三
75|云中鹤|负负|常胜将军
74|平安|负|清风
73|常胜将军|胜负|石头
72|常胜将军|负负胜|清风
71|王五|平胜|小马哥
69|赵六|负|老 顽童
68|王五|胜负|石头
67|平安|负|常胜将军
66|常胜将军|胜|清风
65|李四|负|小马哥
64|张三|胜负|小马哥
62|云中鹤|胜胜|跳跳虎
61|王五|胜胜|李四
60|李四|胜胜|赵六
59|张三|胜胜|石头
58|常胜将军|平胜|张三
57|平安|负平|常胜将军
55|云中鹤|胜胜|小马哥
54|常胜将军|胜胜|赵六
53|李四|胜负|清风
52|云中鹤|胜|赵六
51|云中鹤|胜胜|平安
50|张三|负胜|石头
48|清风|负|石头
47|李四|负|老 顽童
46|张三|平胜|赵六
45|清风|负平平|云中鹤
44|常胜将军|胜|石头
43|平安|平|赵六
42|常胜将军|平|云中鹤
40|王五|平负|赵六
39|李四|负胜胜|老 顽童
38|张三|平|赵六
37|赵六|负负|王五
36|王五|平胜负|平安
35|平安|负|小马哥
33|小马哥|平|跳跳虎
32|王五|负负|常胜将军
31|清风|胜|赵六
30|小马哥|胜|张三
29|平安|负胜|李四
28|云中鹤|胜胜|张三
26|王五|负平|平安
25|小马哥|负|王五
24|清风|平胜|老 顽童
23|常胜将军|胜|清风
22|小马哥|胜胜|老 顽童
21|李四|负胜|清风
19|常胜将军|胜|小马哥
18|小马哥|负|常胜将军
17|李四|平|赵六
16|赵六|胜|石头
15|云中鹤|胜|张三
14|小马哥|平|石头
12|平安|胜|小马哥
11|平安|胜负|王五
10|张三|胜胜负|跳跳虎
9|平安|胜胜|赵六
8|云中鹤|胜胜平|李四
7|清风|胜|张三
5|张三|胜|云中鹤
4|平安|胜胜|清风
3|小马哥|负胜|王五
2|赵六|平|李四
1|张三|胜胜胜|平安
"""
"""Days ago, left player, his results in playing order, right player."""


def _games() -> tuple[SeedGame, ...]:
    rows = (line.split("|") for line in REPORTS.split("\n") if line)
    return tuple(SeedGame(int(days), left, LETTERS[word], right) for days, left, words, right in rows for word in words)


SEED_GAMES = _games()
