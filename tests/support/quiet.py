"""What every message of the bot must keep to (commands.md, "Quiet by design"), and who looks at all of them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from plugins.rating_bot.handlers.dispatch import command_text
from plugins.rating_bot.handlers.grammar import Mismatch, split
from plugins.rating_bot.handlers.table import TABLE
from plugins.rating_bot.handlers.words import read_word
from plugins.rating_bot.wire.messages import AT_MARK
from rating_core.directory import Directory
from rating_core.report_text import looks_like_report
from rating_core.rulebook import POOLS
from rating_core.store.tables import outbox, reports
from tests.support.rig import Rig

MOST_LINES, MOST_CHARS, MOST_ANSWERS = 15, 500, 2
WINDOW_MS = 60_000
A_MINUTE = 8
"""Queries one person may ask in a minute."""


def visible(text: str) -> str:
    """The text as people see it: a mention shows the name."""
    return AT_MARK.sub(lambda found: f"@{found.group(2) or found.group(1)}", text)


def too_long(text: str) -> str:
    """Why a message is too long, "" if it is not."""
    lines, chars = visible(text).count("\n") + 1, len(visible(text))
    return f"{lines} lines, {chars} characters" if lines > MOST_LINES or chars > MOST_CHARS else ""


def can_be_typed(line: str, directory: Directory) -> bool:
    """Whether a line is a command, a short answer or a report that is understood as it stands."""
    if (typed := command_text(line)) is not None:
        found = TABLE.find(typed)
        if found is None:
            return False
        try:
            split(found[1], found[0].slots, directory)
        except Mismatch as mismatch:
            return bool(mismatch.unknown)  # a name to put in
        return True
    header = line.removeprefix("#")
    if header in POOLS or directory.event_id(header) is not None:
        return True
    return read_word(line, quoted=True) is not None or looks_like_report(line, directory.roster, True)


_ASKED_FOR = re.compile("(发|回|写|例如|发出来|命令)：$")
"""The end of a line after which stands what to type."""


def dead_end(text: str, directory: Directory) -> str:
    """What is wrong with the end of an answer that expects something, "" if nothing is."""
    *before, last = visible(text).split("\n")
    if last.startswith(("/", "／", "确认 ", "有误 ")) and not can_be_typed(last, directory):
        return f"the last line cannot be typed: {last!r}"
    if before and _ASKED_FOR.search(before[-1]) and not can_be_typed(last, directory):
        return f"the line asked for cannot be typed: {last!r}"
    if last.endswith(("：", ":")):
        return "it ends with a colon"
    return ""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a message, and what it answers."""

    asked: str
    text: str
    what: str

    def __str__(self) -> str:
        return f"--- {self.what}\n    {self.asked}\n{self.text}"


class Everything:
    """Says many things to the bot and looks at all that it says."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.asked: dict[str, str] = {}
        """What was said, by message id: 张三：/等级分."""
        self.faults: list[Fault] = []
        self._queries: set[str] = set()
        self._quoted: set[str] = set()
        self._answers: Counter[str] = Counter()
        self._seen = 0
        self._followed: set[str] = set()

    async def say(self, who: str, texts: Sequence[str], group: int | None) -> list[Any]:
        """Let somebody say several things, as fast as the limit of queries allows; None: in private.

        Return the rows of what the bot said to it, wherever.
        """
        qq, number = self.rig.qq, self.rig.people[who]
        said: list[str] = []
        for text in texts:
            message = qq.say_private(number, text) if group is None else qq.say(group, number, text)
            said.append(str(message.message_id))
            self.asked[said[-1]] = f"{who}：{text}"
            found = TABLE.find(text[1:])
            if found is not None and found[0].query:
                self._queries.add(said[-1])
        await self.rig.idle()
        self.rig.clock.at += WINDOW_MS
        rows = await self.look()
        for key in said:
            what, answers = self.asked[key], self._answers[key]
            silent = key not in self._quoted and "/格式" not in what  # that one quotes nothing
            if "：/" in what and (silent or answers > MOST_ANSWERS):
                self.faults.append(Fault(what, "", f"{answers} answers"))
        return rows

    async def follow(self, who: str, group: int, rows: Sequence[Any]) -> None:
        """Type the last lines of what the bot said, as they stand: they must be understood."""
        lasts = {row.text.split("\n")[-1] for row in rows if self.asked.get(row.quote or "", "").startswith(f"{who}：")}
        lines = sorted(line for line in lasts - self._followed if line.startswith(("/", "确认 ", "有误 ")))
        self._followed |= lasts
        for start in range(0, len(lines), A_MINUTE):
            for row in await self.say(who, lines[start : start + A_MINUTE], group):
                if "没看懂" in row.text or "格式：" in row.text:
                    self.faults.append(Fault(self.asked.get(row.quote, ""), row.text, "is not understood as it stands"))

    async def look(self) -> list[Any]:
        """Look at what the bot queued since the last look; return the rows."""
        new = select(outbox).where(outbox.c.outbox_id > self._seen).order_by(outbox.c.outbox_id)
        async with self.rig.league.database.read() as connection:
            rows = list((await connection.execute(new)).all())
        for row in rows:
            self._seen = row.outbox_id
            self._quoted.add(row.quote or "")
            self._answers[row.quote or ""] += row.kind != "forward"
            asked = self.asked.get(row.quote or "", f"({row.kind} {row.about} in {row.chat})")
            self.faults += [Fault(asked, visible(row.text), what) for what in await self._wrong(row)]
        return rows

    async def _wrong(self, row: Any) -> list[str]:
        text = row.text
        wrong = [too_long(text), too_long(row.caption), dead_end(text, self.rig.league.directory)]
        if "http" in text or "www." in text:
            wrong.append("a link")
        mentioned = {found.group(1) for found in AT_MARK.finditer(text)}
        if mentioned and row.quote in self._queries:
            wrong.append("a mention in the answer to a query")
        elif mentioned and mentioned - await self._who_must_act(row.about):
            wrong.append(f"mentions of who need not act: {mentioned}")
        if row.kind == "prompt":
            games = [line for line in text.split("\n") if re.search(" {4}[胜平负]+ {4}", line)]
            if text.count("\n") + 1 - len(games) > 3:
                wrong.append("a prompt of more than 3 lines besides the games")
        return [what for what in wrong if what]

    async def _who_must_act(self, about: str) -> set[str]:
        """The QQs of those whom a matter waits for: the other side of a report, a challenged player, an applicant."""
        directory, state = self.rig.league.directory, self.rig.league.book.state
        number = int(re.sub("[^0-9]", "", about) or 0)
        async with self.rig.league.transaction() as tx:
            if about.startswith("#") and (report := await tx.reports.get(number)) is not None:
                players = report.sides()[1] if report.player_id is not None else ()
                return {qq for player in players for qq in directory.qqs_of(player)}
            if about.startswith("审") and (application := await tx.people.application(number)) is not None:
                return {directory.by_id[application.account_id].qq or ""}
        if about.startswith("约") and number in state.challenges:
            return set(directory.qqs_of(state.challenges[number].opponent))
        return set()

    async def last_report(self) -> int:
        async with self.rig.league.database.read() as connection:
            return int((await connection.execute(select(func.max(reports.c.report_id)))).scalar() or 0)

    def check(self) -> None:
        """Raise AssertionError with the first faults."""
        faults, self.faults = self.faults, []
        assert not faults, "\n".join(map(str, faults[:40]))
