"""From the games and changes of a file to ledger entries, in the order in which they took effect."""

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.importing.files import GameFile, RawChange, RawPlayer
from rating_core.importing.games_plan import GamesPlan, GamesReader, NewEvent, Numbers, Options, Planned
from rating_core.importing.planner import RESERVED
from rating_core.importing.values import Problem
from rating_core.ledger import (
    Adjustment,
    ChallengeForfeited,
    ChallengeIssued,
    Draft,
    Entry,
    EventClosed,
    EventOpened,
    Games,
    IpChecked,
    LeaveTaken,
    OpeningBalance,
    PlayerRegistered,
    Settlement,
    Void,
)
from rating_core.names import is_erased_label
from rating_core.report_text import GameLine
from rating_core.rulebook import EVENT_WEIGHTS, MAX_REPORT_LINES, POOLS, UNRATED_WEIGHT
from rating_core.service.events import check_event_name
from rating_core.service.refusal import Refusal
from rating_core.state import pair_code
from rating_core.store.report_store import Report
from rating_core.times import day_of, season_of, start_of
from rating_core.workbook import layout

BY = 0
"""Stands for the account that imports, until it is known."""


def plan_games(
    file: GameFile, book: Book, directory: Directory, numbers: Numbers, options: Options, at: int,
    reserved: Container[str] = RESERVED,
) -> GamesPlan:  # fmt: skip
    """Check a file of games against the book; `at` (ms) is now. Nothing is changed."""
    reader = GamesReader(file, book, directory, options, at, reserved)
    games = reader.read()
    names = reader.names
    found = GamesPlan(
        file, options, tuple(games), tuple(player.name for player in names.new), (), dict(reader.as_losses),
        tuple(names.unknown.values()), tuple(sorted(reader.problems, key=lambda problem: problem.row)), seq=book.seq,
    )  # fmt: skip
    return _Builder(found, reader, book, directory, numbers, at).build() if found.clear else found


@dataclass(slots=True)
class _Event:
    """An event while entries are made: of the book, or new."""

    number: int
    weight: float
    pool: str
    open: bool
    last_at: int = 0
    new: bool = False


class _Builder:
    def __init__(
        self, found: GamesPlan, reader: GamesReader, book: Book, directory: Directory, numbers: Numbers, at: int
    ) -> None:
        self._plan, self._reader, self._book, self._numbers, self._at = found, reader, book, numbers, at
        self._next = numbers
        self._drafts: list[Draft] = []
        self._reports: list[tuple[int, Report]] = []
        state = book.state
        known = ((name, number, state.events[number]) for number, name in directory.events.items())
        self._events = {name: _Event(number, e.opened.weight, e.pool, e.open) for name, number, e in known}
        self._event_names = dict(directory.events)
        self._settled = dict(state.settled)
        games = found.games
        self._first_at = games[0].effective_at if games else at
        listed = [game.raw.number for game in games]
        self._keeps_numbers = numbers.game == 0 and _ascending(listed)
        self._groups = list(_groups(games, self._keeps_numbers))
        reports = [group[0].raw.report for group in self._groups]
        self._keeps_reports = numbers.report == 0 and None not in reports and len(set(reports)) == len(reports)

    # --- small helpers ------------------------------------------------------------------------------------

    def _take(self, name: str, count: int = 1) -> int:
        """Return the first of `count` new short numbers."""
        last = getattr(self._next, name)
        self._next = replace(self._next, **{name: last + count})
        return int(last) + 1

    def _add(self, entry: Entry, said_at: int, pool: str = "", refers_to: int | None = None) -> int:
        """Add an entry; return the ledger row that it will be."""
        self._drafts.append(Draft(entry, said_at, BY, pool, refers_to))
        return self._plan.seq + len(self._drafts)

    def _player(self, number: int) -> int:
        """Return a player's number as it will be: new ones follow those of the book."""
        return number if number > 0 else self._numbers.player - number

    # --- the order of things ------------------------------------------------------------------------------

    def build(self) -> GamesPlan:
        names = self._register()
        changes = list(self._placed())
        done = 0
        for position, group in _positioned(self._groups):
            while done < len(changes) and changes[done][0] <= position:
                done = self._change(changes, done)
            self._games(group)
        while done < len(changes):
            done = self._change(changes, done)
        self._close_old_events()
        plan = replace(
            self._plan, problems=tuple(sorted(self._reader.problems, key=lambda problem: problem.row)),
            unknown=tuple(self._reader.names.unknown.values()),
        )  # fmt: skip
        if not plan.clear:
            return plan
        events = tuple(
            NewEvent(name, event.weight, event.pool, event.number) for name, event in self._events.items() if event.new
        )
        return replace(
            plan, events=events, drafts=tuple(self._drafts), names=tuple(names), reports=tuple(self._reports),
            numbers=self._next,
        )  # fmt: skip

    def _register(self) -> list[tuple[int, tuple[str, ...]]]:
        """New players first; balances of those who start with a rating of their own."""
        names = []
        new = self._reader.names.new
        for number, player in enumerate(new, start=1):
            registered = self._player(-number)
            initial, placing = self._reader.initials[-number]
            self._add(PlayerRegistered(registered, initial, placing), self._first_at)
            if player.ip_checked:
                self._add(IpChecked(registered, True), self._first_at)
            if not is_erased_label(player.name):  # who was forgotten has no name here either
                names.append((registered, (*player.former, player.name)))
        self._take("player", len(new))
        for number, (player, rating) in self._reader.starts.items():
            self._start(number, player, rating)
        return names

    def _start(self, number: int, player: RawPlayer, rating: float) -> None:
        pools = dict.fromkeys(g.pool for g in self._plan.games if number in (*g.left, *g.right)) or list(POOLS)[:1]
        for pool in pools:
            if number > 0 and self._book.state.look(pool, number).listed:
                self._reader.wrong(player.row, "has_games", name=player.name, pool=pool)
                continue
            as_of = start_of(day_of(self._first_at))
            self._add(OpeningBalance(self._player(number), rating, 0, 0, 0, as_of), self._first_at, pool)

    def _placed(self) -> Iterator[tuple[int, RawChange]]:
        """Yield the changes of the file, each with how many games come before it."""
        order = {game.raw.number: place for place, game in enumerate(self._plan.games, start=1)}
        before = 0
        for change in self._plan.file.changes:
            place = order.get(change.after, 0)
            if change.after and not place:
                self._wrong(change, "在局后", "no_such_game", value=change.after)
            elif place < before:
                self._wrong(change, "在局后", "change_out_of_order", value=change.after)
            else:
                before = place
                yield place, change

    def _wrong(self, change: RawChange, column: str, code: str, **facts: object) -> None:
        self._reader.wrong(change.row, code, column, layout.CHANGES, **facts)

    # --- games --------------------------------------------------------------------------------------------

    def _games(self, group: list[Planned]) -> None:
        """Enter the games of one report, and that those are void which are."""
        head = group[0]
        event = self._event_of(head)
        if event is None and head.event:
            return
        if event is not None:
            event.last_at = max(event.last_at, head.effective_at)
        first = head.raw.number if self._keeps_numbers and head.raw.number else self._next.game + 1
        self._next = replace(self._next, game=first + len(group) - 1)
        report = head.raw.report if self._keeps_reports and head.raw.report else self._next.report + 1
        self._next = replace(self._next, report=max(self._next.report, report))
        weight = event.weight if event is not None else head.weight
        lines = tuple(
            GameLine(tuple(map(self._player, g.left)), g.result, tuple(map(self._player, g.right))) for g in group
        )
        number = event.number if event is not None else None
        seq = self._add(Games(report, first, head.at, weight, lines, BY, number), head.effective_at, head.pool)
        void = [offset for offset, game in enumerate(group) if game.raw.void]
        state = "void" if len(void) == len(group) else "effective"
        kept = Report(
            report, state, head.pool, number, weight, lines, "", "", head.at, BY, None, decided_at=head.effective_at
        )
        self._reports.append((len(self._drafts) - 1, kept))
        for entry in [Void()] if state == "void" else [Void(first + offset) for offset in void]:
            self._add(entry, head.effective_at, head.pool, seq)

    def _event_of(self, game: Planned) -> _Event | None:
        """Return the event of a game, opened where there is none yet; None outside events or where it cannot be."""
        if not game.event:
            return None
        event = self._events.get(game.event)
        row = game.raw.row
        if event is None:
            if not game.weight:
                self._once(row, "event_weight_missing", game.event)
                return None
            return self._open(game.event, game.weight, game.pool, game.effective_at, row)
        if event.pool != game.pool:
            self._once(row, "event_other_pool", game.event, pool=event.pool)
        elif game.weight and game.weight != event.weight:
            self._once(row, "event_weights_differ", game.event, ours=f"{event.weight:g}", theirs=f"{game.weight:g}")
        elif not event.open and not event.new:
            self._once(row, "event_closed", game.event)
        return event

    def _once(self, row: int, code: str, event: str, **facts: object) -> None:
        """Say of an event once what is wrong with it."""
        if all((p.code, p.facts.get("event")) != (code, event) for p in self._reader.problems):
            self._reader.problems.append(Problem(row, "赛事", code, {"event": event} | facts))

    def _open(
        self, name: str, weight: float, pool: str, at: int, row: int, *, signoff: bool = True, sheet: str = ""
    ) -> _Event | None:
        try:
            name = check_event_name(self._event_names, name, self._reader.reserved)
        except Refusal as refusal:
            self._reader.problems.append(Problem(row, "赛事", refusal.code, refusal.facts, sheet))
            return None
        number = self._take("event")
        self._event_names[number] = name
        event = self._events[name] = _Event(number, weight, pool, open=True, last_at=at, new=True)
        self._add(EventOpened(number, weight, signoff), at, pool)
        return event

    def _close_old_events(self) -> None:
        """Events whose last game is of an earlier season than now are over; a workbook of ours says it itself."""
        if self._plan.file.form == "workbook":
            return
        for event in self._events.values():
            if event.new and season_of(event.last_at) < season_of(self._at):
                self._add(EventClosed(event.number), event.last_at, event.pool)

    # --- what is no game ----------------------------------------------------------------------------------

    def _change(self, changes: list[tuple[int, RawChange]], start: int) -> int:
        """Enter one change; return where the next one begins (the lines of a settlement are one)."""
        change = changes[start][1]
        stop = start + 1
        if change.kind == layout.SETTLEMENT:
            key = (change.kind, change.entry)
            while stop < len(changes) and (changes[stop][1].kind, changes[stop][1].entry) == key:
                stop += 1
            self._settlement([each for _, each in changes[start:stop]])
            return stop
        if change.kind in (layout.EVENT_OPENED, layout.EVENT_CLOSED):
            self._event_change(change)
            return stop
        player = self._reader.names.roster.resolve(change.player)
        if player is None:
            self._wrong(change, "棋手", "unknown_player", name=change.player[:20])
            return stop
        self._personal(change, self._player(player))
        return stop

    def _personal(self, change: RawChange, player: int) -> None:
        if change.kind == layout.LEAVE:
            pools = tuple(pool for pool in change.pool.split("、") if pool)
            if any(pool not in POOLS for pool in pools):
                self._wrong(change, "榜", "bad_pool", value=change.pool[:20], pools=tuple(POOLS))
            else:
                self._add(LeaveTaken(player, change.until, pools), change.at)
        elif not change.pool:
            self._wrong(change, "榜", "bad_pool", value="", pools=tuple(POOLS))
        elif change.kind == layout.OPENING and change.opening is not None:
            known = player <= self._numbers.player and self._book.state.look(change.pool, player).listed
            if known:
                self._wrong(change, "棋手", "has_games", name=change.player, pool=change.pool)
            self._add(replace(change.opening, player=player), change.at, change.pool)
        elif change.kind == layout.ADJUSTMENT:
            self._add(Adjustment(player, change.amount), change.at, change.pool)
        elif (other := self._reader.names.roster.resolve(change.other)) is None:
            self._wrong(change, "对方", "unknown_player", name=change.other[:20])
        else:
            number = self._take("challenge")
            issued = ChallengeIssued(number, self._player(other), player, change.until)
            self._add(issued, change.issued_at, change.pool)
            self._add(ChallengeForfeited(number, player, -change.amount), change.at, change.pool)

    def _settlement(self, lines: list[RawChange]) -> None:
        head = lines[0]
        if not head.pool or (head.season, head.pool) in self._settled:
            self._wrong(head, "赛季", "settled_already", season=head.season, pool=head.pool)
            return
        self._settled[head.season, head.pool] = 0
        verdicts = []
        for line in lines:
            player = self._reader.names.roster.resolve(line.player)
            if player is not None:
                verdicts.append((self._player(player), abs(line.amount)))
            elif line.player:
                self._wrong(line, "棋手", "unknown_player", name=line.player[:20])
        self._add(Settlement(head.season, head.until, tuple(verdicts)), head.at, head.pool)

    def _event_change(self, change: RawChange) -> None:
        event = self._events.get(change.event)
        if change.kind == layout.EVENT_OPENED and event is None:
            weights = (*EVENT_WEIGHTS.values(), UNRATED_WEIGHT)
            if change.weight not in weights or not change.pool:
                self._wrong(change, "系数", "bad_weight", value=f"{change.weight:g}")
            else:
                self._open(
                    change.event, change.weight, change.pool, change.at, change.row, signoff=change.signoff,
                    sheet=layout.CHANGES,
                )  # fmt: skip
        elif change.kind == layout.EVENT_CLOSED and event is not None and event.new:
            event.open = False
            self._add(EventClosed(event.number), change.at, event.pool)
        else:
            self._wrong(change, "赛事", "event_exists" if event else "no_event", event=change.event)


# --- reports ------------------------------------------------------------------------------------------------


def _ascending(found: list[int | None]) -> bool:
    """Whether all games have a number, each higher than the one before."""
    numbers = [number for number in found if number is not None]
    return len(numbers) == len(found) > 0 and all(a < b for a, b in pairwise(numbers))


def _groups(games: tuple[Planned, ...], keeps_numbers: bool) -> Iterator[list[Planned]]:
    """Cut the games into reports: as the file says, else what one pair played on a day in a row."""
    group: list[Planned] = []
    for game in games:
        if group and not _together(group, game, keeps_numbers):
            yield group
            group = []
        group.append(game)
    if group:
        yield group


def _together(group: list[Planned], game: Planned, keeps_numbers: bool) -> bool:
    head, last = group[0], group[-1]
    if any(getattr(head, name) != getattr(game, name) for name in ("pool", "event", "weight", "at", "effective_at")):
        return False
    if keeps_numbers and last.raw.number is not None and game.raw.number != last.raw.number + 1:
        return False
    if head.raw.report is not None or game.raw.report is not None:
        return head.raw.report == game.raw.report
    return len(group) < MAX_REPORT_LINES and pair_code(head.left, head.right) == pair_code(game.left, game.right)


def _positioned(groups: list[list[Planned]]) -> Iterator[tuple[int, list[Planned]]]:
    """Yield each report with how many games come before it."""
    position = 0
    for group in groups:
        yield position, group
        position += len(group)
