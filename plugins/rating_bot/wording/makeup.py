"""What the bot says after it was away."""

from collections.abc import Sequence

MOST_CHARS = 3500
"""QQ takes longer messages badly; past this each answer is cut to its first line, which names its number."""


def merged(texts: Sequence[str]) -> str:
    """Put several answers into one message."""
    head = f"刚才机器人不在线，补记{len(texts)}条："
    whole = "\n\n".join([head, *texts])
    if len(whole) <= MOST_CHARS:
        return whole
    short = "\n".join([head, *(text.split("\n", 1)[0] for text in texts)])
    return short if len(short) <= MOST_CHARS else short[: MOST_CHARS - 20] + "\n……其余见 /战绩"
