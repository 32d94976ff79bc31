"""The docket (/待办): what waits for the desk, most urgent first."""

from collections.abc import Sequence
from dataclasses import dataclass

from rating_core.service.league import Tx
from rating_core.store.desk_store import DocketItem
from rating_core.store.people_store import MASKED, Application
from rating_core.store.report_store import Report

PAGE = 10
DESK_STATES = ("disputed", "expired", "confirmed", "waiting")
"""Reports on the desk's list, most urgent first."""

Entry = Application | Report | DocketItem


@dataclass(frozen=True, slots=True)
class Docket:
    """All that waits: applications, reports, other items."""

    entries: tuple[Entry, ...]

    @property
    def pages(self) -> int:
        return max(1, -(-len(self.entries) // PAGE))

    def page(self, number: int) -> Sequence[Entry]:
        """Return the entries of page `number`, from 1."""
        return self.entries[PAGE * (number - 1) : PAGE * number]


async def docket_of(tx: Tx) -> Docket:
    """Return what waits for the desk now; at the end what is the superusers' matter."""
    reports = sorted(await tx.reports.open_ones(), key=lambda report: DESK_STATES.index(report.state))
    applications = await tx.people.waiting_applications()
    desks = [application for application in applications if application.kind != MASKED]
    superusers = [application for application in applications if application.kind == MASKED]
    return Docket((*desks, *reports, *await tx.desk.open_docket(), *superusers))
