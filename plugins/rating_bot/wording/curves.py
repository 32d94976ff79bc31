"""What the bot says about rating curves where it cannot show them: a few figures of each."""

from collections.abc import Sequence

from plugins.rating_bot.wording.common import fit
from plugins.rating_bot.wording.queries import side
from rating_core.elo import show_change, show_rating
from rating_core.queries import Curve
from rating_core.times import season_of, season_start, show_day

TWICE = "一个人只写一次，最多写{most}个名字。"


def none(names: Sequence[str], pool: str) -> str:
    """Nobody of those asked for has a curve."""
    return f"{side(names)}在{pool}还没有计分对局，没有曲线。"


def _figures(curve: Curve, now: int) -> str:
    first, last = curve.points[0], curve.points[-1]
    low, high = min(p.rating for p in curve.points), max(p.rating for p in curve.points)
    parts = [f"{curve.name} {show_day(first.at)}起，现在{show_rating(last.rating)}"]
    begin = season_start(season_of(now))
    before = [point.rating for point in curve.points if point.at < begin]
    since = before[-1] if before else first.rating
    parts.append(f"今年{show_change(last.rating - since)}")
    parts.append(f"在{show_rating(low)}到{show_rating(high)}之间")
    if curve.peak is not None:
        parts.append(f"历史最高分{show_rating(curve.peak)}（{show_day(curve.peak_at)}）")
    return "，".join(parts)


def figures(curves: Sequence[Curve], without: Sequence[str], now: int) -> str:
    """Return where each curve begins and stands, how it moved this year, and between what it lay."""
    lines = [f"等级分曲线（{curves[0].pool}），图发不出来，只有数字：", *(_figures(curve, now) for curve in curves)]
    return fit([*lines, f"{side(without)}还没有计分对局"] if without else lines)
