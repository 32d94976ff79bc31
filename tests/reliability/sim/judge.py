"""Watches every transaction that the bot commits, and holds it to the rules.

It looks with queries of its own, right after the COMMIT: which message was taken, which entries were made, what
became of the reports, what is to be sent. Nothing may be in there that no message with the right to it explains.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.rating_bot.sandbox.onebot import LAGRANGE_HISTORY_ID
from plugins.rating_bot.sandbox.qq import FakeQQ
from tests.reliability.sim.league import GROUPS
from tests.reliability.sim.rules import FORWARD_TO, Effects, Rules
from tests.reliability.sim.sayings import Saying
from tests.support.plain_book import HOUR, Item

ON_THE_WAY = 5_000
"""A tick leaves so many ms for what is still on its way."""
CONFIRM_WITHIN = 72 * HOUR
WATCHED = {"inbox", "ledger", "reports", "outbox", "docket", "chats"}
NUMBER = re.compile("(?:#|预|约|局|账|第)[0-9]+期?")


class Broken(AssertionError):
    """A promise was broken."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the ledger."""

    seq: int
    said_at: int
    kind: str
    pool: str
    actor: int
    refers_to: int | None
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sending:
    """A row of the outbox as it was queued."""

    outbox_id: int
    chat: str
    kind: str
    about: str
    text: str


def demand(holds: object, *what: object) -> None:
    """Raise Broken unless it holds."""
    if not holds:
        raise Broken(" ".join(map(str, what)))


class Judge:
    """`now` gives ms, `life` the number of the bot's life, `stopping` whether that is about to end.

    `trace` writes a line.
    """

    def __init__(
        self, qq: FakeQQ, now: Callable[[], int], life: Callable[[], int], stopping: Callable[[], bool],
        trace: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.rules = Rules()
        self.sayings: dict[tuple[str, int, int], Saying] = {}
        """By kind of notice or "", message id and, of a reaction, who."""
        self.accounts: dict[int, int] = {}
        """Account id of the product → QQ number."""
        self.told_desk: list[tuple[int, str]] = []
        """When what was put on the desk's list: kind, number, detail."""
        self.took_effect: list[tuple[int, int]] = []
        """Number of each report that took effect, and when."""
        self.first_mark: dict[str, int] = {}
        """Chat → when it got its first watermark: all before is old."""
        self.broken: Broken | None = None
        self._qq = qq
        self._now = now
        self._life = life
        self._stopping = stopping
        self._trace = trace
        self._inbox = self._seq = self._outbox = self._docket = 0

    def begin(self, connection: sqlite3.Connection) -> None:
        """Look at the database as it is before anything happens."""
        self._seq = connection.execute("select max(seq) from ledger").fetchone()[0]
        demand(self._seq == len(self.rules.items), "the template is not what the rules begin with")
        self.accounts = {number: int(qq) for number, qq in connection.execute("select account_id, qq from accounts")}

    def committed(self, connection: sqlite3.Connection, tables: set[str]) -> None:
        """A transaction was committed. What is wrong is kept in `broken`, for the product would take an exception."""
        if self.broken is not None or not tables & WATCHED:
            return
        try:
            self._look(connection, tables)
        except Broken as broken:
            self.broken = broken
        except Exception as error:  # the rules met something that cannot be
            self.broken = Broken(f"{error!r}")
            self.broken.__cause__ = error

    # --- one transaction ----------------------------------------------------------------------------------

    def _look(self, connection: sqlite3.Connection, tables: set[str]) -> None:
        if "chats" in tables and len(self.first_mark) < len(GROUPS):
            for (chat,) in connection.execute("select chat from chats where watermark_at > 0"):
                self.first_mark.setdefault(chat, self._now())
        rows = self._new_entries(connection) if "ledger" in tables else []
        sendings = self._new_sendings(connection) if "outbox" in tables else []
        listed = self._new_docket(connection) if "docket" in tables else []
        said = self._taken(connection, passed_over="old_command" in listed) if "inbox" in tables else None
        rules = self.rules
        rules.effects = Effects()
        first = len(rules.items)
        self._due(rows, self._now() if said is None else min(said.at, self._now()))
        if said is not None:
            self._carry_out(connection, said)
        elif "reports" in tables:
            self._expired(connection)
        self._same_entries(rows, rules.items[first:])
        if said is not None or "reports" in tables:
            self._same_reports(connection)
        if said is not None:
            self._answered(sendings)

    def _new_entries(self, connection: sqlite3.Connection) -> list[Entry]:
        query = "select seq, said_at, kind, pool, actor, refers_to, payload from ledger where seq > ? order by seq"
        rows = [Entry(*row[:-1], json.loads(row[-1])) for row in connection.execute(query, (self._seq,))]
        if rows:
            self._seq = rows[-1].seq
        for row in rows:
            self._trace(f"ledger 账{row.seq} {row.kind} {row.pool} actor {row.actor}")
        return rows

    def _new_sendings(self, connection: sqlite3.Connection) -> list[Sending]:
        query = "select outbox_id, chat, kind, about, text from outbox where outbox_id > ? order by outbox_id"
        rows = [Sending(*row) for row in connection.execute(query, (self._outbox,))]
        if rows:
            self._outbox = rows[-1].outbox_id
        return rows

    def _new_docket(self, connection: sqlite3.Connection) -> list[str]:
        """What was put on the desk's list: kinds."""
        query = "select docket_id, kind, about, detail from docket where docket_id > ? order by docket_id"
        kinds = []
        for number, kind, about, detail in connection.execute(query, (self._docket,)):
            self._docket = number
            kinds.append(kind)
            self._trace(f"desk: {kind} {about} {detail}")
            self.told_desk.append((self._now(), f"{kind} {about} {detail}"))
        return kinds

    def _taken(self, connection: sqlite3.Connection, *, passed_over: bool) -> Saying | None:
        """The message that this transaction took; each may be taken once.

        While the bot is stopping its event may be dropped, and history tells of it: a command is passed over then.
        """
        query = "select inbox_id, key, message_id, qq from inbox where inbox_id > ? order by inbox_id"
        rows = connection.execute(query, (self._inbox,)).fetchall()
        demand(len(rows) <= 1, "two messages in one transaction:", rows)
        if not rows:
            return None
        self._inbox, key, message_id, qq = rows[0]
        notice = next((kind for kind in ("recall", "reaction") if f"|{kind}|" in key), "")
        who = int(qq) if notice == "reaction" else 0
        said = self.sayings.get((notice, int(message_id), who))
        if said is None:
            said = self.sayings.get((notice, int(message_id) ^ LAGRANGE_HISTORY_ID, who))
        demand(said is not None, "nobody said what was taken:", rows[0])
        assert said is not None
        demand(not said.heard, "taken twice:", said)
        said.heard = True
        said.made_up = all(life != self._life() for life, _ in said.delivered) or (passed_over and self._stopping())
        self._trace(f"bot takes{' from history' if said.made_up else ''}: {said}")
        return said

    def _due(self, rows: Sequence[Entry], until: int) -> None:
        """The entries in front that the clock made, as far as they are what was due."""
        rules, first = self.rules, len(self.rules.items)
        by_clock = 0
        while by_clock < len(rows) and rows[by_clock].actor == 0:
            by_clock += 1
        if not by_clock or rows[by_clock - 1].said_at > until:
            return
        rules.due(rows[by_clock - 1].said_at)
        made = [_of(item) for item in rules.items[first:]]
        if made != [_of(row) for row in rows[: len(made)]]:
            del rules.items[first:]  # not these: they follow from the message
            rules._known.clear()

    def _carry_out(self, connection: sqlite3.Connection, said: Saying) -> None:
        rules = self.rules
        about, ours = "", False
        if said.quote is not None or said.kind in ("recall", "reaction"):
            about, ours = self._known_of(connection, said)
        if said.kind == "report":
            rules.report(said)
        elif said.kind == "word":
            rules.word(said, about, ours)
        elif said.kind == "command":
            rules.command(said)
            if said.made_up and said.verb != "withdraw" and (said.person.desk or said.verb in ("leave", "challenge")):
                told = any(what.startswith("old_command") for _, what in self.told_desk)
                demand(told or said.person.player is None, "an old command, and the desk was not told:", said)
        elif said.kind == "reaction" and about.startswith("#") and ours:
            rules.confirm(said.person, int(about[1:]), said.at)
        elif said.kind == "recall" and about.startswith("#"):
            slip = rules.slip(int(about[1:]))
            if slip.message_id == said.message_id:
                rules.withdraw(said.person, slip.number, said.at)
        demand(said.kind != "chat", "small talk was taken for something:", said)

    def _known_of(self, connection: sqlite3.Connection, said: Saying) -> tuple[str, bool]:
        """What the bot knew of the message that was quoted, recalled or reacted to: its subject, whether its own.

        What it knew is its matter, as long as it is true.
        """
        number = str(said.quote if said.quote is not None else said.message_id)
        query = "select about, {} from {} where chat = ? and message_id = ? order by 1 desc"
        sent = connection.execute(query.format("kind", "outbox"), (said.chat, number)).fetchone()
        heard = connection.execute(query.format("inbox_id", "inbox"), (said.chat, number)).fetchone()
        about = next((row[0] for row in (sent, heard) if row is not None and row[0]), "")
        message = self._qq.find(int(number))
        assert message is not None
        own = message.user_id == self._qq.self_id
        named = {found.rstrip("期") for found in NUMBER.findall(message.text)}
        if not own and (quoted := self.sayings.get(("", message.message_id, 0))) is not None:
            named |= {quoted.led_to, *(f"#{n}" for n in quoted.numbers)}
        demand(not about or about.rstrip("期") in named, "a message is taken to be about", about, ":", message.text)
        demand(sent is None or own, "another's message counts as the bot's own:", message.text)
        ours = sent is not None
        if said.kind == "reaction":
            ours = ours and sent[1] in ("prompt", "reminder")
        return about, ours

    def _expired(self, connection: sqlite3.Connection) -> None:
        """A tick may move what waited for too long to the desk's list."""
        for number, state in connection.execute("select report_id, state from reports"):
            slip = self.rules.slips.get(number)
            if slip is not None and slip.state == "waiting" and state == "expired":
                demand(self._now() - ON_THE_WAY >= slip.posted + CONFIRM_WITHIN, f"#{number} expired too early")
                slip.state = "expired"
                self._trace(f"#{number} goes to the desk")

    # --- compared -----------------------------------------------------------------------------------------

    def _same_entries(self, rows: Sequence[Entry], items: Sequence[Item]) -> None:
        ours, theirs = [_of(row) for row in rows], [_of(item) for item in items]
        demand(ours == theirs, "the ledger got", ours, "where the rules say", theirs)
        for row, item in zip(rows, items, strict=True):
            if row.kind == "games":
                self._same_games(row, item)

    def _same_games(self, row: Entry, item: Item) -> None:
        said, slip = row.payload, self.rules.slip(item.data["report"])
        lines = [[list(left), result, list(right)] for left, result, right in item.data["lines"]]
        ours = (said["report"], said["first"], said["posted_at"], said["lines"], self.accounts.get(said["by"]))
        demand(
            ours == (slip.number, item.data["first"], slip.posted, lines, slip.by), "the games of", slip, "are", ours
        )
        confirmed_by = self.accounts.get(said.get("confirmed_by") or 0, 0)
        demand(confirmed_by == slip.confirmed_by, slip, "was confirmed by", confirmed_by)

    def _same_reports(self, connection: sqlite3.Connection) -> None:
        ours = dict(connection.execute("select report_id, state from reports"))
        theirs = {number: slip.state for number, slip in self.rules.slips.items()}
        differ = {n: (ours.get(n), theirs.get(n)) for n in {**ours, **theirs} if ours.get(n) != theirs.get(n)}
        demand(not differ, "reports: number, what the bot has, what the rules say:", differ)

    def _answered(self, sendings: Sequence[Sending]) -> None:
        """One 收到 and one forward for what took effect, one prompt for what waits; none for anything else."""
        effects = self.rules.effects
        wanted: Counter[tuple[str, str, str]] = Counter()
        for number in effects.took_effect:
            chat = self.rules.slip(number).chat
            wanted["ack", chat, f"#{number}"] += 1
            if chat != FORWARD_TO:
                wanted["forward", FORWARD_TO, f"#{number}"] += 1
            self.took_effect.append((number, self._now()))
        for number in effects.waits:
            wanted["prompt", self.rules.slip(number).chat, f"#{number}"] += 1
        found = Counter((s.kind, s.chat, s.about) for s in sendings if s.kind in ("ack", "forward", "prompt"))
        demand(found == wanted, "to be sent:", dict(found), "where it should be", dict(wanted))


def _of(entry: Entry | Item) -> tuple[Any, ...]:
    at = entry.said_at if isinstance(entry, Entry) else entry.at
    return entry.kind, at, entry.pool, entry.refers_to
