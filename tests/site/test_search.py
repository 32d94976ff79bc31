"""Finding names by characters and pinyin."""

import subprocess
import sys
import time

import pytest

from plugins.rating_bot.site.search import LONGEST, Readings, needs_readings, wanted

NAMES = ("张三丰", "长孙无忌", "绿林好汉", "Ab吕c", "老 顽童", "𠮷田", "单于重", "ß街")


@pytest.fixture(scope="module")
def readings() -> Readings:
    readings = Readings()
    readings._known.update(readings._read(NAMES))
    return readings


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("三", "张三丰"),
        ("zhangsanfeng", "张三丰"),
        ("zsf", "张三丰"),
        ("zhangsf", "张三丰"),
        ("sanf", "张三丰"),
        ("张s", "张三丰"),
        ("zhang三feng", "张三丰"),
        ("Z S F", "张三丰"),
        ("chang", "长孙无忌"),
        ("zhang", "张三丰 长孙无忌"),
        ("zs", "张三丰 长孙无忌"),
        ("lvlin", "绿林好汉"),
        ("lülin", "绿林好汉"),
        ("lulin", "绿林好汉"),
        ("hh", "绿林好汉"),
        ("ablvc", "Ab吕c"),
        ("AB吕C", "Ab吕c"),
        ("laowantong", "老 顽童"),
        ("老顽", "老 顽童"),
        ("lw", "老 顽童"),
        ("𠮷", "𠮷田"),
        ("tian", "𠮷田"),
        ("shanyu", "单于重"),
        ("chanyuchong", "单于重"),
        ("ss", "ß街"),
        ("zf", ""),  # each character in turn
        ("zhangfeng", ""),
        ("sanz", ""),
        ("hang", ""),  # from the first letter on
        ("丰三", ""),
        ("zsfx", ""),
        ("*", ""),
    ],
)
def test_what_finds_whom(readings: Readings, typed: str, found: str) -> None:
    text = wanted(typed)
    assert [name for name in NAMES if readings.match(name, text)] == [n for n in NAMES if n in found and found]


def test_letters_need_readings_and_characters_do_not() -> None:
    assert needs_readings("zs") and needs_readings("张s")
    assert not any(map(needs_readings, ("张三", "", "12", "𠮷", "ü")))
    assert Readings().match("张三丰", "三") and not Readings().match("张三丰", "san")


def test_long_searches_are_cut_and_hostile_ones_cost_little() -> None:
    assert len(wanted("a" * 100_000)) == LONGEST
    readings = Readings()
    name = "啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊"
    readings._known.update(readings._read([name, "a" * 16]))
    begin = time.perf_counter()
    for _ in range(100):
        readings.match(name, "a" * LONGEST)
        readings.match("a" * 16, "a" * LONGEST)
    assert (time.perf_counter() - begin) / 200 < 0.02


async def test_names_are_read_once_and_in_order_of_sound() -> None:
    readings = Readings()
    await readings.learn(NAMES)
    kept = readings._known["张三丰"]
    await readings.learn((*NAMES, "李四"))
    assert readings._known["张三丰"] is kept
    assert sorted(("张三丰", "李四", "Ab吕c", "老 顽童"), key=readings.sound) == ["Ab吕c", "老 顽童", "李四", "张三丰"]


def test_the_dictionary_is_only_imported_when_letters_are_searched_for() -> None:
    code = (
        "import sys, plugins.rating_bot.site\n"
        "from plugins.rating_bot.site.search import Readings\n"
        "r = Readings(); r.match('张三', '三'); assert 'pypinyin' not in sys.modules\n"
        "r._read(['张三']); assert 'pypinyin' in sys.modules and 'pypinyin.phrases_dict' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=50)
