"""Every benchmark, one after the other: `python -m tests.bench [--folder F] [name …]`; about an hour in all.

Each is also its own command, `python -m tests.bench.<name>`, with options of its own. They need elote
(`pip install --group bench`) and, for the comparison with a workbook, LibreOffice.
"""

import argparse
import tempfile
from pathlib import Path

from tests.support.programs import run

PROGRAMS = {
    "fold": "all rules over three logs, beside elote in a wrapper",
    "corrections": "folding again from far back, beside a full fold and LibreOffice",
    "starting": "from an empty league to a million games, beside a bare NoneBot",
    "chat": "how long people wait, beside a bare bot that repeats what it hears",
    "pages": "board, picture and player page",
    "pictures": "every picture, cold and warm",
    "curves": "how costs grow from a thousand games to a million",
}
"""Name → what it measures."""
KEEPING = ("corrections", "starting", "chat", "curves")
"""Those that write large leagues, and can use them again."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(PROGRAMS)}; all when none is given")
    parser.add_argument("--folder", type=Path, help="where the large leagues stay, to be used again")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in PROGRAMS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        for name in asked.names or PROGRAMS:
            run(f"tests.bench.{name}", PROGRAMS[name], ["--folder", str(folder)] if name in KEEPING else [])


if __name__ == "__main__":
    main()
