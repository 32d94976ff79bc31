"""Who is called what: exact lookup of current and former names, near misses and lookalikes (L3)."""

from collections.abc import Iterable
from importlib import import_module

from rating_core.names import normalize_name, skeleton

_LONGEST = 64
"""Texts longer than this are nobody's name, not even a misspelt one."""


def warm_up() -> None:
    """Import what looking for similar names needs: many modules, nearly 0.1 s; in a thread it holds up nobody."""
    for name in ("rapidfuzz.process", "rapidfuzz.distance.OSA"):
        import_module(name)


class Roster:
    """The names of all players, in memory: a few thousand current ones and the former ones that still resolve."""

    def __init__(self, entries: Iterable[tuple[str, int, bool]] = ()) -> None:
        """Build from (name, player id, whether the name is his current one).

        Raises ValueError when two players have one name or a player has two current names.
        """
        self._ids: dict[str, int] = {}
        self._current: dict[int, str] = {}
        self._alike: dict[str, tuple[str, ...]] = {}
        self._guessable: dict[int, dict[str, str]] = {}  # by length of the key: current name → skeleton
        self._words_from: dict[str, int] = {}
        self._longest_words = 1
        for name, player_id, current in entries:
            self.add(name, player_id, current=current)

    # --- lookups ------------------------------------------------------------------------------------------

    def resolve(self, name: str) -> int | None:
        """Return the player of a current or former name, exact after normalisation (L3), or None."""
        found = self._ids.get(name)
        if found is not None or len(name) > _LONGEST:
            return found
        return self._ids.get(normalize_name(name))

    def name_of(self, player_id: int) -> str:
        """Return the current name; raises KeyError for an id that has none."""
        return self._current[player_id]

    def has(self, player_id: int) -> bool:
        """Return whether a player has a current name."""
        return player_id in self._current

    def ids(self) -> list[int]:
        """Return the ids of all players with a current name."""
        return list(self._current)

    def current_names(self) -> dict[int, str]:
        """Return a copy of player id → current name."""
        return dict(self._current)

    def former_names(self) -> dict[int, list[str]]:
        """Return player id → his former names, for those who have any."""
        found: dict[int, list[str]] = {}
        for name, player_id in self._ids.items():
            if self._current.get(player_id) != name:
                found.setdefault(player_id, []).append(name)
        return found

    def find(self, name: str) -> int | None:
        """Return the player of a current or former name that is in normal form already, or None."""
        return self._ids.get(name)

    def words_from(self, word: str) -> int:
        """Return an upper bound of the words of any name that begins with `word`; 0: none ever did."""
        return self._words_from.get(word, 0)

    @property
    def longest_words(self) -> int:
        """An upper bound of the words (parts between spaces) of any name; bounds the parser's work."""
        return self._longest_words

    def __len__(self) -> int:
        return len(self._current)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.resolve(name) is not None

    def nearest(self, text: str, limit: int = 3) -> list[str]:
        """Return up to `limit` current names that `text` may have been meant as, best first.

        Names that look the same win alone; else one edit (a character more, less, another or two swapped), two in
        names from six characters on, three from ten.
        """
        if len(text) > _LONGEST:
            return []
        key = skeleton(text)
        if not key or len(key) > _LONGEST:
            return []
        if key in self._alike:
            owners = dict.fromkeys(self._ids[name] for name in self._alike[key])
            return [self._current[owner] for owner in owners if owner in self._current][:limit]
        from rapidfuzz import process  # rarely needed, and many modules
        from rapidfuzz.distance import OSA

        found = []
        most = _edits(len(key))
        for length in range(len(key) - most, len(key) + most + 1):
            allowed = min(_edits(min(length, len(key))), max(length, len(key)) - 1)
            for other, distance, name in process.extract(
                key, self._guessable.get(length, {}), scorer=OSA.distance, score_cutoff=allowed, limit=None
            ):
                found.append((distance, other[0] != key[0], abs(length - len(key)), name))
        return [name for *_, name in sorted(found)[:limit]]

    def confusable_with(self, name: str, but: int | None = None) -> str | None:
        """Return a current or former name of a player other than `but` that looks like `name`, or None."""
        for other in self._alike.get(skeleton(name), ()):
            if self._ids[other] != but:
                return other
        return None

    # --- changes ------------------------------------------------------------------------------------------

    def add(self, name: str, player_id: int, *, current: bool = True) -> None:
        """Enter a name; raises ValueError when it is another player's or the player has a current name."""
        name = normalize_name(name)
        if self._ids.get(name, player_id) != player_id:
            raise ValueError(f"name is taken by player {self._ids[name]}")
        if current and self._current.get(player_id, name) != name:
            raise ValueError(f"player {player_id} has a current name already")
        key = skeleton(name)
        if name not in self._ids:
            self._ids[name] = player_id
            self._alike[key] = (*self._alike.get(key, ()), name)
            first, words = name.partition(" ")[0], name.count(" ") + 1
            self._words_from[first] = max(self.words_from(first), words)
            self._longest_words = max(self._longest_words, words)
        if current:
            self._current[player_id] = name
            self._guessable.setdefault(len(key), {})[name] = key

    def rename(self, player_id: int, new_name: str) -> None:
        """Give a player a new current name; the old one goes on resolving.

        Raises KeyError for an unknown player, ValueError when the name is another player's.
        """
        old = self._current[player_id]
        if self._ids.get(normalize_name(new_name), player_id) != player_id:
            raise ValueError(f"name is taken by player {self._ids[normalize_name(new_name)]}")
        del self._current[player_id], self._guessable[len(skeleton(old))][old]
        self.add(new_name, player_id)

    def remove(self, name: str) -> None:
        """Forget a name; with a current one the player and his former names go too. Raises KeyError if unknown."""
        name = normalize_name(name)
        owner = self._ids[name]
        gone = [name]
        if self._current.get(owner) == name:
            del self._current[owner], self._guessable[len(skeleton(name))][name]
            gone = [other for other, player_id in self._ids.items() if player_id == owner]
        for other in gone:
            del self._ids[other]
            key = skeleton(other)
            left = tuple(kept for kept in self._alike[key] if kept != other)
            if left:
                self._alike[key] = left
            else:
                del self._alike[key]

    def copy(self) -> "Roster":
        """Return an independent copy, for copy-on-write."""
        twin = Roster()
        twin._ids = self._ids.copy()
        twin._current = self._current.copy()
        twin._alike = self._alike.copy()
        twin._guessable = {length: names.copy() for length, names in self._guessable.items()}
        twin._words_from = self._words_from.copy()
        twin._longest_words = self._longest_words
        return twin


def _edits(length: int) -> int:
    """How many edits may lie between a typed name and the one meant."""
    return 1 if length < 6 else 2 if length < 10 else 3
