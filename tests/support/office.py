"""LibreOffice without a window: computes every formula of a workbook anew; and editing a cell by script."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")
SECONDS = 240
_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">
<value>{mode}</value></prop></item>
</oor:items>
"""
"""0: recalculate always when a file is loaded, what is cached in it is not believed; 1: never."""


def recalculated(path: Path, folder: Path, *, recalculate: bool = True) -> Path:
    """Return a copy of a workbook with every formula computed by LibreOffice; `folder` holds it and a profile."""
    assert SOFFICE is not None
    profile, out = folder / "profile", folder / "out"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    settings = _RECALCULATE.format(mode=0 if recalculate else 1)
    (profile / "user" / "registrymodifications.xcu").write_text(settings, "utf-8")
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
