"""The formula in words: what a game would bring (/预测, /计算) and why one brought what it did (/解释)."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from plugins.rating_bot.wording.common import fit
from plugins.rating_bot.wording.queries import meter_line, side
from plugins.rating_bot.wording.reports import bar_reason
from rating_core.elo import round_half_up, show_change, show_rating
from rating_core.queries import Calculation, Correction, ExplainedPlayer, Explanation, Prediction, Term
from rating_core.rulebook import CASUAL_WEIGHT, EVENT_WEIGHTS, LOGISTIC_SCALE, POOLS, RuleSet
from rating_core.times import show_time

WEIGHTS = f"系数只有 {'、'.join(EVENT_WEIGHTS)}（L5）。"
NO_WEIGHT = f"{WEIGHTS}例如：\n/计算 2000 胜 2200 1.2"

CORRECTIONS = 4
"""Corrections of one game that are named; of more the newest."""
REASON = 40


def size_of_sides(pool: str) -> str:
    """Say how many names a pool's sides take."""
    count = POOLS[pool].side_size
    return f"{pool}一边{count}个人，请写{'两个' if count == 1 else '四个'}名字。"


def no_game(number: int) -> str:
    return f"没有局{number}。局号在 /战绩 里看。"


def expected(value: float) -> str:
    """Return We with four decimals."""
    return str(round_half_up(value, 4))


def k_band(rating: float, rules: RuleSet) -> str:
    """Return the K band of L1 in which a rating lies."""
    bounds = [bound for bound, _ in rules.k_bands]
    low = max(bound for bound in bounds if rating >= bound)
    high = min((bound for bound in bounds if bound > rating), default=None)
    if high is None:
        return f"{low:g}起"
    return f"不到{high:g}" if low == float("-inf") else f"{low:g}起、不到{high:g}"


def _sum(term: Term, weight: float) -> str:
    """Return the formula filled in, with the new rating and the change."""
    return (
        f"{show_rating(term.rating)}+{term.k}×{weight:g}×({term.won:g}-{expected(term.expected)})"
        f"={show_rating(term.after)}（{show_change(term.change)}）"
    )


def _we(dr: float, we: float, rules: RuleSet) -> str:
    """Return how We follows from dr."""
    if rules.expectancy != "logistic":
        return f"分差dr={show_change(dr)}，We={expected(we)}"
    return f"We=1÷(10^(-dr÷{LOGISTIC_SCALE:g})+1)，dr={show_change(dr)}，We={expected(we)}"


# --- /计算 ------------------------------------------------------------------------------------------------


def calculation(worked: Calculation, rules: RuleSet) -> str:
    """Return the new ratings of both with the formula filled in; one player a side."""
    left, right = worked.left[0], worked.right[0]
    return "\n".join(
        [
            f"{show_rating(left.rating)} {worked.result.word} {show_rating(right.rating)}，系数c={worked.weight:g}",
            "新分=旧分+K×c×(W-We)（L1）",
            _we(worked.dr, left.expected, rules),
            f"左：K={left.k}（{k_band(left.rating, rules)}）",
            _sum(left, worked.weight),
            f"右：K={right.k}（{k_band(right.rating, rules)}），We={expected(right.expected)}",
            _sum(right, worked.weight),
        ]
    )


# --- /预测 ------------------------------------------------------------------------------------------------


def _changes(terms: Sequence[Term]) -> str:
    return "、".join(show_change(term.change) for term in terms)


def prediction(worked: Prediction, name_of: Callable[[int], str]) -> str:
    """Return We and the changes of both sides for 胜, 平 and 负, and whether a game would count now."""
    win = worked.outcomes[0]
    short = len(worked.left) == 1
    left, right = (worked.left[0], worked.right[0]) if short else ("左边", "右边")
    head = f"{side(worked.left)} 对 {side(worked.right)}（{worked.pool}，约战系数{CASUAL_WEIGHT:g}）"
    lines = [
        head,
        f"现在的分：{'、'.join(show_rating(t.rating) for t in win.left)} 对 "
        f"{'、'.join(show_rating(t.rating) for t in win.right)}",
        f"期望得分We：{expected(win.left[0].expected)} 对 {expected(win.right[0].expected)}",
    ]
    lines += [
        f"{left}{game.result.word}：{left} {_changes(game.left)}，{right} {_changes(game.right)}"
        for game in worked.outcomes
    ]
    lines += [f"现在不能报分：{name_of(bar.player)}{bar_reason(bar)}" for bar in worked.bars]
    lines.append(meter_line(worked.meter, worked.left, worked.right, name_of))
    if worked.counts:
        lines.append("现在下约战：计分。")
    elif not worked.bars:
        lines.append("现在下约战：不计分。")
    return fit(lines)


# --- /解释 ------------------------------------------------------------------------------------------------


def _correction(correction: Correction) -> str:
    """One correction in short; what the game became stands above it."""
    if correction.void:
        return f"账{correction.seq} 作废"
    if correction.line is not None:
        return f"账{correction.seq} 改判为{correction.line[1].word}"
    return f"账{correction.seq} 改为{correction.event or '约战'}系数{correction.weight:g}"


def corrections_line(corrections: Sequence[Correction], said: Mapping[int, tuple[str, str]]) -> str:
    """The corrections, the newest first; of that who made it and why, as far as `said` holds it."""
    newest = "、".join(_correction(c) for c in reversed(corrections[-CORRECTIONS:]))
    more = f"等{len(corrections)}次" if len(corrections) > CORRECTIONS else ""
    who, why = said.get(corrections[-1].seq, ("", ""))
    by = f"（{who}：{why[:REASON] or '没有说理由'}）" if who else ""
    return f"更正过，这里是更正后的：{newest}{more}{by}"


def _figures(player: ExplainedPlayer, weight: float, rules: RuleSet) -> list[str]:
    """One player of a 1v1 game: his numbers, then the formula with them."""
    term = player.term
    return [
        f"{player.name}：K={term.k}（{k_band(term.rating, rules)}），W={term.won:g}，We={expected(term.expected)}",
        _sum(term, weight),
    ]


def _counted(game: Explanation, rules: RuleSet) -> list[str]:
    """Every number of the formula for both sides."""
    if len(game.ours) == 1:
        lines = [f"新分=旧分+K×c×(W-We)（L1），{_we(game.dr, game.ours[0].term.expected, rules)}"]
        for player in (*game.ours, *game.theirs):
            lines += _figures(player, game.weight, rules)
        return lines
    means = [show_rating(sum(p.term.rating for p in side) / len(side)) for side in (game.ours, game.theirs)]
    we = [expected(side[0].term.expected) for side in (game.ours, game.theirs)]
    return [
        "新分=旧分+K×c×(W-We)（L1），K按各人自己的分",
        f"两边平均 {' 对 '.join(means)}，dr={show_change(game.dr)}，We={' 对 '.join(we)}",
        *(f"{p.name}：{_sum(p.term, game.weight)}" for p in (*game.ours, *game.theirs)),
    ]


def farming_line(game: Explanation, name_of: Callable[[int], str]) -> str:
    """Whether L6 let the game count, and what it found."""
    found = game.meter
    if found is None:
        return "赛事局一律计分，不算进防刷分（L6）"
    if found.locked:
        owed = "，".join(f"{name_of(player)}{count}局" for player, count in found.owed)
        return f"不计分（L6）：赛前净胜负已到{found.limit}局，当时还要与别人下计分棋：{owed}"
    ahead, word = (game.left, "左边") if found.net > 0 else (game.right, "右边")
    net = f"{ahead[0] if len(ahead) == 1 else word}净胜{abs(found.net)}局" if found.net else "净胜0局"
    return f"计分（L6）：赛前{net}，没到{found.limit}局"


def explanation(
    game: Explanation, name_of: Callable[[int], str], said: Mapping[int, tuple[str, str]] = MappingProxyType({})
) -> str:
    """Return every number of a game's formula, clause by clause, and its corrections.

    said: by a correction's ledger row, who made it and why.
    """
    rules = POOLS[game.pool].rules
    kind = f"赛事{game.event}" if game.event else "约战"
    lines = [
        f"局{game.number}（#{game.report}，账{game.seq}）{game.pool} {show_time(game.at)}",
        f"{side(game.left)} {game.result.word} {side(game.right)}，{kind}，系数c={game.weight:g}（L5）",
    ]
    if game.corrections:
        lines.append(corrections_line(game.corrections, said))
    if game.void:
        lines.append("已作废，不影响任何人的分数和盘数")
    else:
        if game.counted:
            lines += _counted(game, rules)
        lines.append(farming_line(game, name_of))
        if not game.counted:
            players = (*game.ours, *game.theirs)
            lines.append("分数不变：" + "，".join(f"{p.name} {show_rating(p.term.rating)}" for p in players))
        elif any(p.missing for p in (*game.ours, *game.theirs)):
            missing = "、".join(str(p.missing) for p in (*game.ours, *game.theirs))
            lines.append(f"未满{game.needed}盘（L12）：下完这局依次还差{missing}盘")
    return fit(lines, "……另有{count}行")
