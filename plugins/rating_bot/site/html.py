"""The templates, and what they can do with figures, days and addresses."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from plugins.rating_bot.site.ask import Page
from plugins.rating_bot.site.snapshot import Snapshot
from plugins.rating_bot.wording import pages as wording
from plugins.rating_bot.wording import queries as said
from plugins.rating_bot.wording.events import weight_text
from plugins.rating_bot.wording.formula import expected
from rating_core.elo import round_half_up, show_change, show_rating
from rating_core.rulebook import CHIEF_EDITOR, DEFAULT_POOL
from rating_core.times import show_day, show_time

ROOT = "/board/"
TEMPLATES = Path(__file__).parent / "templates"


def address(path: str, pool: str = DEFAULT_POOL, **query: object) -> str:
    """Return the address of a page; what is the default, or empty, is left out."""
    asked = {name: value for name, value in query.items() if value not in ("", None, False)}
    if pool != DEFAULT_POOL:
        asked = {"pool": pool} | asked
    plain = path.isascii() and path.replace("/", "").isalnum()  # as most are, seventy on a page
    return ROOT + (path if plain else quote(path, safe="/+")) + (f"?{urlencode(asked)}" if asked else "")


class Html:
    """Pages as HTML. `files`: the address of each static file."""

    def __init__(self, files: Mapping[str, str]) -> None:
        # every template is HTML: escaping is on for all of them, whatever their names end in
        self._environment = env = Environment(
            loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True, auto_reload=False,
        )  # fmt: skip
        env.filters |= {
            "rating": show_rating,
            "whole": lambda value: show_rating(value, 0),
            "change": show_change,
            "percent": lambda share: f"{show_rating(100 * share)}%",
            "day": show_day,
            "long_day": wording.long_day,
            "time": show_time,
            "four": expected,
            "side": said.side,
            "weight": weight_text,
            "trend": _trend,
        }
        env.globals |= {
            "file": files.__getitem__,
            "editor": CHIEF_EDITOR,
            "site": wording.SITE,
            "default_pool": DEFAULT_POOL,
        }

    def page(self, page: Page, now: Snapshot, *, data_address: str) -> bytes:
        """Return a page; `data_address` leads to the same as JSON."""

        def url(path: str, pool: str = page.pool, **query: object) -> str:
            return address(path, pool, **query)

        text = self._environment.get_template(page.template).render(
            page.context, title=page.title, pool=page.pool, pools=now.pools, seq=now.book.seq, url=url,
            data_address=data_address,
        )  # fmt: skip
        return text.encode()

    def error(self, status: int, text: str) -> bytes:
        """Return a page that says what went wrong."""
        rendered = self._environment.get_template("error.html").render(
            title=text, status=status, text=text, pool=DEFAULT_POOL, pools=[DEFAULT_POOL], here="none", url=address,
            data_address="", seq=0,
        )  # fmt: skip
        return rendered.encode()


def _trend(change: float) -> str:
    """Return the class of a change by what is shown of it: up, down or level."""
    shown = round_half_up(change, 1)
    return "up" if shown > 0 else "down" if shown < 0 else "level"
