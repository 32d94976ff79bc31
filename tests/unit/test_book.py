"""The fold: standings, peaks, opening balances, seasons, corrections, trials (rulebook §2, §3, §7, §8, §10)."""

from dataclasses import replace

import pytest

from rating_core.book import Book
from rating_core.elo import show_rating
from rating_core.fold import Mark
from rating_core.ledger import (
    Adjustment,
    Amend,
    Draft,
    EventClosed,
    EventOpened,
    Games,
    IpChecked,
    LeaveTaken,
    LedgerError,
    OpeningBalance,
    Settlement,
    Void,
)
from rating_core.rules import season
from rating_core.rules.eligibility import Bar, bar_of
from rating_core.state import Standing, pair_code
from rating_core.times import season_start
from rating_core.trial import Trial, announce
from tests.support.books import Books
from tests.support.replaying import first_difference
from tests.support.rows import Rows, line, ms, snapshot, standing

POOL, PAIRS = "单跳1v1", "单跳2v2"
A, B, C, D = 1, 2, 3, 4


@pytest.fixture
def rows() -> Rows:
    rows = Rows()
    rows.register(2000, 2000, 2000, 2000)
    return rows


def many(rows: Rows, player: int, other: int, count: int, result: str = "D") -> None:
    """Enter `count` event games, which always count."""
    rows.play([line(player, result, other)] * count, event=1)


# --- standings --------------------------------------------------------------------------------------------


def test_a_win_and_a_draw_in_one_report(rows: Rows) -> None:
    """The issue's own example: 2014.5 and 1985.5, 18 games missing."""
    rows.play([line(A, "W", B), line(A, "D", B)])
    book = rows.book()
    a, b = (book.state.look(POOL, player) for player in (A, B))
    assert (show_rating(a.rating), show_rating(b.rating)) == ("2014.5", "1985.5")
    assert (a.games, a.wins, a.draws, a.losses) == (2, 1, 1, 0)
    assert (b.games, b.wins, b.draws, b.losses) == (2, 0, 1, 1)
    assert list(book.columns.before[0]) == [2000, 2016]
    assert list(book.columns.change[0]) == [16, pytest.approx(a.rating - 2016, abs=1e-9)]
    assert not book.state.look(POOL, C).listed and a.listed


def test_the_band_can_change_inside_a_report() -> None:
    rows = Rows()
    rows.register(2090, 2090)
    rows.play([line(A, "W", B), line(A, "D", B)])
    book = rows.book()
    before, change = book.columns.before[0][1], book.columns.change[0][1]
    assert before == 2106.0
    assert change == 24 * (0.5 - 1 / (10 ** (-32 / 400) + 1))


def test_pools_start_from_the_initial_rating(rows: Rows) -> None:
    """§1 D: 原始分 is one per player and starts him in every pool; he is listed from his first counted game there."""
    rows.play([line(A, "W", B)])
    rows.play([line((A, B), "W", (C, D))], pool=PAIRS)
    book = rows.book()
    assert book.state.look(POOL, A).rating == 2016
    assert book.state.look(PAIRS, A).rating == 2016
    assert book.state.look(PAIRS, B).rating == 2016
    assert not book.state.look(POOL, C).listed
    assert not book.state.look("空跳2v2", A).listed


def test_the_posting_time_is_the_games_time(rows: Rows) -> None:
    posted, confirmed = ms("2026-12-31 23:30"), ms("2027-01-01 00:10")
    rows.play([line(A, "W", B)], at=posted, confirmed_at=confirmed)
    standing = rows.book().state.look(POOL, A)
    assert standing.season_games == {2026: 1}
    assert standing.first_at == standing.last_at == posted


def test_reports_that_take_effect_out_of_order_keep_first_and_last(rows: Rows) -> None:
    rows.play([line(A, "W", B)], at=ms("2026-05-02"))
    rows.play([line(A, "W", C)], at=ms("2026-05-01"), confirmed_at=ms("2026-05-03"))
    standing = rows.book().state.look(POOL, A)
    assert (standing.first_at, standing.last_at) == (ms("2026-05-01"), ms("2026-05-02"))


def test_events(rows: Rows) -> None:
    rows.add(EventOpened(5, 1.2, signoff=False), pool=POOL)
    rows.play([line(A, "W", B)], event=5, weight=1.2)
    rows.add(EventClosed(5), pool=POOL)
    book = rows.book()
    assert book.state.look(POOL, A).rating == 2000 + 32 * 1.2 * 0.5
    assert book.state.events[5].opened.weight == 1.2 and not book.state.events[5].open
    assert book.state.look(POOL, A).season_event_games == {2026: 1}


# --- peaks (L14) ------------------------------------------------------------------------------------------


def test_a_peak_begins_with_the_twentieth_game(rows: Rows) -> None:
    rows.play([line(A, "W", B)], event=1)
    many(rows, A, B, 18)
    book = rows.book()
    assert book.state.look(POOL, A).peak is None
    rows.play([line(A, "L", B)], event=1, at=ms("2026-04-01"))
    rows.play([line(A, "D", B)], event=1, at=ms("2026-04-02"))
    book = rows.book()
    standing = book.state.look(POOL, A)
    twentieth = book.columns.before[0][19] + book.columns.change[0][19]
    assert standing.peak == max(twentieth, standing.rating)
    assert standing.peak_at in (ms("2026-04-01"), ms("2026-04-02"))


def test_the_earliest_day_holds_on_ties(rows: Rows) -> None:
    many(rows, A, B, 20)
    first = rows.clock
    rows.play([line(A, "D", B)], event=1, at=ms("2026-06-01"))
    standing = rows.book().state.look(POOL, A)
    assert (standing.peak, standing.peak_at) == (2000, first)


def test_adjustments_make_a_peak_and_their_undoing_takes_it_away(rows: Rows) -> None:
    many(rows, A, B, 20)
    raised = rows.add(Adjustment(A, 30.0), pool=POOL, at=ms("2026-06-01"))
    rows.add(Adjustment(A, -50.0), pool=POOL)
    book = rows.book()
    standing = book.state.look(POOL, A)
    assert (standing.rating, standing.peak, standing.peak_at) == (1980, 2030, ms("2026-06-01"))
    assert book.marks[0] == Mark(raised.seq, ms("2026-06-01"), POOL, A, "adjustment", 2000, 2030)
    book.advance([rows.add(Void(), refers_to=raised.seq)])
    standing = book.state.look(POOL, A)
    assert (standing.rating, standing.peak) == (1950, 2000)
    assert [mark.after for mark in book.marks] == [1950]


def test_a_peak_is_gone_when_a_correction_leaves_fewer_than_twenty_games(rows: Rows) -> None:
    many(rows, A, B, 20)
    book = rows.book()
    assert book.state.look(POOL, A).peak == 2000
    book.advance([rows.add(Void(game=7), refers_to=book.columns.seq[6])])
    assert book.state.look(POOL, A).games == 19
    assert book.state.look(POOL, A).peak is None


# --- opening balances (§3 D) ------------------------------------------------------------------------------


def test_an_opening_balance_counts_as_stated(rows: Rows) -> None:
    as_of, peak_at = ms("2026-11-01"), ms("2025-05-05")
    rows.add(OpeningBalance(A, 2211.5, 30, 4, 16, as_of, season_games=9, peak=2250.25, peak_at=peak_at), pool=POOL)
    rows.play([line(A, "W", B)], at=ms("2026-11-30"))
    book = rows.book()
    standing = book.state.look(POOL, A)
    gained = 24 * (1 - 1 / (10 ** (-211.5 / 400) + 1))
    assert standing.rating == pytest.approx(2211.5 + gained, abs=1e-9)
    assert (standing.games, standing.wins, standing.draws, standing.losses) == (51, 31, 4, 16)
    assert standing.season_games == {2026: 10}
    assert (standing.peak, standing.peak_at) == (2250.25, peak_at)
    assert standing.opened_at and standing.listed
    assert book.marks == [Mark(5, as_of, POOL, A, "opening_balance", 2000, 2211.5)]
    assert not book.state.look(PAIRS, A).opened_at


def test_an_opening_balance_without_a_peak_starts_one_from_twenty_games(rows: Rows) -> None:
    as_of = ms("2026-11-01")
    rows.add(OpeningBalance(A, 2100, 10, 0, 10, as_of), pool=POOL)
    rows.add(OpeningBalance(B, 2100, 10, 0, 9, as_of), pool=POOL)
    book = rows.book()
    assert (book.state.look(POOL, A).peak, book.state.look(POOL, A).peak_at) == (2100, as_of)
    assert book.state.look(POOL, B).peak is None


def test_one_archived_before_the_move_is_back_with_his_first_game(rows: Rows) -> None:
    rows.add(OpeningBalance(A, 2050, 3, 0, 2, ms("2026-11-01"), archived=True), pool=POOL)
    assert rows.book().state.look(POOL, A).archived
    rows.play([line(B, "W", A)], at=ms("2026-11-30"))
    assert not rows.book().state.look(POOL, A).archived


# --- season, leave, archive (§8) --------------------------------------------------------------------------


def settled(rows: Rows) -> Settlement:
    """Games in 2026; then A loses 20 and both A and C (on leave) are archived."""
    rows.play([line(A, "W", B), line(C, "D", D)], at=ms("2026-12-01"))
    entry = Settlement(2026, season.return_day(2026), ((A, 20.0), (C, 0.0)))
    rows.add(entry, pool=POOL, at=ms("2027-01-01 00:00:01"))
    return entry


def test_settlement_takes_points_and_archives(rows: Rows) -> None:
    settled(rows)
    book = rows.book()
    a, c = book.state.look(POOL, A), book.state.look(POOL, C)
    assert (a.rating, a.archived, a.barred_until) == (1996, True, ms("2027-02-01"))
    assert (c.rating, c.archived) == (2000, True)
    assert not book.state.look(POOL, B).archived
    assert book.state.settled == {(2026, POOL): len(rows.rows)}
    assert [(m.player, m.before, m.after) for m in book.marks] == [(A, 2016, 1996)]
    assert not book.state.look(PAIRS, A).archived


@pytest.mark.parametrize(
    ("posted", "confirmed", "archived"),
    [
        ("2026-12-31", "2027-01-31 23:59:59", True),
        ("2026-12-31", "2027-02-01", False),
        ("2027-02-01", "2027-02-01", False),
    ],
)
def test_a_report_that_takes_effect_after_the_bar_brings_back(
    rows: Rows, posted: str, confirmed: str, archived: bool
) -> None:
    settled(rows)
    rows.play([line(B, "W", C), line(B, "D", A)], at=ms(posted), confirmed_at=ms(confirmed))
    book = rows.book()
    assert [book.state.look(POOL, player).archived for player in (A, C)] == [archived, archived]
    assert book.counted(2) and book.counted(3)


def test_a_void_report_brings_nobody_back(rows: Rows) -> None:
    settled(rows)
    report = rows.play([line(B, "W", A)], at=ms("2027-02-03"))
    book = rows.book()
    assert not book.state.look(POOL, A).archived
    book.advance([rows.add(Void(), refers_to=report.seq)])
    assert book.state.look(POOL, A).archived


def test_a_settlement_can_be_rolled_back_as_a_whole(rows: Rows) -> None:
    settled(rows)
    book = rows.book()
    book.advance([rows.add(Void(), refers_to=len(rows.rows))])
    assert book.state.look(POOL, A).rating == 2016
    assert not any(book.state.look(POOL, player).archived for player in (A, C))
    assert book.state.settled == {} and book.marks == []


def test_leave_archives_in_its_pools_until_the_seasons_end(rows: Rows) -> None:
    rows.play([line(A, "W", B)], at=ms("2026-12-01"))
    until = season_start(2027)
    leave = rows.add(LeaveTaken(A, until, (POOL,)), at=ms("2026-12-20"))
    book = rows.book()
    a = book.state.look(POOL, A)
    assert (a.archived, a.barred_until, a.rating) == (True, until, 2016)
    assert bar_of(book.state, PAIRS, A, until - 1) == Bar(A, "L8", until)
    assert bar_of(book.state, POOL, A, until) is None
    book.advance([rows.add(Void(), refers_to=leave.seq)])
    assert not book.state.look(POOL, A).archived
    assert bar_of(book.state, POOL, A, until - 1) is None


def test_who_may_play() -> None:
    """L7, L11: barred after archiving until 02-01; from 2200 only with an IP check, in that pool."""
    rows = Rows()
    rows.register(2000, 2199.999, 2200, 2000)
    settled(rows)
    book = rows.book()
    assert bar_of(book.state, POOL, A, ms("2027-01-31 23:59:59")) == Bar(A, "L7", ms("2027-02-01"))
    assert bar_of(book.state, POOL, A, ms("2027-02-01")) is None
    assert bar_of(book.state, PAIRS, A, ms("2027-01-15")) is None
    assert bar_of(book.state, PAIRS, B, ms("2027-01-15")) is None
    assert bar_of(book.state, PAIRS, C, ms("2027-01-15")) == Bar(C, "L11", None)
    checked = rows.add(IpChecked(C, True))
    book.advance([checked])
    assert bar_of(book.state, PAIRS, C, ms("2027-01-15")) is None
    book.advance([rows.add(IpChecked(C, False))])
    assert bar_of(book.state, PAIRS, C, ms("2027-01-15")) == Bar(C, "L11", None)


@pytest.mark.parametrize(
    ("standing", "on_leave", "reason"),
    [
        (standing(2000, games={2026: 10}), False, None),
        (standing(2000, games={2026: 9, 2025: 50}, first_at=ms("2025-05-01")), False, "few_games"),
        (standing(2000, games={2026: 9}, archived=True), False, None),
        (standing(2000, games={2026: 9}, first_at=ms("2025-05-01")), True, "leave"),
        (standing(2200, games={2026: 9}, first_at=ms("2025-05-01")), False, "high_rating"),
        (standing(2199.999, games={2026: 9}, first_at=ms("2025-05-01")), False, "few_games"),
        (standing(2000, games={2026: 1}, first_at=ms("2026-12-25")), False, "newcomer"),
        (standing(2000, games={2026: 1}, first_at=ms("2026-12-25") - 1), False, "few_games"),
        (standing(2000, games={2026: 1}, first_at=ms("2027-01-01") - 1), False, "newcomer"),
        (standing(2000, games={2027: 1}, first_at=ms("2027-01-01")), False, None),
        (Standing(2000, opened_at=ms("2027-01-01")), False, None),
        (Standing(2000), False, None),
        (
            standing(2000, games={2026: 1}, first_at=ms("2026-12-25"), opened_at=ms("2026-01-01")),
            False,
            "few_games",
        ),
    ],
)
def test_verdicts(standing: Standing, on_leave: bool, reason: str | None) -> None:
    verdict = season.judge(standing, 2026, on_leave=on_leave)
    assert (verdict and verdict.reason) == reason
    if verdict is not None:
        assert verdict.taken == (20.0 if reason == "few_games" else 0.0)
        assert verdict.archived == (reason in ("few_games", "leave"))


# --- corrections (§10) ------------------------------------------------------------------------------------


def test_a_void_report_is_as_if_never_made(rows: Rows) -> None:
    report = rows.play([line(A, "W", B)] * 4)
    rows.play([line(A, "W", B), line(A, "W", C)])
    book = rows.book()
    assert [book.counted(i) for i in range(6)] == [True] * 4 + [False, True]
    book.advance([rows.add(Void(), refers_to=report.seq)])
    assert [book.is_void(i) for i in range(6)] == [True] * 4 + [False] * 2
    assert [book.counted(i) for i in range(6)] == [False] * 4 + [True] * 2
    assert book.state.look(POOL, A).games == 2
    assert book.columns.before[0][4] == 2000
    assert list(book.columns.change[0][:4]) == [0.0] * 4
    assert [seq for seq, _ in book.corrections_of(report.seq)] == [7]


def test_one_void_game_unlocks_the_pair(rows: Rows) -> None:
    rows.play([line(A, "W", B)] * 5)
    book = rows.book()
    assert not book.counted(4)
    book.advance([rows.add(Void(game=2), refers_to=5)])
    assert [book.counted(i) for i in range(5)] == [True, False, True, True, True]
    assert book.state.look(POOL, A).wins == 4


def test_amended_players_and_result(rows: Rows) -> None:
    rows.play([line(A, "W", B), line(A, "W", B)])
    rows.play([line(A, "D", C)])
    book = rows.book()
    book.advance([rows.add(Amend(2, line(C, "W", D)), refers_to=5)])
    assert book.state.look(POOL, A).games == 2
    assert book.state.look(POOL, C).games == 2
    assert list(book.games_of(A)) == [0, 2]
    assert list(book.games_of(B)) == [0]
    assert list(book.games_of(C)) == [1, 2]
    assert list(book.games_of(D)) == [1]
    assert book.columns.before[2][2] == 2016, "C's draw with A comes after his win"


def test_the_last_amendment_holds_and_undoing_it_brings_the_one_before_back(rows: Rows) -> None:
    rows.play([line(A, "W", B)])
    book = rows.book()
    book.advance([rows.add(Amend(1, line(A, "L", B)), refers_to=5)])
    second = rows.add(Amend(1, line(A, "D", B)), refers_to=5)
    book.advance([second])
    assert book.state.look(POOL, A).draws == 1
    undo = rows.add(Void(), refers_to=second.seq)
    book.advance([undo])
    assert book.state.look(POOL, A).losses == 1
    book.advance([rows.add(Void(), refers_to=undo.seq)])
    assert book.state.look(POOL, A).draws == 1
    assert [seq for seq, _ in book.corrections_of(5)] == [6, 7]


def test_another_event_changes_weight_and_farming(rows: Rows) -> None:
    """改赛事: an event's games become casual ones, so the pair's net moves."""
    report = rows.play([line(A, "W", B)] * 5, event=3, weight=2.0)
    book = rows.book()
    assert book.columns.change[0][0] == 32 and book.counted(4)
    book.advance([rows.add(Amend(weight=1.0), refers_to=report.seq)])
    assert book.columns.change[0][0] == 16 and not book.counted(4)
    assert book.state.look(POOL, A).season_event_games == {}
    book.advance([rows.add(Amend(event=4, weight=1.2), refers_to=report.seq)])
    assert book.columns.change[0][0] == pytest.approx(19.2) and book.counted(4)
    assert set(book.columns.event) == {4}


@pytest.mark.parametrize("target", [None, 0, -1, 6, 7])
def test_a_correction_of_nothing_is_refused_and_changes_nothing(rows: Rows, target: int | None) -> None:
    rows.play([line(A, "W", B)])
    book = rows.book()
    before = snapshot(book)
    with pytest.raises(LedgerError):
        book.advance([rows.add(Void(), refers_to=target)])
    assert snapshot(book) == before


def test_rows_come_one_after_the_other(rows: Rows) -> None:
    book = rows.book()
    with pytest.raises(LedgerError, match="row 4 after 4"):
        book.advance(rows.rows[3:])
    rows.play([line(A, "W", B)])
    rows.play([line(A, "W", B)])
    with pytest.raises(LedgerError, match="row 6 after 4"):
        book.advance(rows.rows[5:])
    book.advance(rows.rows[4:])
    assert (book.seq, book.hash) == (6, rows.rows[5].hash)


# --- reading and trying -----------------------------------------------------------------------------------


def test_finding_games(rows: Rows) -> None:
    first = rows.play([line(A, "W", B), line(A, "D", B)])
    second = rows.play([line((A, C), "L", (B, D))], pool=PAIRS)
    book = rows.book()
    assert [book.find_game(n) for n in (0, 1, 2, 3, 4)] == [None, 0, 1, 2, None]
    assert book.games_of_row(first.seq) == range(2)
    assert book.games_of_row(second.seq) == range(2, 3)
    assert book.games_of_row(1) == range(0)
    assert (book.columns.left(2), book.columns.right(2)) == ((A, C), (B, D))
    assert list(book.games_of(A)) == [0, 1, 2] and list(book.games_of(99)) == []


def test_a_trial_never_changes_the_book(rows: Rows) -> None:
    rows.play([line(A, "W", B)] * 4)
    settled(rows)
    book = rows.book()
    before = snapshot(book)
    trial = Trial.of(book)
    at = ms("2027-03-01")
    games = Games(9, 100, at, 1.0, (line(A, "W", B), line((C), "W", A)), 1)
    first = trial.apply(Draft(games, at, 1, POOL))
    trial.apply(Draft(Adjustment(B, 100.0), at, 1, POOL))
    trial.apply(Draft(LeaveTaken(C, at + 1, (POOL,)), at, 1))
    trial.apply(Draft(IpChecked(B, True), at, 1))
    trial.apply(Draft(EventOpened(8, 2.0), at, 1, POOL))
    second = trial.apply(Draft(replace(games, first=102), at, 1, POOL))
    assert (first, second) == (range(2), range(2, 4))
    assert trial.state.look(POOL, B).rating != book.state.look(POOL, B).rating
    assert snapshot(book) == before


def test_a_trial_gives_what_the_book_then_gives(rows: Rows) -> None:
    rows.play([line(A, "W", B)] * 3)
    book = rows.book()
    trial = Trial.of(book)
    lines = (line(A, "W", B), line(B, "L", A), line(C, "W", B))
    games = trial.apply(Draft(Games(2, 4, rows.clock, 1.0, lines, 1), rows.clock, 1, POOL))
    told = announce(trial.columns, games, lines)
    row = rows.play(lines)
    book.advance([row])
    assert announce(book.columns, book.games_of_row(row.seq), lines) == told
    assert told.counted == (True, False, True)
    a = book.state.look(POOL, A).rating
    assert told.ratings[0] == (A, book.columns.before[0][3], a)
    assert [player for player, _, _ in told.ratings] == [A, B, C]


def announced(rows: Rows) -> Book:
    """Enter a report with its figures, as the service does."""
    book = rows.book()
    trial = Trial.of(book)
    lines = (line(A, "W", B), line(A, "D", B))
    entry = Games(1, 1, rows.clock, 1.0, lines, 1)
    games = trial.apply(Draft(entry, rows.clock, 1, POOL))
    rows.add(replace(entry, announced=announce(trial.columns, games, lines)), pool=POOL, at=rows.clock)
    return rows.book()


def test_no_difference_also_after_corrections(rows: Rows) -> None:
    book = announced(rows)
    assert first_difference(book, rows.rows) is None
    book.advance([rows.add(Amend(1, line(A, "L", B)), refers_to=5)])
    assert first_difference(book, rows.rows) is None


def test_figures_told_that_the_fold_does_not_give_are_found(rows: Rows) -> None:
    announced(rows)
    entry = rows.rows[4].entry()
    assert isinstance(entry, Games) and entry.announced is not None
    (a, before, after), b = entry.announced.ratings
    for told in (
        replace(entry.announced, counted=(True, False)),
        replace(entry.announced, ratings=((a, before, after + 1e-8), b)),
        replace(entry.announced, ratings=((a, before + 1e-8, after), b)),
        replace(entry.announced, ratings=(b, (a, before, after))),
        replace(entry.announced, ratings=(b,)),
    ):
        forged = Rows(rows.rows[:4])
        forged.add(replace(entry, announced=told), pool=POOL)
        assert first_difference(forged.book(), forged.rows) == "账5"


@pytest.mark.parametrize(
    ("name", "value"),
    [("rating", 2000.1), ("games_before", 3), ("wins", 0), ("draws", 2), ("losses", 5), ("archived", True),
     ("peak", 2100.0), ("season", 2025), ("barred_until", 5)],
)  # fmt: skip
def test_a_live_book_that_drifted_is_found(rows: Rows, name: str, value: object) -> None:
    book = announced(rows)
    setattr(book.state.pools[POOL].standings[A], name, value)
    assert first_difference(book, rows.rows) == f"{POOL} {A}"


def test_drift_in_games_pairs_and_players_is_found(rows: Rows) -> None:
    book = announced(rows)
    book.columns.change[0][1] += 1e-8
    assert first_difference(book, rows.rows) == "局2"
    book = rows.book()
    book.state.pools[POOL].nets[2026][pair_code((A,), (B,))] = 3
    assert first_difference(book, rows.rows) == f"{POOL} {A}-{B}"
    book = rows.book()
    book.state.pools[POOL].standings[77] = Standing(2000)
    assert first_difference(book, rows.rows) == f"{POOL} 77"
    book = rows.book()
    book.state.leave_until[A] = 5
    assert first_difference(book, rows.rows) == "leave_until"
    assert first_difference(rows.book(), rows.rows[:4]) == "账4"


def test_a_game_can_be_amended_to_a_player_registered_after_it() -> None:
    """§10: the amended game stands in its old place; 原始分 holds whenever it was entered."""
    books = Books()
    books.join("张三", "李四")
    row = books.play("张三 胜 李四")
    books.join("王五", rating=2200.0)
    books.amend(row, 1, "张三 胜 王五")
    books.play("李四 平 王五")
    book = books.book()
    assert book.state.look(POOL, books.id("李四")).games == 1
    assert show_rating(book.state.look(POOL, books.id("张三")).rating) == "2024.3"
    assert first_difference(book, books.rows.rows) is None


@pytest.mark.parametrize(("as_of", "until"), [("2027-01-15", "2027-02-01"), ("2027-02-01", None), ("2026-06-01", None)])
def test_a_player_brought_in_archived_in_january_is_barred_until_february(
    rows: Rows, as_of: str, until: str | None
) -> None:
    """§3 D, L7."""
    rows.add(OpeningBalance(A, 2050.0, 5, 0, 5, ms(as_of), archived=True), pool=POOL)
    assert rows.book().state.look(POOL, A).barred_until == (ms(until) if until else 0)


def test_a_season_as_it_ended_holds_its_late_games_and_nothing_later(rows: Rows) -> None:
    """§8: what was posted before the turn of the year, whenever it took effect, with corrections known now."""
    rows.play([line(A, "W", B)], at=ms("2026-12-30"))
    wrong = rows.play([line(A, "W", C)], at=ms("2026-12-31"))
    rows.play([line(B, "W", C)], at=ms("2027-01-01"))
    rows.play([line(B, "D", C)], at=ms("2026-12-31 23:59:59"), confirmed_at=ms("2027-01-03"))
    rows.add(Adjustment(A, 5.0), pool=POOL, at=ms("2027-01-02"))
    rows.add(Void(), refers_to=wrong.seq, at=ms("2027-01-04"))
    book = rows.book()
    before = snapshot(book)
    ended = book.posted_before(season_start(2027))
    alone = Rows()
    alone.register(2000, 2000, 2000, 2000)
    alone.play([line(A, "W", B)], at=ms("2026-12-30"))
    alone.play([line(B, "D", C)], at=ms("2026-12-31 23:59:59"))
    assert ended.state.pools[POOL].standings == alone.book().state.pools[POOL].standings
    assert [ended.counted(index) for index in range(4)] == [True, False, False, True]
    a, b = (book.state.look(POOL, player) for player in (A, B))
    assert (a.rating_after(2026), a.rating_after(2027), a.rating) == (2016, 2021, 2021)
    late = book.columns.change[0][3]
    assert b.rating_after(2026) == 1984 + late and b.rating_after(2027) == b.rating != b.rating_after(2026)
    assert snapshot(book) == before
    assert snapshot(book.posted_before(ms("2028-01-01"))) == before


def test_games_are_rated_one_by_one_in_playing_order() -> None:
    """L2: 比赛盘次正序排列; the second game of a report starts from what the first one left."""
    forward, backward = Books(), Books()
    for books, games in ((forward, ["张三 胜 李四", "张三 平 李四"]), (backward, ["张三 平 李四", "张三 胜 李四"])):
        books.join("张三", "李四")
        for game in games:
            books.play(game)
    ratings = [books.book().state.look(POOL, books.id("张三")).rating for books in (forward, backward)]
    assert [show_rating(rating) for rating in ratings] == ["2014.5", "2016.0"]
