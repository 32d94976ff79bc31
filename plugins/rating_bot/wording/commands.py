"""What the bot says to a command that is typed wrongly, by the wrong person or in the wrong place; and /帮助."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.rating_bot.wording.common import fit
from rating_core.directory import Directory

if TYPE_CHECKING:
    from plugins.rating_bot.handlers.table import Command, Role

TOO_MANY_QUERIES = "查得太快了，歇一会儿再查。"
FLOODING = "消息太多太快：这一条和您接着发的都没有处理。停一会儿再发。"
IN_GROUP_ONLY = "这个命令请在群里发。"
IN_PRIVATE_ONLY = "这个命令请私聊发给我。"


SLOT_TITLES = {
    "reason": "理由", "name": "名字", "who": "名字", "left": "名字", "right": "第二个名字", "qq": "QQ号",
    "target": "编号", "targets": "编号", "number": "编号", "role": "职务", "days": "天数", "amount": "分数",
    "weight": "系数",
}  # fmt: skip
"""What people call the slots of a form, by their keys."""


def usage(command: "Command", missing: str = "") -> str:
    """Wrong use: what is missing (the key of a slot) if that is known, the right form and an example."""
    why = f"还缺{SLOT_TITLES[missing]}" if missing in SLOT_TITLES else "没看懂"
    return f"{why}。格式：{command.form}\n例如：\n{command.example}"


def unknown_name(typed: str, directory: Directory) -> str:
    """A name that is on no board, with near misses."""
    near = directory.roster.nearest(typed)
    shown = typed[:20]
    if not near:
        return f"榜上没有「{shown}」。新棋手请发：\n/报名 {shown}"
    return f"榜上没有「{shown}」，是不是{'、'.join(f'「{name}」' for name in near)}？"


def tie(command: "Command", readings: Sequence[str]) -> str:
    """Several ways to read the names."""
    return fit(["可以有几种读法，请挑一行发：", *(f"/{command.word} {reading}" for reading in readings)])


def no_right(role: "Role") -> str:
    """Who may use it."""
    return f"无权：这个命令只有{role.title}能用。"


def bind_first() -> str:
    return "您的QQ还没有绑定名字。榜上已有名字请发 /认领 名字，新棋手请发：\n/报名 名字"


def help_overview(groups: Sequence[tuple[str, Sequence[str]]]) -> str:
    """/帮助: the commands the asker may use, by who may use them."""
    lines = ["报分直接发，一局一行：张三    胜    李四；对方回「确认」就生效。"]
    lines += [f"{title}：{' '.join('/' + word for word in words)}" for title, words in groups]
    return fit(lines, last="细看某个命令，例如：\n/帮助 等级分")


def help_on(command: "Command") -> str:
    """/帮助 命令."""
    also = [word for word in command.aliases if " " not in word]
    lines = [f"{command.form}", command.help + ("" if not also else f"（也可写 {'、'.join('/' + w for w in also)}）")]
    if command.role > 1:
        lines.append(f"谁能用：{command.role.title}")
    if command.where != "any":
        lines.append("在哪用：" + ("群里" if command.where == "group" else "私聊"))
    return "\n".join([*lines, "例如：", command.example])


def no_such_command(word: str) -> str:
    return f"没有「{word[:20]}」这个命令。全部命令请发：\n/帮助"
