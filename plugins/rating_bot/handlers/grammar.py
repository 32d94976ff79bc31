"""How a command's arguments are split into its form's slots: by the roster, never by guessing.

An @ is always a person, 「…」 and "…" always quote a name; the whole rest is tried as one roster name first,
then split into the slots in their written order; more than one way is a tie and is asked back.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.rating_bot.wire.messages import AT_MARK
from rating_core.directory import Directory
from rating_core.names import normalize_name
from rating_core.rulebook import PLACINGS

MAX_REST = 400
"""Longer arguments are no command of ours (reasons are short)."""
_MAX_TOKENS = 60
FULL_WIDTH = {0xFF10 + digit: str(digit) for digit in range(10)} | {ord("＃"): "#"}
"""Digits and # as Chinese keyboards type them."""
_TOKEN = re.compile(AT_MARK.pattern + r'|「([^「」]{1,64})」|"([^"]{1,64})"|(\S)')


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the arguments; `kind` is word, at (text: QQ number) or quoted (text: a name)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody named in a command: a player of the roster, or only a QQ that is bound to nobody."""

    player_id: int | None
    qq: str | None = None
    typed: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that is on no board, as typed."""

    typed: str


class Mismatch(Exception):
    """The arguments do not fit the form.

    `unknown`: the name that is on no board, `missing`: the key of the slot that was left out, if that is why.
    """

    def __init__(self, unknown: str | None = None, tie: Sequence[str] = (), missing: str = "") -> None:
        super().__init__(unknown or missing)
        self.unknown = unknown
        self.tie = tie
        self.missing = missing


Take = Callable[[Sequence[Token], Directory], Iterator[tuple[int, Any]]]
"""Yields (how many tokens, value) for each way a slot can read the tokens in front of it."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of a form. `key` is the argument's name; `default` makes it optional."""

    key: str
    take: Take
    optional: bool = False
    default: Any = None
    parts: tuple["Slot", ...] = ()
    """Of several slots in any order: the value holds one for each."""


def tokenize(rest: str) -> list[Token]:
    """Split into words, mentions and quoted names; a word ends at white space or where a mention begins."""
    tokens: list[Token] = []
    position = 0
    while position < len(rest):
        if rest[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(rest, position)
        if match is None or match.group(5):
            end = position
            while end < len(rest) and not rest[end].isspace() and not AT_MARK.match(rest, end):
                end += 1
            tokens.append(Token("word", rest[position:end]))
            position = end
        elif match.group(1):
            tokens.append(Token("at", match.group(1)))
            position = match.end()
        else:
            name = " ".join(AT_MARK.sub("", match.group(3) or match.group(4)).split())
            tokens.append(Token("quoted", name) if name else Token("word", "「」"))
            position = match.end()
    return tokens


# --- the kinds of slots -----------------------------------------------------------------------------------


def _join(tokens: Sequence[Token], count: int) -> str | None:
    """Return `count` words as one name, None where a mention or quoted name is among them."""
    if any(token.kind != "word" for token in tokens[:count]):
        return None
    return " ".join(token.text for token in tokens[:count])


def _person(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
    first = tokens[0]
    if first.kind == "at":
        account = directory.by_qq.get(first.text)
        yield 1, Person(account.player_id if account else None, first.text, f"@{first.text}")
        return
    if first.kind == "quoted":
        player = directory.roster.resolve(first.text)
        yield 1, Person(player, None, first.text) if player is not None else Unknown(first.text)
        return
    for count in range(min(len(tokens), 8), 0, -1):
        name = _join(tokens, count)
        if name is not None and (player := directory.roster.resolve(name)) is not None:
            yield count, Person(player, None, name)
    if (word := _join(tokens, 1)) is not None and directory.roster.resolve(word) is None:
        yield 1, Unknown(word)


def person(key: str, *, optional: bool = False) -> Slot:
    """A roster name or a mention: Person."""
    return Slot(key, _person, optional)


def people(key: str, most: int) -> Slot:
    """One to `most` roster names or mentions: list of Person."""

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        def more(start: int, found: list[Any]) -> Iterator[tuple[int, Any]]:
            if found:
                yield start, found
            if start < len(tokens) and len(found) < most:
                for count, value in _person(tokens[start:], directory):
                    yield from more(start + count, [*found, value])

        yield from more(0, [])

    return Slot(key, take, optional=True, default=[])


def new_name(key: str, ends: Sequence[Slot] = ()) -> Slot:
    """A name not yet on the roster, quoted or one to four words: str. Checks are the handler's.

    No word that one of the slots `ends` can read is a part of it, unless it is quoted or stands alone.
    """

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        if tokens[0].kind == "quoted":
            yield 1, normalize_name(tokens[0].text)
            return
        for count in range(1, min(len(tokens), 4) + 1):  # the shortest first: what follows may be the next slot
            last = {tokens[0], tokens[count - 1]} if count > 1 else set()
            if any(True for token in last for slot in ends for _ in slot.take([token], directory)):
                return
            if (name := _join(tokens, count)) is not None:
                yield count, normalize_name(name)

    return Slot(key, take)


def matching(key: str, pattern: str, convert: Callable[[re.Match[str]], Any], *, optional: bool = False) -> Slot:
    """One word that matches a pattern whole."""
    compiled = re.compile(pattern)

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        if tokens[0].kind != "word" or len(tokens[0].text) > 40:
            return
        if (found := compiled.fullmatch(tokens[0].text.translate(FULL_WIDTH))) is not None:
            yield 1, convert(found)

    return Slot(key, take, optional)


def choice(key: str, words: Sequence[str], *, optional: bool = False) -> Slot:
    """One of the given words: str."""
    return matching(key, "|".join(re.escape(w) for w in words), lambda m: m.group(), optional=optional)


def number(key: str, prefix: str, *, optional: bool = False) -> Slot:
    """A short number such as #12, 局34 or 审3; the prefix may be left out: int."""
    return matching(key, rf"(?:{re.escape(prefix)})?([0-9]{{1,9}})", lambda m: int(m.group(1)), optional=optional)


def numbers(key: str, prefix: str) -> Slot:
    """One or more short numbers: list of int."""
    one = re.compile(rf"(?:{re.escape(prefix)})?([0-9]{{1,9}})")

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        found: list[int] = []
        taken = 0
        for token in tokens:
            words = re.split("[、,，]", token.text.translate(FULL_WIDTH)[:200]) if token.kind == "word" else [""]
            matches = [one.fullmatch(word) for word in words if word]
            if not matches or not all(matches):
                break
            found += [int(match.group(1)) for match in matches if match is not None]
            taken += 1
        if found:
            yield taken, list(dict.fromkeys(found))

    return Slot(key, take)


def decimal(key: str, *, optional: bool = False) -> Slot:
    """A number with at most six decimals, such as a rating: float."""
    return matching(key, r"[+-]?[0-9]{1,5}(?:\.[0-9]{1,6})?", lambda m: float(m.group()), optional=optional)


def placing(key: str) -> Slot:
    """A placing of L4 (亚军, 16强, …): str."""
    return choice(key, list(PLACINGS), optional=True)


def account(key: str) -> Slot:
    """A QQ number or a mention: the QQ as str."""

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        first = tokens[0]
        if first.kind == "at" or (first.kind == "word" and re.fullmatch("[0-9]{5,12}", first.text)):
            yield 1, first.text

    return Slot(key, take)


def any_order(*slots: Slot) -> Slot:
    """Several slots in whatever order they are typed; each of their values is an argument."""

    def fill(tokens: Sequence[Token], left: tuple[Slot, ...], directory: Directory) -> Iterator[tuple[int, Any]]:
        if all(slot.optional for slot in left):
            yield 0, {slot.key: slot.default for slot in left}
        for slot in left if tokens else ():
            others = tuple(other for other in left if other is not slot)
            for count, value in slot.take(tokens, directory):
                for more, values in fill(tokens[count:], others, directory):
                    yield count + more, {slot.key: value} | values

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        yield from fill(tokens, slots, directory)

    return Slot(slots[0].key, take, parts=slots)


def text(key: str, *, optional: bool = False) -> Slot:
    """All that is left, such as a reason: str. Who is mentioned in it stands there by name, not by number."""

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        yield len(tokens), " ".join(_mentioned(t.text, directory) if t.kind == "at" else t.text for t in tokens)

    return Slot(key, take, optional, "")


def _mentioned(qq: str, directory: Directory) -> str:
    account = directory.by_qq.get(qq)
    return f"@{directory.account_name(account.account_id)}" if account is not None else "@群友"


# --- splitting --------------------------------------------------------------------------------------------


def split(rest: str, slots: Sequence[Slot], directory: Directory) -> dict[str, Any]:
    """Read the arguments by the form. Raises Mismatch."""
    if len(rest) > MAX_REST:
        raise Mismatch
    tokens = tokenize(rest)
    if len(tokens) > _MAX_TOKENS:
        raise Mismatch
    readings = list(_readings(tokens, list(slots), directory))
    good = [r for r in readings if not any(_unknowns(r))]
    whole = directory.roster.resolve(rest)
    if whole is not None and len(good) > 1:
        good = [r for r in good if any(isinstance(v, Person) and v.player_id == whole for v in r.values())] or good
    if not good:
        unknown = next((u for r in readings for u in _unknowns(r)), None)
        raise Mismatch(unknown, missing="" if unknown else _missing(tokens, slots, directory))
    best = good[0]
    others = [r for r in good[1:] if _names(r, directory) != _names(best, directory)]
    if others:
        raise Mismatch(tie=[" ".join(_names(r, directory)) for r in [best, *others][:4]])
    return best


def _missing(tokens: list[Token], slots: Sequence[Slot], directory: Directory) -> str:
    """Return the key of the first slot that the arguments, right as far as they go, leave out."""
    if len(slots) == 1 and slots[0].parts:
        return _missing_part(tokens, slots[0].parts, directory)
    for count in range(len(slots)):
        if not slots[count].optional and next(_readings(tokens, list(slots[:count]), directory), None) is not None:
            return slots[count].key
    return ""


def _missing_part(tokens: list[Token], parts: Sequence[Slot], directory: Directory) -> str:
    """Return the key of the one slot without which the arguments are right."""
    for part in parts:
        rest = any_order(*(other for other in parts if other is not part))
        if not part.optional and next(_readings(tokens, [rest], directory), None) is not None:
            return part.key
    return ""


def _readings(tokens: list[Token], slots: list[Slot], directory: Directory) -> Iterator[dict[str, Any]]:
    if not slots:
        if not tokens:
            yield {}
        return
    slot, rest = slots[0], slots[1:]
    if tokens:
        for count, value in slot.take(tokens, directory):
            for tail in _readings(tokens[count:], rest, directory):
                yield (value if slot.parts else {slot.key: value}) | tail
    if slot.optional:
        for tail in _readings(tokens, rest, directory):
            yield {slot.key: slot.default} | tail


def _unknowns(reading: dict[str, Any]) -> Iterator[str]:
    for value in reading.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Unknown):
                yield item.typed


def _names(reading: dict[str, Any], directory: Directory) -> list[str]:
    """The people a reading means, as they can be typed: two readings with the same people are no tie."""
    items = [item for value in reading.values() for item in (value if isinstance(value, list) else [value])]
    people_ = [item for item in items if isinstance(item, Person)]
    return [f"「{directory.name_of(p.player_id)}」" if p.player_id else p.typed for p in people_]
