"""One world of the privacy program: QQ numbers of ten digits, everybody says everything, and much goes wrong."""

import asyncio
import contextlib
import random
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.table import Command
from plugins.rating_bot.sandbox.actions import ActionFailed
from plugins.rating_bot.sandbox.client import FakeClient, Style
from plugins.rating_bot.sandbox.onebot import heartbeat_event
from plugins.rating_bot.sandbox.values import FakeMessage
from tests.e2e import world as worlds
from tests.e2e.world import ELSEWHERE, OFFICIAL, SCORING, TOKEN, World

PLAYERS = ("张三", "李四", "王五", "赵六")
MEMBER, PLAYER, REFEREE, KEEPER, OWNER = "路人", "张三", "裁判老赵", "小周", "群主"
ROLES = (MEMBER, PLAYER, REFEREE, KEEPER, OWNER)
PRIVATE = 0
PLACES = (OFFICIAL, SCORING, ELSEWHERE, PRIVATE)
STEP_SECONDS = 20.0
LAST = ("注销", "免去", "任命", "结算")
"""Commands after which others would say less."""
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Numbers:
    """Ten digits for everybody; no two have five digits in a row in common."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.given: list[int] = []
        self._parts: set[str] = set()

    def take(self) -> int:
        while True:
            number = self._rng.randrange(2_100_000_000, 3_900_000_000)
            parts = {str(number)[i : i + 5] for i in range(6)}
            if not parts & self._parts:
                self._parts |= parts
                self.given.append(number)
                return number


@contextmanager
def numbered(numbers: Numbers) -> Iterator[None]:
    """Let worlds have the bot, the superuser, the scorekeeper, the referee and the stranger under new numbers."""
    names = ("BOT", "OWNER", "KEEPER", "REFEREE_QQ", "STRANGER")
    before = {name: getattr(worlds, name) for name in names}
    for name in names:
        setattr(worlds, name, numbers.take())
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(worlds, name, value)


class Exercise:
    """Everybody says everything in one world."""

    def __init__(self, folder: Path, numbers: Numbers, style: Style, log_level: str) -> None:
        self.numbers = numbers
        self.world = World(folder, style)
        self.world.bot.settings |= {
            "LOG_LEVEL": log_level,
            "TIAOQI__PICTURES": "true",
            "TIAOQI__PUBLIC_SITE": "true",
            "TIAOQI__BOT_IDS": f'["{worlds.BOT}"]',
        }
        self.said = 0
        self.world.join(MEMBER, numbers.take())
        for name in (*PLAYERS, "新人", "外人", "后来人"):
            self.world.join(name, numbers.take(), scoring=name == PLAYER)
        for name in (MEMBER, PLAYER):
            self.world.qq.add_member(SCORING, self.world.people[name], card=name)

    # --- saying -------------------------------------------------------------------------------------------

    def say(self, who: str, text: str, place: int = OFFICIAL, **options: Any) -> FakeMessage:
        self.said += 1
        if place == PRIVATE:
            return self.world.qq.say_private(self.world.people[who], text)
        return self.world.say(who, text, place, **options)

    def decided(self) -> int:
        """Return how many messages the bot has decided about."""
        return sum(" decision " in line for line in self.world.bot.lines)

    async def quiet(self, wanted: int) -> None:
        """Wait until so many decisions were made and all is sent, at most for a while."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STEP_SECONDS):
                while self.decided() < wanted or self.unsent():
                    await asyncio.sleep(0.02)

    def unsent(self) -> bool:
        """Return whether the bot has something to send, as far as its tables tell."""
        try:
            with closing(sqlite3.connect(f"{self.world.file.as_uri()}?mode=ro", uri=True)) as connection:
                query = "SELECT 1 FROM outbox WHERE state IN ('pending', 'sending') LIMIT 1"
                return connection.execute(query).fetchone() is not None
        except sqlite3.OperationalError:
            return False

    def typed(self, command: Command) -> str:
        """Return a command's example with the numbers of this world in it."""
        return command.example.replace("12345678", str(self.world.people["新人"]))

    async def everything(self) -> None:
        """Every command by every role, in every place; what a preview asks for is confirmed.

        A query, of which nobody may ask many, each role asks in one place, another one each time.
        """
        commands = sorted(load_handlers(), key=lambda command: command.word.split()[0] in LAST)
        for turn, command in enumerate(commands):
            before, wanted = self.decided(), 0
            asked: list[FakeMessage] = []
            for number, who in enumerate(ROLES):
                if command.word == "备份" and who == OWNER:
                    continue  # each takes a process of its own, and two are enough
                for place in [PLACES[(turn + number) % len(PLACES)]] if command.query else PLACES:
                    asked.append(self.say(who, self.typed(command), place))
                    wanted += place != ELSEWHERE
            await self.quiet(before + wanted)
            await self.confirm(asked)

    async def confirm(self, asked: list[FakeMessage]) -> None:
        """Confirm, by who asked, every preview that came of it."""
        by_id = {message.message_id: message for message in asked}
        names = {number: name for name, number in self.world.people.items()}
        before, wanted = self.decided(), 0
        for group in (OFFICIAL, SCORING):
            for answer in self.world.qq.said_by_bot(group)[-2 * len(asked) :]:
                question = by_id.get(answer.quote or 0)
                last = answer.text.rstrip().splitlines()[-1] if answer.text.strip() else ""
                if question is not None and last.startswith("确认 预"):
                    self.say(names[question.user_id], last, group)
                    wanted += 1
        await self.quiet(before + wanted)

    # --- other ways to be heard -----------------------------------------------------------------------------

    async def play(self) -> None:
        """Reports with mentions, numbers in reasons and in private, answers, recalls and reactions."""
        people, qq = self.world.people, self.world.qq
        before = self.decided()
        for who, text, place in (
            ("张三", "张三    胜    李四\n张三    平    李四", OFFICIAL),
            ("李四", "有误 1 我没下过", OFFICIAL),
            ("小周", f"/代确认 1 {people['李四']}说的", SCORING),
            ("张三", f"[CQ:at,qq={people['李四']}] 张三    胜    王五", OFFICIAL),
            ("外人", "张三    胜    李四", OFFICIAL),
            ("裁判老赵", "李四    胜    王五", SCORING),
            ("小周", f"/绑定 赵六 {people['外人']}", OFFICIAL),
            ("小周", f"/等级分 {people['外人']}", OFFICIAL),
            ("张三", "/蒙面人 申请", PRIVATE),
            ("群主", f"/蒙面人 批准 {people['张三']}", PRIVATE),
            ("张三", "蒙面人公用号    胜    王五", PRIVATE),
            ("王五", "确认", OFFICIAL),
        ):
            self.say(who, text, place)
        said = qq.say(OFFICIAL, people["张三"], segments=[
            {"type": "text", "data": {"text": "/等级分 "}}, {"type": "at", "data": {"qq": str(people["李四"])}},
        ])  # fmt: skip
        await self.quiet(before + 13)
        qq.recall(OFFICIAL, said.message_id, people["张三"])
        qq.react(OFFICIAL, qq.said_by_bot(OFFICIAL)[-1].message_id, people["李四"], "76")
        await self.quiet(before + 14)

    async def misshapen(self) -> None:
        """Events that lack what they should have, are somebody else's, or are none of ours."""
        world = self.world
        event = world.client.event_of(world.qq.say(ELSEWHERE, world.people["外人"], "你好"))
        stranger, number = worlds.STRANGER, world.people["外人"]
        request = {"post_type": "request", "request_type": "friend", "comment": f"我是{number}", "flag": "1"}
        notice = {"post_type": "notice", "user_id": number}
        broken: list[dict[str, Any]] = [
            event | {"self_id": stranger},
            {name: value for name, value in event.items() if name not in ("user_id", "sender")} | {"extra": number},
            event | {"message": [None, {"type": "text"}], "font": None},
            event | {"message_type": "guild", "sub_type": None, "group_id": "x"},
            event | {"user_id": str(number), "sender": {"user_id": number, "level": 3, "role": 5}},
            request | {"user_id": number},
            notice | {"notice_type": "group_increase", "group_id": OFFICIAL, "operator_id": stranger},
            notice | {"notice_type": "notify", "sub_type": "poke", "target_id": stranger},
            notice | {"notice_type": "bot_offline", "user_id": worlds.BOT, "message": f"{number}登录"},
            {"post_type": f"odd{number}"},
        ]
        for data in broken:
            world.client.push({"time": event["time"], "self_id": worlds.BOT} | data)
        world.client.push(heartbeat_event(world.qq, 30))
        self.say("张三", "/帮助")
        await self.quiet(self.decided() + 1)

    async def failures(self) -> None:
        """Sends that fail with somebody's number in the client's words, and handlers that crash over the database."""
        world, number = self.world, self.world.people["李四"]
        table = world.client._actions._table
        send = table["send_group_msg"]

        def fail(params: Any) -> Any:
            raise ActionFailed(1200, f"EventChecker Failed: 成员 {number} 不存在")

        table["send_group_msg"] = fail
        self.say("李四", "/等级分")
        await world.bot.log_line("EventChecker Failed")
        table["send_group_msg"] = send
        with closing(sqlite3.connect(world.file, isolation_level=None)) as other:
            other.execute("ALTER TABLE outbox RENAME TO away")
            self.say("外人", f"/报名 外人 {number}")
            await world.bot.log_line("no such table: outbox")
            other.execute("ALTER TABLE away RENAME TO outbox")
            (last,) = other.execute("SELECT value FROM counters WHERE name = 'account'").fetchone()
            other.execute("UPDATE counters SET value = 0 WHERE name = 'account'")
            self.say("后来人", "/报名 后来人")
            await world.bot.log_line("IntegrityError")
            other.execute("UPDATE counters SET value = ? WHERE name = 'account'", (last,))
            other.execute("BEGIN IMMEDIATE")
            self.say("李四", "李四    负    赵六")
            await world.bot.log_line("database is locked", 30)  # others may wait for it first
            other.execute("ROLLBACK")

    async def strangers(self) -> None:
        """Clients that are refused, and addresses with numbers in them."""
        number = worlds.STRANGER
        for token, self_id in ((TOKEN, number), ("wrong", worlds.BOT)):
            address = f"ws://127.0.0.1:{self.world.port}/onebot/v11/ws?access_token={number}"
            intruder = FakeClient(self.world.qq, address, token=token, self_id=self_id, retry=0.1)
            with contextlib.suppress(ConnectionError):
                await intruder.start(timeout=0.5)
            await intruder.stop()
        for path in (f"/{number}", f"/board/players/{number}", f"/board/?find={number}", f"/health?{number}"):
            await asyncio.to_thread(self.get, path)

    def get(self, path: str) -> tuple[str, bytes]:
        """Return the type and the content of an address of the bot's port, whatever its status."""
        try:
            with DIRECT.open(f"http://127.0.0.1:{self.world.port}{path}", timeout=30) as answer:
                return answer.headers.get("content-type", ""), answer.read()
        except urllib.error.HTTPError as error:
            return "", error.read()
