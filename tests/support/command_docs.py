"""The README's tables of commands, made from the command table. `python -m tests.support.command_docs` writes them."""

from itertools import groupby
from pathlib import Path

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.table import Command, Role

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- commands: begin -->\n", "<!-- commands: end -->\n"
WHERE = {"any": "群里、私聊", "group": "群里", "private": "私聊"}
TITLES = {
    Role.MEMBER: "大家",
    Role.PLAYER: "棋手（QQ已绑定名字）",
    Role.REFEREE: "裁判",
    Role.SCOREKEEPER: "记分员",
    Role.SUPERUSER: "超级用户",
}


def _row(command: Command) -> str:
    form = command.form.replace("|", "\\|")
    other = [alias for alias in command.aliases if alias != command.word.replace(" ", "")]
    also = "".join(f"，也可写 `/{alias}`" for alias in other)
    return f"| `{form}` | {command.help}{also} | {WHERE[command.where]} |\n"


def tables() -> str:
    """Return what stands between the marks: one table a role."""
    parts = []
    commands = sorted(load_handlers(), key=lambda command: command.role)
    for role, mine in groupby(commands, key=lambda command: command.role):
        parts.append(f"**{TITLES[role]}**\n\n| 命令 | 作用 | 在哪用 |\n|---|---|---|\n" + "".join(map(_row, mine)))
    return "\n".join(parts)


def main() -> None:
    """Put the tables into the README."""
    text = README.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    README.write_text(f"{before}{BEGIN}\n{tables()}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
