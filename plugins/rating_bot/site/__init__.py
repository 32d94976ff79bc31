"""The league's public pages under /board/: they show what the book says, by number and name, and change nothing.

Never a QQ number, who holds 蒙面人公用号, a report that waits, or what somebody gave as a reason.
"""

import logging
from collections.abc import Callable

from fastapi import FastAPI
from starlette.routing import Route

from plugins.rating_bot.site.html import ROOT
from plugins.rating_bot.site.routes import Site, to_root
from rating_core.service.league import League

__all__ = ["Site", "install"]


def install(app: FastAPI, league: Callable[[], League | None], clock: Callable[[], int]) -> Site:
    """Add the pages to `app`. `clock` gives ms since the epoch; by its day N and bars go.

    `league` returns the one that runs, None while the bot begins anew. Who reads pages is not logged.
    """
    logging.getLogger("uvicorn.access").addFilter(_of_the_bot)
    site = Site(league, clock)
    app.mount("/board", site.app)
    app.router.routes.append(Route("/board", to_root))
    return site


def _of_the_bot(record: logging.LogRecord) -> bool:
    """Let pass what the access log says of anything but the pages."""
    path = record.args[2] if isinstance(record.args, tuple) and len(record.args) > 2 else ""
    return not str(path).startswith(ROOT)
