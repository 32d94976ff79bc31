"""What the fuzzers begin with, what people really say, and how it is spoilt. All choices come from one seed."""

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.sandbox.onebot import Style, message_event, notice_event
from plugins.rating_bot.sandbox.qq import FakeQQ
from plugins.rating_bot.sandbox.values import Happened
from rating_core.directory import Account, Directory
from rating_core.importing import table
from rating_core.names import check_new_name
from rating_core.roster import Roster

Event = dict[str, Any]

PLAYERS = (
    "张三",
    "李四",
    "王五",
    "赵六",
    "常胜将军",
    "平安",
    "和平",
    "A",
    "B",
    "A B",
    "A B C",
    "孤 独 求败",
    "DragonKing",
    "𠮷田",
    "é",
    "O0l1",
    "长长的名字一共十六个字符那么长吧",
    "胡一刀",
    "龙龙龙",
    "龙龙",
    "龙",
    "龙 龙",
    "龙 龙 龙",
    "蒙面人公用号",
)
EVENTS = {1: "皇后杯", 2: "春季赛 2026", 3: "鬼面赛"}
PLACES = (100001, 100002, 999999)
BOT = 10000
STYLES: tuple[Style, ...] = ("napcat", "llonebot", "lagrange", "gocqhttp")

REPORTS = (
    "张三    胜    李四",
    "张三 胜 李四\n张三 平 李四\n李四 胜 张三\n",
    "张三\u3000负\u3000李四\r\n李四\t胜\t张三",
    "#皇后杯\n张三 胜 李四",
    "#单跳2v2\n张三 李四 胜 王五 赵六",
    "张三 赢 李四",
    "张三 胜 张二",
    "张三胜李四",
    "张三 胜 李四\n张三 胜 王五",
    "报分：\n张三 胜 李四",
    "A B 胜 A B C",
    "A B C 胜 A B",
    "龙 龙 胜 龙 龙 龙",
    "平安 平 和平",
    "常胜将军 负 孤 独 求败",
    "A 胜 A",
    "张三 和 李四",
    "张三 胜胜 李四",
    "#春季赛 2026\n#单跳1v1\n张三 平 李四",
    "𠮷田 胜 é",
    "\n".join(["张三 胜 李四"] * 50),
    "张三 胜 李四 第三盘",
)
WORDS = (
    "确认",
    "对",
    "ok",
    "确认 12",
    "确认#12 13",
    "确认 预3",
    "有误 没下过",
    "有误 12 报反了",
    "另记",
    "是",
    "👍",
    "好的",
    "/",
    "／等级分 张三",
)
CHATTER = (
    "下午有人下棋吗",
    "张三和李四都来吧",
    "我胜了三局",
    "平安 夜",
    "[CQ:at,qq=10000] 你好",
    "#哈哈",
    "https://a.com 胜 b.com",
)
FILES = (
    "日期,棋手A,结果,棋手B\n2026-03-02,张三,胜,李四\n,李四,平,王五\n",
    "名字,QQ,名次,等级分\n张三,12345678,冠军,2300\n李四,,普通,2000\n",
    "日期\t左方\t左2\t结果\t右方\t右2\t系数\t榜\n2026/3/2 12:30\t张三\t李四\t胜\t王五\t赵六\t1.2\t单跳2v2\n",
    "2026年3月2日\n#皇后杯 1.2\n张三    胜    李四\n#约战\n李四 平 王五\n",
    "棋手 冠军\n张三 2300\n张三 胜 李四\n",
    "姓名；当前等级分；胜；平；负；状态；日期\n张三；2105.5；10；2；3；在榜；2026-01-01\n",
    "棋手A,棋手B,胜负,棋手C,棋手D,棋手A旧分,棋手A新分\n张三,李四,1,王五,赵六,2000,2016\n",
    "46083.5,张三,0.5,李四\n",
)

NASTY = (
    "\u200b",
    "\u200f",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\u3164",
    "\u115f",
    "\u2800",
    "\u00a0",
    "\u3000",
    "\u0301" * 7,
    "\ud800",
    "\udfff",
    "\x00",
    "\x07",
    "\x1b",
    "\x85",
    "\u2028",
    "\r",
    "\r\n",
    "\n",
    "\t",
    "𠮷",
    "⼈",
    "⽼",
    "ﾊ",
    "Ａ",
    "ﬁ",
    "İ",
    "ß",
    "ﷺ",
    "👨\u200d👩\u200d👧",
    "<%\u0100\x07>",
    "<$ÿĀ\u000e>",
    "\ue000",
    "\ue001",
    "\ue000" + "20001|x\ue001",
    "\ue000" + "20001\ue001",
    "[CQ:at,qq=10000]",
    "[CQ:",
    "&#91;",
    "&amp;",
    "「",
    "」",
    '"',
    "#",
    "＃",
    "/",
    "／",
    "胜",
    "平",
    "负",
    "赢",
    "和",
    "第",
    "前",
    "期",
    "局",
    "审3",
    "预1",
    "1",
    "９",
    "0",
    "-1",
    "1e999",
    "nan",
    "=cmd|' /C calc'!A0",
    ",",
    "；",
    " ",
    "  ",
    "    ",
    "…",
    "<red>",
    "{}",
    "%s",
    "\\",
    "'",
    "--",
    "9" * 20,
)
"""Invisible, turning, combining, lone, wide and special characters; marks of ours; words of the grammar."""
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e400,
    float("nan"),
    2**31,
    2**63,
    2**80,
    "",
    "x",
    "0",
    "10001",
    "１２",
    [],
    {},
    [None],
    [[]],
    {"a": {}},
    "9" * 30,
)

NOW = 1_796_000_000_000
"""ms, in December 2026."""
KILO = 4096
"""Characters of an input whose time is measured: at least 4 KB."""


def is_chinese(said: str) -> bool:
    """Return whether a sentence is one of ours: Chinese, and no name of an error or of a code."""
    return any("\u4e00" <= c <= "\u9fff" for c in said) and "Error" not in said and "Traceback" not in said


def directory_of(size: int) -> Directory:
    """Return a directory of so many players, most of them made of few characters; 20001, 20002 … are bound.

    Nobody has a name that cannot be registered (a result word as a word of its own).
    """
    rng = random.Random(size)
    names = list(PLAYERS)
    while len(names) < size:
        name = "".join(rng.choices("张李王赵龙飞天一二三小大明胜平AB", k=rng.randint(2, 6)))
        if rng.random() < 0.1:
            name = " ".join(name)
        if name not in names and check_new_name(name) is None:
            names.append(name)
    directory = Directory(Roster((name, number, True) for number, name in enumerate(names, 1)), events=dict(EVENTS))
    for number in range(1, 40):
        directory.put(Account(number, str(20000 + number), number))
    return directory


def commands() -> list[str]:
    """Return the examples and forms of the command table, as typed."""
    found = [text for command in load_handlers() for text in (command.example, command.form)]
    return found + [f"/{command.word} 张三 李四 王五 第2页 #皇后杯 单跳2v2 12 理由" for command in load_handlers()]


def events() -> list[Event]:
    """Return events of every client: messages, quotes, mentions, pictures, recalls, reactions."""
    qq = FakeQQ(self_id=BOT, now=lambda: 1_790_000_000_000)
    qq.add_group(PLACES[0], "官方群")
    for number, name in enumerate(PLAYERS[:4], 20001):
        qq.add_member(PLACES[0], number, card=name, nickname=name, role="admin" if number == 20003 else "member")
    said = [qq.say(PLACES[0], 20001, text) for text in (REPORTS[1], "确认", "/等级分 张三")]
    said.append(qq.say(PLACES[0], 20002, "确认", quote=said[0].message_id, at=[20001]))
    picture = {"type": "image", "data": {"file": "A.png", "url": "https://a"}}
    said.append(
        qq.say(
            PLACES[0],
            20003,
            segments=[picture, {"type": "face", "data": {"id": "1"}}, {"type": "text", "data": {"text": "看"}}],
        )
    )
    own = qq.deliver(f"g{PLACES[0]}", [{"type": "text", "data": {"text": "#1 待确认"}}])
    said += [own, qq.say_private(20001, "/报名 新人")]
    own.reactions["76"] = {20002}
    notices = [Happened("recall", said[0].chat, said[0], 20001), Happened("reaction", own.chat, own, 20002, "76")]
    found: list[Event] = []
    for style in STYLES:
        found += [message_event(qq, message, style, history=history) for message in said for history in (False, True)]
        found += [event for notice in notices if (event := notice_event(qq, notice, style)) is not None]
    found += [
        found[0] | {"message": found[0]["raw_message"], "message_format": "string"},
        {
            "time": 1,
            "self_id": BOT,
            "post_type": "notice",
            "notice_type": "group_ban",
            "group_id": PLACES[0],
            "duration": 60,
        },
        {
            "time": 1,
            "self_id": BOT,
            "post_type": "meta_event",
            "meta_event_type": "heartbeat",
            "status": {"online": True},
        },
    ]
    return found


class Spoiler:
    """Spoils texts, bytes and events, and crosses them with each other."""

    def __init__(self, rng: random.Random, texts: Sequence[str]) -> None:
        self._rng = rng
        self._texts = texts

    def text(self, text: str, most: int = KILO) -> str:
        """Return a spoilt text of at most `most` characters."""
        rng = self._rng
        for _ in range(rng.choice((1, 1, 2, 3, 5, 9))):
            text = rng.choice(_TEXT_WAYS)(rng, text, self._texts)
            if len(text) > most:
                at = rng.randrange(len(text) - most + 1)
                text = text[at : at + most]
        return text

    def file(self, seed: str | bytes, most: int) -> bytes:
        """Return the bytes of a spoilt file, in some encoding, perhaps with bytes that are wrong."""
        rng = self._rng
        if isinstance(seed, bytes):
            seed = next((text for _, text in table.texts(seed)), "")
        text = self.text(seed, most)
        encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "gb18030", "utf-16"))
        data = bytearray(text.encode(encoding, "surrogatepass" if encoding != "gb18030" else "replace")[:most])
        if data and rng.random() < 0.3:
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data)

    def event(self, event: Event) -> Event:
        """Return a spoilt event, as json.loads may have given it."""
        spoilt: Event = json.loads(json.dumps(event))
        for _ in range(self._rng.choice((0, 1, 1, 2, 4, 8))):
            self._spoil(spoilt)
        return spoilt

    def _spoil(self, value: Any) -> None:
        """Change, drop or double something inside an object or a list."""
        rng = self._rng
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = rng.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
            self._spoil(inner)
        elif (draw := rng.random()) < 0.25:
            del value[key]
        elif draw < 0.4 and isinstance(value, list):
            value[key:key] = [json.loads(json.dumps(inner)) for _ in range(rng.choice((1, 2, 50, 1200)))]
        elif isinstance(inner, str) and draw < 0.8:
            value[key] = self.text(inner or rng.choice(self._texts))
        else:
            value[key] = copy.deepcopy(rng.choice(VALUES))


def _insert(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(NASTY) * rng.choice((1, 1, 1, 2, 8, 200)) + text[at:]


def _drop(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.randint(1, 8) :]


def _double(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = rng.randint(0, len(text))
    part = text[at : at + rng.randint(1, 40)]
    return text[:at] + part * rng.choice((2, 3, 10, 100, 2000)) + text[at:]


def _cross(rng: random.Random, text: str, others: Sequence[str]) -> str:
    other = rng.choice(others)
    return text[: rng.randint(0, len(text))] + rng.choice(("", " ", "\n")) + other[rng.randint(0, len(other)) :]


def _respace(rng: random.Random, text: str, _: Sequence[str]) -> str:
    return text.replace(" ", rng.choice(("", "  ", "\t", "\u3000", "\u3164", "\n", "\u200b", "、", "\u00a0 "))) or "胜"


def _respell(rng: random.Random, text: str, _: Sequence[str]) -> str:
    """Replace a character by another of the text, or of anywhere in Unicode."""
    if not text:
        return chr(rng.randrange(0x110000))
    at = rng.randrange(len(text))
    other = rng.choice(text) if rng.random() < 0.5 else chr(rng.randrange(0x110000))
    return text[:at] + other + text[at + 1 :]


def _shuffle(rng: random.Random, text: str, _: Sequence[str]) -> str:
    words = text.split(" ")
    rng.shuffle(words)
    return " ".join(words)


_TEXT_WAYS: tuple[Callable[[random.Random, str, Sequence[str]], str], ...] = (
    _insert,
    _insert,
    _drop,
    _double,
    _double,
    _cross,
    _cross,
    _respace,
    _respell,
    _shuffle,
)
