"""What the shell says about a roster file: what is wrong and what to write instead, what will be and what is done."""

from collections.abc import Callable
from typing import Any

from rating_core.importing import FileProblem, Imported, Plan, Problem
from rating_core.importing.table import COLUMNS, Table, title_of
from rating_core.names import NameProblem
from rating_core.rulebook import IP_CHECK_RATING, PROVISIONAL_GAMES, SEASON_GAMES

HEADER = "名字,QQ,名次,等级分,胜,平,负,历史最高分,最高分日期,状态,本季盘数,日期,榜,IP"
NAMES_SHOWN = 10
_ENCODINGS = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "gb18030": "GB18030（GBK）", "utf-16": "UTF-16"}
_DELIMITERS = {",": "逗号", "\t": "制表符", ";": "分号", "，": "中文逗号", "；": "中文分号", "|": "竖线"}

# --- the file ---------------------------------------------------------------------------------------------

_FILE: dict[str, str] = {
    "too_big": "文件有{size}字节，最多{most}字节。名单只要文字，请去掉别的内容或分成几个文件。",
    "workbook": "这是Excel工作簿。请在Excel里“另存为”→“CSV UTF-8（逗号分隔）”，再导入那个文件。",
    "not_text": "这不是文本文件。请在表格软件里另存为 CSV UTF-8。",
    "encoding": "看不懂文件的编码（不是UTF-8，也不是GB18030）。请在表格软件里另存为 CSV UTF-8。",
    "empty": "文件是空的。第一行写表头：" + HEADER,
    "no_rows": "只有表头，没有棋手。从第二行起一行写一个棋手。",
    "too_many_rows": "超过{most}行，请分成几个文件。",
    "long_line": "第{row}行超过{most}个字，不像名单。请检查这一行的引号和换行。",
    "quotes": '第{row}行起引号不成对。请去掉多余的英文双引号 "。',
    "double_column": "表头里「{first}」和「{second}」是同一项，请只留一列。",
}


def file_problem(problem: FileProblem) -> str:
    """Why the file as a whole cannot be read."""
    facts = problem.facts
    if problem.code == "no_name_column":
        seen = "、".join(cell.strip() for cell in facts["header"] if cell.strip())[:60]
        return f"第一行里没有「名字」这一列（现在是：{seen}）。第一行要写表头，例如：\n{HEADER}"
    if problem.code == "unknown_column":
        near = f"是不是「{facts['near']}」？" if facts["near"] else f"认得的有：{'、'.join(map(title_of, COLUMNS))}。"
        return (
            f"看不懂第{facts['place']}列的表头「{facts['title'][:20]}」。{near}不需要的列请删掉，或把表头改成「备注」。"
        )
    return _FILE[problem.code].format(**facts)


def unreadable(path: object, error: OSError) -> str:
    return f"打不开 {path}：{error.strerror or error}"


# --- rows -------------------------------------------------------------------------------------------------

NAMES: dict[str, str] = {
    "too_long": "最长{detail}个字",
    "quote": "不能有引号「{detail}」",
    "at": "不能有@",
    "character": "有看不见或不能用的字符（{detail}）",
    "spaces": "只能有单个空格",
    "start": "不能以“{detail}”开头",
    "invisible": "要有看得见的字",
    "digits": "不能全是数字",
    "date": "不能是日期",
    "placing": "不能是名次",
    "result_word": "不能带单独的“{detail}”字",
    "pool_name": "不能是榜名",
    "number_word": "不能像编号（第N期、前N、局N……）",
    "command_word": "不能和机器人的命令或用语相同",
    "empty": "是空的",
}

_ROWS: dict[str, str] = {
    "no_name": "没有名字。请补上，或删掉这一行。",
    "former_name": "「{name}」是「{now}」的旧名。请写现在的名字「{now}」。",
    "qq_twice": "QQ {qq} 已经写在第{other}行「{name}」。一个QQ只能绑一个名字，请改掉其中一个。",
    "qq_bound": "QQ {qq} 已经绑定「{name}」。一个QQ只能绑一个名字：请改掉，或先在群里 /解绑 {name} {qq}。",
    "qq_not_bound": "「{name}」已在榜，但没有绑定QQ {qq}。请清空这一格，再在群里发 /绑定 {name} {qq}。",
    "scientific_qq": "QQ号「{value}」成了科学计数法，位数已丢失。请把这一列设成“文本”格式，重新填完整的QQ号。",
    "bad_qq": "「{value}」不是QQ号：要5到12位数字，不以0开头。没有就空着；几个QQ用顿号隔开。",
    "rank_as_placing": "「{value}」像排行榜上的第几名，请把表头改成「排名」。这一列要写比赛的最好名次：{placings}。",
    "bad_placing": "没有「{value}」这种名次。只有：{placings}。不知道就空着（按普通）。",
    "bad_pool": "没有「{value}」这个榜。只有：{pools}。空着就是第一个。",
    "bad_ip": "「{value}」看不懂。已核验IP写「是」，没有写「否」或空着。",
    "bad_state": "「{value}」看不懂。只写「在榜」或「封存」。",
    "on_leave": "请假的也写「封存」；请假期间不得参赛，请提醒本人。",
    "not_a_count": "「{value}」不是盘数。请写整数，例如 12；没有写 0。",
    "not_a_rating": "「{value}」不是分数。请只写数字，例如 2150 或 2150.25，不带千分位逗号。",
    "unlikely_rating": "{value} 不像等级分（应在{low:g}到{high:g}之间）。请检查有没有多打或少打一位。",
    "not_a_date": "「{value}」不是日期。写成 2026-11-30、2026/11/30、2026年11月30日 或 20261130。",
    "future_date": "「{value}」还没有到。请写已经过去的日期。",
    "no_rating": "写了「{because}」却没有写等级分。请补上等级分；没有下过棋的人只写名字、QQ和名次。",
    "no_counts": "写了等级分却没有写{missing}。请补上胜、平、负的盘数，没有写 0。",
    "rating_without_games": "胜平负都是0，等级分应是{placing}的原始分{initial:g}。请只写名次，或补上胜平负。",
    "other_sum": "盘数写了{value}，可是胜+平+负是{games}。请改成一致。",
    "season_above_all": "本季{value}盘，比总盘数{games}还多。请改正。",
    "date_without_peak": "写了最高分日期却没有写历史最高分。请补上，或清空日期。",
    "peak_too_early": "只有{games}盘，满{needed}盘才有历史最高分（L14）。请清空这一格。",
    "peak_below_rating": "历史最高分{peak}比现在的等级分{rating}还低，满{needed}盘以后不会这样。请改正或清空。",
    "peak_after_date": "最高分日期在截至日期之后。请改正其中一个。",
    "masked_qq": "蒙面人公用号的使用人要由群主核验批准，不能在名单里绑QQ。请清空这一格。",
    "masked_placing": "蒙面人公用号的原始分是固定的（L4），不用写名次。请清空这一格。",
    "masked_peak": "蒙面人公用号没有历史最高分（L14）。请清空这一格。",
    "double_row": "「{name}」在第{other}行已经写过（{pool}）。请删掉其中一行。",
    "other_placing": "名次写了{theirs}，可是第{other}行同一个人写的是{ours}。请写成一样，或空着。",
    "differs": "已在榜，榜上是{ours}，文件里是{theirs}。要改请在群里由记分员更正；这一行请删掉或改回。",
    "not_ip_checked": "「{name}」已在榜，还没有核验IP。请清空这一格，再在群里发 /核验 {name}。",
    "has_games": "「{name}」已经在{pool}里有成绩，不能再写期初分。请清空等级分和胜平负。",
    "extra_cells": "比表头多出内容「{first}」。请检查有没有多打分隔符。",
    "long_cell": "内容太长（最多{most}个字）或者带换行。请改短，写在一行里。",
}


def problem_text(problem: Problem) -> str:
    """Return 第N行, the column, what is wrong and what to write instead."""
    place = f"第{problem.row}行" + (f"「{problem.column}」" if problem.column else "")
    facts = {
        key: "、".join(value) if isinstance(value, tuple | list) else value for key, value in problem.facts.items()
    }
    special: dict[str, Callable[[dict[str, Any]], str]] = {"bad_name": _bad_name, "confusable": _confusable}
    say = special.get(problem.code)
    return f"{place}：{say(facts) if say else _ROWS[problem.code].format(**facts)}"


def _bad_name(facts: dict[str, Any]) -> str:
    problem: NameProblem = facts["problem"]
    return f"名字「{facts['name'][:20]}」不能用：{NAMES[problem.code].format(detail=problem.detail)}。请改名。"


def _confusable(facts: dict[str, Any]) -> str:
    where = f"第{facts['other']}行的" if facts["other"] else "榜上的"
    return f"「{facts['name']}」和{where}「{facts['alike']}」看起来太像，会弄混。是同一个人就删掉一行，是两个人请改名。"


# --- the plan ---------------------------------------------------------------------------------------------


def read_as(table: Table) -> str:
    """How the file was read, so that a wrong guess is seen."""
    titles = "、".join(table.titles.values())
    if not table.delimiter:
        return f"按Excel工作簿的第一张表读取，认出的列：{titles}。"
    return f"按{_ENCODINGS[table.encoding]}、{_DELIMITERS[table.delimiter]}分隔读取，认出的列：{titles}。"


def counts(plan: Plan) -> str:
    bindings = sum(len(new.qqs) for new in plan.players)
    return (
        f"共{plan.rows}行：新棋手{len(plan.players)}人（绑定QQ {bindings}个），期初分{len(plan.openings)}条，"
        f"已在榜{plan.known}行，有错{len({problem.row for problem in plan.problems})}行。"
    )


def notes(plan: Plan) -> list[str]:
    """Return what is right but worth a look."""
    found = plan.notes
    lines = []
    if found.need_ip_check:
        names = "、".join(found.need_ip_check[:NAMES_SHOWN])
        more = f"等{len(found.need_ip_check)}人" if len(found.need_ip_check) > NAMES_SHOWN else ""
        limit = f"{IP_CHECK_RATING.now:g}"
        lines.append(f"{limit}分以上、还没有核验IP，核验（/核验 名字）之前不能报分（L11）：{names}{more}。")
    if found.provisional:
        lines.append(
            f"{found.provisional}条未满{PROVISIONAL_GAMES.now}盘：等级分要写实际分，不是榜上已经降过的显示分（L12）。"
        )
    if found.no_season_games:
        needed = SEASON_GAMES.now
        lines.append(f"{found.no_season_games}条没有写本季盘数，按0盘算；年底满{needed}盘才留在榜上（L7）。")
    return [f"注意：{line}" for line in lines]


NOTHING_WRITTEN = "有错，什么也没有写入。改好上面各行再来一次。"
NOTHING_NEW = "没有新的内容，不用导入。"
DRY_RUN = "以上是试算，什么也没有写入。没有问题就加 --yes 写入。"


def done(imported: Imported, backup: object | None) -> str:
    text = f"已写入：新棋手{imported.players}人，绑定QQ {imported.bindings}个，期初分{imported.openings}条。"
    return text if backup is None else f"{text}\n升级数据库前的备份：{backup}"
