"""The end of a simulated world: everything that was promised, looked at once more as a whole."""

import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plugins.rating_bot.sandbox.onebot import LAGRANGE_HISTORY_ID
from plugins.rating_bot.sandbox.qq import FakeMessage
from rating_core.service.league import League
from rating_core.store.ledger_store import LedgerStore
from tests.property.agreement import same_challenges_and_leaves, same_entries, same_games, same_standings
from tests.reliability.sim.judge import ON_THE_WAY, Broken, demand
from tests.reliability.sim.rules import FORWARD_TO, Rules
from tests.reliability.sim.sayings import Saying
from tests.support.replaying import first_difference

if TYPE_CHECKING:
    from tests.reliability.sim.world import World

WORK = "('held', 'pending', 'sending', 'unknown')"
ANSWER_LIFE = 600_000
MARK = re.compile("\ue000([0-9]+)(?:\\|([^\ue000\ue001]*))?\ue001")
SURVIVED = 60.0
"""Seconds after which a bot has handled whatever had arrived."""


class Row(NamedTuple):
    """A row of the outbox at the end."""

    outbox_id: int
    chat: str
    state: str
    kind: str
    about: str
    text: str
    message_id: str | None
    created_at: int
    expires_at: int | None

    @property
    def looks(self) -> set[str]:
        """How it may look in QQ, without white space: with mentions, which are no text, or with names for them."""
        return {"".join(MARK.sub(r"@\2", self.text).split()), "".join(MARK.sub("", self.text).split())}


def nothing_left(file: Path) -> bool:
    """Whether the outbox is empty."""
    with closing(sqlite3.connect(file)) as connection:
        return not connection.execute(f"select count(*) from outbox where state in {WORK}").fetchone()[0]


async def check(world: "World") -> None:
    """Raise Broken with the first promise that was not kept."""
    for said in world.judge.sayings.values():
        if not said.heard:
            _not_heard(world, said)
    with closing(sqlite3.connect(world.file)) as connection:
        query = f"select {', '.join(Row._fields)} from outbox order by outbox_id"
        rows = [Row(*row) for row in connection.execute(query)]
        listed = connection.execute("select kind, about from docket where closed_at is null").fetchall()
    _desk(world, listed)
    _each_once(world, rows)
    _acknowledged(world, rows)
    _nothing_due(world)
    life = world.bot.life
    demand(life is not None and life.parts is not None, "the bot is not up")
    assert life is not None and life.parts is not None
    await life.spawn(_same_book(life.parts.runtime.league, world.judge.rules, world.now()))


# --- in ---------------------------------------------------------------------------------------------------


def _not_heard(world: "World", said: Saying) -> None:
    """Raise Broken unless there is a reason why the bot never took it."""
    if said.kind in ("chat", "query"):
        return  # nothing to record, and no old question is answered
    heard = [other for other in world.judge.sayings.values() if other.heard]
    if world.weather.style not in ("napcat", "llonebot") and any(map(said.says_the_same, heard)):
        return  # where messages have no number, the same words of one second are one message
    lives = world.bot.lives
    for number, when in said.delivered:
        ended = lives[number - 1].ended
        demand(ended is not None and ended < when + SURVIVED, "it arrived and was not taken:", said)
    if said.kind in ("recall", "reaction"):
        return  # history does not tell of them
    message = world.qq.find(said.message_id)
    assert message is not None
    if message.recalled or message.message_id in world.line.faults.history_holes:
        return
    if message.message_id in world.line.dropped:
        return  # nobody can know
    connected = world.judge.first_mark.get(said.chat)
    if connected is None or said.at <= connected:
        return  # before the bot's first word with this group all is old
    missed = [at for at, told in world.judge.told_desk if told.startswith(f"missed  群{said.group} ")]
    since = next((a for a, b in world.hidden if a <= message.time and (b is None or message.time < b)), message.time)
    demand(any(at >= since for at in missed), "never taken, and the desk was not told:", said)


# --- out --------------------------------------------------------------------------------------------------


def _each_once(world: "World", rows: list[Row]) -> None:
    """Every message of the bot is one row of the outbox, and every row that was sent one message."""
    unknown = [row for row in rows if row.state in ("held", "pending", "sending", "unknown")]
    for row in unknown:
        demand(row.state == "unknown" and world.told("先留着不重发"), "still to be sent:", row)
    for chat in {row.chat: None for row in rows}:
        _each_once_in(world, chat, [row for row in rows if row.chat == chat])
    for row in rows:
        if row.state == "failed":
            demand(world.told(f"failed_send {row.about}"), "given up without a word to the desk:", row)
        if row.state == "dropped" and row.kind == "answer" and not row.about and row.expires_at is not None:
            demand(row.expires_at - row.created_at == ANSWER_LIFE, "dropped:", row)


def _each_once_in(world: "World", chat: str, rows: list[Row]) -> None:
    """As many messages of a text as rows; of those whose fate is not known there may be one or none."""
    said = _said_in(world, chat)
    messages = Counter(map(_look, said.values()))
    wanted, maybe = Counter[frozenset[str]](), Counter[frozenset[str]]()
    for row in rows:
        looks = frozenset(row.looks)
        wanted[looks] += row.state == "sent"
        maybe[looks] += row.state in ("unknown", "failed")
        if row.state == "sent" and row.message_id:
            message = said.get(int(row.message_id)) or said.get(int(row.message_id) ^ LAGRANGE_HISTORY_ID)
            demand(message is not None and _look(message) in looks, "sent, but not as this:", row)
    for looks, least in wanted.items():
        count = sum(messages.pop(look, 0) for look in looks)
        hidden = sum(1 for m in said.values() if m.message_id in world.line.faults.history_holes and _look(m) in looks)
        if world.weather.style == "lagrange":
            least = min(least, 1)  # its numbers in history are others: two that say the same are one to the bot
        most = wanted[looks] + maybe[looks] + hidden  # of what QQ loses from history nobody can know that it is out
        demand(least <= count <= most, f"{count} times instead of {wanted[looks]}:", min(looks))
    demand(not messages, "said by nobody's order:", messages)


def _said_in(world: "World", chat: str) -> dict[int, FakeMessage]:
    return {m.message_id: m for m in world.qq.messages(chat) if m.user_id == world.qq.self_id}


def _look(message: FakeMessage) -> str:
    texts = (part["data"]["text"] for part in message.segments if part["type"] == "text")
    return "".join("".join(texts).split())


def _acknowledged(world: "World", rows: list[Row]) -> None:
    """One 收到 and one forward for each report that took effect, unless given up, of which the desk knows."""
    holes = world.line.faults.history_holes
    lost = [row for row in rows if row.state in ("failed", "unknown")]
    for number, at in world.judge.took_effect:
        slip = world.judge.rules.slip(number)
        heads = [(slip.chat, f"收到 #{number}（")]
        if slip.chat != FORWARD_TO:
            heads.append((FORWARD_TO, f"#{number} {slip.pool}\n"))
        for chat, head in heads:
            found = [m for m in _said_in(world, chat).values() if f"\n{head}" in f"\n{m.text}"]
            shown = [m for m in found if m.message_id not in holes]
            given_up = any(row.chat == chat and f"\n{head}" in f"\n{row.text}" for row in lost)
            known = given_up and _desk_knows(world, number)
            right = (len(found) >= 1 and len(shown) <= 1) or (not found and known)
            demand(right, f"{len(found)} times {head!r} in {chat}, took effect at {at}")
    for chat in {row.chat: None for row in rows}:
        demand(not any("出错了" in m.text for m in _said_in(world, chat).values()), "an error in", chat)


def _desk_knows(world: "World", number: int) -> bool:
    """Whether the desk was told of a message about a report, or of one in which it stands, that it is not out."""
    alarms = (told.split("发到")[0] for _, told in world.judge.told_desk if told.startswith("failed_send "))
    return any(f"#{number}" in about.replace("…", "").split() for about in alarms)


def _desk(world: "World", listed: list[tuple[str, str]]) -> None:
    """Nothing stands twice on the desk's list, every number on it is something, and nobody is told of what was not."""
    twice = [item for item, count in Counter(listed).items() if item[1] and count > 1]
    demand(not twice, "twice on the desk's list:", twice)
    slips = world.judge.rules.slips
    for kind, about in listed:
        if about.startswith("#"):
            numbers = [int(one[1:]) for one in about.replace("…", "").split()]
            demand(all(number in slips for number in numbers), "on the desk's list, and nothing:", kind, about)
        if kind == "late_objection":
            demand(slips[int(about[1:])].state in ("effective", "void"), "objected to before effect:", about)
        if kind in ("missed", "failed_send"):
            demand(not world.weather.calm, "the desk is told of what never was:", kind, about)


# --- the book ---------------------------------------------------------------------------------------------


def _nothing_due(world: "World") -> None:
    rules = world.judge.rules
    entries = len(rules.items)
    rules.due(world.now() - ON_THE_WAY - 60_000 * 60 * 24)
    demand(len(rules.items) == entries, "not entered:", rules.items[entries:])


async def _same_book(league: League, rules: Rules, now: int) -> None:
    """The Book is what a fresh fold and the rules make of the ledger, and the chain is whole."""
    async with league.database.read() as connection:
        ledger = LedgerStore(connection)
        rows = [row async for batch in ledger.batches_after(0) for row in batch]
    try:
        same_entries(rows, rules)
        demand(first_difference(league.book, rows) is None, first_difference(league.book, rows))
        same_games(league.book, rules)
        same_standings(league.book, rules)
        same_challenges_and_leaves(league.book, rules, now)
    except Broken:
        raise
    except AssertionError as error:
        raise Broken(f"the Book differs from the rules: {error}") from error
