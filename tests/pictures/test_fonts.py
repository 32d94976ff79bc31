"""Which characters pictures can show: the fonts' own tables say; everything else is a deliberate box."""

from pathlib import Path

import pytest
import typst
from fontTools.ttLib import TTFont

from plugins.rating_bot.pictures import fonts
from plugins.rating_bot.pictures.fonts import BOX
from plugins.rating_bot.pictures.typesetting import TEMPLATES, Typesetter
from plugins.rating_bot.sandbox.scene import CAST
from plugins.rating_bot.wire.messages import Picture
from tests.support.gallery import HOSTILE, LONGEST, MISSING, NAMES, RARE


def test_only_the_fonts_of_the_packages_are_used(typesetter: Typesetter) -> None:
    folders = {str(folder) for folder in fonts.folders()}
    faces = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=list(folders)).fonts()
    assert {str(Path(face.path).parent) for face in faces if face.path} == folders
    known = {face.family for face in faces}
    assert set(typesetter.glyphs.families) <= known
    assert typesetter.glyphs.families[:4] == ["Noto Sans CJK SC", "Noto Sans", "Noto Sans Symbols", "Noto Emoji"]
    assert not any(family.startswith("Noto Sans CJK ") for family in typesetter.glyphs.families[1:])


def test_what_is_known_is_what_the_fonts_tables_say(typesetter: Typesetter) -> None:
    (cjk,) = fonts.folders()[0].glob("*.ttc")
    (emoji,) = fonts.folders()[1].glob("NotoEmoji*.ttf")
    with TTFont(cjk, fontNumber=2, lazy=True) as font:
        assert font["name"].getDebugName(1) == "Noto Sans CJK SC"
        chinese = font.getBestCmap()
    with TTFont(emoji, lazy=True) as font:
        pictograms = font.getBestCmap()
    for characters, table in ((RARE + LONGEST + "▲▼–·，（）□", chinese), ("😀❤✨🫠🏆🇨", pictograms)):
        for character in characters:
            assert ord(character) in table
            assert typesetter.glyphs.has(character)
    assert ord(MISSING[0]) not in chinese and not typesetter.glyphs.has(MISSING[0])


def test_every_name_of_the_roster_can_be_shown_but_for_known_boxes(typesetter: Typesetter) -> None:
    missing = {
        character
        for name in (*NAMES, *(actor.card for actor in CAST))
        for character in name
        if not typesetter.glyphs.has(character)
    }
    assert missing == {MISSING[0]}


def test_every_character_of_the_templates_can_be_shown(typesetter: Typesetter) -> None:
    for template in TEMPLATES.glob("*.typ"):
        said = set(template.read_text("utf-8")) - {"\n"}
        assert {character for character in said if not typesetter.glyphs.has(character)} == set(), template.name


def test_a_character_without_a_glyph_is_a_box(typesetter: Typesetter) -> None:
    shown = typesetter.glyphs.shown({"rows": [{"name": f"{MISSING}𪜀\u0378", "rank": 1, "tag": None}], "ok": True})
    assert shown == {"rows": [{"name": f"{BOX}稀有字{BOX}{BOX}", "rank": 1, "tag": None}], "ok": True}
    drawn = [typesetter.png(card_named(name)) for name in (MISSING, BOX + MISSING[1:], "一" + MISSING[1:])]
    assert drawn[0] == drawn[1] != drawn[2]


def test_towers_of_accents_are_not_built(typesetter: Typesetter) -> None:
    shown = typesetter.glyphs.shown
    assert shown("e" + "\u0301" * 9 + "x\u0301") == "e\u0301\u0301x\u0301"
    assert shown("ก" + "\u0e47" * 6) == "ก\u0e47\u0e47"
    assert shown("Ünïçødé ไทยที่") == "Ünïçødé ไทยที่"


def test_the_rare_character_is_not_a_box(typesetter: Typesetter) -> None:
    assert len({typesetter.png(card_named(name)) for name in (RARE, BOX + RARE[1:], "吉" + RARE[1:])}) == 3


def card_named(name: str) -> Picture:
    row = {
        "rank": 1, "rank_change": "", "name": name, "tags": [], "record": "", "rate": "", "peak": "", "rating": "2000",
        "change": "",
    }  # fmt: skip
    data = {"title": "榜", "badge": "", "facts": ["甲"], "rows": [row], "notes": [], "credit": "乙"}
    return Picture.of("board", data)


@pytest.mark.parametrize(
    "name", [*HOSTILE, "#sys.inputs", "*粗*", "_斜_", "@标签", "<label>", "\\u{41}", "--- ...", "'引'"]
)
def test_markup_is_shown_as_it_was_typed(typesetter: Typesetter, name: str) -> None:
    """Typst sees a name only as a string: what it draws is what it draws of the same characters one by one."""
    source = TEMPLATES / "board.typ"
    spelled = "+".join(f'"\\u{{{ord(character):x}}}"' for character in name)
    proof = source.read_text("utf-8").replace("named(name-width, row.name,", f"named(name-width, {spelled},")
    assert proof != source.read_text("utf-8")
    drawn, expected = typesetter.png(card_named(name)), _compiled(typesetter, proof, card_named("甲"))
    assert drawn == expected


def _compiled(typesetter: Typesetter, source: str, picture: Picture) -> bytes:
    """Return what a changed template draws, with the same fonts."""
    import json

    compiler = typst.Compiler(source.encode(), root=TEMPLATES, font_paths=typesetter._fonts)
    inputs = {"data": picture.data, "fonts": json.dumps(typesetter.glyphs.families)}
    made = compiler.compile(format="png", ppi=144, sys_inputs=inputs)
    assert isinstance(made, bytes)
    return made
