"""What pages see: plain values, fresh, and a version to wait on."""

from __future__ import annotations

import asyncio
import json

from protocol.proof.tail import printed
from protocol.wire import events
from sim.floor import figures
from sim.time.loop import run_virtual
from tests.kit.pretend_units import SHARES, Desk, table_toml


def test_an_empty_manager_has_an_empty_view() -> None:
    view = Desk().manager.view.view()
    assert (view["meters"], view["tables"], view["wins"], view["alarms"]) == ([], [], [], [])


def test_the_view_shows_meters_tables_wins_and_alarms() -> None:
    desk = Desk()
    desk.open_table(opening='"8000.00"')
    desk.start("touch-1", 1, "2A", "5A", "7A")
    desk.win("touch-1", 1, 1, s5A="four-aces")
    desk.say("touch-1", events.LateChange(1, "3A", True, 400))
    view = desk.manager.view.view()
    json.dumps(view)  # plain values only
    assert view["meters"] == [
        {
            "id": "main",
            "label": "Main",
            "shown_cents": 1_000_015,
            "seed_cents": 1_000_000,
            "reserve_cents": 0,
            "house_cents": 1_000_000,
            "player_cents": 15,
            "type": "progressive",
            "award_policy": "sequential",
            "limit_cents": 0,
            "stopped": "",
            "pending": {},
        }
    ]
    (table,) = view["tables"]
    assert (table["link"], table["state"], table["round"], table["wagers"]) == (
        "down",
        "locked",
        1,
        3,
    )
    assert (table["unit"], table["locked"]) == ("UF-touch-1", False)
    assert table["last_event_age_ms"] >= 1
    (win,) = view["wins"]
    assert (win["seat"], win["hand"], win["method"]) == ("5", "four-aces", "card")
    assert (win["amount_cents"], win["envy_total_cents"]) == (800_075, 20_000)
    (line,) = win["lines"]
    assert (line["meter_before_cents"], line["meter_after_cents"]) == (800_075, 1_000_015)
    assert (line["sensor"], line["game"], line["wager_cents"]) == (
        "5A",
        "Four Card Poker Progressive",
        100,
    )
    assert win["total_cents"] == 820_075
    assert win["authorised_by"] == "Executive 2"
    assert [line["seat"] for line in win["envy"]] == [7, 2]
    page = desk.manager.view.win(1)
    assert page is not None
    assert page["tail"] == printed(desk.manager.book.tails.now())
    assert page["lines"] == [line | {"claimed_on_cents": None, "policy": "sequential"}]
    assert page["total_words"] == "Eight thousand two hundred dollars and 75/100"
    assert {name: page[name] for name in win if name != "lines"} == {
        name: value for name, value in win.items() if name != "lines"
    }
    assert desk.manager.view.win(2) is None
    assert "3A" in view["alarms"][0]["text"]


def test_a_win_of_several_spots_is_one_win_in_pay_order() -> None:
    desk = Desk()
    desk.open_table(paytable=SHARES.id, opening='"1000.00"')
    desk.start("touch-1", 1, "2A", "5A")
    desk.win("touch-1", 1, 1, s2A="nine", s5A="tenth")
    win = desk.manager.view.win(1)
    assert win is not None
    assert (win["seat"], win["hand"]) == ("5, 2", "tenth, nine")
    assert [(line["source"], line["meter_after_cents"]) for line in win["lines"]] == [
        ("meter", 90_045),
        ("tray", 90_045),
    ]


def test_the_state_of_the_latest_round_only() -> None:
    desk = Desk()
    desk.open_table()
    book = desk.manager.book
    assert (figures.award_cents(book, "touch-1", 5), figures.wager_count(book, "touch-1")) == (0, 0)
    desk.start("touch-1", 1, "2A", "5A")
    desk.win("touch-1", 1, 1, s5A="four-aces")
    desk.end("touch-1", 1)
    assert figures.award_cents(book, "touch-1", 5) == 1_000_050
    desk.start("touch-1", 2, "2A")
    assert (figures.award_cents(book, "touch-1", 5), figures.envy_cents(book, "touch-1", 2)) == (
        0,
        0,
    )
    assert figures.wager_count(book, "touch-1") == 1


def test_a_change_wakes_everyone_who_waits() -> None:
    async def main() -> None:
        desk = Desk()
        view = desk.manager.view
        waiting = [asyncio.create_task(view.changed(view.version)) for _ in range(3)]
        await asyncio.sleep(1)
        assert not any(task.done() for task in waiting)
        desk.manager.open_table(table_toml())
        assert await asyncio.gather(*waiting) == [view.version] * 3
        assert await view.changed(0) == view.version

    run_virtual(main())


def test_a_win_fixed_at_its_claim_tells_both_meters() -> None:
    """Bets at another table raise the meter between the claim and the card."""
    desk = Desk()
    desk.open_table("touch-1", freeze_claims="true")
    desk.open_table("touch-2", freeze_claims="true")
    desk.start("touch-1", 1, "5A")
    desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, _5A="four-aces"))
    desk.start("touch-2", 1, "1A", "2A")
    desk.by_card("touch-1", 1, 1)
    win = desk.manager.view.win(1)
    assert win is not None
    (line,) = win["lines"]
    assert win["frozen"]
    assert (line["claimed_on_cents"], line["meter_before_cents"]) == (1_000_025, 1_000_075)
    assert line["amount_cents"] == 1_000_025
