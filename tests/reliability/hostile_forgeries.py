"""Forged confirmations, over a real socket: whatever is said by whomever, no report takes effect by it.

Each forgery is tried while a report waits; then its state in the database is looked at. In the end the opponent
confirms as the contract says, and each of his ways works.
"""

import contextlib
import json
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.world import BOT, ELSEWHERE, OFFICIAL, POOL, SCORING, World, settings
from tests.support.qq import FakeMessage

PAIRS = 100003
PLAYERS = ("张三", "李四", "王五", "赵六")
SECOND, OWNER, LIKENESS = "张三的小号", "群里的大王", "李四的样子"
"""Another QQ of 张三's; one who owns the official group; one whose card is 李四's."""
GUARDS = tuple(f"路人{number}" for number in range(1, 7))
THUMB = "76"
Event = dict[str, Any]
Forgery = Callable[["Forgers"], Awaitable[object]]


@dataclass(slots=True)
class Forged:
    """What was tried, and what was accepted of it."""

    tried: int = 0
    """Kinds."""
    messages: int = 0
    accepted: list[str] = field(default_factory=list)


class Forgers:
    """The world while report `number` of 张三 against 李四 waits; `prompt` asks 李四."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.number = self.pushed = self._barriers = 0
        self.report: FakeMessage
        self.prompt: FakeMessage
        self.pairs: tuple[int, FakeMessage] = (0, None)  # type: ignore[assignment]
        self.others: tuple[int, FakeMessage] = (0, None)  # type: ignore[assignment]

    async def begin(self) -> None:
        """Let three reports wait: of a pair, of another pair, of two pairs."""
        self.number, self.prompt = await self.world.report("张三", "张三 胜 李四")
        found = self.world.qq.find(self.prompt.quote or 0)
        assert found is not None
        self.report = found
        self.others = await self.world.report("王五", "王五 胜 赵六")
        said = self.world.say("张三", "张三 王五 胜 李四 赵六", PAIRS)
        prompt = await self.world.qq.wait_for(PAIRS, lambda m: m.quote == said.message_id, 20, after=said)
        self.pairs = int(prompt.text.removeprefix("#").split()[0]), prompt

    def states(self) -> list[str]:
        """Return the states of all reports."""
        with contextlib.closing(sqlite3.connect(f"file:{self.world.file}?mode=ro", uri=True)) as connection:
            return [state for (state,) in connection.execute("SELECT state FROM reports ORDER BY report_id")]

    def said(self) -> int:
        """Return how many messages and events there were, but for those of the guards and the bot."""
        qq, guards = self.world.qq, {self.world.people[name] for name in GUARDS}
        chats = [qq.messages(f"g{group}") for group in (OFFICIAL, PAIRS)] + [
            qq.private_history(self.world.people["李四"])
        ]
        reactions = sum(len(users) for chat in chats for m in chat for users in m.reactions.values())
        return self.pushed + reactions + sum(m.user_id not in guards | {BOT} for chat in chats for m in chat)

    def event(self, who: str, text: str, group: int = OFFICIAL, **changes: Any) -> Event:
        """Return the event of a message that QQ does not know."""
        with self.world.client.silent():
            said = self.world.say(who, text, group)
        return self.world.client.event_of(said) | changes

    def push(self, event: Event) -> None:
        self.pushed += 1
        self.world.client.push(event)

    async def every_way(self, who: str, group: int = OFFICIAL) -> None:
        """Confirm in every way that there is, no faster than is listened to."""
        say, qq, user = self.world.say, self.world.qq, self.world.people[who]
        for text in ("确认", "对", "ok", "是"):
            say(who, text, group, quote=self.prompt.message_id)
            say(who, text, group, quote=self.report.message_id)
        await self.barrier()
        for text in (
            "确认",
            f"确认 {self.number}",
            f"确认#{self.number}",
            f"／确认 {self.number}",
            f"/代确认 {self.number} 好",
        ):
            say(who, text, group)
        say(who, "李四 负 张三", group)
        say(who, "张三 胜 李四", group)
        await self.barrier()
        for emoji in (THUMB, "124", "128077") if group == OFFICIAL else ():
            qq.react(OFFICIAL, self.prompt.message_id, user, emoji)
            qq.react(OFFICIAL, self.report.message_id, user, emoji)

    async def barrier(self) -> None:
        """Wait until everything said and pushed in the official groups and by 李四 in private was handled.

        Whoever plays in none of them is told so, in turn with all else.
        """
        self._barriers += 1
        guard = GUARDS[self._barriers % len(GUARDS)]
        for chat, lines in ((OFFICIAL, "张三 胜 李四"), (PAIRS, "张三 王五 胜 李四 赵六")):
            said = self.world.say(guard, lines, chat)
            await self.world.qq.wait_for(chat, lambda m, said=said: m.quote == said.message_id, 30, after=said)
        user = self.world.people["李四"]
        asked = self.world.qq.say_private(user, "张三 平 李四")
        await self.world.qq.wait_private(user, lambda m: m.quote == asked.message_id, 30, after=asked)


def way(who: str) -> Forgery:
    async def forge(forgers: Forgers) -> None:
        await forgers.every_way(who)

    return forge


async def another_prompt(forgers: Forgers) -> None:
    """李四 confirms somebody else's report, which says nothing of his own."""
    forgers.world.say("李四", "对", quote=forgers.others[1].message_id)
    forgers.world.say("李四", f"确认 {forgers.others[0]}")


async def forged_prompts(forgers: Forgers) -> None:
    """Texts that look like the bot's, with another result, and 李四 is taken in."""
    say, number = forgers.world.say, forgers.number
    for who in ("张三", "路人", LIKENESS):
        for text in (
            forgers.prompt.text,
            f"#{number} 待确认\n张三    平    李四\n对方请回复「确认」",
            "张三    平    李四",
            f"#{number}",
            f"请确认 #{number}：平局",
        ):
            if (who, text) == ("张三", "张三    平    李四"):
                continue  # that is a report
            said = say(who, text)
            for word in ("确认", "对"):
                say("李四", word, quote=said.message_id)
            forgers.world.qq.react(OFFICIAL, said.message_id, forgers.world.people["李四"], THUMB)
            await forgers.barrier()


async def unknown_quotes(forgers: Forgers) -> None:
    """Words that answer something, of which nobody knows what."""
    for quote in (1, 2**31 - 1):
        for word in ("对", "是", "ok"):
            forgers.world.say("李四", word, quote=quote)


async def own_side(forgers: Forgers) -> None:
    """In a game of two pairs the partner of the one who reported."""
    number, prompt = forgers.pairs
    for who in ("王五", "张三"):
        for text in ("确认", f"确认 {number}", "李四 赵六 负 张三 王五", "王五 张三 胜 赵六 李四"):
            forgers.world.say(who, text, PAIRS, quote=prompt.message_id if text == "确认" else None)


async def other_accounts(forgers: Forgers) -> None:
    """Events that are not of this bot's connection, or are its own."""
    confirm = f"确认 {forgers.number}"
    for changes in (
        {"self_id": 99999}, {"self_id": "99999"}, {"user_id": BOT}, {"post_type": "message_sent"},
        {"sub_type": "anonymous"}, {"message_type": "guild"}, {"user_id": None, "sender": {}}, {"group_id": None},
        {"message_type": 5, "post_type": "x"},
    ):  # fmt: skip
        forgers.push(forgers.event("李四", confirm, **changes))
    forgers.push(
        forgers.event(
            "路人", confirm, sender={"user_id": forgers.world.people["李四"], "card": "李四", "role": "owner"}
        )
    )


async def in_private(forgers: Forgers) -> None:
    """A matter of the group, said in private, as a friend or through a group."""
    user = forgers.world.people["李四"]
    for text in ("确认", f"确认 {forgers.number}", "李四 负 张三"):
        said = forgers.world.qq.say_private(user, text)
        event = forgers.world.client.event_of(said)
        temporary = {"sub_type": "group", "sender": event["sender"] | {"group_id": OFFICIAL}}
        forgers.push(event | {"message_id": said.message_id + 1, "real_seq": str(said.real_seq + 5000)} | temporary)
        forgers.push(
            event | {"message_id": said.message_id + 2, "real_seq": str(said.real_seq + 9000), "group_id": OFFICIAL}
        )


async def elsewhere(forgers: Forgers) -> None:
    """In a group that is none of the bot's."""
    await forgers.every_way("李四", ELSEWHERE)


async def said_otherwise(forgers: Forgers) -> None:
    """A message of 李四's that comes again with another text: the first counts."""
    said = forgers.world.say("李四", "今天下得不错")
    event = forgers.world.client.event_of(said)
    await forgers.barrier()
    parts = [{"type": "text", "data": {"text": f"确认 {forgers.number}"}}]
    forgers.push(event | {"message": parts})
    forgers.push(event | {"message": parts, "message_id": event["message_id"] + 7})


async def same_ids(forgers: Forgers) -> None:
    """Talk whose message id is that of the prompt, and 李四 agrees with the talk."""
    talk = forgers.event("路人", "晚上一起吃饭吧", message_id=forgers.prompt.message_id)
    forgers.push(talk)
    await forgers.barrier()
    for word in ("对", "是", "ok", "确认"):
        forgers.world.say("李四", word, quote=forgers.prompt.message_id)
    forgers.world.qq.react(OFFICIAL, forgers.prompt.message_id, forgers.world.people["李四"], "124")


async def borrowed_marks(forgers: Forgers) -> None:
    """Marks of the bot's own inside a text, and names in the place of people."""
    number = forgers.world.people["李四"]
    for text in (
        f"\ue000{number}|李四\ue001 确认 {forgers.number}",
        f"[CQ:at,qq={number}] 确认 {forgers.number}",
        f"李四：确认 {forgers.number}",
    ):
        forgers.world.say("路人", text)
        forgers.push(forgers.event("路人", text, message=text))


FORGERIES: dict[str, Forgery] = {
    "the one who reported": way("张三"),
    "his other QQ": way(SECOND),
    "a third player": way("王五"),
    "a stranger": way("路人"),
    "a stranger who owns the group": way(OWNER),
    "a stranger with the opponent's card": way(LIKENESS),
    "a QQ that was unbound": way("李四的旧号"),
    "another report's prompt": another_prompt,
    "a text like the bot's": forged_prompts,
    "an unknown quote": unknown_quotes,
    "the partner": own_side,
    "other accounts": other_accounts,
    "in private": in_private,
    "in another group": elsewhere,
    "said otherwise": said_otherwise,
    "marks": borrowed_marks,
    "the same message id": same_ids,
}


async def gather(world: World) -> None:
    """Everybody is in the groups; the desk binds what is to be bound."""
    world.qq.add_group(PAIRS, "双人群")
    for name in (*PLAYERS, SECOND, "路人", OWNER, LIKENESS, "李四的旧号", *GUARDS):
        world.join(name)
    for name, number in world.people.items():
        for group in (OFFICIAL, PAIRS):
            card = "李四" if name == LIKENESS else name
            world.qq.add_member(group, number, card=card, nickname=card, role="owner" if name == OWNER else "member")
    world.say("群主", "双人群开张", PAIRS)


async def bind(world: World) -> None:
    for command in (
        f"/绑定 张三 {world.people[SECOND]}",
        f"/绑定 李四 {world.people['李四的旧号']}",
        f"/解绑 李四 {world.people['李四的旧号']}",
    ):
        await world.ask("小周", command, group=SCORING)


async def try_forgeries(folder: Path) -> Forged:
    """Try them all, and then every right way."""
    forged, world = Forged(), World(folder)
    groups = {str(OFFICIAL): POOL, str(PAIRS): "单跳2v2"}
    more = {"TIAOQI__OFFICIAL_GROUPS": json.dumps(groups)}
    world.bot = type(world.bot)(folder, settings(world.port, world.url) | more)
    await gather(world)
    await world.prepare(*PLAYERS)
    try:
        await world.start()
        await bind(world)
        forgers = Forgers(world)
        await forgers.begin()
        begin = forgers.said()
        for name, forge in FORGERIES.items():
            before = world.qq.messages(f"g{OFFICIAL}")[-1].real_seq
            await forge(forgers)
            await forgers.barrier()
            forged.tried += 1
            if any(state not in ("waiting", "disputed") for state in forgers.states()):
                said = [m.text for m in world.qq.said_by_bot(OFFICIAL) if m.real_seq > before]
                forged.accepted.append(f"{name}: {forgers.states()}; {said[-5:]}")
                break
        else:
            forged.messages = forgers.said() - begin
            await right_ways(forgers, forged)
        if shed := world.bot.find("flood chat="):
            forged.accepted.append(f"not everything was listened to: {shed}")
        await world.stop()
    finally:
        await world.close()
    return forged


async def right_ways(forgers: Forgers, forged: Forged) -> None:
    """The opponent confirms; what was forged before must not stand in his way."""
    world = forgers.world
    world.say("李四", f"确认 {forgers.number}")
    world.say("赵六", "确认", quote=forgers.others[1].message_id)
    world.qq.react(PAIRS, forgers.pairs[1].message_id, world.people["赵六"], THUMB)
    await forgers.barrier()
    if any(state != "effective" for state in forgers.states()):
        forged.accepted.append(f"and what was right was not taken: {forgers.states()}")
