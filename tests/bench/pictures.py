"""How long pictures take: `python -m tests.bench.pictures`. Medians; the first picture loads fonts and templates."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from plugins.rating_bot.pictures import board
from plugins.rating_bot.pictures.typesetting import Typesetter
from plugins.rating_bot.wire.messages import Picture
from tests.support import gallery

ROUNDS = 15
LIMIT_MS = 100
"""A board of 30 rows, once warm."""


def timed(work: Callable[[], bytes]) -> tuple[float, float, int]:
    """Return how long something took (ms), how much of the processor (ms), and the size of what it made."""
    begin, used = time.perf_counter(), time.process_time()
    made = work()
    return 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - used), len(made)


def boards(count: int) -> list[Picture]:
    """Return boards of 30 rows that differ in every row."""
    found = gallery.the_board()
    return [
        board.picture(replace(found, rows=tuple(replace(row, shown=row.shown + n) for row in found.rows)), 1)
        for n in range(count)
    ]


def main() -> None:
    gallery.league()
    begin = time.perf_counter()
    typesetter = Typesetter()
    print(f"fonts and their characters        {1000 * (time.perf_counter() - begin):7.0f} ms")
    first, *rest = boards(ROUNDS + 1)
    print(f"first board                       {timed(lambda: typesetter.png(first))[0]:7.0f} ms")
    figures = [timed(lambda picture=picture: typesetter.png(picture)) for picture in rest]  # type: ignore[misc]
    wall = statistics.median(figure[0] for figure in figures)
    _report("board of 30 rows", figures)
    for name, picture in gallery.pictures().items():
        if name.startswith("board"):
            continue
        typesetter.png(picture)
        again = [replace(picture, data=picture.data.replace("2026-11-30", f"2026-11-{n:02}")) for n in range(1, ROUNDS)]
        _report(name, [timed(lambda one=one: typesetter.png(one)) for one in again])  # type: ignore[misc]
    print(f"board of 30 rows under {LIMIT_MS} ms: {'yes' if wall < LIMIT_MS else 'NO'}")


def _report(name: str, figures: list[tuple[float, float, int]]) -> None:
    wall, used, size = (statistics.median(column) for column in zip(*figures, strict=True))
    print(f"{name:32}  {wall:7.0f} ms   processor {used:5.0f} ms   {size / 1024:5.0f} KB")


if __name__ == "__main__":
    main()
