"""Fail if a test was skipped: here everything that a test may lack is installed, so a skip hides a failure."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def main(report: Path) -> int:
    """Read pytest's XML report; return the exit code."""
    if not report.exists():
        print("pytest wrote no report")
        return 1
    skipped = [
        f"{case.get('classname')}::{case.get('name')}: {skip.get('message')}"
        for case in ElementTree.parse(report).iter("testcase")
        for skip in case.findall("skipped")
    ]
    for line in skipped:
        print(f"skipped: {line}")
    return 1 if skipped else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
