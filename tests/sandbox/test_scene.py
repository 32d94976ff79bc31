"""The league of the sandbox keeps the rules it is meant to show."""

from collections import Counter, defaultdict
from itertools import accumulate, groupby

from plugins.rating_bot.sandbox.scene import BOT, CAST, OFFICIAL, SCORING, SEED, SUPERUSER, build
from rating_core.elo import game_changes
from rating_core.rulebook import FARMING_NET, IP_CHECK_RATING, LEAGUE_RULES, PLACINGS, PROVISIONAL_GAMES, SEASON_GAMES

SCORES = {"W": 1, "D": 0, "L": -1}


def test_every_seed_player_can_be_played_and_every_game_is_between_two_of_them() -> None:
    names = {player.name for player in SEED.players}
    assert len(names) == len(SEED.players) == 12
    assert {player.placing for player in SEED.players} <= set(PLACINGS)
    cards = {actor.qq: actor.card for actor in CAST}
    assert all(cards[player.qq] == player.name for player in SEED.players if player.qq)
    assert all(game.left != game.right and {game.left, game.right} <= names for game in SEED.games)
    days = [game.days_ago for game in SEED.games]
    assert days == sorted(days, reverse=True) and days[-1] >= 1


def test_every_day_of_the_league_is_one_report_of_one_pair() -> None:
    for _, games in groupby(SEED.games, key=lambda game: game.days_ago):
        assert len({(game.left, game.right) for game in games}) == 1


def test_some_are_over_the_provisional_limit_and_some_under() -> None:
    played = Counter(name for game in SEED.games for name in (game.left, game.right))
    limit = PROVISIONAL_GAMES.now
    assert sum(count >= limit for count in played.values()) == 9
    assert sorted(count for count in played.values() if count < limit) == [6, 9, 13]
    early = Counter(name for game in SEED.games if game.days_ago > 31 for name in (game.left, game.right))
    assert all(early[name] >= SEASON_GAMES.now for name in ("张三", "李四", "王五")), "barred if tried in January"


def test_no_pair_is_locked_and_one_is_a_win_away() -> None:
    """Any stretch of games may be a season of its own, so no stretch may reach the net."""
    pairs: dict[tuple[str, str], list[int]] = defaultdict(list)
    for game in SEED.games:
        pair = tuple(sorted((game.left, game.right)))
        pairs[pair[0], pair[1]].append(SCORES[game.result] * (1 if game.left == pair[0] else -1))
    for pair, scores in pairs.items():
        sums = list(accumulate(scores, initial=0))
        assert max(sums) - min(sums) < FARMING_NET.now, pair
    assert abs(sum(pairs["平安", "张三"])) if ("平安", "张三") in pairs else abs(sum(pairs["张三", "平安"])) == 3


def test_nobody_needs_an_ip_check_he_does_not_have() -> None:
    ratings = {player.name: PLACINGS[player.placing] for player in SEED.players}
    checked = {player.name for player in SEED.players if player.ip_checked}
    for game in SEED.games:
        for name in (game.left, game.right):
            assert ratings[name] < IP_CHECK_RATING.now or name in checked, (name, game)
        _, _, (left,), (right,) = game_changes(
            [ratings[game.left]], [ratings[game.right]], game.result, 1.0, LEAGUE_RULES
        )
        ratings[game.left] += left
        ratings[game.right] += right
    assert all(ratings[name] < IP_CHECK_RATING.now or name in checked for name in ratings)


def test_the_cast_is_in_its_groups() -> None:
    qq = build()
    assert qq.self_id == BOT
    assert set(qq.group(OFFICIAL).members) == {BOT} | {actor.qq for actor in CAST if actor.official}
    assert {qq.member(SCORING, actor.qq).role for actor in CAST if actor.scoring} == {"owner", "admin"}
    assert qq.member(OFFICIAL, SUPERUSER).role == "owner"
