"""Setting one picture: templates, fonts and data to PNG, in whatever thread calls. Imported when first used."""

import json
from pathlib import Path

import typst

from plugins.rating_bot.pictures.fonts import Glyphs, folders
from plugins.rating_bot.wire.messages import Picture

TEMPLATES = Path(__file__).parent / "templates"
PIXELS_A_POINT = 2
POINTS_AN_INCH = 72


class Typesetter:
    """The fonts, and a compiler for each template that was used: the second picture costs far less than the first."""

    def __init__(self) -> None:
        self._fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=list(folders()))
        self.glyphs = Glyphs(self._fonts)
        self._compilers: dict[str, typst.Compiler] = {}

    def png(self, picture: Picture) -> bytes:
        """Return a picture as PNG. Raises RuntimeError for data its template cannot take, KeyError for no template.

        Data go in as one JSON text in sys.inputs: nothing in them is ever read as markup.
        """
        inputs = {
            "data": json.dumps(self.glyphs.shown(json.loads(picture.data)), ensure_ascii=False),
            "fonts": json.dumps(self.glyphs.families),
        }
        made = self._compiler(picture.template).compile(
            format="png", ppi=PIXELS_A_POINT * POINTS_AN_INCH, sys_inputs=inputs
        )
        assert isinstance(made, bytes), "a picture is one page"
        return made

    def _compiler(self, template: str) -> typst.Compiler:
        if template not in self._compilers:
            path = TEMPLATES / f"{template}.typ"
            if path.parent != TEMPLATES or not path.is_file():
                raise KeyError(template)
            self._compilers[template] = typst.Compiler(path, root=TEMPLATES, font_paths=self._fonts)
        return self._compilers[template]
