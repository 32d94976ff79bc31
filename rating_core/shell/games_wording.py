"""What is said about a file of games, in the shell and in the chat: how it was read, what is wrong, what it does."""

from collections.abc import Iterable
from typing import Any

from rating_core.elo import round_half_up, show_rating
from rating_core.importing.files import GameFile
from rating_core.importing.games_outcome import Differences, Outcome
from rating_core.importing.games_plan import GamesPlan
from rating_core.importing.sides import Unknown
from rating_core.importing.table import FileProblem, Table
from rating_core.importing.values import Problem
from rating_core.rulebook import ORDINARY_PLACING, PLACINGS
from rating_core.shell import import_wording
from rating_core.store.import_store import ImportedFile
from rating_core.times import show_day, show_time

SHOWN = 30
"""Problems and unknown names that are listed one by one."""
BOARD_ROWS = 10

_FILE: dict[str, str] = {
    "too_big": "文件有{size}字节，最多{most}字节。请去掉不需要的内容，或分成几个文件。",
    "old_workbook": "这是旧格式（.xls）或加了密码的工作簿。请在表格软件里另存为 .xlsx（不加密码），再导入。",
    "macros": "这是带宏的工作簿（.xlsm）。请另存为不带宏的 .xlsx，再导入。",
    "password": "工作簿加了密码。请去掉密码，另存为 .xlsx，再导入。",
    "not_xlsx": "这不是 .xlsx 工作簿。请在表格软件里另存为 .xlsx，再导入。",
    "damaged": "工作簿打不开（{why}）。请在表格软件里打开它，另存为 .xlsx，再导入。",
    "bomb": "工作簿展开后有{size}MB，太大了，没有读。请另存一份只有对局的 .xlsx。",
    "too_many_parts": "工作簿里有{count}个部件，太多了，没有读。请另存一份只有对局的 .xlsx。",
    "too_many_rows": "工作簿用到了{cell}，最多{most}行。请删掉多余的行，或分成几个文件。",
    "too_wide": "工作簿用到了{cell}，最多{most}列。请删掉多余的列。",
    "too_large": "工作表有{rows}行{columns}列，太大了。请只留对局。",
    "too_many_merged": "合并的单元格有{count}处，太多了。请取消合并再导入。",
    "old_dates": "工作簿用的是1904年起的日期。请在表格软件的选项里取消“使用1904日期系统”，再另存。",
    "no_sheet": "工作簿里没有工作表。",
    "too_heavy": "读这个工作簿要的内存或时间太多，没有读。请另存一份只有对局的 .xlsx。",
    "too_slow": "读了{seconds}秒还没有读完，没有再读。请另存一份只有对局的 .xlsx。",
    "no_header": "工作表「{sheet}」的前20行里没有对局的表头（棋手A、结果、棋手B，或左方、结果、右方），也不是名单。",
    "no_column": "工作表「{sheet}」里没有「{title}」这一列。请用导出的工作簿原来的表头。",
    "misspelt_column": "看不懂表头「{title}」，是不是「{near}」？不需要的列请删掉，或把表头改成「备注」。",
    "no_games": "文件里没有对局。",
    "too_many_games": "超过{most}局，请分成几个文件，按先后导入。",
}
_ROWS: dict[str, str] = {
    "no_player": "没有棋手的名字。请补上，或删掉这一行。",
    "no_date": "没有日期。请补上；整份文件都没有日期时按今天算。",
    "future_game": "日期还没有到。请写已经过去的日期。",
    "bad_weight": "「{value}」不是系数，系数只有 1、1.2、2（L5）。",
    "bad_number": "「{value}」不是编号。",
    "bad_cell": "「{value}」看不懂。请改成和导出时一样的写法。",
    "sides": "两边的人数不对（{pool}）。",
    "no_game_line": "「{line}」不是一局棋。写成：名字 胜 名字；日期、#赛事、起始分各占一行。",
    "ambiguous_line": "「{line}」有几种读法。请用两个以上空格把名字和结果隔开。",
    "same_player": "同一个人写了两次。",
    "which_pool": "双人的对局不知道算哪个榜。请加「榜」这一列（或一行 #榜名），或者写明榜：{pools}。",
    "out_of_order": "日期比上一局早（这样的有{count}局）。请按先后排好。",
    "pool_has_later": "{pool}里已经有{last}的记录，这一局不比它晚。只能导入空的榜，或者接在最后一局之后。",
    "no_event_name": "#后面没有赛事名。",
    "event_weight_missing": "赛事「{event}」没有写系数。加「系数」一列，或者写成 #{event} 1.2（1、1.2 或 2，L5）。",
    "event_other_pool": "赛事「{event}」是{pool}的。",
    "event_weights_differ": "赛事「{event}」的系数是{ours}，这里写了{theirs}。",
    "event_closed": "赛事「{event}」已经结束，不再收对局。",
    "event_exists": "赛事「{event}」已经有了。",
    "no_event": "没有赛事「{event}」。",
    "no_such_game": "没有局{value}。",
    "change_out_of_order": "局{value}之后的这一行排得太晚了。请按先后排好。",
    "unknown_player": "「{name}」不在「棋手」这张表里，也不在榜上。",
    "settled_already": "{season}赛季（{pool}）已经结算过。",
    "event_is_pool": "赛事不能和榜同名（{name}）。",
    "event_name_taken": "赛事「{name}」已经有了。",
    "event_name_confusable": "赛事「{name}」和已有的「{alike}」太像。",
}


def file_problem(found: FileProblem) -> str:
    """Why a file as a whole cannot be read."""
    text = _FILE.get(found.code)
    return import_wording.file_problem(found) if text is None else text.format(**found.facts)


def read_as(found: GameFile | Table) -> str:
    """How the file was read, so that a wrong guess is seen."""
    if isinstance(found, Table):
        return import_wording.read_as(found)
    about = found.about
    if found.form == "workbook":
        return "按导出的工作簿读取：战绩、棋手、调整。"
    if found.form == "text":
        return f"按报分文本读取（{about['encoding'].upper()}）。"
    where = f"工作表「{about['sheet']}」" if "sheet" in about else f"{about['encoding'].upper()}的表格"
    unused = f"没有用到的列：{'、'.join(about['unused'])}。" if about["unused"] else ""
    return f"按{where}读取对局，认出的列：{'、'.join(about['titles'])}。{unused}"


def problem(found: Problem) -> str:
    """Return where something is wrong, what, and what to write instead."""
    if found.code == "bad_result":
        text = _bad_result(found.facts)
    elif found.code == "bad_name" and "赛事" in found.column:
        reason = import_wording.NAMES[found.facts["problem"].code].format(detail=found.facts["problem"].detail)
        text = f"赛事名「{found.facts['name'][:20]}」不能用：{reason}。"
    elif found.code in _ROWS:
        facts = dict(found.facts)
        if "last" in facts:
            facts["last"] = show_time(facts["last"])
        text = _ROWS[found.code].format(**{k: "、".join(v) if isinstance(v, tuple) else v for k, v in facts.items()})
    else:
        return f"{found.sheet}{import_wording.problem_text(found)}"
    column = f"「{found.column}」" if found.column else ""
    return f"{found.sheet}第{found.row}行{column}：{text}"


def _bad_result(facts: dict[str, Any]) -> str:
    meant = f"，应写「{facts['meant']}」" if facts["meant"] else ""
    word = f"「{facts['value']}」不是结果{meant}" if facts["value"] else "没有写结果"
    return f"{word}。只有 胜、平、负；要像旧表格那样一律算负，加 --unknown-as-loss（群里写“不认得的算负”）。"


def unknown(found: Unknown) -> str:
    """Return a name that is on no board, with what may have been meant."""
    near = f"：是不是「{'」「'.join(found.near)}」？" if found.near else ""
    return f"「{found.name[:32]}」（第{found.row}行起，{found.count}局）{near}"


def against(plan: GamesPlan, most: int = SHOWN) -> list[str]:
    """Return everything that stands against a plan."""
    lines = [problem(each) for each in plan.problems[:most]]
    if len(plan.problems) > most:
        lines.append(f"……还有{len(plan.problems) - most}处")
    if plan.unknown:
        lines.append(f"不在榜上的名字{len(plan.unknown)}个：")
        lines += [unknown(each) for each in plan.unknown[:most]]
        if len(plan.unknown) > most:
            lines.append(f"……还有{len(plan.unknown) - most}个")
    return lines


def register_them() -> str:
    """What to do where all unknown names are new players."""
    return f"都是新棋手就加 --new-players，按{ORDINARY_PLACING}（{PLACINGS[ORDINARY_PLACING]:g}）登记。"


def counts(plan: GamesPlan, found: Outcome | None) -> str:
    """Return how much it is."""
    if not plan.clear:
        return f"共{len(plan.file.games)}局，其中{len(plan.games)}局看得懂。"
    pools = "、".join(f"{pool} {sum(game.pool == pool for game in plan.games)}局" for pool in plan.pools)
    text = f"共{len(plan.games)}局" + (f"（{pools}）" if plan.games else "")
    if plan.games:
        moments = [game.at for game in plan.games]
        text += f"，{show_day(min(moments))}到{show_day(max(moments))}"
    text += f"；新棋手{len(plan.new_players)}人，新赛事{len(plan.events)}个"
    if found is not None:
        text += f"；计分{found.counted}局，按L6不计{found.uncounted}局，作废{found.void}局"
    return text + "。"


def notes(plan: GamesPlan) -> list[str]:
    """Return what is right but worth a look."""
    lines = []
    if plan.as_losses:
        words = "、".join(
            f"「{word}」{count}局" if word else f"空着的{count}局" for word, count in plan.as_losses.items()
        )
        lines.append(f"按负算的：{words}。")
    if plan.games and all(game.raw.at is None for game in plan.games):
        lines.append("文件里没有日期，全部按今天算。")
    if plan.events:
        named = [f"{event.name}（{event.pool}，系数{event.weight:g}）" for event in plan.events]
        lines.append(f"新赛事：{_some(named)}。")
    if plan.file.form != "workbook" and plan.new_players:
        lines.append(f"新棋手：{_some(plan.new_players)}。")
    if plan.file.form == "workbook":
        lines.append("工作簿里没有QQ绑定、权限、待确认的报分、理由、已公布的榜单和进行中的强制约战，要另外办。")
    return [f"注意：{line}" for line in lines]


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return "、".join(listed[:BOARD_ROWS]) + (f"等{len(listed)}个" if len(listed) > BOARD_ROWS else "")


def differences(found: Differences) -> str:
    """Return how the file's own ratings compare with ours; empty where it shows none."""
    if not found.compared or found.largest is None:
        return ""
    if not found.count:
        largest = round_half_up(found.largest.size, 9).normalize()
        most = f"（最多差{largest:f}分）" if largest else ""
        return f"文件里的分{found.compared}处，和重算的一致{most}。"
    first = found.first or found.largest
    said = []
    for off in dict.fromkeys((first, found.largest)):
        when = "赛前" if off.before else "赛后"
        said.append(f"第{off.row}行「{off.name}」{when}是{show_rating(off.theirs)}，重算是{show_rating(off.ours)}")
    most = "" if len(said) == 1 else f"；差得最多的：{said[1]}"
    return f"文件里的分{found.compared}处，和重算的不同的有{found.count}处。第一处：{said[0]}{most}。"


def known(file: ImportedFile) -> str:
    """The same file was taken over before."""
    return f"这个文件在{show_time(file.at)}已经导入过（{file.games}局），没有重复导入。"


def done(plan: GamesPlan, backup: object | None) -> str:
    text = f"已导入{len(plan.games)}局，新棋手{len(plan.new_players)}人，新赛事{len(plan.events)}个。"
    return text if backup is None else f"{text}\n导入前的备份：{backup}"


EXPORT_NAME = "导出的文件名要以 .xlsx 结尾，例如：export 等级分.xlsx"
NOT_CARRIED = "没有带上的：QQ绑定、权限、待确认的报分、预览、理由、已公布的榜单、进行中的强制约战（它们在备份里）。"


def exists(path: object) -> str:
    return f"{path} 已经有了，没有覆盖。请换一个名字，或先把它挪开。"


def exported(path: object, games: int, players: int, changes: int, size: int) -> str:
    return f"已导出到 {path}（{size / 1024:.0f} KB）：对局{games}局，棋手{players}人，调整{changes}条。\n{NOT_CARRIED}"
