"""Events (赛事): opened and closed by scorekeepers (L5, §5)."""

from collections.abc import Container, Mapping

from rating_core.directory import Actor
from rating_core.ledger import Draft, EventClosed, EventOpened
from rating_core.names import NameProblem, check_new_name, normalize_name, skeleton
from rating_core.report_text import ReportProblems
from rating_core.rulebook import POOLS, UNRATED_WEIGHT
from rating_core.service.refusal import Refusal
from rating_core.service.report_results import EventRefused
from rating_core.service.transaction import Tx
from rating_core.store.report_store import Report


def check_event_name(events: Mapping[int, str], name: str, reserved: Container[str]) -> str:
    """Return the normalised name if an event may have it: a header #name must mean one thing. Raises Refusal."""
    name = normalize_name(name)
    key = skeleton(name)
    if key in map(skeleton, POOLS):
        raise Refusal("event_is_pool", name=name)
    problem = check_new_name(name, reserved)
    if problem is None and ("#" in name or "＃" in name):
        problem = NameProblem("character", "#")
    if problem is not None:
        raise Refusal("bad_name", name=name, problem=problem)
    alike = next(((number, other) for number, other in events.items() if skeleton(other) == key), None)
    if alike is not None:
        code = "event_name_taken" if alike[1] == name else "event_name_confusable"
        raise Refusal(code, name=name, alike=alike[1])
    return name


async def open_event(
    tx: Tx, actor: Actor, name: str, weight: float, pool: str, *, signoff: bool, said_at: int, reserved: Container[str]
) -> int:
    """/赛事 新建: a new event; return its number. `signoff`: players' reports wait for a referee. Raises Refusal."""
    name = check_event_name(tx.directory.events, name, reserved)
    actor = await tx.known(actor)
    event = await tx.counters.take("event")
    await tx.append(Draft(EventOpened(event, weight, signoff), said_at, actor.account_id, pool))
    await tx.people.add_event(event, name)
    tx.edit_directory().events[event] = name
    detail = f"#{name} {pool} 系数{weight:g}" + ("" if signoff else " 免裁判")
    await tx.journal(actor, said_at, "赛事新建", detail=detail)
    return event


def open_events(tx: Tx) -> dict[str, int]:
    """Return the events that take reports, by name."""
    return {
        tx.directory.events[number]: number
        for number, event in tx.trial.state.events.items()
        if event.open and event.opened.weight != UNRATED_WEIGHT
    }


def shut_event(tx: Tx, found: ReportProblems) -> EventRefused | None:
    """Return which event that takes no reports a refused report names in its header; None if it names none."""
    for problem in found.problems:
        number = tx.directory.event_id(problem.names[0]) if problem.code == "unknown_header" else None
        if number is not None:
            event = tx.trial.state.events[number]
            unrated = event.opened.weight == UNRATED_WEIGHT
            return EventRefused(problem.names[0], event.pool, "unrated" if unrated else "closed")
    return None


async def close_event(tx: Tx, actor: Actor, event: int, said_at: int) -> tuple[int, list[Report]]:
    """/赛事 结束: it takes no more reports. Raises Refusal.

    Return the ledger row, and the reports that wait: they were posted in time.
    """
    state = tx.trial.state.events[event]
    name = tx.directory.events[event]
    if not state.open:
        raise Refusal("event_closed", name=name)
    actor = await tx.known(actor)
    row, _ = await tx.append(Draft(EventClosed(event), said_at, actor.account_id, state.pool))
    await tx.journal(actor, said_at, "赛事结束", detail=f"账{row.seq} #{name}")
    return row.seq, [report for report in await tx.reports.open_ones() if report.event_id == event]
