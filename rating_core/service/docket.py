"""The docket (/待办): what waits for the desk, most urgent first."""

from dataclasses import dataclass

from rating_core.service.transaction import Tx
from rating_core.store.desk_store import DocketItem
from rating_core.store.people_store import MASKED, Application
from rating_core.store.report_store import Report

DESK_STATES = ("disputed", "expired", "confirmed", "waiting")
"""Reports on the desk's list, most urgent first."""

Entry = Application | Report | DocketItem


@dataclass(frozen=True, slots=True)
class Docket:
    """All that waits: applications, reports, other items."""

    entries: tuple[Entry, ...]


async def docket_of(tx: Tx) -> Docket:
    """Return what waits for the desk now; at the end what is the superusers' matter."""
    reports = sorted(await tx.reports.open_ones(), key=lambda report: DESK_STATES.index(report.state))
    applications = await tx.people.waiting_applications()
    desks = [application for application in applications if application.kind != MASKED]
    superusers = [application for application in applications if application.kind == MASKED]
    return Docket((*desks, *reports, *await tx.desk.open_docket(), *superusers))
