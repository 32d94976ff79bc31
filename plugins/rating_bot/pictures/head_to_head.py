"""The record of two sides against each other (对战) as a picture."""

from collections.abc import Callable

from plugins.rating_bot.pictures import parts
from plugins.rating_bot.wire.messages import Picture
from plugins.rating_bot.wording import queries as wording
from rating_core.elo import show_change
from rating_core.queries import GameRow, HeadToHead, Meter
from rating_core.times import show_day


def picture(record: HeadToHead, now: int, name_of: Callable[[int], str]) -> Picture:
    """Return the record of two sides who met, or who sat on one side."""
    left, right = wording.side(record.left), wording.side(record.right)
    games = record.wins + record.draws + record.losses
    uncounted = f"，另有{record.uncounted}局不计分" if record.uncounted else ""
    summary = f"{games}局，{record.draws}平{uncounted}" if record.rows else "还没有交过手"
    return Picture.of(
        "head_to_head",
        {
            "title": "对战成绩",
            "facts": [record.pool, show_day(now)],
            "left": left,
            "right": right,
            "wins": record.wins,
            "draws": record.draws,
            "losses": record.losses,
            "summary": summary,
            "flow_left": show_change(record.flow_left),
            "flow_right": show_change(record.flow_right),
            "meter": None if record.meter is None else _meter(record.meter, record, name_of),
            "together": "" if record.together is None else wording.together_line(record.together, left, right),
            "recent_title": f"最近{len(record.rows)}局（{record.left[0]}的）",
            "recent": [_game(row, now) for row in record.rows],
            "credit": parts.CREDIT,
        },
    )


def _meter(meter: Meter, record: HeadToHead, name_of: Callable[[int], str]) -> parts.Data:
    said = wording.meter_line(meter, record.left, record.right, name_of).removeprefix("防刷分（L6）：")
    net = max(-meter.limit, min(meter.limit, meter.net))
    return {"net": -net, "limit": meter.limit, "locked": meter.locked, "text": said}


def _game(row: GameRow, now: int) -> parts.Data:
    return {
        "number": f"局{row.number}",
        "day": wording.when(row.at, now),
        "result": parts.outcome(row.result),
        "note": wording.weight_note(row).strip(),
        "change": parts.signed(row.change, counted=row.counted),
    }
