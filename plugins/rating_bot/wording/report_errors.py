"""What the bot says to a report that it cannot record (commands.md, "Reporting": 「未记录」)."""

from collections.abc import Callable, Sequence

from plugins.rating_bot.wording.common import MAX_CHARS, MAX_LINES, cut, fit, fits, pages_of
from rating_core.report_text import LineProblem, ReportProblems, intended
from rating_core.rulebook import MAX_REPORT_CHARS, MAX_REPORT_LINES

_SHOWN_LINES = 3
_LONGEST_LINE = 24
_LONGEST_NAME = 16
_MORE = "……还有{count}处。"


def refused_report(problems: ReportProblems) -> list[str]:
    """Return the refusal: the first bad lines with reasons and near misses, then the whole report to copy.

    What is too long for one message goes on pages: the lines to copy then stand alone on the later ones.
    """
    by_line: dict[int, list[LineProblem]] = {}
    for problem in sorted(problems.problems, key=lambda problem: problem.code != "several_pairs"):
        by_line.setdefault(problem.number, []).append(problem)
    shown = list(by_line.values())[:_SHOWN_LINES]
    text = ["未记录，整份报分都没有记：", *map(_sentence, shown)]
    if len(by_line) > len(shown):
        text.append(f"另有{len(by_line) - len(shown)}处。")
    rows = (problems.corrected or "").rstrip("\n").split("\n")
    if problems.corrected is None or any(len(row) > MAX_CHARS for row in rows):
        return [fit(text, _MORE)]
    ask = "改好的在下面，核对无误后整段复制发送：" if problems.complete else "请把下面这份改对后整段重发："
    if fits(whole := "\n".join([*text, ask, *rows])):
        return [whole]
    pages = pages_of(rows, "", "", MAX_LINES)
    ready = "核对无误后" if problems.complete else "改对后"
    how = "整段复制发送。" if len(pages) == 1 else "按顺序接成一份发送。"
    last = f"整份在下面{len(pages)}条里，{ready}{how}"
    return [fit(text, _MORE, last=last), *map("\n".join, pages)]


def _sentence(problems: Sequence[LineProblem]) -> str:
    """Say what is wrong with one line, or with the message as a whole (number 0)."""
    reasons = "".join(_REASONS[problem.code](problem) for problem in problems)
    first = problems[0]
    return f"第{first.number}行“{_cut(first.line, _LONGEST_LINE)}”：{reasons}" if first.number else reasons


def _cut(text: str, length: int) -> str:
    return cut(" ".join(text.split()), length)


def _quoted(name: str) -> str:
    return f"「{_cut(name, _LONGEST_NAME)}」"


def _unknown_name(problem: LineProblem) -> str:
    parts = []
    for name, near in zip(problem.names, problem.suggestions, strict=True):
        question = f"，是不是{'、'.join(map(_quoted, near))}？" if near else "。"
        parts.append(f"榜上没有{_quoted(name)}{question}")
    return "".join(parts)


def _result_word(problem: LineProblem) -> str:
    result = intended(problem.word)
    hint = f"，{_quoted(problem.word)}请写「{result.word}」。" if result else f"，看不懂{_quoted(problem.word)}。"
    return "结果只能写胜、平、负" + hint


def _not_a_game(problem: LineProblem) -> str:
    if problem.fixed:
        return "名字和结果之间要有空格。"
    if problem.fixed == "":
        return "这一行不是对局。"
    return "看不出哪是名字、哪是结果，每行请写“名字 胜 名字”，中间用空格隔开。"


def _several_pairs(problem: LineProblem) -> str:
    return "和前面的不是同一对棋手，请按对手分开报。"


def _unknown_header(problem: LineProblem) -> str:
    near = problem.suggestions[0] if problem.suggestions else ()
    question = f"，是不是{'、'.join(map(_quoted, near))}？" if near else "。"
    return f"没有叫{_quoted(problem.names[0])}的赛事或榜{question}"


_REASONS: dict[str, Callable[[LineProblem], str]] = {
    "unknown_name": _unknown_name,
    "result_word": _result_word,
    "not_a_game": _not_a_game,
    "several_pairs": _several_pairs,
    "unknown_header": _unknown_header,
    "late_header": lambda _: "#开头的赛事和榜要写在最前面。",
    "repeated_header": lambda _: "赛事和榜各写一行就够了。",
    "same_player": lambda problem: f"{'、'.join(map(_quoted, problem.names))}在这一行出现了两次。",
    "wrong_side": lambda _: "两边的人数不对，每一行的人数都要一样。",
    "ambiguous": lambda problem: (
        f"有不止一种读法（{'；'.join(_cut(names, 40) for names in problem.names)}），请在名字之间留两个以上空格。"
    ),
    "too_many_lines": lambda _: f"一次最多报{MAX_REPORT_LINES}局，请分几次报。",
    "too_long": lambda _: f"一次最多{MAX_REPORT_CHARS}个字，请分几次报。",
    "empty": lambda _: "里面没有对局。",
}
"""The reason in words for each code of LineProblem."""
