"""What the bot says when the ledger or a row that grants rights is not what was written."""

from collections.abc import Sequence

from plugins.rating_bot.wording.common import cut
from rating_core.service.league import Damage
from rating_core.store.sealed import BrokenRow

MOST_KEYS = 30
"""Characters of account numbers said."""
NOT_RECORDED = "账本有损坏，暂停记分：这条没有记录。记分员修好后，机器人会从群消息里补记，请不要重发。"
NOT_DONE = "账本有损坏，暂停记分：这条没有执行。修好后请再发一次。"
FOR_WHAT_IT_IS_WORTH = "※账本有损坏，正等修复，数字仅供参考。"


def damaged(found: Damage) -> str:
    """To desk and superusers: what is wrong, what goes on, what is to be done."""
    read = "" if found.read_to is None else f"，但只算到账{found.read_to}"
    return (
        f"账{found.seq}和写下时不一样：数据库文件坏了，或有人绕过机器人改过。\n"
        f"从现在起不记分、不执行命令，查询照常{read}。\n"
        "要做的：停掉机器人，不要删改数据库文件，在机器人所在的机器上运行\n"
        "python -m rating_core restore 最近的备份\n"
        "再启动。没记上的报分会从群消息里补记；记分员命令要重发。/体检"
    )


def differs(where: str) -> str:
    """To desk and superusers: the chain is whole, but a fresh fold says otherwise."""
    return f"重算与现榜不一致，从{where}起；账本本身完好。记分照常，请联系维护者。\n/体检"


def snapshot_wrong(where: str) -> str:
    """To desk and superusers: the book this start began with was not what the ledger says; it has been put right."""
    return (
        f"启动时读的快照与账本重算不一致，从{where}起。账本本身完好：快照已删除，现榜已换成重算的结果。\n"
        "请核对这次启动以来的报分，并告诉维护者。/体检"
    )


def broken_rights(rows: Sequence[BrokenRow]) -> str:
    """To desk and superusers: rows that grant nothing any more, and how to give the rights anew."""
    admins = "；在弄清楚之前，群主和管理员的身份不会自动带来记分员权限" if _has(rows, "roles") else ""
    return (
        f"{rows_of(rows)}和写下时不一样，已经不给任何权利{admins}。\n"
        "请重新 /绑定，由超级用户重新 /任命；多余的坏行，停掉机器人后用 python -m rating_core rights --drop 清掉。"
    )


def rows_of(rows: Sequence[BrokenRow]) -> str:
    """Name the rows in short; whose 蒙面人公用号 was is told to nobody."""
    parts = []
    for table, title in (("accounts", "QQ绑定"), ("roles", "权限"), ("masked_holders", "蒙面人公用号")):
        keys = [row.key.split()[0] for row in rows if row.table == table]
        which = "" if table == "masked_holders" else f"（账号{cut('、'.join(keys), MOST_KEYS)}）"
        if keys:
            parts.append(f"{title}{len(keys)}行{which}")
    return "、".join(parts)


def _has(rows: Sequence[BrokenRow], table: str) -> bool:
    return any(row.table == table for row in rows)
