"""A small league in memory, told in names: reports as people write them, corrections, and who is who."""

from dataclasses import dataclass, field

from rating_core.book import Book
from rating_core.directory import Account, Directory
from rating_core.ledger import Amend, Entry, EventOpened, PlayerRegistered, Row, Void
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import DEFAULT_POOL
from tests.support.rows import Rows, ms

WORDS = {result.word: result for result in Result}


@dataclass
class Books:
    """A ledger and the directory beside it. Players are numbered from 1 in the order in which they join."""

    rows: Rows = field(default_factory=Rows)
    directory: Directory = field(default_factory=Directory)

    def join(self, *names: str, rating: float = 2000.0) -> None:
        """Register players with a starting rating."""
        for name in names:
            player = len(self.directory.roster) + 1
            self.directory.roster.add(name, player)
            self.rows.add(PlayerRegistered(player, rating, "普通"))

    def bind(self, name: str, qq: str) -> None:
        """Bind a QQ to a player."""
        self.directory.put(Account(len(self.directory.by_id) + 1, qq, self.id(name)))

    def id(self, name: str) -> int:
        """Return a player's number."""
        player = self.directory.roster.resolve(name)
        assert player is not None, name
        return player

    def line(self, text: str) -> GameLine:
        """Read one game, such as `甲 胜 乙` or `甲 乙 平 丙 丁`; names without spaces, unknown ones join at 2000."""
        words = text.split()
        at = next(i for i, word in enumerate(words) if word in WORDS)
        for name in (*words[:at], *words[at + 1 :]):
            if name not in self.directory.roster:
                self.join(name)
        return GameLine(tuple(map(self.id, words[:at])), WORDS[words[at]], tuple(map(self.id, words[at + 1 :])))

    def event(self, name: str, weight: float, pool: str = DEFAULT_POOL) -> int:
        """Open an event and return its number."""
        number = len(self.directory.events) + 1
        self.directory.events[number] = name
        self.rows.add(EventOpened(number, weight), pool=pool)
        return number

    def play(
        self,
        *lines: str,
        at: str | None = None,
        pool: str = DEFAULT_POOL,
        event: int | None = None,
        weight: float = 1.0,
    ) -> Row:
        """Enter one report; `甲 胜胜平 乙` stands for three games. It takes effect when it is posted."""
        games = []
        for text in lines:
            words = text.split()
            at_word = next(i for i, word in enumerate(words) if set(word) <= set(WORDS))
            games += [self.line(" ".join([*words[:at_word], word, *words[at_word + 1 :]])) for word in words[at_word]]
        moment = None if at is None else ms(at)
        return self.rows.play(games, at=moment, pool=pool, event=event, weight=weight)

    def add(self, entry: Entry, *, at: str | None = None, pool: str = DEFAULT_POOL, about: Row | None = None) -> Row:
        """Enter any other entry; `about` is the row it refers to."""
        return self.rows.add(
            entry, at=None if at is None else ms(at), pool=pool, refers_to=None if about is None else about.seq
        )

    def void(self, row: Row, game: int | None = None) -> Row:
        """Declare a report, or one game of it, void."""
        return self.add(Void(game), about=row)

    def amend(self, row: Row, game: int, line: str) -> Row:
        """Amend one game of a report."""
        return self.add(Amend(game, self.line(line)), about=row)

    def book(self) -> Book:
        """Return the fold of everything so far."""
        return self.rows.book()


def sample() -> Books:
    """1v1: six counted games and one that L6 keeps from counting, an event, a void and an amended game; one of 2v2."""
    books = Books()
    books.play("张三 胜平 李四", at="2025-12-30 20:00")
    books.play("张三 胜胜胜胜胜 李四", at="2026-03-02 20:00")
    event = books.event("皇后杯", 1.2)
    books.play("王五 负 李四", at="2026-04-01 20:00", event=event, weight=1.2)
    row = books.play("王五 胜胜负 赵六", at="2026-05-01 20:00")
    books.void(row, 11)
    books.amend(row, 10, "王五 负 赵六")
    books.play("张三 王五 胜 李四 赵六", at="2026-06-01 20:00", pool="单跳2v2")
    return books
