"""The correction service on a real database: whatever is corrected, book, reports and people agree (rulebook §10)."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from rating_core.directory import SCOREKEEPER, Actor
from rating_core.ledger import Adjustment, Amend, Draft, LeaveTaken, Merged, Void
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service import corrections, people, reports
from rating_core.service.correction_plans import Action, Request
from rating_core.service.corrections import Applied, Proposed, dump_draft, load_draft
from rating_core.service.health import examine
from rating_core.service.impact import compare
from rating_core.service.league import League
from rating_core.service.people import Place
from rating_core.service.refusal import Refusal
from rating_core.service.report_results import Effective
from rating_core.store.desk_store import Preview
from rating_core.times import season_start
from tests.conftest import FakeClock
from tests.support.rows import ms

NAMES = ("张三", "李四", "王五", "赵六", "钱七")


@dataclass
class Desk:
    """A league with five players, and its scorekeepers 小周 (in no game) and 小吴."""

    league: League
    clock: FakeClock
    players: dict[str, int] = field(default_factory=dict)
    keepers: dict[str, Actor] = field(default_factory=dict)

    async def open(self) -> "Desk":
        async with self.league.transaction() as tx:
            owner = await tx.known(tx.directory.actor("10000", self.league.superusers))
            for number, name in enumerate(NAMES, 20001):
                self.players[name] = await people.add_player(tx, owner, name, str(number), "普通", self.clock.now, ())
            for number, name in ((10002, "小周"), (10003, "小吴")):
                await people.appoint(tx, owner, SCOREKEEPER, str(number), self.clock.now)
                self.keepers[name] = tx.directory.actor(str(number))
        return self

    @property
    def place(self) -> Place:
        return Place("g1", "m1", self.clock.now)

    async def play(self, text: str) -> int:
        """Let 小周 post a report; return its number."""
        self.clock.forward(hours=73)  # the same games again are other games then
        message = reports.Post(text, "g1", f"m{self.clock.now}", self.clock.now, DEFAULT_POOL, 24, 72)
        async with self.league.transaction() as tx:
            result = await reports.post(tx, self.keepers["小周"], message)
        assert isinstance(result, Effective), result
        return result.report.report_id

    def request(self, action: Action, target: int, **values: Any) -> Request:
        return Request(action, target, "理由", self.clock.now, **values)

    async def propose(self, action: Action, target: int, *, who: str = "小周", **values: Any) -> Proposed:
        self.clock.forward(seconds=10)
        async with self.league.transaction() as tx:
            request = self.request(action, target, **values)
            return await corrections.propose(tx, self.keepers[who], request, self.place)

    async def confirm(self, preview: Preview, *, who: str = "小周") -> Applied | Proposed:
        self.clock.forward(seconds=10)
        async with self.league.transaction() as tx:
            return await corrections.apply(tx, self.keepers[who], preview, self.place)

    async def correct(self, action: Action, target: int, **values: Any) -> Applied:
        """Propose and confirm at once."""
        done = await self.confirm((await self.propose(action, target, **values)).preview)
        assert isinstance(done, Applied)
        return done

    async def append(self, entry: Any, pool: str = "") -> int:
        async with self.league.transaction() as tx:
            row, _ = await tx.append(Draft(entry, self.clock.now, 1, pool))
        return row.seq

    async def check(self) -> None:
        """Fresh fold and book agree; every report says what stands."""
        found = await examine(self.league)
        assert found.well, found
        book = self.league.book
        async with self.league.transaction() as tx:
            for index in range(len(book.columns)):
                report = await tx.reports.get(book.columns.report[index])
                assert report is not None and report.seq == book.columns.seq[index]
                games = book.games_of_row(report.seq)
                void = all(book.is_void(game) for game in games)
                assert report.state == ("void" if void else "effective")
                line = report.lines[index - games.start]
                assert (line.left, line.result, line.right) == (
                    book.columns.left(index), Result(chr(book.columns.result[index])), book.columns.right(index),
                )  # fmt: skip
                assert (report.event_id or 0, report.weight) == (book.columns.event[index], book.columns.weight[index])


@pytest.fixture
async def desk(league: League, clock: FakeClock) -> Desk:
    clock.now = ms("2026-03-02 12:00")
    return await Desk(league, clock).open()


# --- drafts and requests ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        Void(7),
        Amend(7, GameLine((1, 2), Result.DRAW, (3, 4))),
        Amend(event=3, weight=1.2),
        Adjustment(2, -5.5),
        Merged(3, 1),
        LeaveTaken(1, 5, ("单跳1v1",)),
    ],
)
def test_a_draft_survives_the_preview(entry: Any) -> None:
    draft = Draft(entry, 123, 4, "单跳1v1", 9, "为了「好」")
    assert load_draft(dump_draft(draft)) == draft


def test_a_request_survives_the_preview() -> None:
    line = GameLine((1, 2), Result.LOSS, (3, 4))
    for request in (
        Request("line", 3, "x", 1, line=line),
        Request("result", 3, "x", 1, result=Result.WIN),
        Request("merge", 3, "", 1, other=2),
    ):
        assert Request.load(request.dump()) == request


# --- one by one ---------------------------------------------------------------------------------------------


async def test_the_entry_is_appended_unchanged_with_who_when_and_why(desk: Desk) -> None:
    await desk.play("张三 胜 李四")
    shown = await desk.propose("result", 1, result=Result.LOSS)
    done = await desk.confirm(shown.preview)
    assert isinstance(done, Applied)
    async with desk.league.transaction() as tx:
        row = await tx.ledger.row(done.seq)
        assert row is not None
        assert (row.kind, row.refers_to, row.actor) == ("amend", done.plan.draft.refers_to, shown.plan.draft.actor)
        assert row.said_at == shown.plan.request.said_at
        assert row.entry() == shown.plan.draft.entry
        assert await tx.ledger.reason(done.seq) == "理由"
        (written, *_) = await tx.desk.journal(1)
    assert (written.action, written.about, written.reason) == ("改判", "局1", "理由")
    assert done.impact == shown.impact
    await desk.check()


async def test_what_the_preview_showed_is_what_happens(desk: Desk) -> None:
    await desk.play("张三 胜 李四\n张三 胜 王五\n李四 胜 王五")
    shown = await desk.propose("game", 2)
    before = {name: desk.league.book.state.look(DEFAULT_POOL, player).rating for name, player in desk.players.items()}
    done = await desk.confirm(shown.preview)
    assert isinstance(done, Applied)
    after = {name: desk.league.book.state.look(DEFAULT_POOL, player).rating for name, player in desk.players.items()}
    changed = {p.player: (p.before.rating, p.after.rating) for p in shown.impact.own}
    assert changed == {
        player: (before[name], after[name]) for name, player in desk.players.items() if before[name] != after[name]
    }
    assert len(changed) == 3


async def test_what_changed_is_told_by_the_names_of_the_day(desk: Desk) -> None:
    """§7: who ties stands in the order of the names; a name that changed after the preview moves ranks."""
    await desk.play("张三 胜 李四\n王五 胜 赵六\n王五 胜 钱七")
    shown = await desk.propose("game", 3)
    assert desk.players["张三"] in {change.player for change in shown.impact.people}
    before = desk.league.book.fork()
    async with desk.league.transaction() as tx:
        await people.rename(tx, desk.keepers["小周"], desk.players["王五"], "一五", desk.clock.now, ())
    done = await desk.confirm(shown.preview)
    assert isinstance(done, Applied)
    assert done.impact == compare(before, desk.league.book, desk.league.directory, desk.clock.now)
    assert desk.players["张三"] not in {change.player for change in done.impact.people}


async def test_a_preview_from_before_another_entry_is_shown_anew_and_only_then_applied(desk: Desk) -> None:
    await desk.play("张三 胜 李四")
    shown = await desk.propose("result", 1, result=Result.LOSS)
    await desk.append(Adjustment(desk.players["王五"], 5.0), DEFAULT_POOL)
    again = await desk.confirm(shown.preview)
    assert isinstance(again, Proposed) and again.again
    assert again.preview.preview_id == shown.preview.preview_id + 1
    assert not list(desk.league.book.corrections_of(again.plan.draft.refers_to or 0))
    assert isinstance(await desk.confirm(again.preview), Applied)
    await desk.check()


async def test_two_corrections_shown_at_once_are_not_both_applied_blindly(desk: Desk) -> None:
    await desk.play("张三 胜 李四")
    one = await desk.propose("result", 1, result=Result.LOSS)
    other = await desk.propose("result", 1, result=Result.LOSS, who="小吴")
    assert isinstance(await desk.confirm(one.preview), Applied)
    with pytest.raises(Refusal, match="game_same"):
        await desk.confirm(other.preview, who="小吴")
    await desk.check()


async def test_a_deadline_entered_in_the_same_transaction_counts_as_a_move(desk: Desk) -> None:
    """What is due is entered before 确认 is read: the preview is older than that."""
    await desk.play("张三 胜 李四")
    shown = await desk.propose("game", 1)
    async with desk.league.transaction() as tx:
        await tx.append(Draft(Adjustment(desk.players["王五"], 5.0), desk.clock.now, 0, DEFAULT_POOL))
        tx.read_own()
        result = await corrections.apply(tx, desk.keepers["小周"], shown.preview, desk.place)
    assert isinstance(result, Proposed)
    assert result.preview.book_seq == desk.league.book.seq
    assert isinstance(await desk.confirm(result.preview), Applied)


async def test_who_becomes_a_player_of_the_matter_cannot_apply_it_any_more(desk: Desk) -> None:
    await desk.play("张三 胜 李四")
    shown = await desk.propose("game", 1)
    async with desk.league.transaction() as tx:
        account = tx.directory.by_qq["10002"]
        await tx.bind(account, desk.players["张三"], by=1)
    actor = desk.league.directory.actor("10002")
    async with desk.league.transaction() as tx:
        with pytest.raises(Refusal, match="own_case"):
            await corrections.apply(tx, actor, shown.preview, desk.place)


async def test_who_was_a_player_of_it_cannot_correct_it_whoever_he_is_bound_to_now(desk: Desk) -> None:
    await desk.play("张三 胜 李四")
    await desk.play("王五 胜 李四")
    async with desk.league.transaction() as tx:
        await tx.bind(tx.directory.by_qq["10002"], desk.players["张三"], by=1)
    async with desk.league.transaction() as tx:
        await tx.bind(tx.directory.by_qq["10002"], None, by=1)
    for action in ("game", "report"):
        with pytest.raises(Refusal, match="own_case"):
            await desk.propose(action, 1)  # type: ignore[arg-type]
    await desk.propose("game", 1, who="小吴")
    await desk.propose("game", 2)


async def test_an_amendment_that_takes_him_out_of_a_game_does_not_make_him_its_judge(desk: Desk) -> None:
    await desk.play("张三 胜 李四")
    line = GameLine((desk.players["王五"],), Result.WIN, (desk.players["李四"],))
    done = await desk.correct("line", 1, line=line)
    async with desk.league.transaction() as tx:
        await tx.bind(tx.directory.by_qq["10002"], desk.players["张三"], by=1)
    for action, target in (("row", done.seq), ("game", 1), ("report", 1)):
        with pytest.raises(Refusal, match="own_case"):
            await desk.propose(action, target)  # type: ignore[arg-type]
    await desk.propose("row", done.seq, who="小吴")


async def test_an_undone_leave_gives_the_rank_back(desk: Desk) -> None:
    await desk.play("张三 胜 李四")
    leave = LeaveTaken(desk.players["张三"], season_start(2027), (DEFAULT_POOL,))
    seq = await desk.append(leave)
    assert desk.league.book.state.look(DEFAULT_POOL, desk.players["张三"]).archived
    done = await desk.correct("row", seq)
    (back, *_) = done.impact.own
    assert (back.before.archived, back.after.archived, back.after.rank) == (True, False, 1)
    assert desk.league.book.state.leave_until == {}
    again = await desk.append(leave)
    with pytest.raises(Refusal, match="leave_again"):
        await desk.propose("row", done.seq)
    await desk.correct("row", again)
    await desk.check()


async def test_a_game_that_would_set_a_merged_player_against_himself_cannot_come_back(desk: Desk) -> None:
    """The two met in a game that is void: they can be merged, but that game stays void."""
    await desk.play("张三 胜 李四")
    void = await desk.correct("game", 1)
    await desk.correct("merge", desk.players["李四"], other=desk.players["张三"])
    with pytest.raises(Refusal, match="game_self"):
        await desk.propose("row", void.seq)
    await desk.check()


async def test_merges_on_merges_are_parted_in_any_order(desk: Desk) -> None:
    await desk.play("张三 胜 赵六\n李四 平 赵六\n王五 负 赵六")
    first = await desk.correct("merge", desk.players["张三"], other=desk.players["李四"])
    second = await desk.correct("merge", desk.players["李四"], other=desk.players["王五"])
    resolve = desk.league.directory.roster.resolve
    assert [desk.league.directory.roster.resolve(name) for name in NAMES[:3]] == [desk.players["王五"]] * 3
    assert len(desk.league.directory.qqs_of(desk.players["王五"])) == 3
    await desk.correct("row", first.seq)
    resolve = desk.league.directory.roster.resolve
    assert [resolve(name) for name in NAMES[:3]] == [desk.players[n] for n in ("张三", "王五", "王五")]
    assert desk.league.directory.qqs_of(desk.players["张三"]) == ["20001"]
    await desk.correct("row", second.seq)
    resolve = desk.league.directory.roster.resolve
    assert [resolve(name) for name in NAMES[:3]] == [desk.players[name] for name in NAMES[:3]]
    assert [desk.league.directory.name_of(desk.players[name]) for name in NAMES] == list(NAMES)
    assert [desk.league.directory.qqs_of(desk.players[name]) for name in NAMES[:3]] == [["20001"], ["20002"], ["20003"]]
    games = [desk.league.book.state.look(DEFAULT_POOL, desk.players[name]).games for name in NAMES[:4]]
    assert games == [1, 1, 1, 3]
    await desk.check()
    reopened = await League.open(desk.league.database, desk.clock)
    assert reopened.directory.roster.current_names() == desk.league.directory.roster.current_names()


async def test_a_claim_of_a_wrong_name_goes_over_and_comes_back(desk: Desk) -> None:
    async with desk.league.transaction() as tx:
        stranger = tx.directory.actor("30001")
        application = await people.claim(tx, stranger, desk.players["张三"], desk.place)
    merge = await desk.correct("merge", desk.players["张三"], other=desk.players["李四"])

    async def claimed() -> int | None:
        async with desk.league.transaction() as tx:
            found = await tx.people.application(application.application_id)
            return found.player_id if found else None

    assert await claimed() == desk.players["李四"]
    await desk.correct("row", merge.seq)
    assert await claimed() == desk.players["张三"]


# --- at random ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
async def test_after_random_corrections_book_reports_and_people_agree(desk: Desk, seed: int) -> None:
    """Reports, amendments, voids, undoings, merges and adjustments in any order; after every few, all agree."""
    dice = random.Random(seed)
    done = refused = 0
    for step in range(45):
        names = dice.sample(NAMES, 2)
        if dice.random() < 0.4:
            results = [dice.choice("胜平负") for _ in range(dice.randint(1, 4))]
            if len({desk.league.directory.roster.resolve(name) for name in names}) == 2:
                await desk.play("\n".join(f"{names[0]} {word} {names[1]}" for word in results))
            continue
        book = desk.league.book
        ids = [desk.league.directory.roster.resolve(name) or 0 for name in names]
        target = dice.randint(1, max(1, len(book.columns)))
        values: dict[str, Any] = {}
        action: Action = dice.choice(["result", "line", "game", "report", "row", "row", "row", "merge"])
        if action == "result":
            values = {"result": dice.choice(list(Result))}
        elif action == "line":
            values = {"line": GameLine((ids[0],), dice.choice(list(Result)), (ids[1],))}
        elif action == "report":
            target = dice.randint(1, max(1, len(book.columns) // 2))
        elif action == "row":
            target = dice.randint(book.seq // 2, book.seq)
        elif action == "merge":
            target, values = ids[0], {"other": ids[1]}
        try:
            shown = await desk.propose(action, target, **values)
            if dice.random() < 0.2:
                await desk.append(Adjustment(dice.choice(ids), float(dice.randint(-50, 50))), DEFAULT_POOL)
                anew = await desk.confirm(shown.preview)
                assert isinstance(anew, Proposed)
                shown = anew
            before = desk.league.book.fork()
            applied = await desk.confirm(shown.preview)
        except Refusal:
            refused += 1
            continue
        assert isinstance(applied, Applied)
        assert applied.impact == shown.impact
        assert applied.impact == compare(before, desk.league.book, desk.league.directory, desk.clock.now)
        done += 1
        if step % 6 == 0:
            await desk.check()
    await desk.check()
    assert done >= 6 and refused >= 1
