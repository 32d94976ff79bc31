"""What the bot says about reports: prompts, 收到, forwards, refusals (commands.md, "Reporting")."""

from plugins.rating_bot.wording.common import (
    GAMES_A_PAGE,
    cut,
    fit,
    fits,
    games_in_short,
    mention,
    names,
    pages_of,
    spans,
)
from rating_core.directory import Directory
from rating_core.elo import show_change, show_rating
from rating_core.queries.games import event_name
from rating_core.report_text import format_report
from rating_core.rulebook import FARMING_NET, FARMING_REPAY, IP_CHECK_RATING, MASKED_NAME, POOLS
from rating_core.rules.display import Display
from rating_core.rules.eligibility import Bar
from rating_core.rules.season import games_needed
from rating_core.service.report_results import Changed, Debt, Effective, EventRefused, NotYours, Posted
from rating_core.store.report_store import Report
from rating_core.times import season_of, show_day, show_time

OUTSIDER = "只能由对局双方或裁判上报。您没有下这几局；如果您就是其中一位，请先发 /认领 名字 绑定QQ。"
IN_PRIVATE = "请在群里公开报分（报分应当公开），对方才能确认。"

SHOWN_REASON = 60
"""Characters of a reason in messages that show the games, too; all of it stands in /日志."""

STATES = {
    "waiting": "等对方确认",
    "disputed": "有争议，等记分员处理",
    "expired": "久未确认，等记分员处理",
    "confirmed": "双方已确认，等裁判或记分员确认",
    "effective": "已生效",
    "withdrawn": "已撤回",
    "void": "已作废",
}


def kind(report: Report, directory: Directory) -> str:
    """Return a report's pool, and its event with weight if it has one."""
    if report.event_id is None:
        return report.pool
    return f"{report.pool}，{event_name(directory, report.event_id)} 系数{report.weight:g}"


def said_by(report: Report, account_id: int, directory: Directory) -> str:
    """Return what people read of an account in the matter of a report: never who holds 蒙面人公用号 (§7 D)."""
    if account_id == report.account_id and report.player_id is not None:
        as_masked = report.player_id == directory.masked
    else:
        as_masked = directory.is_masked_in(account_id, report.players, report.said_at)
    return MASKED_NAME if as_masked else directory.account_name(account_id)


def posted(result: Posted, directory: Directory) -> str:
    """The prompt: number, lines, who can confirm and what to answer; three lines besides the games."""
    report = result.report
    also = f"，另有{'、'.join(f'#{n}' for n in result.others_waiting)}也在等确认" if result.others_waiting else ""
    number = report.report_id
    last = f"确认 {number}"
    if any(directory.qqs_of(player) for player in result.confirmers):
        ask = f"{mention(result.confirmers, directory)} 对的话引用本条回「确认」，不对回「有误」加原因"
    elif directory.masked in result.confirmers:
        ask, last = f"已私聊通知{MASKED_NAME}，等它确认。报错了可以撤回：", f"/撤回 {number}"
    else:
        who = names(result.confirmers, directory)
        first = directory.name_of(result.confirmers[0])
        ask = f"{who}还没有绑定QQ：请本人先发 /认领 {first}，通过后再回「确认」（不对回「有误」）"
    return "\n".join(
        [
            f"#{number} 待确认（{kind(report, directory)}）{also}",
            games_in_short(report.lines, directory.name_of),
            ask,
            last,
        ]
    )


def _uncounted(result: Effective, directory: Directory) -> list[str]:
    """Which lines did not count, why, and what is owed now (L6)."""
    lines = []
    missed = [number for number, counted in enumerate(result.announced.counted, 1) if not counted]
    if missed:
        net = FARMING_NET.now
        lines.append(f"第{spans(missed)}局不计分：同一对手净胜负已到{net}局（L6）。")
    return lines + [_debt(debt, directory, locked_now=not missed) for debt in result.debts]


def _debt(debt: Debt, directory: Directory, *, locked_now: bool) -> str:
    owed = "，".join(f"{directory.name_of(player)}还差{count}局" for player, count in debt.players)
    why = f"净胜负已到{FARMING_NET.now}局（L6），再下约战不计分；" if locked_now else ""
    return f"{why}两边各与别人下满{FARMING_REPAY.now}局计分棋后才能再计分：{owed}。"


def acknowledgements(result: Effective, directory: Directory) -> list[str]:
    """The 收到 with each player's new rating and change; what L6 says on pages of its own where it is too long."""
    report = result.report
    display = Display.on(report.said_at)
    head = f"#{report.report_id}（{kind(report, directory)}）"
    lines = [f"收到 {head}"]
    for player, before, after in result.announced.ratings:
        text = f"{directory.name_of(player)} {show_rating(after)}（{show_change(after - before)}）"
        if (missing := display.missing(result.games_after[player])) and player != directory.masked:
            shown = show_rating(after - display.step * missing)
            text += f" 未满{display.needed}盘，还差{missing}盘，榜上显示{shown}"
        lines.append(text)
    extra = [f"约{number}已应战（账{seq}），不扣分（L9）。" for number, seq in result.fulfilled]
    extra += _uncounted(result, directory)
    if fits(whole := "\n".join(lines + extra)):
        return [whole]
    first = fit(lines, "……其余{count}人见 /战绩")
    return [first, *("\n".join([head, *page]) for page in pages_of(extra, head, "", len(extra)))]


def forwards(result: Effective, directory: Directory) -> list[str]:
    """The messages for the scoring group: number, canonical lines alone on their own lines, who said so."""
    report = result.report
    said = f"上报：{said_by(report, result.reporter, directory)}"
    if result.confirmer is not None:
        said += f"　{'代确认' if result.by_desk else '确认'}：{said_by(report, result.confirmer, directory)}"
    if result.signer is not None:
        said += f"　裁判：{directory.account_name(result.signer)}"
    if report.reason:
        said += f"（{cut(report.reason, SHOWN_REASON)}）"
    missed = [number for number, counted in enumerate(result.announced.counted, 1) if not counted]
    foot = said + (f"\n第{spans(missed)}局不计分（L6）" if missed else "")
    head = f"#{report.report_id}{{}} {kind(report, directory)}"
    rows = format_report(report.lines, directory.name_of).splitlines()
    pages = pages_of(rows, f"{head}（99/99）", foot, GAMES_A_PAGE)
    texts = []
    for number, page in enumerate(pages, 1):
        of = f"（{number}/{len(pages)}）" if len(pages) > 1 else ""
        texts.append("\n".join([head.format(of), *page, *([foot] if number == len(pages) else [])]))
    return texts


def same_as(report: Report, *, judge: bool) -> str:
    """Games that are in a report already: nothing recorded."""
    number, state = report.report_id, STATES[report.state]
    if report.state == "confirmed":
        other = f"与#{number}相同（{state}），没有重复记录。如果是另外几局，引用本条回「另记」"
        return f"{other}；核对无误就发：\n确认 {number}" if judge else f"{other}：\n另记"
    last = f"/代确认 {number} 理由" if report.open else "另记"
    other = "如果是另外几局，引用本条回「另记」" + ("；要替对方确认，发：" if report.open else "：")
    return f"与#{number}相同（{state}），没有重复记录。{other}\n{last}"


def still_waiting(report: Report, directory: Directory) -> str:
    """The same side posted the same games again."""
    if report.player_id is None:
        return f"#{report.report_id}仍在等确认。"
    if report.sides()[1] == (directory.masked,):
        return f"#{report.report_id}仍在等{MASKED_NAME}私聊确认，不用重发。报错了可以撤回：\n/撤回 {report.report_id}"
    return (
        f"#{report.report_id}仍在等确认，不用重发。请 {mention(report.sides()[1], directory)} 回「确认」：\n"
        f"确认 {report.report_id}"
    )


def overlap(report: Report, *, mine: bool) -> str:
    """The same pair in another order, or a part of a waiting report."""
    number = report.report_id
    why = f"未记录：这几局与还在等确认的#{number}重复（顺序不同或只是其中一部分）。"
    if mine:
        return f"{why}要改#{number}，请先撤回再重报：\n/撤回 {number}"
    return f"{why}#{number}没错就发“确认 {number}”，不对就发：\n有误 {number} 原因"


def bars(found: tuple[Bar, ...], directory: Directory) -> str:
    """Who may not play, by which clause, until when."""
    lines = ["未记录：", *(f"{directory.name_of(bar.player)}{bar_reason(bar)}" for bar in found)]
    ip = next((bar for bar in found if bar.clause == "L11"), None)
    if ip is None:
        return fit(lines)
    name = directory.name_of(ip.player)
    return fit(lines, last=f"请本人把IP地址截图发给记分员，记分员看过后发：\n/核验 {name}")


def bar_reason(bar: Bar) -> str:
    """The clause that bars a player, and the date."""
    if bar.clause == "L11":
        return f"实际分满{IP_CHECK_RATING.now:g}，还没有核验IP截图（L11）。"
    assert bar.until is not None
    day = show_day(bar.until)
    if bar.clause == "L8":
        return f"请假中，{day}起才能参赛（L8）。"
    if bar.pending:
        season = season_of(bar.until) - 1
        return f"{season}赛季不满{games_needed(season)}局，按封存算，{day}起才能参赛（L7）。"
    return f"已封存，{day}起才能参赛（L7）。"


def ask_pool(pools: tuple[str, ...]) -> str:
    """The pool cannot be told."""
    return f"未记录：不知道算哪个榜。请在第一行写上榜名再重发，例如：\n#{pools[0]}"


def event_refused(result: EventRefused) -> str:
    """The event of the header takes no such report."""
    name = f"「{result.name}」"
    if result.why == "unrated":
        return f"未记录：{name}是不计分的赛事，不收报分。"
    if result.why == "closed":
        return f"未记录：{name}已经结束，不再收报分。不是赛事的局，去掉第一行重发；漏报的请找记分员。"
    size = "一对一" if POOLS[result.pool].side_size == 1 else "二对二"
    return f"未记录：{name}是{result.pool}（{size}）的赛事，这份报分对不上。赛事都在这里：\n/赛事 列表"


def confirmed(result: Changed, directory: Directory) -> str:
    """The other side confirmed an event's report; a referee must too."""
    report = result.report
    number, who = report.report_id, said_by(report, result.by, directory)
    event = event_name(directory, report.event_id or 0)
    return f"#{number} {who}已确认（{event}），等裁判或记分员确认后生效。裁判请核对后发：\n确认 {number}"


def not_yours(result: NotYours, directory: Directory, doing: str) -> str:
    """Why this account cannot confirm, dispute, withdraw or judge."""
    number = result.report.report_id
    who = names(result.who, directory)
    if result.why == "own_side":
        return f"#{number}要由对方（{who}）来{doing}。自己报错了可以撤回：\n/撤回 {number}"
    others = [player for player in result.who if player != directory.masked]
    if result.why == "not_bound" and others:
        first = directory.name_of(others[0])
        return f"#{number}只有{who}本人的QQ能{doing}，您的QQ没有绑定名字。您就是{first}的话，请发：\n/认领 {first}"
    if result.why == "same_account":
        return f"同一个QQ不能既上报又{doing}#{number}，请记分员处理。"
    if result.why == "both_sides":
        return f"#{number}报上来以后您的QQ换过名字，原来是上报的那一方，不能由您{doing}，请记分员处理。"
    if result.why == "own_case":
        return f"无权：#{number}有您自己的对局，请别的记分员处理。"
    if result.why == "signoff":
        return f"无权：#{number}双方已确认，现在要由裁判或记分员确认。"
    if result.why == "only_reporter":
        return f"无权：只有上报人能撤回#{number}；对方可以回「有误」，记分员可以 /作废。"
    return f"#{number}只能由{who or '对局的另一方'}{doing}。"


def not_open(report: Report, doing: str) -> str:
    """The report is in no state for that."""
    number = report.report_id
    if report.state == "effective":
        return f"#{number}已生效" + ("，不用再确认。" if doing == "确认" else f"，不能再{doing}。有问题请找记分员。")
    return f"#{number}{STATES[report.state]}，不用再{doing}。"


def late_objection(report: Report) -> str:
    """有误 or a recall after effect: nothing changes, the desk is told."""
    return f"#{report.report_id}已生效，分数不变；已经记到记分员的待办里。"


def no_report(number: int) -> str:
    return f"没有#{number}这份报分，请看清提示里的编号。"


def disputed(report: Report) -> str:
    """To the players: it is now the desk's."""
    number = report.report_id
    return f"#{number} 争议：已转给记分员。双方商量好了，对方仍可回：\n确认 {number}"


def disputed_by(result: Changed, directory: Directory) -> str:
    """Return what people read of who disputed a report: the name as which he did."""
    if result.player in result.report.players and result.player is not None:
        return directory.name_of(result.player)
    return directory.account_name(result.by)


def dispute_notice(report: Report, who: str, reason: str, directory: Directory) -> str:
    """To the scoring group: lines and reason."""
    return "\n".join(
        [
            f"#{report.report_id} 争议（{who}：{cut(reason or '没有说原因', SHOWN_REASON)}）",
            games_in_short(report.lines, directory.name_of),
            f"查实后发（作废则 /作废 {report.report_id} 理由）：\n/代确认 {report.report_id} 理由",
        ]
    )


def withdrawn(result: Changed) -> str:
    return f"#{result.report.report_id} 已撤回，没有记分。"


def voided(result: Changed, directory: Directory) -> str:
    return f"#{result.report.report_id} 已作废（{directory.account_name(result.by)}：{result.reason}），没有记分。"


def reminder(report: Report, directory: Directory) -> str:
    """The one reminder after 24 h."""
    number = report.report_id
    who = mention(report.sides()[1], directory)
    return (
        f"#{number}（{show_time(report.said_at)}报）还在等 {who} 回「确认」或「有误」\n"
        f"{games_in_short(report.lines, directory.name_of)}\n确认 {number}"
    )


def expired_notice(report: Report, directory: Directory) -> str:
    """To the scoring group after 72 h."""
    number = report.report_id
    return (
        f"#{number}（{show_time(report.said_at)}报）一直没有人确认，请记分员处理；对方仍可确认\n"
        f"{games_in_short(report.lines, directory.name_of)}\n/代确认 {number} 理由"
    )


def which_one(reports: list[Report], previews: list[int], directory: Directory) -> str:
    """A bare 确认 while several things wait."""
    several = len(reports) + len(previews) > 1
    lines = ["等您确认的不止一件，请带上编号：" if several else "请带上编号确认："]
    for report in reports:
        result = report.lines[0].result.word
        line = report.lines[0]
        short = f"{names(line.left, directory)} {result} {names(line.right, directory)}"
        more = f" 等{len(report.lines)}局" if len(report.lines) > 1 else ""
        lines.append(f"#{report.report_id} {short}{more}")
    lines += [f"预{number}" for number in previews]
    return fit(lines, last=f"确认 {reports[0].report_id}" if reports else f"确认 预{previews[0]}")


def copied(result: Effective) -> str:
    return f"已另记为#{result.report.report_id}。"
