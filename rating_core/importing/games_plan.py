"""What importing a file of games would do: the entries it makes, in order, and everything that stands against it."""

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.importing.files import GameFile, RawGame, RawPlayer
from rating_core.importing.sides import Names, Sides, Unknown, known_names
from rating_core.importing.values import HIGHEST_RATING, LOWEST_RATING, MAX_PROBLEMS, Problem
from rating_core.ledger import Draft, OpeningBalance
from rating_core.names import normalize_name
from rating_core.report_text import WORDS, Result, intended
from rating_core.rulebook import (
    CASUAL_WEIGHT,
    DEFAULT_POOL,
    EVENT_WEIGHTS,
    MASKED_INITIAL,
    MASKED_NAME,
    ORDINARY_PLACING,
    PLACINGS,
    POOLS,
)
from rating_core.store.report_store import Report
from rating_core.times import day_of

NAMELESS_EVENTS = {EVENT_WEIGHTS["1.2"]: "导入的正式比赛", EVENT_WEIGHTS["2"]: "导入的重大比赛"}
"""What games of a weight above 1 belong to where the file names no event (L5)."""
POINTS = {"1": Result.WIN, "1.0": Result.WIN, "0.5": Result.DRAW, "0": Result.LOSS, "0.0": Result.LOSS}
"""Results as the left side's points, as tables of other games have them."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is to be read. `pool`: where rows belong that name none ("" for the usual one)."""

    new_players: bool = False
    unknown_as_loss: bool = False
    pool: str = ""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The last short numbers given out so far."""

    player: int = 0
    report: int = 0
    game: int = 0
    event: int = 0
    challenge: int = 0


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event that the file brings."""

    name: str
    weight: float
    pool: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Planned:
    """A game that will be entered: who, how, where and when. Players below 0 are new ones; times in ms."""

    raw: RawGame
    left: tuple[int, ...]
    right: tuple[int, ...]
    result: Result
    pool: str
    event: str
    weight: float
    at: int
    effective_at: int


@dataclass(frozen=True, slots=True)
class GamesPlan:
    """Everything or nothing: it may be applied only when nothing stands against it, and where the book did not move."""

    file: GameFile
    options: Options
    games: tuple[Planned, ...]
    new_players: tuple[str, ...]
    events: tuple[NewEvent, ...]
    as_losses: Mapping[str, int]
    """Words that were read as a loss, with how many games."""
    unknown: tuple[Unknown, ...]
    problems: tuple[Problem, ...]
    drafts: tuple[Draft, ...] = ()
    names: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """The numbers of new players with their names, former ones first."""
    reports: tuple[tuple[int, Report], ...] = ()
    """Reports as they will be on file, each with the position of its entry among the drafts."""
    seq: int = 0
    """The ledger row after which all this is entered."""
    numbers: Numbers = field(default_factory=Numbers)
    """The last short numbers given out after it."""

    @property
    def clear(self) -> bool:
        """Nothing stands against it."""
        return not self.problems and not self.unknown

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools in which something changes, in their usual order."""
        touched = {game.pool for game in self.games} | {draft.pool for draft in self.drafts}
        return tuple(pool for pool in POOLS if pool in touched)


class GamesReader:
    """Reads players and games of a file with the roster and the book at hand; what is wrong is collected."""

    def __init__(
        self, file: GameFile, book: Book, directory: Directory, options: Options, at: int, reserved: Container[str]
    ) -> None:
        self._file, self._book, self._directory, self._options, self._at = file, book, directory, options, at
        self.problems: list[Problem] = list(file.problems)
        self.names = Names(known_names(book, directory), reserved, options.new_players, self.problems)
        self.reserved = reserved
        self.as_losses: Counter[str] = Counter()
        self.starts: dict[int, tuple[RawPlayer, float]] = {}
        """Players who start with a rating that is none of L4's: an opening balance without games (§3 D)."""
        self.initials: dict[int, tuple[float, str]] = {}
        """原始分 and placing of new players."""
        self._dated = any(game.at is not None for game in file.games)
        self._out_of_order: list[int] = []

    def wrong(self, row: int, code: str, column: str = "", sheet: str = "", **facts: object) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(row, column, code, facts, sheet))

    def read(self) -> list[Planned]:
        for player in self._file.players:
            self._introduce(player)
        games: list[Planned] = []
        for raw in self._file.games:
            if (game := self._game(raw)) is not None:
                if games and self._earlier(game, games[-1]):
                    self._out_of_order.append(raw.row)
                games.append(game)
        for number, player in enumerate(self.names.new, start=1):
            self.initials.setdefault(-number, self._initial(player))
        if self._out_of_order:
            rows = self._out_of_order
            self.wrong(rows[0], "out_of_order", count=len(rows))
        self._check_places(games)
        return games

    # --- players ------------------------------------------------------------------------------------------

    def _introduce(self, player: RawPlayer) -> None:
        number = self.names.introduce(player)
        if number is None:
            return
        if player.placing is not None and player.placing not in (*PLACINGS, MASKED_NAME):
            self.wrong(player.row, "bad_placing", "名次", player.sheet, value=player.placing, placings=tuple(PLACINGS))
        elif player.initial is not None and not LOWEST_RATING <= player.initial <= HIGHEST_RATING:
            value = f"{player.initial:g}"
            self.wrong(
                player.row, "unlikely_rating", "原始分", player.sheet, value=value, low=LOWEST_RATING,
                high=HIGHEST_RATING,
            )  # fmt: skip
        elif number > 0:
            self._compare(player, number)
        elif self._file.form == "text" and player.initial not in (None, *PLACINGS.values()):
            self.starts[number] = (player, player.initial or 0.0)

    def _compare(self, player: RawPlayer, number: int) -> None:
        """Somebody on the roster must be the same in the file; he may still start with another rating in a pool."""
        state = self._book.state
        ours, initial = state.placing[number], state.initial[number]
        if player.placing is not None and player.placing != ours:
            self.wrong(player.row, "differs", "名次", player.sheet, ours=ours, theirs=player.placing)
        elif player.ip_checked and number not in state.ip_checked:
            self.wrong(player.row, "not_ip_checked", "IP核验", player.sheet, name=player.name)
        elif player.initial is not None and player.initial != initial:
            if self._file.form == "text":
                self.starts[number] = (player, player.initial)
            else:
                theirs = f"{player.initial:g}"
                self.wrong(player.row, "differs", "原始分", player.sheet, ours=f"{initial:g}", theirs=theirs)

    def _initial(self, player: RawPlayer) -> tuple[float, str]:
        if player.name == MASKED_NAME:
            return player.initial or MASKED_INITIAL, MASKED_NAME
        by_rating = next((placing for placing, rating in PLACINGS.items() if rating == player.initial), None)
        placing = player.placing or by_rating or ORDINARY_PLACING
        usual = PLACINGS[placing] if placing in PLACINGS else PLACINGS[ORDINARY_PLACING]
        stated = None if self._file.form == "text" else player.initial
        return stated if stated is not None else usual, placing

    # --- games --------------------------------------------------------------------------------------------

    def _game(self, raw: RawGame) -> Planned | None:
        pool = raw.pool or self._options.pool
        size = POOLS[pool].side_size if pool else None
        sides = self.names.sides(raw, size, any_word=self._options.unknown_as_loss)
        if isinstance(sides, str):
            self.wrong(raw.row, sides, line=raw.line[:60], pool=pool)
            return None
        if sides is None:
            if not raw.line:
                self._result(raw, raw.result)  # both slips of a row are said at once
            return None
        players = sides.left + sides.right
        if len(set(players)) < len(players):
            self.wrong(raw.row, "same_player")
            return None
        result, at = self._result(raw, sides.result), self._moment(raw)
        pool = pool or self._usual_pool(raw, sides)
        kind = self._kind(raw, pool)
        if result is None or at is None or not pool or kind is None:
            return None
        event, weight = kind
        return Planned(raw, sides.left, sides.right, result, pool, event, weight, at, raw.effective_at or at)

    def _result(self, raw: RawGame, word: str) -> Result | None:
        word = word.strip()
        found = WORDS.get(word) or (None if raw.line else POINTS.get(word))
        if found is None and self._options.unknown_as_loss:
            self.as_losses[word] += 1
            return Result.LOSS
        if found is None:
            meant = intended(word)
            self.wrong(raw.row, "bad_result", value=word[:20], meant=meant.word if meant is not None else "")
        return found

    def _moment(self, raw: RawGame) -> int | None:
        at = raw.at
        if at is None and self._dated:
            self.wrong(raw.row, "no_date")
        elif at is None:
            at = self._at
        elif day_of(at) > day_of(self._at):
            self.wrong(raw.row, "future_game")
            return None
        return at if at is None else min(at, self._at)  # today's noon may be yet to come

    def _usual_pool(self, raw: RawGame, sides: Sides) -> str:
        """§1 D: the only pool of that side size, or the only one with entries."""
        size = len(sides.left)
        if size == POOLS[DEFAULT_POOL].side_size:
            return DEFAULT_POOL
        fitting = [name for name, pool in POOLS.items() if pool.side_size == size]
        used = [name for name in fitting if self._book.began(name) is not None]
        if len(used or fitting) == 1:
            return (used or fitting)[0]
        self.wrong(raw.row, "which_pool", pools=tuple(fitting))
        return ""

    def _kind(self, raw: RawGame, pool: str) -> tuple[str, float] | None:
        """Return event ("" for none) and weight of a game; the weight of an event that has none here is 0."""
        weight = raw.weight
        if weight is not None and weight not in EVENT_WEIGHTS.values():
            self.wrong(raw.row, "bad_weight", "系数", value=f"{weight:g}")
            return None
        if raw.event:
            return normalize_name(raw.event), weight or 0.0
        if weight is None or weight == CASUAL_WEIGHT:
            return "", CASUAL_WEIGHT
        name = NAMELESS_EVENTS[weight]
        return (name if pool == DEFAULT_POOL else f"{name}{pool}"), weight

    def _earlier(self, game: Planned, before: Planned) -> bool:
        """Whether a game stands after a later one; where the file says when each took effect, that is its order."""
        return game.raw.effective_at is None and before.raw.effective_at is None and game.at < before.at

    # --- where it goes ------------------------------------------------------------------------------------

    def _check_places(self, games: list[Planned]) -> None:
        """Only into an empty pool, or after its last game."""
        first: dict[str, Planned] = {}
        for game in games:
            first.setdefault(game.pool, game)
        last: dict[str, int] = {}
        columns = self._book.columns
        for said_at, at, pool in zip(columns.said_at, columns.at, columns.pool, strict=True):
            last[pool] = max(said_at, at, last.get(pool, at))
        for _, pool, opening in self._book.entries(OpeningBalance):
            last[pool] = max(opening.as_of, last.get(pool, opening.as_of))
        for pool, game in first.items():
            if pool in last and game.effective_at <= last[pool]:
                self.wrong(game.raw.row, "pool_has_later", pool=pool, last=last[pool])
