"""LibreOffice without a window: computes every formula of a workbook anew; and editing a cell by script."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")
SECONDS = 240
_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">
<value>0</value></prop></item>
</oor:items>
"""
"""Recalculate always when a file is loaded; what is cached in it is not believed."""
_EDITOR = Path(__file__).parents[1] / "bench" / "office_editor.py"


def recalculated(path: Path, folder: Path) -> Path:
    """Return a copy of a workbook with every formula computed by LibreOffice; `folder` holds it and a profile."""
    assert SOFFICE is not None
    profile, out = folder / "profile", folder / "out"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_RECALCULATE, "utf-8")
    done = subprocess.run(
        [
            SOFFICE, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--convert-to", "xlsx",
            "--outdir", str(out), str(path),
        ],
        capture_output=True, text=True, timeout=SECONDS, check=False, env={"HOME": str(folder), "LANG": "C.UTF-8"},
    )  # fmt: skip
    made = out / path.name
    assert made.is_file(), f"{done.stdout}\n{done.stderr}"
    return made


@cache
def uno_python() -> str | None:
    """Return a Python that can talk to LibreOffice; None where there is none."""
    known = [sys.executable, "/usr/bin/python3", *([str(Path(SOFFICE).resolve().parent / "python")] if SOFFICE else [])]
    for python in filter(Path.exists, map(Path, known)):
        if subprocess.run([python, "-c", "import uno"], capture_output=True, check=False).returncode == 0:
            return str(python)
    return None


@contextmanager
def opened(book: Path) -> Iterator[Callable[[int, int, str], tuple[float, float]]]:
    """Hold a workbook open; yield what types a text into a cell (row, column from 0) of its first sheet.

    It returns the seconds until all is computed that depends on it, and until that is saved. Raises AssertionError
    where nothing changed.
    """
    assert SOFFICE is not None
    python = uno_python()
    assert python is not None
    with tempfile.TemporaryDirectory() as folder:
        pipe, env = f"bench{Path(folder).name}", {"HOME": folder, "LANG": "C.UTF-8"}
        office = subprocess.Popen(
            [
                SOFFICE, f"-env:UserInstallation={Path(folder).as_uri()}", "--headless", "--norestore",
                f"--accept=pipe,name={pipe};urp;",
            ],
            stderr=subprocess.DEVNULL, env=env,
        )  # fmt: skip
        editor = subprocess.Popen(
            [python, str(_EDITOR), pipe, str(book)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert editor.stdin is not None and editor.stdout is not None
        last: list[float] = []

        def edit(row: int, column: int, text: str) -> tuple[float, float]:
            nonlocal last
            print(row, column, text, file=editor.stdin, flush=True)
            told = json.loads(editor.stdout.readline())
            assert told["row"] != last, "nothing changed"
            last = told["row"]
            return float(told["computed"]), float(told["saved"])

        try:
            assert editor.stdout.readline() == "ready\n"
            yield edit
            editor.stdin.close()
            assert editor.wait(SECONDS) == 0
            office.wait(SECONDS)
        finally:
            editor.kill()
            office.terminate()
            office.wait(SECONDS)


def with_text(path: Path, target: Path, sheet: int, cell: str, text: str) -> Path:
    """Write a copy of a workbook of ours in which one cell (of the sheet number `sheet`) holds another text."""
    name = f"xl/worksheets/sheet{sheet}.xml"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for item in source.infolist():
            data = source.read(item)
            if item.filename == name:
                found, count = re.subn(
                    rf'(<c r="{cell}"[^>]*t="inlineStr"[^>]*><is><t[^>]*>)[^<]*(</t>)',
                    lambda m: f"{m[1]}{escape(text)}{m[2]}", data.decode(),
                )  # fmt: skip
                assert count == 1, f"no text in {cell}"
                data = found.encode()
            copy.writestr(item, data)
    return target
