"""What the bot says about the workbook: /导出, /导入 and its preview."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.rating_bot.wire.files import FileFailed
from plugins.rating_bot.wording.common import fit
from rating_core.elo import show_rating
from rating_core.importing import Imported
from rating_core.importing import Plan as RosterPlan
from rating_core.importing.files import GameFile
from rating_core.importing.games_outcome import Outcome
from rating_core.importing.games_plan import GamesPlan
from rating_core.importing.table import FileProblem, Table
from rating_core.queries import board
from rating_core.service.people import PREVIEW_MINUTES
from rating_core.shell import games_wording, import_wording
from rating_core.store.desk_store import Preview
from rating_core.store.import_store import ImportedFile

if TYPE_CHECKING:
    from rating_core.workbook.export import Exported

NEW_PLAYERS, ANY_WORD = "新棋手", "不认得的算负"
"""Words that /导入 takes."""
NO_QUOTE = "请先把文件发到群里，再引用那条文件消息发：\n/导入"
GONE = "文件已经不在手边（机器人重启过，或者隔得太久）。请再引用一次那条文件消息发：\n/导入"
MOVED = "这期间账本有变动，没有导入，请看新的预览："
BOARD_SHOWN = 3
LINE = 90
_SHELL = "也可以在机器人的机器上用命令行：python -m rating_core {command}"


_FORMS = {"workbook": "工作簿", "table": "对局表", "text": "报分文本"}


def _short(text: str) -> str:
    return text if len(text) <= LINE else f"{text[: LINE - 1]}…"


# --- out --------------------------------------------------------------------------------------------------


def uploaded(name: str, made: "Exported", size: int) -> str:
    """The workbook is among the group's files."""
    text = f"已上传到群文件：{name}（{size / 1024:.0f} KB），对局{made.games}局，棋手{made.players}人。"
    return f"{text}\n公式是活的，改战绩里的结果会重算；机器人的账本不会跟着变。\n{games_wording.NOT_CARRIED}"


def not_uploaded(name: str, failed: FileFailed) -> str:
    """The workbook did not reach the group."""
    other = _SHELL.format(command="export 等级分.xlsx")
    if failed.why == "offline":
        return f"QQ客户端没有连上，没有上传。请稍后再发：\n/导出\n{other}"
    if failed.why == "unclear":
        return f"上传后没有等到QQ的回答，请看看群文件里有没有「{name}」；没有再发：\n/导出"
    said = f"（{failed.text}）" if failed.text else ""
    return f"这个QQ客户端没能上传群文件{said}。\n{other}"


# --- in ---------------------------------------------------------------------------------------------------


def not_fetched(failed: FileFailed) -> str:
    """Why the quoted file cannot be had."""
    other = _SHELL.format(command="import 文件")
    if failed.why == "no_file":
        return f"引用的消息里没有文件。{NO_QUOTE}"
    if failed.why == "too_big":
        return f"文件有{failed.text}字节，太大了。请去掉不需要的内容，或分成几个文件。"
    if failed.why == "no_message":
        return f"引用的那条消息已经找不到了。{NO_QUOTE}"
    return f"没能从QQ取到文件。请再发一次文件，再引用它发 /导入。\n{other}"


def unreadable(problem: FileProblem) -> str:
    """The file as a whole cannot be read."""
    return games_wording.file_problem(problem)


def known(file: ImportedFile) -> str:
    return games_wording.known(file)


def _title(preview: Preview, name: str, file: GameFile | Table, *, moved: bool) -> list[str]:
    kind = "名单" if isinstance(file, Table) else _FORMS[file.form]
    return [*([MOVED] if moved else []), f"预{preview.preview_id} 导入「{name}」（{kind}）"]


def _confirm(preview: Preview) -> str:
    return f"{PREVIEW_MINUTES}分钟内引用本条回「确认」就全部写入：\n确认 预{preview.preview_id}"


def games_asked(
    plan: GamesPlan, found: Outcome, preview: Preview, name: str, at: int, *, moved: bool = False
) -> str:  # fmt: skip
    """What importing a file of games does; it waits for 确认."""
    lines = _title(preview, name, plan.file, moved=moved)
    lines.append(games_wording.counts(plan, found))
    said = (*games_wording.notes(plan), games_wording.differences(found.differences))
    lines += [_short(line) for line in said if line]
    for pool in plan.pools:
        rows = board(found.book, found.directory, pool, at).rows[:BOARD_SHOWN]
        best = "、".join(f"{row.rank} {row.name} {show_rating(row.shown, 0)}" for row in rows)
        lines.append(f"导入后的{pool}：{best}……" if best else f"导入后的{pool}还没有人上榜")
    return fit(lines, "……还有{count}行", last=_confirm(preview))


def games_refused(plan: GamesPlan) -> str:
    """Everything that stands against a file of games, as far as it has room."""
    lines = [f"不能导入，什么也没有写入。{games_wording.counts(plan, None)}"]
    lines += [_short(line) for line in games_wording.against(plan, most=8)]
    last = f"名字都是新棋手就引用文件发：\n/导入 {NEW_PLAYERS}" if plan.unknown and not plan.problems else ""
    return fit(lines, "……还有{count}行", last=last)


def roster_asked(plan: RosterPlan, preview: Preview, name: str, file: Table, *, moved: bool = False) -> str:
    """What importing a roster does; it waits for 确认."""
    lines = [*_title(preview, name, file, moved=moved), import_wording.counts(plan)]
    lines += [_short(line) for line in import_wording.notes(plan)]
    return fit(lines, "……还有{count}行", last=_confirm(preview))


def roster_refused(plan: RosterPlan) -> str:
    """Everything that is wrong with a roster, as far as it has room; or that it says nothing new."""
    if not plan.problems:
        return f"{import_wording.counts(plan)}\n{import_wording.NOTHING_NEW}"
    lines = [f"不能导入，什么也没有写入。{import_wording.counts(plan)}"]
    lines += [_short(import_wording.problem_text(problem)) for problem in plan.problems]
    return fit(lines, "……还有{count}处")


def backup_failed(error: Exception) -> str:
    return f"导入前的备份没有做成（{error}），没有导入。请看看硬盘还有没有地方，再引用那条文件消息发：\n/导入"


def games_done(plan: GamesPlan, backup: str | None) -> str:
    return games_wording.done(plan, backup)


def roster_done(imported: Imported, backup: str | None) -> str:
    text = import_wording.done(imported, None)
    return text if backup is None else f"{text}\n导入前的备份：{backup}"


def told_desk(said: Sequence[str], who: str) -> str:
    """To the other scoring groups."""
    return f"{who}导入了文件：{said[0]}"
