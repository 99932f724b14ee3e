"""Rounds, claims and awards in the books, to the cent and to the micro-cent."""

from __future__ import annotations

import pytest

from manager.audit.audit import audit
from manager.ledger.engines.relations import EVENTS, POSTINGS, TRANSACTIONS
from manager.ledger.errors import LedgerError
from manager.money import MICROCENTS_PER_CENT
from protocol.numbers import ROLE_DEALER, ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.wire import events
from protocol.wire.messages import Award, Committed, Error
from protocol.wire.rows import AwardLine, EnvyLine
from sim.floor import figures
from tests.kit.pretend_units import SHARES, Desk, only

CENT = MICROCENTS_PER_CENT


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table()
    return desk


def test_the_figures_of_the_four_aces(desk: Desk) -> None:
    """Meter opened at 8000.00, three bets, four aces at seat 5."""
    desk.manager.restate_opening("main", 800_000)
    desk.start("touch-1", 1, "2A", "5A", "7A")
    assert desk.shown() == 800_075
    award = desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s5A="four-aces"))
    assert award.lines == (AwardLine("5A", "four-aces", 800_075, "main", 1),)
    assert award.envy == (EnvyLine("7A", 10_000), EnvyLine("2A", 10_000))
    assert (award.role, award.frozen) == (ROLE_EXECUTIVE, False)
    committed = only(desk.by_card("touch-1", 1, 1), Committed)
    assert committed.lines == award.lines
    assert [tuple(meter) for meter in committed.meters] == [("main", 1_000_015)]
    book = desk.manager.book
    assert figures.award_cents(book, "touch-1", 5) == 800_075
    assert [figures.envy_cents(book, "touch-1", seat) for seat in (2, 5, 7)] == [10_000, 0, 10_000]
    assert figures.wager_count(book, "touch-1") == 3
    assert figures.meter_shown(book, "main") == 1_000_015
    assert audit(desk.store).sound


def test_every_step_of_the_four_aces_is_an_entry_that_balances(desk: Desk) -> None:
    desk.manager.restate_opening("main", 800_000)
    desk.start("touch-1", 1, "2A", "5A")
    desk.win("touch-1", 1, 1, s5A="four-aces")
    wagers = {
        "players": -200 * CENT,
        "meter/main/player": 50 * CENT,
        "reserve/main": 10 * CENT,
        "house/share": 140 * CENT,
    }
    assert desk.entries() == [
        ("OPENING", {"house/seed": -1_000_000 * CENT, "meter/main/house": 1_000_000 * CENT}),
        ("OPENING_RESTATED", {"house/seed": 200_000 * CENT, "meter/main/house": -200_000 * CENT}),
        ("WAGER", wagers),
        (
            "AWARD",
            {
                "meter/main/player": -50 * CENT,
                "meter/main/house": -800_000 * CENT,
                "players": 800_050 * CENT,
            },
        ),
        (
            "RESEED",
            {
                "house/seed": -1_000_000 * CENT,
                "meter/main/house": 1_000_000 * CENT,
                "reserve/main": -10 * CENT,
                "meter/main/player": 10 * CENT,
            },
        ),
        ("ENVY", {"tray/touch-1": -10_000 * CENT, "players": 10_000 * CENT}),
    ]


def test_every_entry_says_where_it_came_from(desk: Desk) -> None:
    desk.start("touch-1", 1, "2A", "5A")
    desk.win("touch-1", 1, 1, s5A="four-aces")
    references = [(r.kind, r.reference, r.origin.sequence) for r in desk.about_money()]
    wager, award = references[1], references[2]
    assert (wager[1].table_id, wager[1].round_number, wager[1].sensor) == ("touch-1", 1, "2A 5A")
    assert (award[1].sensor, award[1].claim_number) == ("5A", 1)
    assert (wager[2], award[2]) == (1, 4)  # the unit's events: start, claim, awarded, commit
    assert all(recorded.sentence for recorded in desk.about_money())


def test_a_fixed_pay_comes_from_the_tray_and_leaves_the_meter(desk: Desk) -> None:
    desk.start("touch-1", 1, "2A", "5A")
    before = desk.shown()
    committed = desk.win("touch-1", 1, 1, s5A="four-of-a-kind")
    assert committed.lines == (AwardLine("5A", "four-of-a-kind", 30_000, "", 0),)
    assert desk.shown() == before
    assert desk.store.balance("tray/touch-1") == -(30_000 + 1_000) * CENT


def test_a_fixed_pay_comes_from_the_meter_where_the_house_chose_so() -> None:
    desk = Desk()
    desk.open_table(fixed_pays_from='"meter"')
    desk.start("touch-1", 1, "5A")
    committed = desk.win("touch-1", 1, 1, s5A="four-of-a-kind")
    assert committed.lines == (AwardLine("5A", "four-of-a-kind", 30_000, "main", 1),)
    assert desk.shown() == 1_000_025 - 30_000
    assert "BELOW_SEED" in desk.alarm_codes()


def test_a_meter_that_runs_dry_is_helped_by_the_house_and_says_so() -> None:
    desk = Desk()
    desk.open_table(fixed_pays_from='"meter"', opening='"100.00"', seed='"100.00"')
    desk.start("touch-1", 1, "5A")
    desk.win("touch-1", 1, 1, s5A="four-of-a-kind")
    assert desk.shown() == 0
    assert desk.store.balance("house/shortfall") == -(30_000 - 10_025) * CENT
    assert "METER_DRY" in desk.alarm_codes()


def test_the_highest_seat_is_paid_first_whatever_the_order_of_entry() -> None:
    desk = Desk()
    desk.open_table(paytable=SHARES.id)
    desk.start("touch-1", 1, "2A", "5A", "6A")
    # The meter stands at 10000.75: a tenth to seat 6, then everything to seat 5, then a tenth.
    committed = desk.win("touch-1", 1, 1, s2A="tenth", s5A="all", s6A="tenth")
    assert [(line.sensor, line.amount_cents) for line in committed.lines] == [
        ("6A", 100_007),
        ("5A", 900_068),
        ("2A", 100_001),
    ]
    # Seat 5's award brought seed and reserve, 10000.15; seat 2 took a tenth of that.
    assert desk.shown() == 900_014
    assert audit(desk.store).sound


def test_two_percentages_in_one_round_by_two_claims_follow_one_another() -> None:
    desk = Desk()
    desk.open_table(paytable=SHARES.id, opening='"1000.00"')
    desk.start("touch-1", 1, "2A", "5A")
    first = desk.win("touch-1", 1, 1, s5A="tenth")
    second = desk.win("touch-1", 1, 2, s2A="tenth")
    assert [first.lines[0].amount_cents, second.lines[0].amount_cents] == [10_005, 9_004]


def test_remainders_stay_on_the_meter_and_come_back() -> None:
    desk = Desk()
    desk.open_table(paytable=SHARES.id, opening='"0.10"', contribution_ppm="333333", seed='"0.00"')
    desk.start("touch-1", 1, "2A", "5A", "6A")
    state = desk.manager.book.jackpots.state("main")
    assert state.total_microcents == 10 * CENT + 3 * 33_333_300
    assert desk.shown() == 109
    committed = desk.win("touch-1", 1, 1, s6A="all", s5A="all")
    # 109.9999 cents: 109 are paid, 0.9999 stays; the reserve of 15 cents comes on top.
    assert [line.amount_cents for line in committed.lines] == [109, 15]
    assert desk.manager.book.jackpots.state("main").total_microcents == 999_900


def test_envy_goes_to_every_other_seat_and_adds_up_over_hands() -> None:
    desk = Desk()
    desk.open_table(paytable=SHARES.id)
    desk.start("touch-1", 1, "1A", "2A", "5A")
    committed = desk.win("touch-1", 1, 1, s5A="all", s2A="fifty")
    assert dict(committed.envy) == {"5A": 500, "2A": 10_000, "1A": 10_500}


@pytest.mark.parametrize(
    ("hands", "role"),
    [
        ({"s1A": "three-of-a-kind"}, ROLE_DEALER),
        ({"s1A": "three-of-a-kind", "s2A": "three-of-a-kind"}, ROLE_DEALER),
        # Three times 9.00 is above the dealer's 25.00.
        ({f"s{n}A": "three-of-a-kind" for n in (1, 2, 3)}, ROLE_SUPERVISOR),
        ({"s1A": "four-of-a-kind"}, ROLE_SUPERVISOR),
        ({"s1A": "four-aces"}, ROLE_EXECUTIVE),
    ],
)
def test_the_stricter_of_level_and_amount_sets_the_role(
    desk: Desk, hands: dict[str, str], role: int
) -> None:
    desk.start("touch-1", 1, "1A", "2A", "3A")
    assert only(desk.claim("touch-1", 1, 1, False, **hands), Award).role == role


@pytest.mark.parametrize(
    ("authority", "opening", "hand", "role"),
    [
        ('"supervisor"', '"4999.00"', "all", ROLE_SUPERVISOR),
        ('"supervisor"', '"5000.00"', "all", ROLE_EXECUTIVE),
        ('"supervisor"', '"4999.00"', "nine", ROLE_DEALER),
        ('"executive"', '"100.00"', "all", ROLE_EXECUTIVE),
        ('"executive"', '"100.00"', "tenth", ROLE_EXECUTIVE),
        ('"executive"', '"100.00"', "nine", ROLE_DEALER),
    ],
)
def test_a_meters_own_authority_and_the_amount_the_stricter_wins(
    authority: str, opening: str, hand: str, role: int
) -> None:
    """Catches: a meter's authority that takes the place of the rule by amount."""
    desk = Desk()
    desk.open_table(paytable=SHARES.id, opening=opening, authority=authority)
    desk.start("touch-1", 1, "1A")
    assert only(desk.claim("touch-1", 1, 1, s1A=hand), Award).role == role


def test_a_share_needs_an_executive_from_the_amount_on() -> None:
    desk = Desk()
    desk.open_table(paytable=SHARES.id, opening='"49999.00"')
    desk.start("touch-1", 1, "1A", "2A")
    assert only(desk.claim("touch-1", 1, 1, s1A="tenth"), Award).role == ROLE_SUPERVISOR
    desk.start("touch-1", 2, "1A", "2A")
    desk.start("touch-1", 3, "1A", "2A")
    assert only(desk.claim("touch-1", 3, 2, s1A="tenth"), Award).role == ROLE_EXECUTIVE


def test_a_touch_claim_is_a_quote_and_the_value_at_the_commit_is_paid(desk: Desk) -> None:
    desk.open_table("touch-2")
    desk.start("touch-1", 1, "5A")
    award = desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s5A="four-aces"))
    desk.start("touch-2", 1, "1A", "2A")  # the linked table plays on
    committed = only(desk.by_card("touch-1", 1, 1), Committed)
    assert award.lines[0].amount_cents == 1_000_025
    assert committed.lines[0].amount_cents == 1_000_075


def test_the_opening_may_be_restated_only_before_the_first_wager(desk: Desk) -> None:
    desk.manager.restate_opening("main", 500_000)
    desk.manager.restate_opening("main", 800_000)
    assert desk.shown() == 800_000
    desk.start("touch-1", 1, "1A")
    with pytest.raises(LedgerError, match="can no longer be restated"):
        desk.manager.restate_opening("main", 900_000)
    assert desk.shown() == 800_025


@pytest.mark.parametrize("cents", [-1, 10**13])
def test_an_opening_out_of_range_is_refused(desk: Desk, cents: int) -> None:
    with pytest.raises(LedgerError, match="The opening amount is out of range"):
        desk.manager.restate_opening("main", cents)


def test_an_unknown_meter_is_refused(desk: Desk) -> None:
    with pytest.raises(LedgerError, match="no meter"):
        desk.manager.restate_opening("minor", 100)


def test_a_cancelled_claim_pays_nothing_and_its_hand_can_be_claimed_again(desk: Desk) -> None:
    desk.start("touch-1", 1, "5A")
    desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s5A="four-aces"))
    desk.say("touch-1", events.Cancel(1, 1))
    assert isinstance(desk.by_card("touch-1", 1, 1).answers[0], Error)
    assert figures.award_cents(desk.manager.book, "touch-1", 5) == 0
    committed = desk.win("touch-1", 1, 2, s5A="three-of-a-kind")
    assert committed.lines[0].amount_cents == 900


def test_a_commit_may_be_repeated_at_will(desk: Desk) -> None:
    desk.start("touch-1", 1, "5A")
    first = desk.win("touch-1", 1, 1, s5A="four-aces")
    entries = len(desk.entries())
    again = only(desk.by_card("touch-1", 1, 1), Committed)
    assert (again.win_number, again.lines) == (first.win_number, first.lines)
    assert len(desk.entries()) == entries
    assert desk.alarm_codes() == []


def test_an_opening_that_is_restated_to_what_it_is_leaves_no_entry() -> None:
    """Catches: an entry about money that moves none."""
    desk = Desk()
    desk.open_table("touch-1")
    tail = desk.store.tail()
    desk.manager.restate_opening("main", 1_000_000)
    assert desk.store.tail() == tail


def test_memory_lets_go_of_what_is_durable_and_not_needed() -> None:
    """Catches: a manager that holds every event since its start."""
    desk = Desk()
    desk.open_table("touch-1")
    desk.start("touch-1", 1, "1A")
    desk.end("touch-1", 1)
    memory = desk.store._memory
    for kept in (memory._held, memory._added, memory._committing):
        assert not any(kept.get(each.name) for each in (EVENTS, TRANSACTIONS, POSTINGS))


def test_an_opening_may_reach_its_limit_and_not_pass_it() -> None:
    """Catches: a meter that begins above what it may show, or may not begin at it."""
    desk = Desk()
    desk.open_table("touch-1", limit='"12000.00"')
    desk.manager.restate_opening("main", 1_200_000)
    assert desk.shown() == 1_200_000
    with pytest.raises(LedgerError, match="above its limit"):
        desk.manager.restate_opening("main", 1_200_001)
    assert desk.shown() == 1_200_000
