"""The ledger's entries: what happened, as ids, numbers and dates only.

Names, reasons and QQ numbers live in erasable tables, so that a person can be forgotten without breaking the
hash chain. The ledger only grows (§10): a correction is a new entry that refers to an old one.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from rating_core.report_text import GameLine, Result

GENESIS = "0" * 64
"""The hash before the first row."""


RESULTS = {result.value: result for result in Result}


class LedgerError(Exception):
    """A row that cannot be read: unknown kind or version, or a payload that does not fit."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Base of all entries; `KIND` names it in the ledger, `V` is the payload's newest version."""

    KIND: ClassVar[str] = ""
    V: ClassVar[int] = 1

    def payload(self) -> dict[str, Any]:
        """Return the entry as plain JSON values; absent optional fields are left out."""
        return {f.name: v for f in fields(self) if (v := getattr(self, f.name)) is not None}

    @classmethod
    def from_payload(cls, data: dict[str, Any]) -> "Entry":
        """Make the entry from a payload of the newest version."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class PlayerRegistered(Entry):
    """A player and his 原始分 (L4), which starts him in every pool."""

    KIND: ClassVar[str] = "player_registered"
    player: int
    initial: float
    placing: str


@dataclass(frozen=True, slots=True)
class OpeningBalance(Entry):
    """Where a player stood in a pool when a league moved here without its whole history (§3 D).

    Games count for N, peak and the season as stated; `peak_at` and `as_of` in ms.
    """

    KIND: ClassVar[str] = "opening_balance"
    player: int
    rating: float
    wins: int
    draws: int
    losses: int
    as_of: int
    season_games: int = 0
    archived: bool = False
    peak: float | None = None
    peak_at: int | None = None


@dataclass(frozen=True, slots=True)
class IpChecked(Entry):
    """A scorekeeper saw the IP screenshot (L11), or took that back."""

    KIND: ClassVar[str] = "ip_checked"
    player: int
    valid: bool


@dataclass(frozen=True, slots=True)
class EventOpened(Entry):
    """An event (赛事) with its weight (L5). `signoff`: players' reports need a referee's confirmation."""

    KIND: ClassVar[str] = "event_opened"
    event: int
    weight: float
    signoff: bool = True


@dataclass(frozen=True, slots=True)
class EventClosed(Entry):
    """An event takes no more reports."""

    KIND: ClassVar[str] = "event_closed"
    event: int


@dataclass(frozen=True, slots=True)
class Announced:
    """The figures as the players were told them: which games counted; (player, before, after)."""

    counted: tuple[bool, ...]
    ratings: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, slots=True)
class Games(Entry):
    """The games of one report that took effect; `first` is the number (局) of its first game.

    `posted_at` (ms) is the games' time. `by` and `confirmed_by` are account ids.
    """

    KIND: ClassVar[str] = "games"
    report: int
    first: int
    posted_at: int
    weight: float
    lines: tuple[GameLine, ...]
    by: int
    event: int | None = None
    confirmed_by: int | None = None
    announced: Announced | None = None

    def payload(self) -> dict[str, Any]:
        # super() does not work in a dataclass with slots: the class is made anew
        data = Entry.payload(self)
        data["lines"] = [[list(g.left), g.result.value, list(g.right)] for g in self.lines]
        if self.announced is not None:
            data["announced"] = {
                "counted": "".join("1" if c else "0" for c in self.announced.counted),
                "ratings": [list(r) for r in self.announced.ratings],
            }
        return data

    @classmethod
    def from_payload(cls, data: dict[str, Any]) -> "Games":
        # lists, not generators: there are as many of these as of all other entries together
        data["lines"] = tuple([GameLine(tuple(a), RESULTS[r], tuple(b)) for a, r, b in data["lines"]])
        if (told := data.get("announced")) is not None:
            ratings = tuple([(int(p), float(a), float(b)) for p, a, b in told["ratings"]])
            data["announced"] = Announced(tuple([c == "1" for c in told["counted"]]), ratings)
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Adjustment(Entry):
    """Points added to or taken from a player's rating in a pool by a scorekeeper."""

    KIND: ClassVar[str] = "adjustment"
    player: int
    amount: float


@dataclass(frozen=True, slots=True)
class LeaveTaken(Entry):
    """A leave (请假, L8) until the season's end; `pools` are those in which the player is archived by it."""

    KIND: ClassVar[str] = "leave_taken"
    player: int
    until: int
    pools: tuple[str, ...]

    @classmethod
    def from_payload(cls, data: dict[str, Any]) -> "LeaveTaken":
        return cls(**data | {"pools": tuple(data["pools"])})


@dataclass(frozen=True, slots=True)
class Settlement(Entry):
    """A season's settlement (L7) in one pool: the verdicts as executed; archived players are barred until `until`.

    verdicts: (player, points taken: 20 or 0); everyone in it is archived.
    """

    KIND: ClassVar[str] = "settlement"
    season: int
    until: int
    verdicts: tuple[tuple[int, float], ...]

    @classmethod
    def from_payload(cls, data: dict[str, Any]) -> "Settlement":
        return cls(**data | {"verdicts": tuple((int(p), float(a)) for p, a in data["verdicts"])})


@dataclass(frozen=True, slots=True)
class Void(Entry):
    """The entry referred to, or one game of it, is treated as never made (§10)."""

    KIND: ClassVar[str] = "void"
    game: int | None = None


@dataclass(frozen=True, slots=True)
class Amend(Entry):
    """A games entry is treated as amended in its old place (§10): one game's line, or the report's event and weight."""

    KIND: ClassVar[str] = "amend"
    game: int | None = None
    line: GameLine | None = None
    event: int | None = None
    weight: float | None = None

    def payload(self) -> dict[str, Any]:
        data = Entry.payload(self)
        if self.line is not None:
            data["line"] = [list(self.line.left), self.line.result.value, list(self.line.right)]
        return data

    @classmethod
    def from_payload(cls, data: dict[str, Any]) -> "Amend":
        if (line := data.get("line")) is not None:
            data["line"] = GameLine(tuple(line[0]), Result(line[1]), tuple(line[2]))
        return cls(**data)


@dataclass(frozen=True, slots=True)
class ChallengeIssued(Entry):
    """A forced challenge (强制约战, L9): 约`challenge`. `deadline` in ms; at the deadline is late."""

    KIND: ClassVar[str] = "challenge_issued"
    challenge: int
    challenger: int
    opponent: int
    deadline: int


@dataclass(frozen=True, slots=True)
class ChallengeExtended(Entry):
    """A scorekeeper gave more time."""

    KIND: ClassVar[str] = "challenge_extended"
    challenge: int
    deadline: int


@dataclass(frozen=True, slots=True)
class ChallengeFulfilled(Entry):
    """The two played in time: a report of theirs took effect. History: a later correction does not undo it (§10)."""

    KIND: ClassVar[str] = "challenge_fulfilled"
    challenge: int
    report: int


@dataclass(frozen=True, slots=True)
class ChallengeCancelled(Entry):
    """Ended without penalty; the challenger has his weekly challenge back."""

    KIND: ClassVar[str] = "challenge_cancelled"
    challenge: int


@dataclass(frozen=True, slots=True)
class ChallengeForfeited(Entry):
    """The opponent did not play in time (L9): `amount` points are taken from him."""

    KIND: ClassVar[str] = "challenge_forfeited"
    challenge: int
    player: int
    amount: float


ListRow = tuple[int, int, float, float, int, int, int, float | None, int]
"""(player, rank, shown, rating, wins, draws, losses, peak, its time in ms or 0) of a published list."""


@dataclass(frozen=True, slots=True)
class ListPublished(Entry):
    """A board as published: 第`number`期 of its pool, as of `as_of` (ms). Frozen: corrections do not change it."""

    KIND: ClassVar[str] = "list_published"
    number: int
    as_of: int
    rows: tuple[ListRow, ...]

    @classmethod
    def from_payload(cls, data: dict[str, Any]) -> "ListPublished":
        return cls(**data | {"rows": tuple(tuple(row) for row in data["rows"])})


@dataclass(frozen=True, slots=True)
class Merged(Entry):
    """`player` was a wrong name of `into`: all that is his counts as the other's, in its old place."""

    KIND: ClassVar[str] = "merged"
    player: int
    into: int


KINDS: dict[str, type[Entry]] = {
    cls.KIND: cls
    for cls in (
        PlayerRegistered,
        OpeningBalance,
        IpChecked,
        EventOpened,
        EventClosed,
        Games,
        Adjustment,
        LeaveTaken,
        Settlement,
        Void,
        Amend,
        ChallengeIssued,
        ChallengeExtended,
        ChallengeFulfilled,
        ChallengeCancelled,
        ChallengeForfeited,
        ListPublished,
        Merged,
    )
}

UPCASTS: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""(kind, old version) → payload of the next version. Old rows are never rewritten; they are upcast on read."""


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder()


def canonical(data: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces, shortest float form."""
    return _ENCODER.encode(data)


def decode(kind: str, v: int, payload: str, *, told: bool = True) -> Entry:
    """Return the entry a row holds; old versions are upcast. Raises LedgerError.

    `told`: with the figures as announced, which are half of what there is to read and nothing to the fold.
    """
    cls = KINDS.get(kind)
    if cls is None or not 1 <= v <= cls.V:
        raise LedgerError(f"unknown entry {kind} v{v}")
    try:
        data, end = _DECODER.raw_decode(payload)
        if end != len(payload):
            raise ValueError(f"more than one value, from {end}")
        for version in range(v, cls.V):
            data = UPCASTS[kind, version](data)
        if not told:
            data.pop("announced", None)
        return cls.from_payload(data)
    except (TypeError, ValueError, KeyError) as error:
        raise LedgerError(f"{kind} v{v}: {error}") from error


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry to be appended. `said_at` (ms) is the QQ time of the message that causes it."""

    entry: Entry
    said_at: int
    actor: int
    pool: str = ""
    refers_to: int | None = None
    reason: str = ""
    """In the actor's words; kept beside the ledger, erasable."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the ledger as stored."""

    seq: int
    said_at: int
    at: int
    kind: str
    v: int
    pool: str
    payload: str
    actor: int
    refers_to: int | None
    hash: str

    def entry(self, *, told: bool = True) -> Entry:
        """Decode the payload; `told` as in `decode`. Raises LedgerError."""
        return decode(self.kind, self.v, self.payload, told=told)


def row_hash(previous: str, row: Row) -> str:
    """Return the hash a row must have: over the hash before it and all its own columns but the hash."""
    content = [row.seq, row.said_at, row.at, row.kind, row.v, row.pool, row.payload, row.actor, row.refers_to]
    return hashlib.sha256(f"{previous}\n{canonical(content)}".encode()).hexdigest()


def continues(row: Row, seq: int, previous: str) -> bool:
    """Return whether a row, as stored, is what was written as number `seq` after the row with hash `previous`."""
    try:
        return row.seq == seq and row_hash(previous, row) == row.hash
    except (TypeError, ValueError):  # a value that is not of its column's type, or no text
        return False


def seal(draft: Draft, seq: int, at: int, previous: str) -> Row:
    """Return the row a draft becomes as number `seq` after the row whose hash is `previous`."""
    entry = draft.entry
    row = Row(
        seq, draft.said_at, at, entry.KIND, entry.V, draft.pool, canonical(entry.payload()), draft.actor,
        draft.refers_to, "",
    )  # fmt: skip
    return replace(row, hash=row_hash(previous, row))
