"""What the people of a simulated world do: mostly what makes sense, sometimes what does not."""

import random
import re
from collections.abc import Callable

from plugins.rating_bot.sandbox.qq import FakeMessage, FakeQQ
from tests.reliability.sim.league import (
    BOUND,
    DESK,
    GROUPS,
    KEEPERS,
    OUTSIDER,
    PAIRS,
    PEOPLE,
    PLAYERS,
    POOL_OF,
    REFEREE,
    SCORING,
    SECOND_QQ,
    SINGLES,
    Person,
    report_text,
)  # fmt: skip
from tests.reliability.sim.rules import Preview, Report, Rules
from tests.reliability.sim.sayings import Saying
from tests.support.plain_book import Line

MIRRORED = {"W": "L", "L": "W", "D": "D"}
WORDS = {"W": "胜", "D": "平", "L": "负"}
SMALL_TALK = ("下午有人下棋吗", "确认一下时间", "哈哈", "对啊", "有误差", "张三胜率真高", "/", "我胜了三局", "OK的")
QUERIES = ("/等级分 张三", "/排行榜", "/战绩", "／约战", "/帮助 报名")
REASONS = ("双方都认", "看错了", "查实")
THUMB = "76"
RUNS = ("W", "W", "L", "D", "WL", "WW", "WDL", "WWWW", "LLLL", "WWWWWW")


class Crowd:
    """Lets somebody do something. `remember` is told of each saying before its event is on its way."""

    def __init__(self, qq: FakeQQ, rules: Rules, rng: random.Random, remember: Callable[[Saying], None]) -> None:
        self._qq = qq
        self._rules = rules
        self._rng = rng
        self._remember = remember

    def act(self) -> None:
        """One thing that somebody does."""
        rng, rules = self._rng, self._rules
        shown = [p for p in rules.previews.values() if p.open and p.expires > self._qq.now()]
        if shown and rng.random() < 0.45:
            self._apply(rng.choice(shown))
            return
        waiting = [rules.slip(n) for n, slip in sorted(rules.slips.items()) if slip.open]
        draw = rng.random()
        if waiting and draw < 0.5:
            self._about(rng.choice(waiting))
        elif draw < 0.8:
            self._report()
        elif draw < 0.88:
            self._correct()
        elif draw < 0.95:
            self._season()
        else:
            self._talk()

    # --- saying -------------------------------------------------------------------------------------------

    def _say(self, saying: Saying) -> FakeMessage:
        """Say it: the saying is known before its event can arrive."""
        message = self._qq.say(saying.group, saying.person.qq, saying.text, quote=saying.quote)
        saying.message_id = message.message_id
        self._remember(saying)
        return message

    def _new(self, kind: str, person: Person, group: int, text: str = "", **meant: object) -> Saying:
        """What somebody is going to say in a group; where he is not in it, elsewhere."""
        group = group if group != SCORING or person.judge or person.player is not None else SINGLES
        at = self._qq.now() // 1000 * 1000
        return Saying(kind, person, group, at, 0, text, **meant)  # type: ignore[arg-type]

    # --- reports ------------------------------------------------------------------------------------------

    def _report(self) -> None:
        rng = self._rng
        lines, player = self._games()
        group = PAIRS if len(lines[0][0]) == 2 else SINGLES
        if rng.random() < 0.12:
            group = SCORING
        draw = rng.random()
        if draw < 0.82:
            person = self._as(player)
        elif draw < 0.95:
            person = rng.choice((REFEREE, *DESK))
        else:
            person = rng.choice((OUTSIDER, *BOUND))
        self._post(person, group, lines)

    def _games(self) -> tuple[tuple[Line, ...], int]:
        """Some games of two sides, and who of them tells."""
        rng = self._rng
        duels = self._rules.open_duels()
        size = 2 if rng.random() < 0.15 else 1
        players = rng.sample(sorted(PLAYERS), 2 * size)
        if duels and rng.random() < 0.4:
            duel = rng.choice(duels)
            players = rng.sample([duel.challenger, duel.opponent], 2)
        left, right = tuple(players[: len(players) // 2]), tuple(players[len(players) // 2 :])
        return tuple((left, result, right) for result in rng.choice(RUNS)), rng.choice(players)

    def _post(self, person: Person, group: int, lines: tuple[Line, ...]) -> None:
        rng = self._rng
        if rng.random() < 0.3:
            lines = tuple((right, MIRRORED[result], left) for left, result, right in lines)
        text = report_text(lines)
        gap = rng.choice(("    ", " ", "\u3000", "\t", " \u00a0 "))
        text = re.sub(" +", gap, text)
        pool = ""
        if rng.random() < 0.2:
            named = POOL_OF[PAIRS if len(lines[0][0]) == 2 else SINGLES]
            before = rng.choice(("\n", " ", "\u200b", f"#{named}\n"))
            text, pool = before + text, named if "#" in before else ""
        self._say(self._new("report", person, group, text, lines=lines, pool=pool))

    def _as(self, player: int) -> Person:
        """Somebody whose QQ is bound to a player."""
        if player == SECOND_QQ.player and self._rng.random() < 0.3:
            return SECOND_QQ
        return next(person for person in BOUND if person.player == player)

    # --- what waits ---------------------------------------------------------------------------------------

    def _about(self, slip: Report) -> None:
        """Somebody says something about a report that waits: mostly the other side that it is right."""
        rng, draw = self._rng, self._rng.random()
        group = int(slip.chat[1:])
        other = self._as(rng.choice(slip.other_side)) if slip.player is not None else rng.choice(PEOPLE)
        person = other if rng.random() < 0.85 else rng.choice(PEOPLE)
        if draw < 0.62:
            self._confirm(person, group, slip)
        elif draw < 0.72:
            self._word(person, group, "有误", slip, wrong=True)
        elif draw < 0.82:
            self._take_back(slip, group)
        elif draw < 0.88:
            self._post(self._as(slip.player or 1), group, slip.lines[: rng.choice((1, len(slip.lines)))])
        else:
            self._desk_on(slip, group)

    def _confirm(self, person: Person, group: int, slip: Report) -> None:
        rng, draw = self._rng, self._rng.random()
        prompt = self._prompt(slip, group)
        if draw < 0.15:
            self._post(person, group, slip.lines)
        elif draw < 0.25 and prompt is not None:
            self._react(person, group, prompt)
        elif draw < 0.45:
            text = rng.choice(("确认", "确认。", " 确认 "))
            self._say(self._new("word", person, group, text, bare=True))
        else:
            self._word(person, group, "确认", slip)

    def _word(self, person: Person, group: int, word: str, slip: Report, *, wrong: bool = False) -> None:
        """A word about a report, by its number or by a quote of the prompt or of the report."""
        rng = self._rng
        prompt = self._prompt(slip, group)
        quoted = rng.choice([slip.message_id, prompt.message_id if prompt else slip.message_id])
        quoted = quoted if self._qq.find(quoted) else 0
        if rng.random() < 0.45 or not quoted:
            text = f"{word}{rng.choice((' ', '', '#', ' #'))}{slip.number}" + (" 记错了" if wrong else "")
            self._say(self._new("word", person, group, text, numbers=(slip.number,), wrong=wrong))
            return
        text = word if wrong else rng.choice(("确认", "对", "是", "OK", "ok！"))
        bare = text == "确认"
        self._say(self._new("word", person, group, text, quote=quoted, wrong=wrong, bare=bare))

    def _prompt(self, slip: Report, group: int) -> FakeMessage | None:
        """The bot's last message in a group that asks for a report's confirmation."""
        head = f"#{slip.number} 待确认"
        return next((m for m in reversed(self._qq.said_by_bot(group)) if m.text.startswith(head)), None)

    def _react(self, person: Person, group: int, prompt: FakeMessage) -> None:
        at = self._qq.now() // 1000 * 1000
        here = person.qq in self._qq.group(group).members  # others do not see the prompt
        if here and person.qq not in prompt.reactions.get(THUMB, ()):
            self._remember(Saying("reaction", person, group, at, prompt.message_id))
            self._qq.react(group, prompt.message_id, person.qq, THUMB)

    def _take_back(self, slip: Report, group: int) -> None:
        rng = self._rng
        person = next((p for p in PEOPLE if p.qq == slip.by), OUTSIDER)
        if rng.random() < 0.15:
            person = rng.choice(PEOPLE)
        message = self._qq.find(slip.message_id)
        if rng.random() < 0.5 or message is None or message.recalled or message.user_id != person.qq:
            text = f"/撤回 {rng.choice(('', '#'))}{slip.number}"
            said = self._new("command", person, group, text, verb="withdraw", numbers=(slip.number,))
            self._say(said)
            return
        at = self._qq.now() // 1000 * 1000
        self._remember(Saying("recall", person, group, at, message.message_id))
        self._qq.recall(group, message.message_id, person.qq)

    # --- the desk -----------------------------------------------------------------------------------------

    def _desk_person(self) -> Person:
        return self._rng.choice(DESK) if self._rng.random() < 0.9 else self._rng.choice((REFEREE, OUTSIDER, BOUND[0]))

    def _desk_on(self, slip: Report, group: int) -> None:
        rng, person = self._rng, self._desk_person()
        where = rng.choice((group, SCORING))
        verb, word = rng.choice((("confirm for", "代确认"), ("void report", "作废")))
        text = f"/{word} {slip.number} {rng.choice(REASONS)}"
        self._say(self._new("command", person, where, text, verb=verb, numbers=(slip.number,)))

    def _correct(self) -> None:
        """改判, 撤销 or 作废 of what took effect; mostly of late."""
        rng, rules, person = self._rng, self._rules, self._desk_person()
        group = rng.choice((SINGLES, SCORING))
        game = max(1, rules.games_given - int(rng.expovariate(0.4)))
        draw = rng.random()
        if draw < 0.5:
            result = rng.choice("WDL")
            text = f"/改判 局{game} {WORDS[result]} {rng.choice(REASONS)}"
            said = self._new("command", person, group, text, verb="amend", numbers=(game,), result=result)
        elif draw < 0.75:
            text = f"/撤销 局{game} {rng.choice(REASONS)}"
            said = self._new("command", person, group, text, verb="void game", numbers=(game,))
        else:
            number = rng.choice(sorted(rules.slips)[-4:])
            text = f"/作废 {number} {rng.choice(REASONS)}"
            said = self._new("command", person, group, text, verb="void report", numbers=(number,))
        self._say(said)

    def _apply(self, preview: Preview) -> None:
        """Confirm a preview, by number, bare or by a quote of it; now and then somebody else tries."""
        rng = self._rng
        person = next(p for p in PEOPLE if p.qq == preview.qq)
        if rng.random() < 0.1:
            person = rng.choice(KEEPERS)
        group = int(preview.chat[1:])
        draw = rng.random()
        shown = next((m for m in reversed(self._qq.said_by_bot(group)) if f"确认 预{preview.number}" in m.text), None)
        if draw < 0.4 and shown is not None:
            said = self._new("word", person, group, "确认", quote=shown.message_id, bare=True)
        elif draw < 0.6:
            said = self._new("word", person, group, "确认", bare=True)
        else:
            said = self._new("word", person, group, f"确认 预{preview.number}", preview=preview.number)
        self._say(said)

    # --- the season ---------------------------------------------------------------------------------------

    def _season(self) -> None:
        rng, draw = self._rng, self._rng.random()
        if draw < 0.3:
            person, group = rng.choice(BOUND), rng.choice((SINGLES, PAIRS))
            self._say(self._new("command", person, group, "/请假 工作忙", verb="leave"))
        elif draw < 0.7:
            self._challenge()
        elif draw < 0.85:
            person, group = self._desk_person(), rng.choice(GROUPS)
            self._say(self._new("command", person, group, "/发布榜单", verb="publish"))
        else:
            person, player, amount = self._desk_person(), rng.choice(sorted(PLAYERS)), rng.choice((5.0, -12.5, 150.0))
            text = f"/调分 {PLAYERS[player]} {amount:+g} 漏记"
            said = self._new("command", person, SINGLES, text, verb="adjust", players=(player,), amount=amount)
            self._say(said)

    def _challenge(self) -> None:
        rng = self._rng
        one, two = rng.sample(sorted(PLAYERS), 2)
        if rng.random() < 0.8:
            person, group = self._as(one), rng.choice((SINGLES, SINGLES, PAIRS))
            text, players = f"/强制约战 {PLAYERS[two]}", (two,)
        else:
            person, group = self._desk_person(), SINGLES
            text, players = f"/强制约战 {PLAYERS[one]} {PLAYERS[two]}", (one, two)
        self._say(self._new("command", person, group, text, verb="challenge", players=players))

    def _talk(self) -> None:
        rng = self._rng
        person, group = rng.choice(PEOPLE), rng.choice((SINGLES, PAIRS))
        kind, texts = rng.choice((("chat", SMALL_TALK), ("query", QUERIES)))
        self._say(self._new(kind, person, group, rng.choice(texts)))
