"""Explanations follow from the postings alone, and notice an amount that does not follow."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from manager.cli.explain import main
from manager.explain import Explanation, Line, as_plain, explain, for_pages, telling
from manager.explain.telling import Wagers
from manager.explain.words import lines_of, text_from_percent
from manager.ledger.errors import LedgerError
from sim.time.loop import run_virtual
from tests.kit.pretend_units import SHARES, Desk, desk_with_a_win
from tests.kit.tampering import tamper

CENT = 1_000_000


def explained(desk: Desk, win: int = 1) -> Explanation:
    found = explain(desk.store, win)
    assert found is not None
    return found


def test_a_100_percent_award_is_derived_from_opening_and_wagers() -> None:
    (story,) = explained(desk_with_a_win()).stories
    assert [line.kind for line in story.lines] == [
        "OPENING_RESTATED",
        *["WAGER"] * 3,
        "AWARD",
    ]
    assert story.lines[0].value_microcents == 800_000 * CENT
    assert [line.change_microcents for line in story.lines[1:4]] == [25 * CENT] * 3
    assert {line.sensor for line in story.lines[1:4]} == {"2A", "5A", "7A"}
    assert story.value_microcents == 800_075 * CENT
    assert story.expected_cents == story.paid.amount_cents == 800_075
    assert story.agrees


def test_the_next_story_begins_at_the_reseed() -> None:
    desk = desk_with_a_win()
    desk.start("touch-1", 2, "1A")
    desk.win("touch-1", 2, 2, s1A="four-aces")
    (story,) = explained(desk, 2).stories
    assert [line.kind for line in story.lines] == ["RESEED", "WAGER", "AWARD"]
    assert story.lines[0].value_microcents == 1_000_015 * CENT
    assert story.paid.amount_cents == 1_000_040


def test_two_awards_of_one_win_are_told_one_after_the_other_with_their_remainders() -> None:
    desk = Desk()
    desk.open_table("touch-1", paytable=SHARES.id)
    desk.start("touch-1", 1, "2A", "6A")
    desk.win("touch-1", 1, 1, s2A="third", s6A="tenth")
    first, second = explained(desk).stories
    assert (first.paid.sensor, second.paid.sensor) == ("6A", "2A")
    assert second.value_microcents == first.value_microcents - first.paid.amount_cents * CENT
    assert second.remainder_microcents > 0
    assert first.agrees
    assert second.agrees


def test_a_frozen_win_is_explained_by_the_moment_it_was_fixed() -> None:
    desk = Desk()
    desk.open_table("keypad-1", workflow="keypad")
    desk.open_table("touch-1")
    desk.start("keypad-1", 1, "3A", "4A")
    desk.receive_award("keypad-1", desk.claim("keypad-1", 1, 1, frozen=True, s3A="four-aces"))
    desk.start("touch-1", 1, "1A", "2A")
    desk.by_key("keypad-1", 1, 1)
    (story,) = explained(desk).stories
    assert story.paid.amount_cents == 1_000_050
    assert story.value_microcents == 1_000_050 * CENT
    assert story.lines[-2].kind == "WAGER"
    assert story.agrees


def test_a_win_fixed_behind_another_tables_win_starts_from_its_reseed() -> None:
    desk = Desk()
    desk.open_table("keypad-1", workflow="keypad")
    desk.open_table("keypad-2", workflow="keypad")
    desk.start("keypad-1", 1, "3A")
    desk.start("keypad-2", 1, "4A")
    desk.receive_award("keypad-1", desk.claim("keypad-1", 1, 1, frozen=True, s3A="four-aces"))
    desk.receive_award("keypad-2", desk.claim("keypad-2", 1, 1, frozen=True, s4A="four-aces"))
    desk.end("keypad-1", 1)
    desk.by_key("keypad-2", 1, 1)
    (story,) = explained(desk).stories
    assert story.lines[0].kind == "RESEED"
    assert story.paid.amount_cents == 1_000_010
    assert story.agrees


def test_a_fixed_pay_needs_no_meter() -> None:
    desk = Desk()
    desk.open_table("touch-1")
    desk.start("touch-1", 1, "2A", "5A")
    desk.win("touch-1", 1, 1, s5A="four-of-a-kind")
    found = explained(desk)
    assert found.stories == ()
    assert found.fixed[0].amount_cents == 30_000
    assert any("300.00" in line for line in lines_of(found, every_wager=False))


def test_an_amount_that_does_not_follow_is_shouted() -> None:
    """The mutation a test must catch: someone changed the recorded amount of a win."""
    desk = desk_with_a_win()
    for (name,) in desk.store.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'win_lines'"
    ):
        tamper(desk.store, f"DROP TRIGGER {name}")
    tamper(desk.store, "UPDATE win_lines SET amount_cents = amount_cents + 1")
    found = explained(desk)
    assert not found.agrees
    assert list(lines_of(found, every_wager=False))[-1].startswith("THE AMOUNT DOES NOT")


def test_words_sum_wagers_or_list_each() -> None:
    found = explained(desk_with_a_win())
    short, full = list(lines_of(found, False)), list(lines_of(found, True))
    assert any("3 wagers at touch-1, round 1 (entry" in line for line in short)
    each = [line for line in full if "one of 3 wagers of $1.00" in line]
    assert [line.split("wager: At ")[1][:2] for line in each] == ["2A", "5A", "7A"]
    assert any("8000.75  paid" in line for line in short)
    assert short[-1] == "The amount follows from the ledger."


@pytest.mark.parametrize(
    ("ppm", "text"), [(1_000_000, "100 %"), (100_000, "10 %"), (333_333, "33.3333 %")]
)
def test_percentages_are_exact(ppm: int, text: str) -> None:
    assert text_from_percent(ppm) == text


def test_there_is_no_such_win() -> None:
    assert explain(desk_with_a_win().store, 2) is None


def test_the_command_explains_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = desk_with_a_win(str(tmp_path / "ledger.sqlite"))
    plain = as_plain(explained(desk))
    desk.store.close()
    assert plain["agrees"] is True
    assert main(["1", "--data", str(tmp_path)]) == 0
    assert "8000.75" in capsys.readouterr().out
    assert main(["1", "--data", str(tmp_path), "--json"]) == 0
    assert '"paid_cents": 800075' in capsys.readouterr().out
    assert main(["7", "--data", str(tmp_path)]) == 2
    with pytest.raises(LedgerError, match="There is no ledger"):
        main(["1", "--data", str(tmp_path / "nowhere")])


def test_wagers_of_linked_tables_are_added_up_by_table_between_other_entries() -> None:
    desk = Desk()
    desk.open_table("touch-1")
    desk.open_table("touch-2")
    for number in (1, 2, 3):
        for table_id in ("touch-1", "touch-2"):
            desk.start(table_id, number, "1A", "2A")
            if number < 3:
                desk.end(table_id, number)
    desk.win("touch-1", 3, 1, s1A="four-aces")
    (story,) = explained(desk).stories
    opening, first, second = story.summary
    assert isinstance(opening, Line)
    assert isinstance(first, Wagers)
    assert isinstance(second, Wagers)
    assert (first.table_id, first.count, first.first_round, first.last_round) == (
        "touch-1",
        6,
        1,
        3,
    )
    assert (second.table_id, second.count, second.change_microcents) == ("touch-2", 6, 150 * CENT)
    told = sum(line.change_microcents for line in story.summary)
    assert told == story.value_microcents


@pytest.mark.parametrize("step", [1, 2, 5, 1000])
def test_an_explanation_is_the_same_in_steps_of_any_size(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a range of entries left out or read twice at a step's border."""
    desk = desk_with_a_win()
    desk.start("touch-1", 2, "1A", "3A")
    desk.win("touch-1", 2, 2, s1A="four-aces")
    whole = [as_plain(explained(desk, win)) for win in (1, 2)]
    monkeypatch.setattr(telling, "STEP_TRANSACTIONS", step)
    assert [as_plain(explained(desk, win)) for win in (1, 2)] == whole


def test_a_page_asks_for_few_lines_and_gives_way_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(telling, "STEP_TRANSACTIONS", 1)
    monkeypatch.setattr(for_pages, "PAGE_LINES", 2)
    desk = desk_with_a_win()
    turns: list[str] = []

    async def table() -> None:
        for _ in range(3):
            turns.append("table")
            await asyncio.sleep(0)

    async def look() -> list[Any]:
        explainer = for_pages.Explanations(desk.store)
        beside = asyncio.create_task(table(), name="table")
        pages = [await explainer.explain(1, page) for page in range(4)]
        turns.append("page")
        await beside
        return [*pages, await explainer.explain(9)]

    short, first, second, third, nothing = run_virtual(look())
    assert turns == ["table"] * 3 + ["page"]
    assert [len(each["stories"][0]["lines"]) for each in (short, first, second, third)] == [
        0,
        2,
        2,
        1,
    ]
    assert {each["page_count"] for each in (short, first, second, third)} == {3}
    kinds = [
        line["kind"] for each in (first, second, third) for line in each["stories"][0]["lines"]
    ]
    assert kinds == ["OPENING_RESTATED", "WAGER", "WAGER", "WAGER", "AWARD"]
    assert all(each["agrees"] for each in (short, first, second, third))
    assert nothing is None


def test_a_reseed_without_a_seed_begins_anew() -> None:
    desk = Desk()
    desk.open_table("touch-1", seed='"0.00"', opening='"10.00"')
    for number in (1, 2):
        desk.start("touch-1", number, "1A", "2A")
        desk.win("touch-1", number, number, s1A="four-aces")
        desk.end("touch-1", number)
    (story,) = explained(desk, 2).stories
    assert [line.kind for line in story.lines] == ["RESEED", "WAGER", "WAGER", "AWARD"]
    assert story.agrees
