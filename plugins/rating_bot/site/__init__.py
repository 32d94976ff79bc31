"""The league's public pages under /board/: they show what the book says, by number and name, and change nothing.

Never a QQ number, who holds 蒙面人公用号, a report that waits, or what somebody gave as a reason.
"""

from collections.abc import Callable

from fastapi import FastAPI
from starlette.routing import Route

from plugins.rating_bot.site.routes import Site, to_root
from rating_core.service.league import League

__all__ = ["Site", "install"]


def install(app: FastAPI, league: Callable[[], League | None], clock: Callable[[], int]) -> Site:
    """Add the pages to `app`. `clock` gives ms since the epoch; by its day N and bars go.

    `league` returns the one that runs, None while the bot begins anew.
    """
    site = Site(league, clock)
    app.mount("/board", site.app)
    app.router.routes.append(Route("/board", to_root))
    return site
