"""Who may do what where, written down from the chat's contract (commands.md), not from the bot's own command table.

The world in which it holds is made in hostile_rights.py: report 1 (局1 to 局2) and report 3 (局5) are effective, report
4, 甲 against 李四, and report 5, 张三 against 赵六, wait; 约1 was forfeited by 甲, 约2 against 甲 is open; 王五 is on
leave; 审1 waits; 张三 and 甲 have QQs of their own, 乙, 丙 and 丁 have none.
"""

from dataclasses import dataclass
from typing import Literal

EVERYBODY = "xprksdom"
"""x: anybody, without a name. p: 张三, a player. r: a referee. k: a scorekeeper. s: a superuser. d: a scorekeeper and
group admin who was dismissed. o: a scorekeeper who is 甲, the subject of most matters. m: holds 蒙面人公用号."""
DESK = "kso"
OTHERS_CASE = "ks"
"""The desk without whoever it is about (rulebook §5)."""
NAMELESS = "xrksdm"
NAMED = "po"

Where = Literal["any", "group", "private", "nowhere"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is typed; for whom and where it works; the table it then changes, "" where it only answers.

    A name in braces stands for a QQ number.
    """

    typed: str
    who: str
    where: Where = "group"
    changes: str = ""


QUERIES = (
    "/等级分 张三", "/排行榜", "/排名", "/排行榜 前30", "/排行榜 2026-12-28", "/战绩 张三", "/对战 张三 赵六",
    "/曲线 张三 甲", "/预测 张三 赵六", "/计算 2000 胜 2200", "/表现分 张三", "/解释 局1", "/约战", "/封存名单",
    "/规则", "/规则 防刷分", "/帮助", "/帮助 等级分", "/格式", "/格式 张三 李四", "/赛事 列表", "/赛事 战绩 皇后杯",
)  # fmt: skip

RULES = (
    *(Rule(typed, EVERYBODY, "any") for typed in QUERIES),
    # --- players
    Rule("/报名 新人 16强", NAMELESS, "any", "applications"),
    Rule("/认领 乙", NAMELESS, "group", "applications"),
    Rule("/推荐对手 单跳1v1", NAMED, "any"),
    Rule("/强制约战 李四 单跳1v1", NAMED, "group", "challenges"),
    Rule("/请假 出差", "p", "group", "previews"),  # 甲 has a challenge against him: not by himself (§8)
    Rule("/注销", "prkdom", "group", "previews"),  # of a stranger nothing is known, a superuser stands in the settings
    Rule("/撤回 5", "p", "group", "reports"),
    Rule("/撤回 1", "r", "group", "docket"),  # it is effective: the desk is told (§5)
    # --- the desk: people
    Rule("/待办", DESK),
    Rule("/日志", DESK),
    Rule("/体检", DESK),
    Rule("/备份", DESK, "group", "files"),
    Rule("/新棋手 新人 30001 亚军", DESK, "group", "names"),
    Rule("/通过 审1", DESK, "group", "names"),
    Rule("/驳回 审1 太像", DESK, "group", "applications"),
    Rule("/绑定 乙 30002", DESK, "group", "accounts"),
    Rule("/绑定 预览", DESK, "group", "previews"),
    Rule("/解绑 赵六 {赵六}", DESK, "group", "accounts"),
    Rule("/改名 李四 李四方", DESK, "group", "names"),
    Rule("/合并 丙 乙 重复", DESK, "group", "previews"),
    Rule("/注销 给 丁 来信要求", DESK, "group", "previews"),
    Rule("/核验 甲", OTHERS_CASE, "group", "ledger"),
    Rule("/核验 李四", DESK, "group", "ledger"),
    # --- the desk: reports and corrections
    Rule("/代确认 4 双方口头认可", OTHERS_CASE, "group", "ledger"),
    Rule("/代确认 5 双方口头认可", DESK, "group", "ledger"),
    Rule("/作废 4 没下过", OTHERS_CASE, "group", "reports"),
    Rule("/作废 5 没下过", DESK, "group", "reports"),
    Rule("/作废 1 没下过", OTHERS_CASE, "group", "previews"),
    Rule("/改判 局1 负 报反了", OTHERS_CASE, "group", "previews"),
    Rule("/改判 局1 李四 胜 赵六 人错了", OTHERS_CASE, "group", "previews"),
    Rule("/改判 局5 负 报反了", DESK, "group", "previews"),
    Rule("/改赛事 1 #皇后杯 忘了写", OTHERS_CASE, "group", "previews"),
    Rule("/改赛事 3 #皇后杯 忘了写", DESK, "group", "previews"),
    Rule("/撤销 局1 没下过", OTHERS_CASE, "group", "previews"),
    Rule("/撤销 局5 没下过", DESK, "group", "previews"),
    Rule("/调分 甲 +20 单跳1v1 漏记", OTHERS_CASE, "group", "previews"),
    Rule("/调分 李四 -20 单跳1v1 漏记", DESK, "group", "previews"),
    # --- the desk: challenges and leave
    Rule("/强制约战 李四 赵六 单跳1v1", DESK, "group", "challenges"),
    Rule("/取消约战 约2 住院", OTHERS_CASE, "group", "challenges"),
    Rule("/延期约战 约2 3 出差", OTHERS_CASE, "group", "challenges"),
    Rule("/免罚 约1 住院", OTHERS_CASE, "group", "previews"),
    Rule("/请假 给 李四 住院", DESK, "group", "ledger"),
    Rule("/请假 给 甲 住院", OTHERS_CASE, "group", "ledger"),
    Rule("/销假 王五 登记错了", DESK, "group", "previews"),
    # --- the desk: events, lists, seasons, files
    Rule("/赛事 新建 春季赛 1.2 单跳1v1", DESK, "group", "events"),
    Rule("/赛事 结束 皇后杯", DESK, "group", "ledger"),
    Rule("/发布榜单 单跳1v1", DESK, "group", "ledger"),
    Rule("/结算 预览 2026 单跳1v1", DESK),
    Rule("/结算 执行 2026 单跳1v1", DESK, "group", "previews"),
    Rule("/结算 回滚 2026 单跳1v1", ""),  # nothing to roll back
    Rule("/导出", DESK, "group", "files"),
    Rule("/导入", ""),  # no file is quoted
    # --- superusers
    Rule("/任命 记分员 30003", "s", "group", "roles"),
    Rule("/任命 裁判 30003", "s", "group", "roles"),
    Rule("/免去 记分员 10003", "s", "group", "roles"),
    Rule("/免去 裁判 10004", "s", "group", "roles"),
    Rule("/蒙面人 批准 30003", "", "private"),  # somebody holds it
    Rule("/蒙面人 收回", "s", "private", "masked_holders"),
    Rule("/蒙面人 申请", "xprksdo", "private", "applications"),
    # --- what is no command
    Rule("/不认识的命令", "", "nowhere"),
)  # fmt: skip
