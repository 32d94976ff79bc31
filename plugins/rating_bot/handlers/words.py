"""Short answers to the bot that are no commands: 确认, 对, 是, ok, 有误, 另记."""

import re
from dataclasses import dataclass

from plugins.rating_bot.handlers.grammar import FULL_WIDTH

MOST_CHARS = 250
_CONFIRM_WORDS = {"确认", "对", "是", "ok"}
_NUMBER = "[0-9]{1,18}"
"""A number that somebody means, and that every database takes; one without end is no number."""
_WITH_NUMBERS = re.compile(rf"确认[ #、,，]*({_NUMBER}(?:[ #、,，]+{_NUMBER})*)")
_PREVIEW = re.compile(rf"确认 ?预 ?({_NUMBER})")
_WRONG = re.compile(r"有误[ ：:,，]*(.*)")
_LEADING_NUMBER = re.compile(r"#?([0-9]{1,9})(?:[ ：:,，]+(.*))?")


@dataclass(frozen=True, slots=True)
class Word:
    """What was said: `kind` is confirm, wrong or another; with the numbers said, if any.

    bare: a 确认 that names nothing. rest: all that follows 有误; reason: the same without a leading number.
    """

    kind: str
    numbers: tuple[int, ...] = ()
    preview: int | None = None
    reason: str = ""
    rest: str = ""
    bare: bool = False


def read_word(plain: str, quoted: bool) -> Word | None:
    """Read a short answer; None when the text is none. Without quote or number only a bare 确认 is one."""
    said = " ".join(plain.split())
    if not said or len(said) > MOST_CHARS:
        return None
    bare = said.rstrip("。.!！~～ ").lower().translate(FULL_WIDTH)
    if bare in _CONFIRM_WORDS and (quoted or bare == "确认"):
        return Word("confirm", bare=bare == "确认")
    if (found := _PREVIEW.fullmatch(bare)) is not None:
        return Word("confirm", preview=int(found.group(1)))
    if (found := _WITH_NUMBERS.fullmatch(bare)) is not None:
        return Word("confirm", tuple(dict.fromkeys(map(int, re.findall("[0-9]+", found.group(1))))))
    if bare == "另记" and quoted:
        return Word("another")
    if (found := _WRONG.fullmatch(said)) is None:
        return None
    rest = found.group(1).strip()
    named = _LEADING_NUMBER.fullmatch(rest.translate(FULL_WIDTH))
    if named is not None:
        return Word("wrong", (int(named.group(1)),), reason=(named.group(2) or "").strip(), rest=rest)
    return Word("wrong", reason=rest, rest=rest) if quoted else None
