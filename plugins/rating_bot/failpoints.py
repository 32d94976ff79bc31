"""Named points at which a test can kill the process, as a power cut would.

TIAOQI_FAILPOINT=name kills at the first hit, name:3 at the third. Without it nothing happens.
"""

import os

_wanted, _, _count = os.environ.get("TIAOQI_FAILPOINT", "").partition(":")
_left = int(_count or 1)


def hit(name: str) -> None:
    """Die here, without cleaning up, if this is the point asked for."""
    global _left
    if name == _wanted:
        _left -= 1
        if _left <= 0:
            os._exit(137)
