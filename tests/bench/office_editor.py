"""Holds a workbook open in LibreOffice and edits it as somebody at its window would.

Run by a Python that has `uno` (Debian: python3-uno): `python office_editor.py PIPE BOOK`; LibreOffice listens at PIPE.
Each line on stdin, `row column text` (counted from 0), is typed into the first sheet; the answer is a line of JSON: the
seconds until every formula that depends on it is computed, those until it is saved too, and the figures that then stand
in the last row.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import uno  # type: ignore[import-not-found]

PATIENCE = 60
"""Seconds for LibreOffice to listen."""


def desktop(pipe: str) -> Any:
    """Return LibreOffice's desktop. Raises TimeoutError."""
    here = uno.getComponentContext()
    resolver = here.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", here)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            there = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except Exception:  # of a type that uno makes at runtime
            time.sleep(0.1)
        else:
            return there.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", there)
    raise TimeoutError("LibreOffice does not listen")


def main(pipe: str, book: str) -> None:
    """Open the workbook, do what stdin says, and end LibreOffice."""
    office = desktop(pipe)
    hidden = uno.createUnoStruct("com.sun.star.beans.PropertyValue")
    hidden.Name, hidden.Value = "Hidden", True
    document = office.loadComponentFromURL(Path(book).as_uri(), "_blank", 0, (hidden,))
    document.calculateAll()
    assert document.isAutomaticCalculationEnabled()
    sheet = document.Sheets.getByIndex(0)
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    last, width = cursor.RangeAddress.EndRow, cursor.RangeAddress.EndColumn
    print("ready", flush=True)
    for line in sys.stdin:
        place_row, place_column, text = line.split()
        begin = time.perf_counter()
        sheet.getCellByPosition(int(place_column), int(place_row)).setString(text)
        document.calculate()  # what is not on the screen is computed when it is asked for
        row = [sheet.getCellByPosition(column, last).Value for column in range(width + 1)]
        computed = time.perf_counter() - begin
        document.store()
        saved = time.perf_counter() - begin
        print(json.dumps({"computed": computed, "saved": saved, "row": row}), flush=True)
    document.close(True)
    office.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
