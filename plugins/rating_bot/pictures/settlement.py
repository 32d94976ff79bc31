"""What a season's settlement would do (结算 预览) as a picture: everybody whom it concerns."""

from plugins.rating_bot.pictures import parts
from plugins.rating_bot.wire.messages import Picture
from plugins.rating_bot.wording import season as wording
from rating_core.directory import Directory
from rating_core.service.season import Sheet
from rating_core.times import show_day

MOST_PLAYERS = 500
"""More are told in pages of text: QQ takes no picture that is much higher than wide."""


def picture(sheet: Sheet, directory: Directory, now: int) -> Picture | None:
    """Return a settlement's preview with all its players; None where they are too many."""
    groups = wording.groups_of(sheet, directory)
    if sum(len(group.players) for group in groups) > MOST_PLAYERS:
        return None
    waiting = wording.waiting([report.report_id for report in sheet.waiting]) if sheet.waiting else ""
    return Picture.of(
        "settlement",
        {
            "title": f"{sheet.season}赛季结算预览",
            "facts": [sheet.pool, show_day(now)],
            "groups": [
                {
                    "title": group.head.strip(),
                    "players": [{"name": name, "note": note} for name, note in group.players],
                }
                for group in groups
            ],
            "rest": wording.others(sheet, groups),
            "warning": waiting,
            "credit": parts.CREDIT,
        },
    )
