"""Events and the rules."""

from plugins.rating_bot.site import data
from plugins.rating_bot.site.answers import NotHere
from plugins.rating_bot.site.ask import Ask, Page, number
from plugins.rating_bot.wording import pages as wording
from plugins.rating_bot.wording.rules import CLAUSES
from rating_core import queries


def events(ask: Ask) -> Page:
    """All events, whichever pool is theirs."""
    found = queries.events(ask.now.book, ask.now.directory)
    context = {"here": "events", "events": found}
    return Page("events.html", wording.EVENTS, ask.pool, context, lambda: {"events": [data.event(e) for e in found]})


def event(ask: Ask) -> Page:
    """Who stands how in an event."""
    asked = number(ask.path["event"])
    if asked not in ask.now.book.state.events:
        raise NotHere(wording.NO_EVENT)
    found = queries.standings(ask.now.book, ask.now.directory, asked)
    context = {"here": "events", "event": found.event, "rows": found.rows}
    return Page("event.html", found.event.name, found.event.pool, context, lambda: data.standings(found))


def rules(ask: Ask) -> Page:
    """The rules in our own words, with the numbers of today."""
    clauses = [(clause.key, clause.title, clause.text(ask.now.today)) for clause in CLAUSES]
    context = {"here": "rules", "clauses": [(key, title, text.split("\n")) for key, title, text in clauses]}
    as_data = [{"clause": key, "title": title, "text": text} for key, title, text in clauses]
    return Page("rules.html", wording.RULES, ask.pool, context, lambda: {"clauses": as_data})
