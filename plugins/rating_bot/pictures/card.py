"""A player's card (等级分) as a picture: all that the text says, and the rating's way so far."""

from plugins.rating_bot.pictures import parts
from plugins.rating_bot.pictures.curve import on_card
from plugins.rating_bot.wire.messages import Picture
from plugins.rating_bot.wording import queries as wording
from rating_core.elo import show_rating
from rating_core.queries import Card, Curve, GameRow
from rating_core.times import show_day


def picture(card: Card, curve: Curve) -> Picture:
    """Return a player's card; the curve is his in the same pool."""
    peak = show_rating(card.peak) if card.peak is not None else "公用号不统计" if card.state == "masked" else "未满20盘"
    return Picture.of(
        "card",
        {
            "name": card.name,
            "tags": parts.tags(card.missing, card.needed, ip_checked=False),
            "rank": f"第{card.rank}名" if card.rank is not None else "不在榜上",
            "of": f"共{card.of}人" if card.rank is not None else "",
            "facts": [card.pool, show_day(card.at), wording.state_line(card).removeprefix("状态：")],
            "shown": show_rating(card.shown),
            "rating": show_rating(card.rating),
            "missing": f"未满{card.needed}盘，还差{card.missing}盘，显示分已扣（L12）" if card.missing else "",
            "change": _change(card),
            "peak": peak,
            "peak_day": "" if card.peak is None else show_day(card.peak_at),
            "record": parts.record(card.wins, card.draws, card.losses),
            "games": f"{card.games}盘",
            "rate": parts.rate(card.wins, card.games),
            "wins": card.wins,
            "draws": card.draws,
            "losses": card.losses,
            "recent": [_game(row, card) for row in card.recent],
            "near": _near(card),
            "warning": wording.barred_line(card),
            "credit": parts.CREDIT,
            **on_card(curve, card.at),
        },
    )


def _change(card: Card) -> parts.Data | None:
    if card.change is None:
        return None
    rating, rank = parts.changes(card.change)
    return {"label": f"比第{card.against}期", "rating": rating, "rank": "" if card.change.is_new else rank}


def _game(row: GameRow, card: Card) -> parts.Data:
    partners = "".join(f"（同{name}）" for name in row.own if name != card.name)
    return {
        "number": f"局{row.number}",
        "day": wording.when(row.at, card.at),
        "result": parts.outcome(row.result),
        "others": wording.side(row.others),
        "note": partners + wording.weight_note(row),
        "change": parts.signed(row.change, counted=row.counted),
    }


def _near(card: Card) -> list[parts.Data]:
    """Return who stands above and below, with the player himself between them."""
    if card.rank is None:
        return []
    own = {"rank": card.rank, "name": card.name, "rating": show_rating(card.shown), "own": True}
    above, below = (
        [{"rank": r.rank, "name": r.name, "rating": show_rating(r.shown), "own": False} for r in rows]
        for rows in (card.above, card.below)
    )
    return [*above, own, *below]
