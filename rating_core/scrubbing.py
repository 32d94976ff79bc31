"""Taking somebody's names and QQ numbers out of texts that people wrote, when he is forgotten (/注销)."""

import json
import re
from collections.abc import Collection, Iterable

from rating_core.names import clean_text

_ALONE = r"(?<![^\s「」『』（）()\[\]、，,。；;：:→/|\"＠@]){}(?![^\s「」『』（）()\[\]、，,。；;：:→/|\"])"
"""A name of one character is a name where it stands alone; everywhere else it is a word."""


class Scrubber:
    """Puts `label` in the place of every name and QQ number of one person.

    `cards`: group cards, taken out only where the bot itself wrote them, because a card can be any word. `others`: all
    names that stay; where one of his is part of one of them, that one stands. `mark`: opening and closing character of
    a mention in stored texts.
    """

    def __init__(
        self, label: str, *, names: Collection[str], qqs: Collection[str], cards: Collection[str],
        others: Iterable[str], mark: tuple[str, str],
    ) -> None:  # fmt: skip
        self._label = label
        written = [form for card in cards if card for form in (f"〔{card}〕", f"（{card} QQ", f"{card}：/")]
        self._words = [*dict.fromkeys([*names, *qqs, *written])]
        folded = [name.casefold() for name in names]
        longer = [other for other in others if other not in names and any(name in other.casefold() for name in folded)]
        opened, closed = mark
        person = [rf"{opened}{qq}(?:\|[^{opened}{closed}]*)?{closed}" for qq in qqs]
        person += [rf"(?<![0-9]){qq}(?![0-9])" for qq in qqs]
        for form in sorted((form for name in names for form in _forms(name)), key=len, reverse=True):
            person.append(_ALONE.format(re.escape(form)) if len(form) == 1 else re.escape(form))
        person += [re.escape(form) for card in written for form in _forms(card)]
        stays = "|".join(re.escape(form) for name in sorted(longer, key=len, reverse=True) for form in _forms(name))
        self._pattern = re.compile(f"(?P<stays>{stays or '(?!)'})|(?:{'|'.join(person) or '(?!)'})", re.IGNORECASE)

    @property
    def needles(self) -> list[str]:
        """Texts of which at least one is in every text that `scrub` changes; some hold one and are not changed."""
        return [form for word in self._words for form in _forms(word)]

    def scrub(self, text: str) -> str:
        """Return the text without him."""
        return self._pattern.sub(lambda match: match[0] if match["stays"] is not None else self._label, text)

    def names_him(self, typed: str) -> bool:
        """Return whether a text as somebody typed it, with invisible characters and all, names him."""
        plain = clean_text(typed)
        return self.scrub(plain) != plain


def _forms(word: str) -> list[str]:
    """Return a word as it stands in plain text and in JSON texts."""
    return list(dict.fromkeys([word, json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1]]))
