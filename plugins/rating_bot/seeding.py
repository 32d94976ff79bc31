"""The sandbox's small league, entered through the real service on its first start."""

from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.sandbox.scene import SCOREKEEPER, SCORING, SEED, SUPERUSER
from plugins.rating_bot.wire.messages import group_chat
from rating_core.directory import Actor
from rating_core.report_text import GameLine, Result, format_report
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service import people, reports
from rating_core.service import report_results as results
from rating_core.service.league import Tx
from rating_core.service.report_results import Effective
from rating_core.service.reports import Post
from rating_core.times import DAY_MS


async def seed(runtime: Runtime) -> None:
    """Enter the cast and its games in one transaction; nothing happens when the book is not empty."""
    league = runtime.league
    if league.book.seq:
        return
    now = runtime.clock.now()
    begin = now - max(game.days_ago for game in SEED.games) * DAY_MS - DAY_MS
    async with league.transaction() as tx:
        owner = await tx.known(tx.directory.actor(str(SUPERUSER), league.superusers))
        await people.appoint(tx, owner, "scorekeeper", str(SCOREKEEPER), begin)
        keeper = tx.directory.actor(str(SCOREKEEPER), league.superusers)
        for person in SEED.players:
            if person.qq is None:
                player = await people.register(tx, keeper, person.name, person.placing, begin)
            else:
                player = await people.add_player(tx, keeper, person.name, str(person.qq), person.placing, begin, ())
            if person.ip_checked:
                await people.check_ip(tx, keeper, player, valid=True, message="", said_at=begin)
    groups: dict[tuple[int, str, str], list[GameLine]] = {}
    names = league.directory.roster
    for game in SEED.games:
        left, right = names.resolve(game.left), names.resolve(game.right)
        assert left is not None and right is not None
        first, second = sorted((game.left, game.right))
        key = (game.days_ago, first, second)
        groups.setdefault(key, []).append(GameLine((left,), Result(game.result), (right,)))
    async with league.transaction() as tx:
        keeper = tx.directory.actor(str(SCOREKEEPER), league.superusers)
        for number, ((days, *_), lines) in enumerate(groups.items()):
            await _enter(tx, keeper, lines, now - days * DAY_MS, number, runtime)


async def _enter(tx: Tx, keeper: Actor, lines: list[GameLine], said_at: int, number: int, runtime: Runtime) -> None:
    settings = runtime.settings
    post = Post(
        format_report(lines, tx.directory.name_of), group_chat(SCORING), f"seed-{number}", said_at, DEFAULT_POOL,
        settings.remind_hours, settings.confirm_hours,
    )  # fmt: skip
    result = await reports.post(tx, keeper, post)
    if not isinstance(result, Effective):
        if isinstance(result, results.SameAs):
            await reports.record_copy(
                tx, keeper, [post.message_id], post.chat, said_at, remind_hours=settings.remind_hours,
                confirm_hours=settings.confirm_hours,
            )  # fmt: skip
            return
        raise ValueError(f"the sandbox's games break a rule: {result}")
