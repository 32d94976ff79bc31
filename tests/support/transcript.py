"""Chat transcripts as test input: who says what, and what the bot must answer, line by line.

    棋手 张三 李四                  registered players, each with his QQ
    未绑定 赵六                     a roster name; the person of that name is there, but his QQ is not bound
    群友 路人                       somebody in the official group who is on no board
    张三：张三    胜    李四         says it in the official group (@记分群, @私聊, @别的群 after the name: there)
    ｜张三    平    李四             a further line of the same message
    李四（引用）：确认               quotes the bot's last message in that chat; （引用#2）: its last one with #2
    李四（引用自己）：确认           quotes his own last message; （引用未知）: an id nobody knows
    小周：/解绑 张三 〈张三〉       〈…〉 stands for somebody's QQ number
    张三 撤回消息                    recalls his last message;  张三 点赞: reacts with 👍 to the bot's last message
    → 「收到」「#1」不「未满」        the bot's next message in the chat where it was last spoken to
    →记分群 「#1」                   the bot's next message in the scoring group;  →私聊李四 「#1」: to him in private
    （25小时后） （时间 2026-12-28 23:59） （重启） （断线） （重连） （改名片 路人 李四）
    （双人群 单跳2v2）               a further official group with this pool: @双人群
    = 张三 2014.5                   his rating, to one decimal;  = 局数 2: games in the book
    = 张三@单跳2v2 2014.5            his rating in another pool
    机密 夜行者                      from here to the end no group may hear his name, card or QQ number from the bot

All of the bot's messages must be expected: after each speech nothing may be left over, so silence is the rule.
"""

import re
from collections import defaultdict
from pathlib import Path

from plugins.rating_bot.sandbox.values import FakeMessage
from rating_core.elo import show_rating
from tests.support.rig import ELSEWHERE, OFFICIAL, PAIRS, SCORING, Rig, running_rig
from tests.support.rows import ms

GROUPS = {"官方群": OFFICIAL, "记分群": SCORING, "双人群": PAIRS, "别的群": ELSEWHERE}
_CHAT = f"({'|'.join(GROUPS)}|私聊)"
_SPEECH = re.compile(rf"([^：@（→=]+?)(?:@{_CHAT})?(?:（引用(#\d+|自己|未知|)）)?：(.*)", re.DOTALL)
_EXPECT = re.compile(rf"→({'|'.join(GROUPS)}|私聊\S*)? ?(.*)")
_FRAGMENT = re.compile(r"(不?)「([^「」]*)」")


class TranscriptError(AssertionError):
    """A line of a transcript that did not hold."""


class Player:
    """Plays one transcript on a rig."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.where = "官方群"
        self.who = ""
        self.read: dict[str, int] = defaultdict(int)
        self.spoken: dict[str, int] = {}
        self.secret: dict[str, int] = {}
        """Whose matters no group may hear of, each with how many messages had gone out before."""

    def said(self, chat: str) -> list[str]:
        """Return what the bot said in a chat and no line has expected yet."""
        return [message.text for message in self._all(chat)[self.read[chat] :]]

    def _all(self, chat: str) -> list[FakeMessage]:
        qq = self.rig.qq
        if chat.startswith("私聊"):
            number = self.rig.people[chat.removeprefix("私聊")]
            return [m for m in qq.private_history(number) if m.user_id == qq.self_id]
        return qq.said_by_bot(GROUPS[chat])

    def check_nothing_left(self) -> None:
        chats = [chat for chat, group in GROUPS.items() if group in self.rig.qq.groups]
        for chat in (*chats, *(f"私聊{who}" for who in self.rig.people)):
            if left := self.said(chat):
                raise TranscriptError(f"nobody expected this in {chat}:\n" + "\n---\n".join(left))

    async def check_secrets(self) -> None:
        """What was queued for any group since says nothing of those whose matters are secret."""
        said_in_private = {str(m.message_id) for n in self.rig.people.values() for m in self.rig.qq.private_history(n)}
        rows = await self.rig.outbox()
        for who, before in self.secret.items():
            telling = {who, self.rig.qq.people[self.rig.people[who]].nickname, str(self.rig.people[who])}
            telling |= {g.members[self.rig.people[who]].card for g in self.rig.qq.groups.values()
                        if self.rig.people[who] in g.members}  # fmt: skip
            for row in (row for row in rows[before:] if row.chat.startswith("g")):
                if row.quote in said_in_private or any(word in row.text for word in telling if word):
                    raise TranscriptError(f"{who} is told of in {row.chat}:\n{row.text}")

    async def step(self, line: str) -> None:
        if line.startswith(("棋手 ", "未绑定 ", "群友 ")):
            kind, *names = line.split()
            if kind == "群友":
                for name in names:
                    self.rig.person(name)
            else:
                await self.rig.league_of(*names, bound=kind == "棋手")
        elif line.startswith("机密 "):
            self.secret[line.removeprefix("机密 ")] = len(await self.rig.outbox())
        elif line.startswith("（"):
            await self._happen(line.strip("（）"))
        elif line.startswith("→"):
            self._expect(line)
        elif line.startswith("= "):
            self._figure(*line[2:].rsplit(" ", 1))
        elif line.endswith((" 撤回消息", " 点赞")):
            await self._gesture(*line.rsplit(" ", 1))
        elif (speech := _SPEECH.fullmatch(line)) is not None:
            await self._say(*speech.groups())
        else:
            raise TranscriptError("this line says nothing")

    async def _say(self, who: str, chat: str | None, quote: str | None, text: str) -> None:
        self.check_nothing_left()
        rig, self.who = self.rig, who.strip()
        self.where = f"私聊{self.who}" if chat == "私聊" else chat or "官方群"
        number = rig.people[self.who]
        text = re.sub("〈(.+?)〉", lambda m: str(rig.people[m.group(1)]), text)
        if chat == "私聊":
            said = rig.qq.say_private(number, text, quote=self._quoted(quote))
        else:
            said = rig.qq.say(GROUPS[self.where], number, text, quote=self._quoted(quote))
        self.spoken[self.who] = said.message_id
        if rig.online:
            await rig.idle()

    def _quoted(self, quote: str | None) -> int | None:
        if quote is None:
            return None
        if quote == "自己":
            return self.spoken[self.who]
        if quote == "未知":
            return 987654321
        messages = [m for m in self._all(self.where) if re.search(f"{quote or '.'}(?!\\d)", m.text)]
        return messages[-1].message_id

    async def _gesture(self, who: str, what: str) -> None:
        self.check_nothing_left()
        qq, self.who = self.rig.qq, who
        if what == "撤回消息" and self.where.startswith("私聊"):
            qq.recall_private(self.rig.people[who], self.spoken[who])
        elif what == "撤回消息":
            qq.recall(GROUPS[self.where], self.spoken[who], self.rig.people[who])
        else:
            group = GROUPS[self.where]
            qq.react(group, qq.said_by_bot(group)[-1].message_id, self.rig.people[who], "76")
        await self.rig.idle()

    async def _happen(self, what: str) -> None:
        self.check_nothing_left()
        rig = self.rig
        if (later := re.fullmatch(r"([\d.]+)小时后", what)) is not None:
            rig.clock.pass_hours(float(later.group(1)))
            if rig.online and rig.parts is not None:
                await rig.parts.tick()
        elif what.startswith("时间 "):
            moment = ms(what.removeprefix("时间 "))
            assert moment >= rig.clock.at, "time goes on"
            rig.clock.at = moment
            if rig.online and rig.parts is not None:
                await rig.parts.tick()
        elif what == "重启":
            await rig.stop()
            await rig.start()
        elif what == "断线":
            rig.disconnect()
        elif what == "重连":
            await rig.connect()
        elif what.startswith("双人群 "):
            await rig.open_pairs_group(what.removeprefix("双人群 "))
        elif what.startswith("改名片 "):
            _, who, card = what.split()
            rig.qq.set_card(OFFICIAL, rig.people[who], card)
        else:
            raise TranscriptError(f"unknown happening {what}")
        if rig.online:
            await rig.idle()

    def _expect(self, line: str) -> None:
        found = _EXPECT.fullmatch(line)
        assert found is not None
        chat = self.where if found.group(1) in (None, "私聊") else found.group(1)
        messages = self.said(chat)
        if not messages:
            raise TranscriptError(f"the bot said nothing in {chat}")
        self.read[chat] += 1
        for negative, fragment in _FRAGMENT.findall(found.group(2)):
            wanted = re.sub(r"@(\S+)", lambda m: f"@{self.rig.people.get(m.group(1), m.group(1))}", fragment)
            if (wanted in messages[0]) == bool(negative):
                raise TranscriptError(f"{'unwanted' if negative else 'missing'} {wanted!r} in:\n{messages[0]}")

    def _figure(self, what: str, value: str) -> None:
        found = str(self.rig.games()) if what == "局数" else show_rating(self.rig.rating(*what.split("@")))
        if found != value:
            raise TranscriptError(f"{what} is {found}")


def lines_of(text: str) -> list[tuple[int, str]]:
    """Return (number, line) of a transcript; ｜ lines are joined to the one before, # lines are remarks."""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("｜"):
            at, before = lines[-1]
            lines[-1] = (at, before + "\n" + line[1:])
        elif line.strip() and not line.startswith("#"):
            lines.append((number, line.rstrip("\n")))
    return lines


async def play(path: Path, folder: Path) -> None:
    """Play a transcript on a new bot. Raises TranscriptError with the line that did not hold."""
    async with running_rig(folder) as rig:
        player = Player(rig)
        for number, line in lines_of(path.read_text("utf-8")):
            try:
                await player.step(line)
            except Exception as error:
                raise TranscriptError(f"{path.name}:{number}: {line}\n{error}") from error
        player.check_nothing_left()
        await player.check_secrets()
