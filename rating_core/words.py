"""Words that the chat's grammar claims for itself: no new name may be one of them (commands.md, "A new name")."""

COMMAND_WORDS = frozenset(
    """
    报名 认领 注销 注销给 格式 撤回 等级分 排行榜 排名 战绩 对战 曲线 预测 计算 表现分 解释 强制约战 约战 请假 推荐对手
    封存名单 规则 帮助 待办 新棋手 通过 驳回 绑定 解绑 改名 合并 代确认 作废 改判 改赛事 撤销 调分 免罚 取消约战
    延期约战 绑定预览 请假给 销假 赛事 赛事新建 赛事结束 赛事列表 赛事战绩 核验
    蒙面人 蒙面人申请 蒙面人批准 蒙面人收回 发布榜单 结算 导出 导入 日志 体检 备份 任命 免去
    """.split()
)
ANSWER_WORDS = frozenset("确认 有误 另记 对 是 ok 我 预览 已阅 机器人 全体成员".split())
RESERVED_WORDS = COMMAND_WORDS | ANSWER_WORDS
