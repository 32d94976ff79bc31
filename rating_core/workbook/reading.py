"""Reading somebody's workbook: in another process, which may fail without harm (see child)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rating_core.workbook.layout import CHANGES, GAMES, PLAYERS

MAX_BYTES = 20_000_000
SECONDS = 30
"""How long the other process may take."""
_CHILD = Path(__file__).with_name("child.py")

Cell = str | float | int | None
"""Text (dates too, as 2026-03-02 20:00:00.000), a number, or nothing."""
Sheet = list[list[Cell]]


class WorkbookRefused(Exception):
    """A workbook that is not read. `code` names the reason, `facts` fill the sentence."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts


def read_workbook(data: bytes) -> dict[str, Sheet]:
    """Return the sheets of a workbook of ours, of any other the first one; blocks for up to 30 s.

    Raises WorkbookRefused: too big, damaged, with macros or a password, or more than the limits let through.
    """
    if len(data) > MAX_BYTES:
        raise WorkbookRefused("too_big", size=len(data), most=MAX_BYTES)
    command = [sys.executable, "-P", str(_CHILD), GAMES, PLAYERS, CHANGES]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise WorkbookRefused("too_slow", seconds=SECONDS) from None
    if done.returncode != 0:  # a limit ended it, or the reader stumbled over the file
        raise WorkbookRefused("too_heavy")
    answer = json.loads(done.stdout)
    if "refused" in answer:
        raise WorkbookRefused(answer["refused"], **answer["facts"])
    sheets: dict[str, Sheet] = answer["sheets"]
    return sheets
