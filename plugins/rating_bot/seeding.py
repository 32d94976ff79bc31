"""The sandbox's made-up leagues, entered through the real service into an empty book."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import groupby

from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.sandbox import big_league
from plugins.rating_bot.sandbox.scene import SCOREKEEPER, SCORING, SEED, SUPERUSER, Seed
from plugins.rating_bot.sandbox.seed import SeedGame
from plugins.rating_bot.wire.messages import group_chat
from plugins.rating_bot.wiring import Parts
from rating_core.directory import Actor
from rating_core.report_text import GameLine, Result, format_report
from rating_core.rulebook import DEFAULT_POOL, IP_CHECK_RATING
from rating_core.service import lists, people, reports
from rating_core.service import report_results as results
from rating_core.service.report_results import Effective
from rating_core.service.reports import Post
from rating_core.service.transaction import Tx
from rating_core.times import DAY_MS, day_of

LIST_DAYS = 30
"""A list is published so often."""
IP_MARGIN = 100.0
"""Somebody so close below the rating of L11 has shown his IP by then: one report cannot take him past it."""

Progress = Callable[[str], None]


async def seed(runtime: Runtime, league: Seed = SEED, progress: Progress = lambda text: None) -> None:
    """Enter a league in one transaction; nothing happens when the book is not empty."""
    if runtime.league.book.seq:
        return
    now = runtime.clock.now()
    days = max(game.days_ago for game in league.games)
    async with runtime.league.transaction() as tx:
        keeper = await _enter_people(tx, league, now - (days + 1) * DAY_MS)
        for number, (days_ago, reported) in enumerate(_reports(league.games)):
            if days_ago % LIST_DAYS == 0 and days_ago < days:
                await _publish(tx, keeper, now - days_ago * DAY_MS)
            await _enter(tx, keeper, reported, now - days_ago * DAY_MS, number, runtime)
            progress(f"记第{number + 1}份报分，还有{days_ago}天的")
            await asyncio.sleep(0)  # the page is told meanwhile


async def seed_league(parts: Parts, big: bool, progress: Progress) -> None:
    """Fill an empty book: with the small league, or the one of 300."""
    await seed(parts.runtime, big_league.build() if big else SEED, progress)


def _reports(games: tuple[SeedGame, ...]) -> Iterator[tuple[int, list[SeedGame]]]:
    """Yield day and games of each report: neighbours of the same day and players."""

    def key(game: SeedGame) -> tuple[int, str, str]:
        first, second = sorted((game.left, game.right))
        return game.days_ago, first, second

    for (days_ago, _, _), reported in groupby(games, key):
        yield days_ago, list(reported)


async def _enter_people(tx: Tx, league: Seed, begin: int) -> Actor:
    """Enter the scorekeeper and the players; return the scorekeeper."""
    superusers = tx.league.superusers
    owner = await tx.known(tx.directory.actor(str(SUPERUSER), superusers))
    await people.appoint(tx, owner, "scorekeeper", str(SCOREKEEPER), begin)
    keeper = tx.directory.actor(str(SCOREKEEPER), superusers)
    for person in league.players:
        if person.qq is None:
            player = await people.register(tx, keeper, person.name, person.placing, begin)
        else:
            player = await people.add_player(tx, keeper, person.name, str(person.qq), person.placing, begin, ())
        if person.ip_checked:
            await people.check_ip(tx, keeper, player, valid=True, message="", said_at=begin)
    return keeper


async def _publish(tx: Tx, keeper: Actor, at: int) -> None:
    if DEFAULT_POOL not in tx.state.lists or day_of(tx.state.lists[DEFAULT_POOL][-1].as_of) != day_of(at):
        await lists.publish(tx, keeper, DEFAULT_POOL, at, at)


async def _enter(tx: Tx, keeper: Actor, games: list[SeedGame], said_at: int, number: int, runtime: Runtime) -> None:
    lines = []
    for game in games:
        left, right = (tx.directory.roster.resolve(name) for name in (game.left, game.right))
        assert left is not None and right is not None
        lines.append(GameLine((left,), Result(game.result), (right,)))
    for player in sorted(lines[0].players):
        near = tx.trial.state.look(DEFAULT_POOL, player).rating >= IP_CHECK_RATING.now - IP_MARGIN
        if near and player not in tx.trial.state.ip_checked:
            await people.check_ip(tx, keeper, player, valid=True, message="", said_at=said_at)
    settings = runtime.settings
    post = Post(
        format_report(lines, tx.directory.name_of), group_chat(SCORING), f"seed-{number}", said_at, DEFAULT_POOL,
        settings.remind_hours, settings.confirm_hours,
    )  # fmt: skip
    result = await reports.post(tx, keeper, post)
    if isinstance(result, results.SameAs):
        await reports.record_copy(
            tx, keeper, [post.message_id], post.chat, said_at, remind_hours=settings.remind_hours,
            confirm_hours=settings.confirm_hours,
        )  # fmt: skip
    elif not isinstance(result, Effective | results.NotEligible):
        raise ValueError(f"the sandbox's games break a rule: {result}")
