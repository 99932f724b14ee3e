"""Several awards in one round, by each policy; levels; joined seats."""

from __future__ import annotations

import re

import pytest

from kit.config import ConfigError
from kit.words.numbers import money
from protocol.wire import events
from protocol.wire.messages import Committed, Error
from tests.kit.places import DOCS
from tests.kit.pretend_books import CENT, HOUSE, LEVELS, TERMS, Books, document, game
from tests.kit.pretend_units import only


def two_levels(books: Books, policy: str, **more: object) -> None:
    """Two levels that take nothing from wagers, so that amounts are easy to follow."""
    terms = TERMS | {"contribution_ppm": 0, "reserve_ppm": 0, "award_policy": policy} | more
    jackpots = {"top": terms, "low": terms | {"opening": "50.00", "seed": "20.00"}}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))


def start(books: Books, round_number: int = 1) -> None:
    books.start("touch-1", round_number, "1A", "2A", "3A", "5A", "6A")


def test_sequential_pays_each_on_what_the_one_before_left(books: Books) -> None:
    two_levels(books, "sequential")
    start(books)
    paid = books.paid(_6A="tenth", _5A="mega", _3A="tenth", _2A="minor", _1A="fifty")
    assert paid == {"6A": 10_000, "5A": 90_000, "3A": 10_000, "2A": 5_000, "1A": 5_000}
    assert (books.shown_on("top"), books.shown_on("low")) == (90_000, 2_000)


def test_levels_keep_the_order_of_the_paytable(books: Books) -> None:
    two_levels(books, "sequential")
    rules = books.manager.book.tables.rules("touch-1")
    assert rules.meter_ids == ("top", "low")  # 1 = the top level
    with pytest.raises(ConfigError, match=r"levels\.minor: is missing"):
        books.open(document("t2", games={"A": game(LEVELS.id, mega="main")}), "t2")


def test_equal_share_divides_one_award_and_reseeds_once(books: Books) -> None:
    two_levels(books, "equal_share", opening="1000.01")
    start(books)
    paid = books.paid(_6A="mega", _5A="tenth", _3A="mega", _1A="mega")
    # 100001 cents by three leave 2 cents on the meter; then seed 100000; then a tenth of that.
    assert paid == {"6A": 33_333, "5A": 10_000, "3A": 33_333, "1A": 33_333}
    assert books.meter("top") == (0, (100_002 - 10_000) * CENT, 0)
    kinds = [kind for kind, _ in books.entries()]
    assert kinds.count("RESEED") == 1
    win = books.manager.book.wins.find(1)
    assert win is not None
    assert [line.sensor for line in win.lines] == ["6A", "5A", "3A", "1A"]  # pay order
    assert win.policies == (("top", "equal_share"),)


def test_a_share_is_not_divided_anew_in_a_second_claim(books: Books) -> None:
    two_levels(books, "equal_share")
    start(books)
    books.paid(_6A="mega")
    refusal = only(books.claim("touch-1", 1, 2, _5A="mega"), Error)
    assert "reverse that win" in refusal.sentence
    books.reverse()
    assert books.paid(3, _5A="mega", _6A="mega") == {"6A": 50_000, "5A": 50_000}


def test_each_full_pays_everyone_as_if_alone_and_books_the_rest_to_the_house(books: Books) -> None:
    two_levels(books, "each_full")
    start(books)
    paid = books.paid(_6A="mega", _5A="tenth", _3A="mega")
    assert paid == {"6A": 100_000, "5A": 10_000, "3A": 100_000}
    assert books.store.balance("house/shortfall") == -110_000 * CENT
    assert books.meter("top") == (0, 100_000 * CENT, 0)  # reseeded once
    assert "METER_DRY" not in books.alarm_codes()


def test_each_full_measures_later_claims_of_the_round_on_the_same_meter(books: Books) -> None:
    two_levels(books, "each_full", opening="1234.56")
    start(books)
    assert books.paid(_6A="tenth") == {"6A": 12_345}
    assert books.paid(2, _5A="mega") == {"5A": 123_456}
    assert books.paid(3, _3A="mega", _2A="tenth") == {"3A": 123_456, "2A": 12_345}
    # The meter paid once what was on it; the seed that came after it is untouched.
    assert books.meter("top") == (0, 100_000 * CENT, 0)
    assert books.store.balance("house/shortfall") == -(12_345 * 2 + 123_456) * CENT
    books.end("touch-1", 1)
    start(books, 2)
    assert books.paid(4, 2, _6A="mega") == {"6A": 100_000}  # another round begins anew


def test_each_full_measures_a_meter_whatever_else_the_round_won_before(books: Books) -> None:
    """Catches: an award from another meter that ends the search for this one's first."""
    two_levels(books, "each_full", opening="1234.56")
    start(books)
    books.paid(_2A="minor")
    assert books.paid(2, _6A="tenth") == {"6A": 12_345}
    assert books.paid(3, _5A="mega") == {"5A": 123_456}


@pytest.mark.parametrize("first", [{"_6A": "fifty"}, {"_6A": "fifty", "_5A": "tenth"}], ids=str)
def test_each_full_measures_before_a_fixed_pay_that_the_meter_paid_first(
    books: Books, first: dict[str, str]
) -> None:
    terms = TERMS | {"contribution_ppm": 0, "reserve_ppm": 0, "award_policy": "each_full"}
    jackpots = {"top": terms | {"fixed_pays_from": "meter"}, "low": terms}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))
    start(books)
    books.paid(**first)
    assert books.paid(2, _3A="tenth") == {"3A": 10_000}  # as in one claim with the fixed pay


def test_a_house_jackpot_pays_its_posted_prize_to_each_and_never_moves(books: Books) -> None:
    books.open(document(jackpots={"main": HOUSE}))
    start(books)
    assert books.meter() == (0, 100_000 * CENT, 0)
    assert books.paid(_6A="four-aces", _5A="four-aces") == {"6A": 100_000, "5A": 100_000}
    assert books.meter() == (0, 100_000 * CENT, 0)
    assert books.store.balance("house/prizes") == -200_000 * CENT
    assert books.store.balance("house/share") == 500 * CENT  # wagers contribute nothing


def test_fixed_pays_from_the_meter_never_go_below_zero(books: Books) -> None:
    terms = TERMS | {"fixed_pays_from": "meter", "opening": "60.00", "contribution_ppm": 0}
    books.open(document(jackpots={"main": terms}))
    start(books)
    assert books.paid(_6A="straight-flush") == {"6A": 10_000}
    assert books.meter()[:2] == (0, 0)
    assert books.store.balance("house/shortfall") == -4_000 * CENT
    assert "METER_DRY" in books.alarm_codes()


def test_joined_seats_get_no_envy_from_each_other(books: Books) -> None:
    books.open(document())
    accepted = ("1A", "2A", "3A", "5A")
    books.say("touch-1", events.RoundStart(1, accepted, (), ((2, 5),)))
    award = books.quoted(_5A="four-aces")
    assert dict(award.envy) == {"3A": 10_000, "1A": 10_000}
    books.say("touch-1", events.Cancel(1, 1))
    award = books.quoted(2, _3A="four-aces")
    assert set(dict(award.envy)) == {"5A", "2A", "1A"}


@pytest.mark.parametrize("policy", ["sequential", "equal_share", "each_full"])
def test_a_quote_and_its_commit_agree_when_nothing_happens_between(
    books: Books, policy: str
) -> None:
    two_levels(books, policy)
    start(books)
    hands = {"_6A": "mega", "_5A": "tenth", "_3A": "mega", "_2A": "minor", "_1A": "fifty"}
    award = books.quoted(**hands)
    assert only(books.by_card("touch-1", 1, 1), Committed).lines == award.lines


@pytest.mark.parametrize("policy", ["equal_share", "each_full"])
def test_a_locked_claim_is_paid_as_it_was_fixed(books: Books, policy: str) -> None:
    two_levels(books, policy, freeze_claims=True)
    start(books)
    award = books.quoted(_6A="mega", _5A="tenth", _3A="mega")
    assert award.frozen
    assert only(books.by_card("touch-1", 1, 1), Committed).lines == award.lines


@pytest.mark.parametrize("beside", ["fifty", "minor"])
def test_one_meter_that_freezes_is_enough_to_fix_a_claim(books: Books, beside: str) -> None:
    """Catches: a claim fixed only when every hand in it is paid from a meter that freezes."""
    terms = TERMS | {"contribution_ppm": 0, "reserve_ppm": 0}
    jackpots = {"top": terms | {"freeze_claims": True}, "low": terms}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))
    start(books)
    assert books.quoted(_6A="mega", _5A=beside).frozen
    books.say("touch-1", events.Cancel(1, 1))
    assert not books.quoted(2, _5A=beside).frozen


@pytest.mark.parametrize("before", ["fifty", "tenth"])
def test_a_share_is_not_divided_anew_whatever_else_is_claimed_with_it(
    books: Books, before: str
) -> None:
    """Catches: the first hand that shares nothing ends the search for those that do."""
    two_levels(books, "equal_share")
    start(books)
    books.paid(_3A="mega")
    refusal = only(books.claim("touch-1", 1, 2, _6A=before, _5A="mega"), Error)
    assert "reverse that win" in refusal.sentence


@pytest.mark.parametrize("policy", ["sequential", "equal_share", "each_full"])
def test_the_protocols_example_is_what_is_paid(books: Books, policy: str) -> None:
    """Catches: a page from which somebody else's manager would pay other amounts than ours."""
    two_levels(books, policy)
    start(books)
    paid = books.paid(_6A="tenth", _5A="mega", _3A="mega", _2A="tenth")
    page = (DOCS / "protocol.md").read_text(encoding="utf-8")
    (said,) = re.findall(rf"^\| `{policy}` \| (.+) \|$", page, re.MULTILINE)
    assert said == ", ".join(money(paid[sensor]) for sensor in ("6A", "5A", "3A", "2A"))


def test_sequential_measures_a_later_claim_on_what_the_first_one_left(books: Books) -> None:
    """Catches: a second winner of the round who is measured on the first one's meter.

    And: a meter that the round has emptied twice, and that was reseeded once.
    """
    two_levels(books, "sequential", opening="1234.56")
    start(books)
    assert books.paid(1, _6A="mega") == {"6A": 123_456}
    assert books.paid(2, _5A="mega") == {"5A": 100_000}
    assert books.paid(3, _3A="tenth") == {"3A": 10_000}
    assert [kind for kind, _ in books.entries()].count("RESEED") == 2
    assert books.shown_on("top") == 90_000
    assert books.store.balance("house/shortfall") == 0


@pytest.mark.parametrize("policy", ["sequential", "equal_share", "each_full"])
@pytest.mark.parametrize("hand", ["tenth", "fifty"])
def test_only_who_takes_it_all_brings_a_reseed(books: Books, policy: str, hand: str) -> None:
    """Catches: a seed that the house gives although the jackpot was not won."""
    two_levels(books, policy)
    start(books)
    books.paid(_6A=hand, _2A="minor")
    reseeds = [moved for kind, moved in books.entries() if kind == "RESEED"]
    assert [set(moved) & {"meter/top/house", "meter/low/house"} for moved in reseeds] == [
        {"meter/low/house"}
    ]
    assert books.shown_on("top") == (90_000 if hand == "tenth" else 100_000)
    assert books.shown_on("low") == 2_000


def test_a_posted_prize_is_never_reseeded_by_several_claims(books: Books) -> None:
    terms = HOUSE | {"award_policy": "each_full"}
    books.open(document(jackpots={"main": terms}))
    start(books)
    for number, sensor in enumerate(("6A", "5A"), start=1):
        assert books.paid(number, **{f"_{sensor}": "four-aces"}) == {sensor: 100_000}
    assert "RESEED" not in [kind for kind, _ in books.entries()]
    assert books.meter() == (0, 100_000 * CENT, 0)


def test_a_fall_below_the_seed_is_told_once(books: Books) -> None:
    """Catches: an alarm at every award after it, or none at all."""
    two_levels(books, "sequential", opening="1050.00")
    start(books)
    codes = []
    for number, sensor in enumerate(("6A", "5A", "3A"), start=1):
        books.paid(number, **{f"_{sensor}": "tenth"})
        codes.append(books.alarm_codes().count("BELOW_SEED"))
    assert codes == [1, 1, 1]
    assert "METER_DRY" not in books.alarm_codes()


def test_an_award_that_leaves_the_seed_exactly_is_no_news(books: Books) -> None:
    two_levels(books, "sequential", opening="1111.11", seed="1000.00")
    start(books)
    books.paid(_6A="tenth")
    assert books.shown_on("top") == 100_000
    assert "BELOW_SEED" not in books.alarm_codes()
