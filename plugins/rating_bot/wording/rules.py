"""The league's rules in our own words, clause by clause, with the numbers that are in force on a day (/规则)."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from rating_core.rulebook import (
    CASUAL_WEIGHT,
    CHALLENGE_HOURS,
    CHALLENGE_PENALTY,
    CHALLENGE_REMINDERS,
    CHALLENGES_PER_WEEK,
    CHIEF_EDITOR,
    EVENT_WEIGHTS,
    FARMING_NET,
    FARMING_REPAY,
    IP_CHECK_RATING,
    LEAGUE_RULES,
    LOGISTIC_SCALE,
    MASKED_INITIAL,
    MASKED_NAME,
    MAX_REPORT_LINES,
    NEWCOMER_DAYS,
    NO_LEAVE_DAYS,
    PEAK_GAMES,
    PLACINGS,
    PROVISIONAL_GAMES,
    PROVISIONAL_STEP,
    RETURN_MONTH_DAY,
    SEASON_EXEMPT_RATING,
    SEASON_GAMES,
    SEASON_PENALTY,
    UNRATED_WORD,
)

CREDIT = f"规则文字归联盟所有，特别鸣谢表格主编「{CHIEF_EDITOR}」（L16）。"


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the league's list, or 报分: its title, the words that ask for it, and its text on a day."""

    key: str
    title: str
    words: tuple[str, ...]
    text: Callable[[date], str]


def _formula(day: date) -> str:
    bands = [f"{bound:g}起K={k}" for bound, k in LEAGUE_RULES.k_bands[1:]]
    bands.insert(0, f"不到{LEAGUE_RULES.k_bands[1][0]:g}时K={LEAGUE_RULES.k_bands[0][1]}")
    return (
        f"新分=旧分+K×系数×(W-We)。W：胜1、平{LEAGUE_RULES.draw_score:g}、负0。\n"
        f"We=1÷(10^(-dr÷{LOGISTIC_SCALE:g})+1)，dr=自己旧分-对手旧分。\n"
        f"K看自己的旧分：{'，'.join(bands)}。\n"
        "两边都用赛前的分；2v2用两人平均分算We，K各按各的。分数不取整，显示时才四舍五入。\n"
        "自己试算：/计算 2000 胜 2200"
    )


def _order(day: date) -> str:
    return "对局按下的先后从上到下报。分数、名次、胜平负盘数都由机器人按顺序自动算，更正以后也会从那一局起重新算。"


def _names(day: date) -> str:
    return (
        "报分的名字要和榜上一字不差，否则不记，机器人会提示「是不是」。改名以前的旧名字仍然认得。\n"
        "首尾空格和看不见的字符不要紧。"
    )


def _start(day: date) -> str:
    new = "，".join(f"{name}{PLACINGS[name]:g}" for name in ("普通", "32强", "16强", "8强", "4强", "亚军", "冠军"))
    old = "，".join(f"{name}{rating:g}" for name, rating in PLACINGS.items() if name.startswith("旧"))
    return (
        f"第一次参赛按近几年最好名次定原始分：{new}，{MASKED_NAME}{MASKED_INITIAL:g}。\n"
        f"只看13年皇后杯（含）以后的QQ重大比赛；更早的只算前十，降一级：{old}。\n"
        "报名：/报名 名字 名次（没有名次就不写）"
    )


def _weight(day: date) -> str:
    train, regular, major = EVENT_WEIGHTS.values()
    return (
        f"约战系数{CASUAL_WEIGHT:g}，训练赛{train:g}，集中短期的正式比赛{regular:g}，重大比赛{major:g}。乘在K上。\n"
        "有哪些赛事：/赛事 列表\n"
        "选手报赛事的分，第一行写 #赛事名，对方确认以后还要裁判或记分员确认；免裁判的赛事对方确认就生效。\n"
        f"赛事和系数看报分的时候；不揭露身份的赛事（鬼面赛、马甲赛）{UNRATED_WORD}分，不收报分。"
    )


def _farming(day: date) -> str:
    net, repay = FARMING_NET.on(day), FARMING_REPAY.on(day)
    return (
        f"约战盘数不限，但同一对手净胜或净负到{net}局（胜加1，负减1，平不动）以后，两人再下约战照样记录，不计分，也不算盘数；"
        f"要两人都各与别人再下满{repay}局计分棋，才重新计分，净胜从0算起。\n"
        "按榜、按赛季各算各的，新赛季从0算起；2v2按两边的组合算，换了搭档就是另一对，四个人都要下满。"
        "计不计分在报分生效的时候定。\n"
        "赛事局一律计分，不动净胜；与别人下的赛事局算下满的局，两人之间的赛事局和不计分的局不算。\n"
        "看两人的情况：/对战 甲 乙"
    )


def _season(day: date) -> str:
    month, first = RETURN_MONTH_DAY
    return (
        f"一个赛季是一个自然年。年底不满{SEASON_GAMES.on(day)}局计分棋的，扣{SEASON_PENALTY.on(day):g}分并封存，"
        f"元旦起不能参赛，{month}月{first}日起才能再参赛；再有报分生效就回到榜上。\n"
        f"不扣也不封的：实际分{SEASON_EXEMPT_RATING.on(day):g}以上（L10），"
        f"赛季最后{NEWCOMER_DAYS.on(day)}天内才下第一局的新人。请假的封存但不扣分（L8）。"
    )


def _leave(day: date) -> str:
    last = 31 - NO_LEAVE_DAYS.on(day) + 1
    return (
        f"在下过的榜里，本赛季有不满{SEASON_GAMES.on(day)}局的，可以请假：不满的榜马上封存、不扣分，已满的榜留在榜上；"
        "到赛季结束所有榜都不能参赛，以后再有报分生效就回到榜上。\n"
        "被人强制约战还没了结的，不能自己请假；记分员可以代办，那次约战随之取消，不扣分。自己发起的约战请假后也取消。\n"
        f"赛季最后{NO_LEAVE_DAYS.on(day)}天（12月{last}日起）谁也不能请假，代办也不行。\n"
        "销假只用来作废登记错了的请假，由记分员处理。"
    )


def _challenge(day: date) -> str:
    hours = CHALLENGE_HOURS.on(day)
    reminders = "、".join(map(str, CHALLENGE_REMINDERS))
    return (
        f"一对一的榜里，自己能参赛的人每周（周一零点起）每个榜有{CHALLENGES_PER_WEEK.on(day)}次强制约战的机会。"
        f"对方要在{hours // 24}天（{hours}小时）内应战：发起以后、期限以前报上两人的一局就算，计不计分都行。"
        f"到时没有应战扣{CHALLENGE_PENALTY.on(day):g}分，两边的群都公布；还有这样的报分在等确认或有争议就先不扣，"
        "它作废或撤回了再扣。\n"
        "封存、请假、不能参赛的人和蒙面人不能被约，刷分锁住的两人、已有一次没了结的两人也不能约。\n"
        "期限以前有一方变得不能参赛，约战取消，不扣分，机会退回。\n"
        f"记分员可以取消（机会退回）、延期、免罚。到期前{reminders}小时各提醒一次。"
    )


def _exempt(day: date) -> str:
    return (
        f"实际分{SEASON_EXEMPT_RATING.on(day):g}以上的，年底不满盘数也不扣分、不封存（请假的照样封存），"
        "但应当参加月赛、季赛。"
    )


def _ip(day: date) -> str:
    return f"实际分到{IP_CHECK_RATING.on(day):g}以后，要把IP地址截图给记分员核验过，才能继续报分。截图本身不保存。"


def _display(day: date) -> str:
    needed, step = PROVISIONAL_GAMES.on(day), PROVISIONAL_STEP.on(day)
    past = [
        f"{since.isoformat()}以前是{before}盘"
        for (_, before), (since, _) in zip(PROVISIONAL_GAMES.values, PROVISIONAL_GAMES.values[1:], strict=False)
        if since <= day
    ]
    history = f"（{'，'.join(past)}）" if past else ""
    return (
        f"未满{needed}盘的，实际分照常算，榜上的显示分每差一盘扣{step:g}分，满{needed}盘就不扣{history}。\n"
        "排名依次看显示分、实际分、盘数（多的在前）、名字。"
    )


def _masked(day: date) -> str:
    return (
        f"{MASKED_NAME}是唯一的公共账号，原始分{MASKED_INITIAL:g}，不参加排名，也没有历史最高分。\n"
        "同一时间只有一人使用，先向群主提供主账号的IP截图，获准才能用；换了人，分数接着算。\n"
        "申请、报分、确认都私聊机器人（/蒙面人 申请），群里不提使用人是谁；和使用人自己榜上名字的局由记分员处理。"
    )


def _peak(day: date) -> str:
    return f"历史最高分从第{PEAK_GAMES.on(day)}盘起算，是实际分到过的最高值和日期；蒙面人没有。"


def _moves(day: date) -> str:
    return (
        "涨跌是显示分和名次与上一期榜单比的结果，上一期没有的人标「新」。\n"
        "记分员发布的榜单编成第N期，发布以后不再变；更正只改现在的榜。年底结算也发布一期。\n"
        "看某一期：/排行榜 第1期\n"
        f"看过去某天：/排行榜 {day.isoformat()}"
    )


def _credit(day: date) -> str:
    return f"特别鸣谢表格主编「{CHIEF_EDITOR}」授权各群使用。规则文字归联盟所有，机器人的许可只管程序。"


def _report(day: date) -> str:
    return (
        "一局一行，结果写左边那位的，只写胜、平、负：\n"
        "张三    胜    李四\n"
        f"名字和结果之间空格隔开，几个都行；一次最多{MAX_REPORT_LINES}局，同一对手的一起报，按下的先后。\n"
        "在群里公开报，对方用自己绑定的QQ回「确认」才生效；裁判、记分员报别人的局直接生效。\n"
        "第一行可以写 #赛事名。要空白格式：/格式"
    )


CLAUSES: tuple[Clause, ...] = (
    Clause("报分", "报分", ("报分", "格式", "确认", "上报"), _report),
    Clause("L1", "计算公式", ("公式", "计算", "K", "WE", "等级分"), _formula),
    Clause("L2", "对局顺序", ("顺序", "自动"), _order),
    Clause("L3", "名字", ("名字", "改名", "昵称"), _names),
    Clause("L4", "原始分", ("原始分", "报名", "名次", "新手"), _start),
    Clause("L5", "系数", ("系数", "赛事", "比赛", "训练赛"), _weight),
    Clause("L6", "防刷分", ("防刷分", "刷分", "不计分", "净胜", "约战2"), _farming),
    Clause("L7", "年底结算", ("结算", "年底", "封存", "赛季", "扣分"), _season),
    Clause("L8", "请假", ("请假", "封存"), _leave),
    Clause("L9", "强制约战", ("强制约战", "约战", "应战"), _challenge),
    Clause("L10", "高分免封存", ("高分", "月赛", "季赛", "封存"), _exempt),
    Clause("L11", "核验IP", ("IP", "核验", "截图"), _ip),
    Clause("L12", "显示分", ("显示", "未满", "排名", "排行榜"), _display),
    Clause("L13", "蒙面人", ("蒙面人", "公用号"), _masked),
    Clause("L14", "历史最高分", ("最高分", "历史"), _peak),
    Clause("L15", "涨跌", ("涨跌", "期", "榜单", "发布"), _moves),
    Clause("L16", "鸣谢", ("鸣谢", "主编", "版权", CHIEF_EDITOR), _credit),
)


def find(asked: str) -> list[Clause]:
    """Return the clauses that `L6`, `6`, `第6条` or a keyword asks for."""
    word = "".join(unicodedata.normalize("NFKC", asked[:20]).upper().split()).removeprefix("第").removesuffix("条")
    if not word:
        return []
    exact = [c for c in CLAUSES if word in (c.key, c.key.removeprefix("L"), c.title)]
    by_word = [c for c in CLAUSES if word in c.words]
    return exact or by_word or [c for c in CLAUSES if any(w in word or word in w for w in (c.title, *c.words))]


def overview() -> str:
    """Return the list of clauses."""
    names = [c.key if c.key == c.title else f"{c.key} {c.title}" for c in CLAUSES]
    rows = ["　".join(names[i : i + 3]) for i in range(0, len(names), 3)]
    return "\n".join(["跳棋等级分规则：", *rows, CREDIT, "看其中一条，例如：", "/规则 L6"])


def clause(clause: Clause, day: date) -> str:
    """Return one clause as it holds on a day."""
    head = clause.title if clause.key == clause.title else f"{clause.key} {clause.title}"
    return "\n".join([head, clause.text(day), *([] if clause.key == "L16" else [CREDIT])])


def rules(asked: str, day: date) -> str:
    """Answer /规则: the overview, one clause, or the clauses a keyword may mean."""
    if not asked:
        return overview()
    found = find(asked)
    if not found:
        return f"没有找到这一条。\n{overview()}"
    if len(found) == 1:
        return clause(found[0], day)
    return _several(found)


def _several(found: Sequence[Clause]) -> str:
    return "\n".join(["说到它的有：", *(f"{c.key} {c.title}" for c in found), "看其中一条：", f"/规则 {found[0].key}"])
