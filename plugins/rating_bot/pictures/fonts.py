"""The fonts of pictures: those of two packages and no others, so that a picture looks alike on every machine.

Noto Sans CJK holds Chinese in all weights, with rare characters such as 𠮷; the other package holds emoji (in one
colour), symbols and further scripts. What no font has is shown as a deliberate box.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

from fontTools.ttLib import TTFont

if TYPE_CHECKING:
    from typst import FontInfo, Fonts

PACKAGES = ("manimgx_fonts_cjk", "manimgx_fonts")
FIRST = ("Noto Sans CJK SC", "Noto Sans", "Noto Sans Symbols", "Noto Emoji")
"""Families in the order in which a character is looked for; the rest follows by name."""
OTHER_CJK = "Noto Sans CJK "
"""The same characters in the forms of other regions: not used."""
BOX = "□"
"""Stands for a character that no font has."""
MOST_MARKS = 2
"""Accents on one letter that are shown; a tower of them would be drawn over the rows above."""


def folders() -> list[Path]:
    """Return where the fonts of the packages lie. Raises ImportError where one is not installed."""
    found = []
    for package in PACKAGES:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise ImportError(f"the font package {package} is not installed")
        found.append(Path(spec.origin).parent)
    return found


class Glyphs:
    """Which families are used, in which order, and which characters they have."""

    def __init__(self, fonts: "Fonts") -> None:
        faces = [face for face in fonts.fonts() if face.family in FIRST or not face.family.startswith(OTHER_CJK)]
        present = {face.family for face in faces}
        if not {FIRST[0], FIRST[-1]} <= present:
            raise ImportError(f"the font packages have no {FIRST[0]} or {FIRST[-1]}")
        self.families = [family for family in FIRST if family in present]
        self.families += sorted(present.difference(FIRST))
        self._known = frozenset(code for face in faces if face.style == "normal" for code in _characters(face))

    def has(self, character: str) -> bool:
        """Whether a font has the character."""
        return ord(character) in self._known

    def shown(self, value: Any) -> Any:
        """Return data with a box for each character of its texts that no font has, and without towers of accents."""
        if isinstance(value, str):
            return self._shown(value)
        if isinstance(value, list):
            return [self.shown(item) for item in value]
        if isinstance(value, dict):
            return {key: self.shown(item) for key, item in value.items()}
        return value

    def _shown(self, text: str) -> str:
        if text.isascii():
            return text
        out: list[str] = []
        marks = 0
        for character in text:
            marks = marks + 1 if category(character) in ("Mn", "Me") else 0
            if marks <= MOST_MARKS:
                out.append(character if ord(character) in self._known else BOX)
        return "".join(out)


def _characters(face: "FontInfo") -> frozenset[int]:
    """Return the code points that a face has a glyph for."""
    assert face.path is not None
    with TTFont(face.path, fontNumber=face.index, lazy=True) as font:
        return frozenset(font.getBestCmap())
