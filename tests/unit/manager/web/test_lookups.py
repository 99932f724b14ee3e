"""The reports: days counted in small steps, bank cover, numbers typed for advice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from manager.advice.adviser import Adviser
from manager.advice.question import Question
from manager.advice.typed_numbers import form_of, question_of
from manager.games import Catalogue, load_paytable, open_catalogue
from manager.ledger.errors import LedgerError
from manager.ledger.reports import day_reports
from manager.ledger.reports.day_reports import day_steps
from manager.ledger.reports.gaming_day import GamingDay
from manager.web.day import counting
from manager.web.day.sections import Amount, Section
from manager.web.lookups import ReportsView
from sim.time.loop import run_virtual
from tests.kit.pretend_books import TERMS, Books, document, game

ML03 = "crazy-4/multi-game-link/ML03"
DAY = GamingDay("06:00")
TYPED = {
    "paytable": "four-card/progressive/Pays-1",
    "wager": "1",
    "top.seed": "10,000.00",
    "top.opening": "$10000",
    "top.contribution": "25",
    "top.reserve": "2.5",
}


@pytest.fixture
def books() -> Books:
    return Books()


def reports_of(books: Books, asked: list[Question] | None = None) -> ReportsView:
    async def ask(question: Question) -> dict[str, Any]:
        if asked is not None:
            asked.append(question)
        return {"paytable": question.paytable_id}

    adviser = Adviser(ask)
    return ReportsView(books.manager.book, lambda: books.clock.ms, open_catalogue, (), DAY, adviser)


def day_of(reports: ReportsView, day: date | None = None) -> dict[str, Any]:
    view = run_virtual(reports.days.day(day))
    assert not isinstance(view, float)
    return view


def section(view: dict[str, Any], name: str) -> Section:
    found: Section = next(each for each in view["sections"] if each.name == name)
    return found


def test_a_day_is_told_with_names_and_neighbours(books: Books) -> None:
    books.open(document())
    books.start("touch-1", 1, "1A", "5A")
    books.paid(_5A="four-aces")
    view = day_of(reports_of(books))
    assert view["is_today"]
    assert view["ties"]
    assert view["after"] == ""
    assert date.fromisoformat(view["before"]) < date.fromisoformat(view["day"])
    (row,) = section(view, "accrual").rows
    assert (row[0], row[2], row[-1]) == ("touch-1", 2, Amount(60_000_000))
    kinds = [mark["kind"] for mark in section(view, "meter").marks]
    assert kinds == ["START", "AWARD", "OPENING", "RESEED", "WAGER"]
    earlier = day_of(reports_of(books), date(2020, 1, 1))
    assert (section(earlier, "accrual").rows, earlier["after"]) == ([], "2020-01-02")
    assert section(earlier, "meter").total[1] == Amount(0)  # it was not open yet


def test_a_day_tells_wins_master_figures_bank_and_acts(books: Books) -> None:
    """Catches: envy left out, a reversed win still counted as paid, a wager counted twice."""
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces", _1A="straight-flush")
    books.end("touch-1", 1)
    books.start("touch-1", 2, "1A")
    books.paid(2, 2, _1A="straight-flush")
    books.reverse(2)
    view = day_of(reports_of(books))
    win = books.manager.book.wins.find(1)
    assert win is not None
    meter, tray = (line.amount_cents * 1_000_000 for line in win.lines)
    envy = sum(line.amount_cents for line in win.envy) * 1_000_000
    by_source = {row[1]: row[2:] for row in section(view, "paid").rows}
    one = meter, Amount(0), Amount(meter)
    assert by_source["Meter Main (main)"] == (1, Amount(meter), 0, Amount(0), *one[1:])
    again = 10_000 * 1_000_000  # a straight flush pays $100.00
    assert by_source["Tray"] == (
        *(2, Amount(tray + again), len(win.envy), Amount(envy)),
        *(Amount(-again), Amount(tray + envy)),
    )
    (master,) = section(view, "master").rows
    wagered = 4 * 100_000_000
    accrued = wagered * 30 // 100
    assert master[1:4] == (Amount(wagered), Amount(accrued), Amount(wagered - accrued))
    assert master[4:] == (Amount(tray + envy), Amount(wagered - accrued - tray - envy))
    players, house, reserve = books.meter()
    must = -(-(players + reserve) // 1_000_000) * 1_000_000
    assert section(view, "bank").total[1:] == tuple(map(Amount, (players, reserve, must, house)))
    assert [mark["kind"] for mark in section(view, "acts").marks] == ["OPENING", "REVERSAL"]


def test_a_day_that_is_over_is_counted_once(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    books.open(document())
    reports = reports_of(books)
    today = DAY.of(books.clock.ms)
    books.clock.ms += 48 * 3_600_000
    first = day_of(reports, today)
    monkeypatch.setattr(counting, "day_steps", None)  # whoever counts again breaks
    assert day_of(reports, today)["sections"] == first["sections"]


def test_a_day_whose_entries_are_archived_is_refused(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: figures of a day that were counted from half of its entries."""
    books.open(document())
    oldest = (5, books.clock.ms - 1000)  # what a database keeps after an archive
    whole = books.store.everywhere

    def everywhere(query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        is_the_oldest = query.endswith("FROM transactions ORDER BY number LIMIT 1")
        return iter([oldest]) if is_the_oldest else whole(query, values)

    monkeypatch.setattr(books.store, "everywhere", everywhere)
    with pytest.raises(LedgerError, match="are archived"):
        day_of(reports_of(books))
    books.clock.ms += 48 * 3_600_000
    assert day_of(reports_of(books))["ties"]


def test_who_does_not_wait_hears_how_far_it_is(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_reports, "STEP_TRANSACTIONS", 1)
    books.open(document())
    books.start("touch-1", 1, "1A")

    async def asked() -> tuple[object, object]:
        days = reports_of(books).days
        return await days.day(patience_s=0), await days.day()

    early, whole = run_virtual(asked())
    assert isinstance(early, float)
    assert isinstance(whole, dict)


def test_a_long_day_is_counted_in_steps_and_what_comes_meanwhile_is_left_out(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_reports, "STEP_TRANSACTIONS", 3)
    books.open(document())
    for number in range(1, 5):
        books.start("touch-1", number, "1A", "2A", "5A")
        books.end("touch-1", number)
    before = day_of(reports_of(books))
    steps = day_steps(books.manager.book, DAY.of(books.clock.ms), DAY)
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            report = end.value
            break
        count += 1
        books.start("touch-1", 4 + count, "1A")  # a wager between two steps
    assert count == 5  # 10 entries, three at a time, and the wins
    assert report.ties
    assert report.accruals[0].wager_count == section(before, "accrual").rows[0][2] == 12


def test_a_day_gives_way_to_the_tables(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(day_reports, "STEP_TRANSACTIONS", 1)
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    turns: list[str] = []

    async def table() -> None:
        for _ in range(3):
            turns.append("table")
            await asyncio.sleep(0)

    async def both() -> None:
        beside = asyncio.create_task(table(), name="table")
        await reports_of(books).days.day()
        turns.append("day")
        await beside

    run_virtual(both())
    assert turns == ["table"] * 3 + ["day"]


def test_the_bank_is_told_with_its_sum(books: Books) -> None:
    jackpots = dict.fromkeys(("m1", "m2", "m3"), TERMS | {"contribution_ppm": 100_000})
    levels = {"mega": "m1", "major": "m2", "minor": "m3"}
    books.open(document(jackpots=jackpots, games={"A": game(ML03, **levels)}))
    books.start("touch-1", 1, "1A")
    view = reports_of(books).bank()
    assert [row["required_cents"] for row in view["covers"]] == [15, 15, 15]
    assert view["required_cents"] == 45


# -- numbers -------------------------------------------------------------------------------------


def test_typed_numbers_are_exact() -> None:
    paytable = load_paytable(TYPED["paytable"])
    question, problems = question_of(paytable, TYPED)
    assert problems == []
    assert question is not None
    ((level, terms),) = question.jackpots
    assert (level, question.wager_cents) == ("top", 100)
    assert (terms.seed_cents, terms.opening_cents) == (1_000_000, 1_000_000)
    assert (terms.contribution_ppm, terms.reserve_ppm) == (250_000, 25_000)
    finest = question_of(paytable, TYPED | {"top.reserve": "0.0001"})[0]
    assert finest is not None
    assert finest.jackpots[0][1].reserve_ppm == 1


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("wager", "", "The wager is asked for."),
        ("wager", "0", "The wager must be from $0.01"),
        ("wager", "a", "The wager"),
        ("top.seed", "", "Top: the seed is asked for."),
        ("top.seed", "10.001", "Top: the seed"),
        ("top.contribution", "", "Top: the contribution is asked for; it is in no document."),
        ("top.contribution", "101", "Top: the contribution must be a percentage"),
        ("top.contribution", "0.00001", "Top: the contribution must be a percentage"),
        ("top.contribution", "-1", "Top: the contribution must be a percentage"),
        ("top.contribution", "99", "would take more than the whole wager"),
        ("top.limit", "5.00", "is below its seed"),
        ("type", "neither", "must be progressive or house"),
    ],
)
def test_numbers_that_cannot_be_used_are_told(name: str, value: str, sentence: str) -> None:
    paytable = load_paytable(TYPED["paytable"])
    question, problems = question_of(paytable, TYPED | {name: value})
    assert question is None
    assert any(sentence in problem for problem in problems), problems


def test_a_blank_form_asks_for_everything_and_invents_nothing() -> None:
    paytable = load_paytable(ML03)
    form = form_of(paytable, {"paytable": ML03})
    assert form["is_blank"]
    assert [level["id"] for level in form["levels"]] == ["mega", "major", "minor"]
    assert {field["value"] for level in form["levels"] for field in level["fields"]} == {""}
    assert len(question_of(paytable, {})[1]) == 4


def test_levels_together_cannot_take_more_than_the_wager() -> None:
    typed = {"wager": "1"}
    for level in ("mega", "major", "minor"):
        typed |= {f"{level}.{name}": "100" for name in ("seed", "opening")}
        typed |= {f"{level}.contribution": "40", f"{level}.reserve": "0"}
    problems = question_of(load_paytable(ML03), typed)[1]
    assert problems == ["The meters together take more than the whole wager."]


def test_an_open_game_links_to_its_numbers_in_force_and_to_those_that_wait(books: Books) -> None:
    books.open(
        document(jackpots={"main": TERMS | {"fixed_pays_from": "meter", "limit": "9000.00"}})
    )
    asked: list[Question] = []
    reports = reports_of(books, asked)
    (row,) = reports.games()["games"]
    ((word, query),) = row["links"]
    assert word == "Numbers in force"
    view = run_virtual(reports.advice(query))
    assert (view["problems"], view["advice"]) == ([], {"paytable": query["paytable"]})
    running = books.manager.book.jackpots.get("main")
    (terms,) = dict(asked[0].jackpots).values()
    for name in ("seed_cents", "contribution_ppm", "reserve_ppm", "limit_cents", "fixed_pays_from"):
        assert getattr(terms, name) == getattr(running, name)
    books.manager.correct(
        {
            "command": "change-terms",
            "jackpot": "main",
            "seed": "2000.00",
            "operator": "Ann",
            "second": "Bob",
        }
    )
    (row,) = reports.games()["games"]
    assert [word for word, _ in row["links"]] == ["Numbers in force", "From the next reseed on"]
    assert row["links"][1][1]["top.seed"] == "2000.00"


def test_a_paytable_that_is_gone_is_told_not_guessed(books: Books, tmp_path: Path) -> None:
    books.open(document())
    nothing = Catalogue([tmp_path])
    reports = ReportsView(books.manager.book, lambda: books.clock.ms, lambda: nothing)
    assert reports.games()["games"][0]["links"] == []
    view = run_virtual(reports.advice(TYPED))
    assert view["form"] is None
    assert "No pack has" in view["problems"][0]


def test_a_felt_bet_has_no_meter_to_advise_on(books: Books) -> None:
    view = run_virtual(reports_of(books).advice({"paytable": "four-card/aces-up/FCP-01"}))
    assert view["form"] is None
