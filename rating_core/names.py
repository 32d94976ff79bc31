"""Player names as people type them: cleaning, comparison keys, and what a new name may look like (L3)."""

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass

from rating_core.rulebook import PLACINGS, POOLS

MAX_NAME_LENGTH = 16
"""Visible characters of a new name."""
MAX_MARKS = 3
"""Accents on one character; a tower of them covers the lines above."""

_LONGEST = 256
"""Longer texts are no names; composing them could take long."""

RESULT_WORDS = frozenset("胜平负赢输和勝負贏輸")
"""Words that never stand free inside a name, because a report would then have two readings."""

# --- invisible characters and spaces ----------------------------------------------------------------------

_INVISIBLE_RANGES = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors, vowel separator
    (0x200B, 0x200F),  # zero-width space, joiners, direction marks
    (0x202A, 0x202E),  # bidi embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, bidi isolates
    (0xD800, 0xDFFF),  # lone surrogates, which no database takes
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0x16FE4, 0x16FE4),  # Khitan filler
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D159, 0x1D159),  # musical null notehead
    (0x1D173, 0x1D17A),  # musical format controls
    (0xFFF0, 0xFFFB),  # unassigned ignorable, interlinear annotations
    (0xE0000, 0xE0FFF),  # tags, variation selectors supplement
)
"""Unicode's Default_Ignorable_Code_Point without the Hangul fillers, which show as a blank; and surrogates."""

_SPACES = "\t\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Hangul fillers and the empty Braille pattern: letters or symbols to Python, blanks to the eye."""

_COLOURED_LINE = re.compile("^.*?<[%$&].*", re.MULTILINE)
_COLOUR_CODE = re.compile(
    r"[%$&](?=.*[^ -~])(?:[\x00-\x1f\u0300-\u036f]*[ -\u01ff]){0,8}[\x00-\x1f\u0300-\u036f]*", re.DOTALL
)
"""What stands between < and > in one of QQ's invisible colour codes, such as %ĀĀ\\x07Ð: few marks, one not of ASCII."""
_ANGLES = re.compile("([<>])")
_LINE_ENDS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def _cleaning_table() -> dict[int, int | None]:
    table: dict[int, int | None] = {c: None for first, last in _INVISIBLE_RANGES for c in range(first, last + 1)}
    table |= {ord(c): 0x20 for c in _SPACES + _BLANKS}
    return table | {ord(c): 0x0A for c in _LINE_ENDS}


_CLEANING = _cleaning_table()
_CONTROLS: dict[int, None] = {c: None for c in (*range(0x20), *range(0x7F, 0xA0)) if c != 0x0A}
_CLEANING_WITH_CONTROLS = _CONTROLS | _CLEANING


def _without_colour_codes(line: str) -> str:
    """Drop QQ's colour codes, innermost first, in one pass over a line."""
    out: list[str] = []
    opens: list[int] = []
    for part in _ANGLES.split(line):
        if part == "<":
            opens.append(len(out))
        elif part == ">" and opens:
            if _COLOUR_CODE.fullmatch("".join(out[opens[-1] + 1 :])):
                del out[opens.pop() :]
                continue
            opens.clear()
        out.append(part)
    return "".join(out)


def clean_text(text: str) -> str:
    """Return text with \\n as the only line end, without invisible characters, and with every blank as U+0020.

    Runs of spaces keep their length: the report parser looks at it (rulebook §4).
    """
    text = text.replace("\r\n", "\n")
    if "<" not in text:
        return text.translate(_CLEANING_WITH_CONTROLS)
    text = text.translate(_CLEANING)  # the control characters inside colour codes tell what is one
    return _COLOURED_LINE.sub(lambda line: _without_colour_codes(line[0]), text).translate(_CONTROLS)


def normalize_name(text: str) -> str:
    """Return the form in which names are stored and compared (L3): NFC, nothing invisible, single inner spaces."""
    text = " ".join(clean_text(text).split())
    if len(text) > _LONGEST:
        return text
    composed = clean_text(unicodedata.normalize("NFC", text))
    return unicodedata.normalize("NFC", " ".join(composed.split()))


# --- skeletons --------------------------------------------------------------------------------------------

# From Unicode's confusables.txt (UTS #39, © Unicode, Inc., terms of use at unicode.org): the letters of the
# Basic Multilingual Plane that look like a Latin letter or a digit, after NFKD and case folding.
_LATIN_LOOKALIKES = {
    "a": "ɑαаᎪᗅꓮ",
    "b": "ƀƃƅɓβбвьѣҍᏏᏴᑲᑳᖯᗷꓐꞵ",
    "c": "ȼσсҫᏟᴄⲥꓚ",
    "d": "ðđƌɖɗԁᎠᏧᑯᗞᗪꓒꓓ",
    "e": "ɇεеҽҿᎬꓰꬲ",
    "f": "ƒϝքᖴᵮẝꓝꞙꬵ",
    "g": "ƍǥɠɡԍցᏀᏳᶃꓖ",
    "h": "ħɦηнћңһӈӊհᎻᏂᏲᕼⱨⲏꓧꚕ",
    "j": "ɉʝϳјᎫᒍꓙ",
    "k": "ƙκкқҟᏦⱪⲕꓗꝁ",
    "l": "1i|ıɨɩɪιіӏᎥᵻᵼꙇłƚǀɫɭᏞᒪⲓⳑꓡꓲ丨㇑",
    "m": "μϻмӎᎷᗰⲙꓟ",
    "n": "ƞɲɳνոռᵰⲛꓠ",
    "o": "0øɵθοоѳөօᎤᎾᏫᴏᴑⲟꓳꝋꬽꬾ〇○◯",
    "p": "ƥρрᏢᑭᵽⲣꓑ",
    "q": "ʠԛգզ",
    "r": "ɍɼɽʀгғᎡᎱᏒᖇᴦᵲⲅꓣꭇꭈ",
    "s": "ƽʂѕտᏕᏚᵴꓢꜱ",
    "t": "ŧƭʈτтҭᎢᵵⱦⲧꓔ",
    "u": "ʉʋυսᏌᑌᴜᵾꓴꞟꭎꭒ",
    "v": "ѵᏙᐯᴠꓦ",
    "w": "ɯѡԝաᎳᏔᴡꓪꝡ",
    "x": "×χхҳᕁᕽⲭꓫꭓ",
    "y": "ƴɏɣʏγуүұᎩᎽᶌỿⲩꓬꭚ",
    "z": "ƶȥʐζᏃᴢᵶꓜ",
    "2": "ƨƻϩᒿꙅꝛ",
    "3": "ȝɜʒзҙӡⳍꝫ",
    "4": "Ꮞ",
    "6": "Ꮾⳓ",
    "8": "ȣ",
    "9": "ⳋꝯ",
    "-": "‐‑‒–—―−─━ー一㇐",
    "·": "・•‧∙⋅●",
    "~": "〜∼",
}
# The same file's pairs of lookalike and plain form among Han characters, kana and CJK radicals.
_HAN_LOOKALIKES = (
    "⺂乛⺃乚⺅亻⺉刂⺋㔾⺎兀⺏尣⺐尢⺒巳⺓幺⺔彑⺖忄⺗㣺⺘扌⺙攵⺛旡⺞歺⺠民⺡氵⺢氺⺣灬⺤爫⺦丬⺨犭⺫罒⺭礻⺯糹⺱罓⺲罒⺹耂⺺肀"
    "⺾艹⺿艹⻀艹⻁虎⻂衤⻃覀⻄西⻅见⻈讠⻉贝⻋车⻌辶⻍辶⻏阝⻐钅⻑長⻒镸⻓长⻔门⻖阝⻘青⻙韦⻚页⻛风⻜飞⻝食⻟飠⻠饣⻢马⻤鬼⻥鱼⻨麦⻩黄"
    "⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻲亀イ亻エ工カ力タ夕ト卜ニ二ハ八ヘへロ口㇖乛㇚亅㇟乚㇠乙㦳㘽䎛㖈䐠㬻倂併値值啓啟囗口塡填士土墫壿媯嬀帡帲"
    "幐㬺戶戸㩁搉䀿晣晚晩曶㫚䑃朦柿杮槩㮣榝樧溈潙研硏絕絶肦朌胊朐胐朏胶㬵脁朓脧朘腁胼膧朣蔿蒍虁蘷訞䚶詽訮讏讆豣豜趆赿跺跥躛躗輧軿"
    "郎郞鎮鎭隷隸鹃鹂黑黒□口"
)


def _skeleton_table() -> dict[int, str | None]:
    table: dict[int, str | None] = {ord(c): plain for plain, alike in _LATIN_LOOKALIKES.items() for c in alike}
    pairs = zip(_HAN_LOOKALIKES[::2], _HAN_LOOKALIKES[1::2], strict=True)
    table |= {ord(alike): plain for alike, plain in pairs}
    marks = (*range(0x300, 0x370), *range(0x1AB0, 0x1B00), *range(0x1DC0, 0x1E00), *range(0x20D0, 0x2100))
    return table | dict.fromkeys((0x0A, 0x20, *marks, *range(0xFE20, 0xFE30)))


_SKELETON = _skeleton_table()


def skeleton(name: str) -> str:
    """Return a key that is equal for names which look alike: case, width, spaces, accents and lookalike letters.

    The key is for comparison only; it is never shown. Names are short: callers cap the length of chat text.
    """
    before = None
    while name != before:
        before = name
        folded = unicodedata.normalize("NFKD", clean_text(name)).casefold()
        name = unicodedata.normalize("NFKD", folded).translate(_SKELETON).replace("rn", "m").replace("vv", "w")
    return name


# --- new names --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NameProblem:
    """Why a new name is not allowed: a stable code, and the part of the name that is wrong."""

    code: str
    detail: str = ""


_QUOTES = frozenset("「」『』\"“”„‟＂'‘’＇")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_DATE = re.compile(
    r"\d{2,4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?|月)?|\d{1,2}[-/]\d{1,2}|\d{1,4}[年月日号]|\d{1,2}月\d{1,2}[日号]?"
)
_COUNT = re.compile(
    r"第[\d一二三四五六七八九十百]+[期页条]|前[\d一二三四五六七八九十百]+|[局约审预账]\d+|账号\d+|已注销\d+"
)
_ERASED = re.compile("已注销[0-9]+")
_POOL_SKELETONS = frozenset(map(skeleton, POOLS))
_PLACING_WORDS = frozenset(PLACINGS) | {"季军", "旧季军"}


def _bad_character(name: str) -> NameProblem | None:
    marks = 0
    for c in name:
        marks = marks + 1 if unicodedata.category(c)[0] == "M" else 0
        if marks > MAX_MARKS:
            return NameProblem("character", f"U+{ord(c):04X}")
        if c in _QUOTES:
            return NameProblem("quote", c)
        if c in "@＠":
            return NameProblem("at", c)
        if unicodedata.category(c)[0] == "C" or unicodedata.category(c) in ("Zl", "Zp"):
            return NameProblem("character", f"U+{ord(c):04X}")
    return None


def _bad_length(name: str) -> NameProblem | None:
    visible = sum(unicodedata.category(c)[0] != "M" for c in name)
    if visible > MAX_NAME_LENGTH or len(name) > 2 * MAX_NAME_LENGTH:
        return NameProblem("too_long", str(MAX_NAME_LENGTH))
    seen = skeleton(name) and any(unicodedata.category(c)[0] in "LNS" for c in name)
    if not seen or unicodedata.category(name[0])[0] == "M":
        return NameProblem("invisible")
    return None


def _taken_meaning(name: str, reserved: Container[str]) -> NameProblem | None:
    """What else the words of a name mean in the grammar of the chat."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    tight = plain.replace(" ", "")
    if _NUMBER.fullmatch(tight) or tight.isdigit():
        return NameProblem("digits", name)
    if _DATE.fullmatch(tight):
        return NameProblem("date", name)
    if tight in _PLACING_WORDS:
        return NameProblem("placing", name)
    for word in plain.split(" "):
        if word in RESULT_WORDS:
            return NameProblem("result_word", word)
    if skeleton(name) in _POOL_SKELETONS:
        return NameProblem("pool_name", name)
    if _COUNT.fullmatch(tight):
        return NameProblem("number_word", name)
    if any(form in reserved for form in (name, plain, tight)):
        return NameProblem("command_word", name)
    return None


def erased_label(player_id: int) -> str:
    """Return what stands in the place of the name of a player who was forgotten; nobody may take such a name."""
    return f"已注销{player_id}"


def is_erased_label(name: str) -> bool:
    """Return whether this stands in the place of a name."""
    return _ERASED.fullmatch(name) is not None


def check_new_name(name: str, reserved: Container[str] = ()) -> NameProblem | None:
    """Return what is wrong with a new name, or None (commands.md, "A new name").

    `name` comes from normalize_name; anything that would still change it is a problem too. `reserved` holds the
    command words. Whether the name is taken or confusable is the roster's to say.
    """
    if not normalize_name(name):
        return NameProblem("empty")
    if len(name) > 10 * MAX_NAME_LENGTH:
        return NameProblem("too_long", str(MAX_NAME_LENGTH))
    if (bad := _bad_character(name)) is not None:
        return bad
    if normalize_name(name) != name:
        return NameProblem("spaces")
    if name[0] in "/／#＃":
        return NameProblem("start", name[0])
    return _bad_length(name) or _taken_meaning(name, reserved)
