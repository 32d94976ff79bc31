"""/帮助, from the command table, by what the asker may use."""

from itertools import groupby

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import text
from plugins.rating_bot.handlers.table import TABLE, Role, command, role_of
from plugins.rating_bot.wording import commands as wording

TITLES = {
    Role.MEMBER: "大家",
    Role.PLAYER: "棋手",
    Role.REFEREE: "裁判",
    Role.SCOREKEEPER: "记分员",
    Role.SUPERUSER: "超级用户",
}


@command(
    "帮助", form="/帮助 [命令]", help="能用的命令；加命令名细看", example="/帮助 等级分",
    slots=(text("word", optional=True),), query=True,
)  # fmt: skip
async def help_(context: Context, word: str) -> str:
    mine = role_of(context.actor)
    wanted = word.strip().lstrip("/／")
    if wanted:
        found = TABLE.commands.get(wanted)
        if found is None:
            return wording.no_such_command(wanted)
        return wording.help_on(found)
    usable = sorted((c for c in TABLE.listed() if c.role <= mine), key=lambda c: c.role)
    return wording.help_overview(
        [(TITLES[role], [c.word for c in commands]) for role, commands in groupby(usable, key=lambda c: c.role)]
    )
