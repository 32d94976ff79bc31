"""The rights matrix: everybody types every command everywhere, and what it did is compared with the contract.

What a message did is read from the database inside its transaction, which is then taken back: each cell begins in the
same world.
"""

import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import event

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.table import TABLE
from plugins.rating_bot.wire.inbound import to_inbound
from plugins.rating_bot.wire.repair import repair
from plugins.rating_bot.wording.common import ERROR
from rating_core.store.wire_store import OutboxTable
from rating_core.times import DAY_MS, SHANGHAI, to_ms
from tests.reliability.hostile_rights_table import RULES, Rule
from tests.support.rig import ELSEWHERE, OFFICIAL, PAIRS, SCORING, Rig, running_rig

ROLES = {
    "x": "路人", "p": "张三", "r": "裁判老赵", "k": "小周", "s": "群主", "d": "免职", "o": "甲", "m": "蒙面",
}  # fmt: skip
PLACES = {
    "official": OFFICIAL, "pairs": PAIRS, "scoring": SCORING, "unconfigured": ELSEWHERE, "private": 0, "temporary": 0,
}  # fmt: skip
DECEMBER = to_ms(datetime(2026, 12, 27, 12, 0, tzinfo=SHANGHAI))
JANUARY = to_ms(datetime(2027, 1, 5, 12, 0, tzinfo=SHANGHAI))
QUEUED = ("pending", "held", "sending")
"""States of what a transaction says."""
OF_THE_WIRE = {"inbox", "outbox", "chats"}
BY_THE_WAY = OF_THE_WIRE | {"accounts", "counters"}
"""What a message that is refused may leave behind: itself, its answer, its sender's card."""
NO_RIGHT = ("无权", "还没有绑定名字", "请在群里发", "请私聊发给我")
WRITTEN = re.compile(r"\s*(?:INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE|DELETE\s+FROM)\s+\"?(\w+)", re.IGNORECASE)


class Undone(BaseException):
    """Takes a transaction back; no handler of the bot's catches it."""


@dataclass(slots=True)
class Did:
    """What one message did."""

    answers: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    entries: int = 0

    def kind(self) -> str:
        """silent, refused, answered, or what it changed."""
        changed = self.written - BY_THE_WAY | ({"ledger"} if self.entries else set())
        if "accounts" in self.written and self.written & {"past_bindings", "journal"}:
            changed.add("accounts")
        if changed:
            return " ".join(sorted(changed))
        if not self.answers:
            return "silent"
        return "refused" if any(sign in answer for sign in NO_RIGHT for answer in self.answers) else "answered"


class Matrix:
    """The world of the table, and what a message does in it."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.number = 0
        self._did = Did()
        league = rig.league
        real = league.transaction

        @asynccontextmanager
        async def taken_back(*, entries: bool = True) -> AsyncIterator[Any]:
            async with real(entries=entries) as tx:
                box = OutboxTable(tx.outbox._connection)
                before = len(await box.rows(*QUEUED, limit=1_000_000))
                yield tx
                self._did.answers = [row.text for row in (await box.rows(*QUEUED, limit=1_000_000))[before:]]
                self._did.entries = tx.appended
                raise Undone

        async def nothing_changed() -> None:
            league._uncertain = False

        league.transaction = taken_back  # type: ignore[method-assign]
        league._read_again = nothing_changed  # type: ignore[method-assign]
        event.listen(league.database.engine.sync_engine, "before_cursor_execute", self._executed)
        assert rig.parts is not None
        rig.parts.dispatcher._say_now = lambda chat, text, quote: self._did.answers.append(text)

    def _executed(self, _c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if (found := WRITTEN.match(statement)) is not None:
            self._did.written.add(found[1])

    async def type(self, role: str, place: str, typed: str) -> Did:
        """Let somebody type something; return what it did."""
        rig, did = self.rig, Did()
        self._did, self.number = did, self.number + 1
        rig.clock.at += 10_000
        user, group, name = rig.people[ROLES[role]], PLACES[place], ROLES[role]
        data: dict[str, Any] = {
            "time": rig.clock.at // 1000, "self_id": rig.qq.self_id, "post_type": "message",
            "message_id": 900_000 + self.number, "user_id": user, "message_type": "group" if group else "private",
            "sub_type": {"private": "friend", "temporary": "group"}.get(place, "normal"), "raw_message": typed,
            "message": [{"type": "text", "data": {"text": typed}}],
            "sender": {"user_id": user, "nickname": name, "card": name, "role": self._group_role(role, place)},
        }  # fmt: skip
        if group:
            data["group_id"] = group
        elif place == "temporary":
            data["sender"]["group_id"] = OFFICIAL
        fixed = repair(data)
        inbound = None if fixed is None else to_inbound(fixed)
        assert inbound is not None and rig.parts is not None
        files = self._files()
        with suppress(Undone):
            await rig.parts.dispatcher.handle(inbound)
        if self._files() != files:
            did.written.add("files")
        return did

    def _group_role(self, role: str, place: str) -> str:
        """Everybody owns every group but the scoring one; there the dismissed one is an admin."""
        return ("admin" if role == "d" else "member") if place == "scoring" else "owner"

    def _files(self) -> tuple[int, int]:
        backups = self.rig.parts.runtime.backups if self.rig.parts else Path()
        return len(list(backups.glob("*.db"))), len(self.rig.qq.shelf.files)


def should(rule: Rule, role: str, place: str) -> str:
    """Return what the contract says of a cell: silent, refused, answered, or the table that is changed."""
    if place == "unconfigured" or rule.where == "nowhere":
        return "silent"
    private = place in ("private", "temporary")
    in_place = rule.where == "any" or (rule.where == "private") == private
    if role in rule.who and in_place:
        return rule.changes or "answered"
    return "refused"


def fits(said: str, did: Did, wanted: str) -> bool:
    """Whether what was done is what should have been."""
    if any(ERROR in answer for answer in did.answers):
        return False
    if wanted == "refused":  # by right, or because things are not so: with an answer, and nothing done
        return said in ("refused", "answered")
    return wanted in said.split()


async def make_world(rig: Rig) -> None:
    """The world that the table describes."""
    rig.clock.at = DECEMBER
    for name in ROLES.values():
        if name not in ("裁判老赵", "小周", "群主"):
            rig.person(name, scoring=True)
    await rig.league_of("张三", "甲", "李四", "王五", "赵六")
    await rig.league_of("乙", "丙", "丁", bound=False)
    rig.qq.add_member(SCORING, rig.people["免职"], card="免职", role="admin")
    await rig.say("群主", f"/任命 记分员 {rig.people['甲']}", SCORING)
    await rig.say("群主", f"/任命 记分员 {rig.people['免职']}", SCORING)
    await rig.say("群主", f"/免去 记分员 {rig.people['免职']}", SCORING)
    await rig.whisper("群主", f"/蒙面人 批准 {rig.people['蒙面']}")
    await rig.say("小周", "/赛事 新建 皇后杯 1.2 单跳1v1", SCORING)
    await rig.say("裁判老赵", "甲 胜 李四\n李四 胜 甲", SCORING)
    await rig.say("裁判老赵", "张三 胜 赵六\n王五 平 赵六", SCORING)
    await rig.say("裁判老赵", "李四 胜 赵六", SCORING)
    await rig.say("李四", "/强制约战 甲")
    rig.clock.at = JANUARY
    assert rig.parts is not None
    await rig.parts.tick()
    await rig.idle()
    await rig.say("小周", "/请假 给 王五 出差", SCORING)
    await rig.say("赵六", "/强制约战 甲")
    await rig.say("甲", "甲 胜 李四")
    await rig.say("张三", "张三 胜 赵六")
    rig.person("申请人")
    await rig.say("申请人", "/报名 新来的")


@dataclass(slots=True)
class Cells:
    """The matrix as it was found."""

    count: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


async def try_cells(folder: Path, share: float = 1.0, seed: int = 0) -> Cells:
    """Try every cell, or a share of them."""
    rng, cells = random.Random(seed), Cells()
    load_handlers()
    words = {rule.typed.removeprefix("/") for rule in RULES}
    for command in TABLE.listed():
        if not any(word == command.word or word.startswith(f"{command.word} ") for word in words):
            cells.wrong.append(f"/{command.word} is in no row of the matrix")
    async with running_rig(folder) as rig:
        await rig.open_pairs_group("单跳2v2")
        await make_world(rig)
        for group in (OFFICIAL, PAIRS, SCORING):
            for name, number in rig.people.items():
                role = rig.qq.groups[group].members[number].role if number in rig.qq.groups[group].members else "member"
                rig.qq.add_member(group, number, card=name, role=role, joined_at=rig.clock.at - 100 * DAY_MS)
        matrix = Matrix(rig)
        for rule in RULES:
            for role in ROLES:
                for place in PLACES:
                    if rng.random() >= share:
                        continue
                    did = await matrix.type(role, place, rule.typed.format(**rig.people))
                    said, wanted = did.kind(), should(rule, role, place)
                    cells.count += 1
                    cells.kinds[wanted if wanted in ("silent", "refused", "answered") else "carried out"] += 1
                    if not fits(said, did, wanted):
                        cells.wrong.append(
                            f"{ROLES[role]} types {rule.typed} in {place}: {said}, should be {wanted}; {did.answers}"
                        )
    return cells
