"""Who is who: names, QQ accounts and roles, in memory. A copy of the erasable tables, reloaded after changes."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from rating_core.names import erased_label
from rating_core.roster import Roster
from rating_core.rulebook import MASKED_NAME

REFEREE = "referee"
SCOREKEEPER = "scorekeeper"
DISMISSED = "dismissed"
"""Marks an account whose rights a superuser took away: a group role does not bring them back."""
SUPERUSER = "superuser"
ROLE_TITLES = {REFEREE: "裁判", SCOREKEEPER: "记分员"}


@dataclass(frozen=True, slots=True)
class Account:
    """A QQ account that did something; `player_id` is the roster name it is bound to."""

    account_id: int
    qq: str | None
    player_id: int | None
    bound_at: int | None = None
    card: str = ""
    """The last group card seen; it proves nothing."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who said something, with the rights the database (and SUPERUSERS) give him."""

    qq: str
    account_id: int = 0
    """0: this QQ has done nothing yet."""
    player_id: int | None = None
    roles: frozenset[str] = frozenset()

    @property
    def superuser(self) -> bool:
        return SUPERUSER in self.roles

    @property
    def desk(self) -> bool:
        """May use the scorekeepers' commands."""
        return bool(self.roles & {SCOREKEEPER, SUPERUSER})

    @property
    def judge(self) -> bool:
        """May report others' games: referee, scorekeeper or superuser."""
        return bool(self.roles & {REFEREE, SCOREKEEPER, SUPERUSER})


@dataclass(frozen=True, slots=True)
class Holding:
    """An account held 蒙面人公用号 (L13) from `since` until `until` (ms; None: it still does)."""

    account_id: int
    since: int
    until: int | None = None


@dataclass(frozen=True, slots=True)
class PastBinding:
    """An account was bound to a player from `since` until `until` (ms)."""

    account_id: int
    player_id: int
    since: int
    until: int


@dataclass(slots=True)
class Directory:
    """Names, accounts, roles and event names."""

    roster: Roster = field(default_factory=Roster)
    by_qq: dict[str, Account] = field(default_factory=dict)
    by_id: dict[int, Account] = field(default_factory=dict)
    by_player: dict[int, frozenset[int]] = field(default_factory=dict)
    roles: dict[int, frozenset[str]] = field(default_factory=dict)
    events: dict[int, str] = field(default_factory=dict)
    merged: Mapping[int, int] = field(default_factory=dict)
    """Wrong names (their players) and whose they are, by the merges in force (§10)."""
    holdings: tuple[Holding, ...] = ()
    """Who held 蒙面人公用号, oldest first. Nobody is ever told (§7 D)."""
    past_bindings: tuple[PastBinding, ...] = ()
    merged_names: dict[int, str] = field(default_factory=dict)
    """What the players of wrong names were called when they were merged (§10)."""
    roles_whole: bool = True
    """False: a row of the roles is broken and may have been anybody's dismissal; group roles then give no rights."""

    @classmethod
    def build(
        cls,
        names: Iterable[tuple[str, int, bool]],
        accounts: Iterable[Account],
        roles: Iterable[tuple[int, str]],
        events: Mapping[int, str],
        holdings: Iterable[Holding] = (),
        past_bindings: Iterable[PastBinding] = (),
        merged_names: Mapping[int, str] | None = None,
        *,
        roles_whole: bool = True,
    ) -> "Directory":
        directory = cls(
            Roster(names), events=dict(events), holdings=tuple(holdings), past_bindings=tuple(past_bindings),
            merged_names=dict(merged_names or {}), roles_whole=roles_whole,
        )  # fmt: skip
        for account in accounts:
            directory.put(account)
        for account_id, role in roles:
            directory.roles[account_id] = directory.roles.get(account_id, frozenset()) | {role}
        return directory

    def copy(self) -> "Directory":
        return Directory(
            self.roster.copy(), dict(self.by_qq), dict(self.by_id), dict(self.by_player),
            dict(self.roles), dict(self.events), self.merged, self.holdings, self.past_bindings,
            dict(self.merged_names), self.roles_whole,
        )  # fmt: skip

    def put(self, account: Account) -> None:
        """Enter an account or its new binding."""
        if (old := self.by_id.get(account.account_id)) is not None and old.player_id is not None:
            self.by_player[old.player_id] -= {old.account_id}
        self.by_id[account.account_id] = account
        if account.qq is not None:
            self.by_qq[account.qq] = account
        if account.player_id is not None:
            self.by_player[account.player_id] = self.by_player.get(account.player_id, frozenset()) | {
                account.account_id
            }

    def actor(self, qq: str, superusers: frozenset[str] = frozenset()) -> Actor:
        """Return who this QQ is and what he may."""
        extra = frozenset({SUPERUSER}) if qq in superusers else frozenset()
        account = self.by_qq.get(qq)
        if account is None:
            return Actor(qq, roles=extra)
        roles = self.roles.get(account.account_id, frozenset())
        return Actor(qq, account.account_id, account.player_id, roles - {DISMISSED} | extra)

    def may_be_admitted(self, account_id: int) -> bool:
        """Return whether a group role may make this account a scorekeeper: no superuser took its rights away."""
        return self.roles_whole and DISMISSED not in self.roles.get(account_id, frozenset())

    def qqs_of(self, player_id: int) -> list[str]:
        """Return the QQ numbers bound to a player."""
        accounts = (self.by_id[a] for a in sorted(self.by_player.get(player_id, ())))
        return [a.qq for a in accounts if a.qq is not None]

    def players_of(self, account_id: int, since: int = 0) -> frozenset[int]:
        """Return the players an account is bound to or was at any time after `since` (ms); of merged ones both."""
        found = {b.player_id for b in self.past_bindings if b.account_id == account_id and b.until > since}
        if (account := self.by_id.get(account_id)) is not None and account.player_id is not None:
            found.add(account.player_id)
        return frozenset(found | {self.merged[player] for player in found if player in self.merged})

    def is_or_was_in(self, account_id: int, players: Container[int | None]) -> bool:
        """Return whether an account is bound to one of `players` or ever was: it is his own case (§5 D)."""
        return any(player in players for player in self.players_of(account_id))

    def name_of(self, player_id: int) -> str:
        """Return a player's current name; his number where he has none any more."""
        whose = self.merged.get(player_id, player_id)
        return self.roster.name_of(whose) if self.roster.has(whose) else erased_label(whose)

    def is_named(self, player_id: int) -> bool:
        """Return whether a player has a name, which nobody has who was forgotten."""
        return self.roster.has(self.merged.get(player_id, player_id))

    def name_before_merge(self, player_id: int) -> str:
        """Return what a player was called before he was merged into another; else his current name."""
        was_merged = player_id in self.merged and player_id in self.merged_names
        return self.merged_names[player_id] if was_merged else self.name_of(player_id)

    def account_name(self, account_id: int) -> str:
        """Return what people read of an account: its player's name, else 〔its group card〕; never its QQ."""
        account = self.by_id.get(account_id)
        if account is None:
            return "机器人" if account_id == 0 else f"账号{account_id}"
        if account.player_id is not None:
            return self.name_of(account.player_id)
        return f"〔{account.card}〕" if account.card else f"账号{account_id}"

    # --- 蒙面人公用号 (L13) ---------------------------------------------------------------------------------

    @property
    def masked(self) -> int | None:
        """The player who is 蒙面人公用号; None where there is none."""
        return self.roster.resolve(MASKED_NAME)

    @property
    def holder(self) -> Holding | None:
        """Who holds 蒙面人公用号 now."""
        last = self.holdings[-1] if self.holdings else None
        return last if last is not None and last.until is None else None

    def holder_at(self, at: int) -> Account | None:
        """Return who held 蒙面人公用号 at `at` (ms), the later one where two did in one instant."""
        held = (h for h in reversed(self.holdings) if h.since <= at and (h.until is None or at < h.until))
        return next((self.by_id[h.account_id] for h in held if h.account_id in self.by_id), None)

    def is_masked_in(self, account_id: int, players: Container[int | None], at: int) -> bool:
        """Return whether 蒙面人公用号 is among `players` and this account held it at `at` (ms)."""
        holder = self.holder_at(at)
        return holder is not None and holder.account_id == account_id and self.masked in players

    def is_own_game(self, players: Container[int | None], at: int) -> bool:
        """Return whether 蒙面人公用号 and a name, present or past, of who held it at `at` (ms) both play (§7 D)."""
        holder = self.holder_at(at)
        return holder is not None and self.masked in players and self.is_or_was_in(holder.account_id, players)

    def event_id(self, name: str) -> int | None:
        return next((number for number, known in self.events.items() if known == name), None)
