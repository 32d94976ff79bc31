"""Every promise at once: `python -m tests.reliability [--long] [name …]` runs the programs here, one after the other.

Each program is also its own command, `python -m tests.reliability.<name>`; what it measured is its last line.
"""

import argparse
import sys

from tests.support.programs import run

PROGRAMS = {
    "kill": "the process is killed, sends are lost or go unanswered, the socket is cut",
    "power": "the power is cut while the book is written",
    "simulation": "people, a bad QQ and restarts in every order, from seeds",
    "standby": "a second process takes over",
    "chain": "a byte of the ledger or of a right is changed",
    "restore": "a broken book is put back from its backup",
    "steps": "a migration and a settlement are killed at every statement",
    "hostile": "input made to break, to stall or to pass for another's",
    "flood": "one person sends 200 messages a second",
    "outages": "the client, its history, the disk and the clock fail",
    "privacy": "QQ numbers stay where they can be erased",
}
"""Name → what it does to the bot."""


def figure(name: str, options: list[str]) -> str | None:
    """Run a program, showing what it prints; return its figure, None if a promise was broken."""
    code, lines = run(f"tests.reliability.{name}", PROGRAMS[name], options)
    figures = [line.removeprefix("FIGURE ") for line in lines if line.startswith("FIGURE ")]
    return figures[-1] if figures and code == 0 else None


def main() -> None:
    """Run what was asked for; exit with 1 if any promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(PROGRAMS)}; all when none is given")
    parser.add_argument("--long", action="store_true", help="the long forms: hours")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in PROGRAMS]:
        parser.error(f"no such program: {', '.join(unknown)}")
    figures = {name: figure(name, ["--long"] if asked.long else []) for name in asked.names or PROGRAMS}
    print()
    for name, said in figures.items():
        print(said or f"{name}: A PROMISE WAS BROKEN")
    sys.exit(None in figures.values())


if __name__ == "__main__":
    main()
