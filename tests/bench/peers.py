"""What a league could take instead of our fold: the library `elote`, with the league's rules wrapped around it."""

from collections.abc import Sequence

from elote import EloCompetitor

from rating_core.rulebook import FARMING_NET, FARMING_REPAY, LEAGUE_RULES, PEAK_GAMES
from tests.bench.logs import INITIAL, Game

K_BANDS = tuple(reversed(LEAGUE_RULES.k_bands))
NET, REPAY, PEAK = FARMING_NET.now, FARMING_REPAY.now, PEAK_GAMES.now


class Player:
    """What the rules need to know of a player besides his rating."""

    __slots__ = ("draws", "elo", "first_at", "games", "last_at", "losses", "peak", "peak_at", "seasons", "wins")

    def __init__(self) -> None:
        self.elo = EloCompetitor(initial_rating=INITIAL)
        self.games = self.wins = self.draws = self.losses = self.first_at = self.last_at = self.peak_at = 0
        self.peak = 0.0
        self.seasons: dict[int, int] = {}

    def set_k(self, rating: float, weight: float) -> None:
        for bound, k in K_BANDS:
            if rating >= bound:
                self.elo._k_factor = k * weight
                return

    def enter(self, game: Game) -> None:
        self.games += 1
        self.seasons[game.season] = self.seasons.get(game.season, 0) + 1
        if not self.first_at:
            self.first_at = game.at
        self.last_at = game.at
        rating = self.elo.rating
        if self.games >= PEAK and rating > self.peak:
            self.peak, self.peak_at = rating, game.at


class Pair:
    """Two players in a season: their net score, and what each must have played to count again (L6)."""

    __slots__ = ("games", "locked", "net")

    def __init__(self) -> None:
        self.net, self.locked, self.games = 0, False, (0, 0)


def with_elote(games: Sequence[Game]) -> dict[int, Player]:
    """Return every player after the games, K bands, weights, counts, peak, history and L6 considered."""
    players: dict[int, Player] = {}
    pairs: dict[tuple[int, int, int], Pair] = {}
    history: list[tuple[float, float, float, float, bool]] = []
    for game in games:
        left, right = players.get(game.left), players.get(game.right)
        if left is None:
            left = players[game.left] = Player()
        if right is None:
            right = players[game.right] = Player()
        first, second = (left, right) if game.left < game.right else (right, left)
        key = (game.left, game.right, game.season) if first is left else (game.right, game.left, game.season)
        pair = pairs.get(key)
        if pair is None:
            pair = pairs[key] = Pair()
        ours, theirs = left.elo.rating, right.elo.rating
        if pair.locked:
            if first.games < pair.games[0] + REPAY or second.games < pair.games[1] + REPAY:
                history.append((ours, theirs, 0.0, 0.0, False))
                continue
            pair.locked, pair.net = False, 0
        left.set_k(ours, game.weight)
        right.set_k(theirs, game.weight)
        if game.result == "W":
            left.elo.beat(right.elo)
            left.wins += 1
            right.losses += 1
            pair.net += 1 if first is left else -1
        elif game.result == "L":
            left.elo.lost_to(right.elo)
            left.losses += 1
            right.wins += 1
            pair.net -= 1 if first is left else -1
        else:
            left.elo.tied(right.elo)
            left.draws += 1
            right.draws += 1
        left.enter(game)
        right.enter(game)
        history.append((ours, theirs, left.elo.rating - ours, right.elo.rating - theirs, True))
        if pair.net >= NET or pair.net <= -NET:
            pair.locked, pair.games = True, (first.games, second.games)
    return players
