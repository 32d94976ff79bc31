"""Day one of an existing league: a roster file becomes players, QQ bindings and opening balances (§3 D)."""

from rating_core.importing.planner import NewOpening, NewPlayer, Plan, plan
from rating_core.importing.table import MAX_BYTES, FileProblem, Table, read_table
from rating_core.importing.values import Problem
from rating_core.importing.writer import Imported, apply, openings_of, outcome

__all__ = [
    "MAX_BYTES",
    "FileProblem",
    "Imported",
    "NewOpening",
    "NewPlayer",
    "Plan",
    "Problem",
    "Table",
    "apply",
    "openings_of",
    "outcome",
    "plan",
    "read_table",
]
