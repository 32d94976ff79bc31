"""Python's garbage collector, kept from walking through a whole Book while nobody can do anything else."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused(*, keep: bool = False) -> Iterator[None]:
    """Hold the collector while very many objects are made at once.

    `keep`: they stay, as a Book's do, and need never be looked at (they go when nothing refers to them any more).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if keep:
            gc.freeze()
        if enabled:
            gc.enable()
