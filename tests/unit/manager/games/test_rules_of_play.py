"""Every statement of the rules of play in the documents, settled to the cent."""

from __future__ import annotations

import random

import pytest

from manager.games import load_paytable
from manager.games.evaluators.plain import hands_made
from manager.games.rules import (
    RuleError,
    Settled,
    cover_all,
    crazy_4,
    face_up_pai_gow,
    four_card,
    high_five,
    i_luv_suits,
)
from manager.games.rules.settlement import LOSE, pay_hand
from tests.kit.playing_cards import parse_cards

FOUR_CARD = four_card.Paytables(
    automatic_bonus=load_paytable("four-card/automatic-bonus/FCP-01"),
    aces_up=load_paytable("four-card/aces-up/FCP-01"),
    bad_beat=load_paytable("four-card/bad-beat/BBB-01"),
)
CRAZY_4 = crazy_4.Paytables(
    super_bonus=load_paytable("crazy-4/super-bonus/C4P-09"),
    queens_up=load_paytable("crazy-4/queens-up/C4P-09"),
    bad_beat=load_paytable("crazy-4/bad-beat/BBB-02"),
)
TRIPS = load_paytable("high-five/trips/APP-01")
SUITS = i_luv_suits.Paytables(
    flush_rush=load_paytable("i-luv-suits/flush-rush/1"),
    super_flush_rush=load_paytable("i-luv-suits/super-flush-rush/1"),
)
PAI_GOW = face_up_pai_gow.Paytables(
    fortune_bonus=load_paytable("face-up-pai-gow/fortune-bonus/1"),
    ace_high=load_paytable("face-up-pai-gow/ace-high/1"),
)


def gain_cents(bet: Settled) -> int:
    """What the player won; a lost wager is negative."""
    return -bet.wager_cents if bet.outcome == LOSE else bet.pay_cents


def outcomes(settled: list[Settled]) -> dict[str, tuple[str, int]]:
    return {bet.bet: (bet.outcome, gain_cents(bet)) for bet in settled}


class TestFourCard:
    WAGERS = four_card.Wagers(ante_cents=500, play_cents=1500, aces_up_cents=100)

    def settle(
        self, player: str, dealer: str, wagers: four_card.Wagers
    ) -> dict[str, tuple[str, int]]:
        settled = four_card.settle(parse_cards(player), parse_cards(dealer), wagers, FOUR_CARD)
        return outcomes(settled)

    def test_a_higher_hand_wins_play_and_ante(self) -> None:
        found = self.settle("9c 9d 4h 5s 2c", "Ac Kd Jh 8s 6c 3d", self.WAGERS)
        assert found["play"] == ("win", 1500)
        assert found["ante"] == ("win", 500)
        assert found["aces-up"] == ("lose", -100)

    def test_the_player_wins_ties_over_the_entire_four_cards(self) -> None:
        found = self.settle("Ac Kd Jh 8s 2c", "Ad Kc Jd 8h 3c 2d", self.WAGERS)
        assert found["ante"] == ("win", 500)

    def test_a_higher_dealer_hand_takes_both(self) -> None:
        found = self.settle("Ac Kd Jh 8s 2c", "3c 3d 9h 5s 6c 7d", self.WAGERS)
        assert found["play"] == ("lose", -1500)

    def test_the_automatic_bonus_is_paid_even_if_the_hand_loses(self) -> None:
        found = self.settle("3c 3d 3h 8s 2c", "4c 4d 4h 5s 6c 7d", self.WAGERS)
        assert found["ante"] == ("lose", -500)
        assert found["automatic-bonus"] == ("win", 1000)

    def test_folding_forfeits_the_ante_but_not_aces_up(self) -> None:
        wagers = four_card.Wagers(ante_cents=500, aces_up_cents=100, bad_beat_cents=100)
        found = self.settle("Ac Ad 3h 8s 2c", "4c 4d 4h 5s 6c 7d", wagers)
        assert found == {
            "ante": ("lose", -500),
            "aces-up": ("win", 100),
            "bad-beat": ("lose", -100),
        }

    def test_aces_up_alone(self) -> None:
        wagers = four_card.Wagers(aces_up_cents=100)
        assert self.settle("Kc Kd 3h 8s 2c", "4c 4d 4h 5s 6c 7d", wagers) == {
            "aces-up": ("lose", -100)
        }

    def test_a_bad_beat_pays_by_the_hand_beaten_on_either_side(self) -> None:
        wagers = four_card.Wagers(ante_cents=500, play_cents=500, bad_beat_cents=100)
        lost = self.settle("3c 3d 5h 5s 2c", "4c 4d 4h 6s 7c 9d", wagers)
        assert lost["bad-beat"] == ("win", 400)
        won = self.settle("4c 4d 4h 6s 7c", "5c 6d 7h 8s Kc Qd", wagers)
        assert won["bad-beat"] == ("win", 1500)
        tied = self.settle("3c 3d 5h 5s 2c", "3h 3s 5c 5d 9c 8d", wagers)
        assert tied["bad-beat"] == ("lose", -100)
        assert tied["ante"] == ("win", 500)

    @pytest.mark.parametrize("play_cents", [499, 1501])
    def test_play_is_one_to_three_times_the_ante(self, play_cents: int) -> None:
        wagers = four_card.Wagers(ante_cents=500, play_cents=play_cents)
        with pytest.raises(RuleError, match="1 to 3 times"):
            self.settle("3c 3d 5h 5s 2c", "4c 4d 4h 6s 7c 9d", wagers)

    def test_a_wrong_number_of_cards_voids_all_hands(self) -> None:
        with pytest.raises(RuleError, match="all hands are void"):
            self.settle("3c 3d 5h 5s 2c", "4c 4d 4h 6s 7c", self.WAGERS)
        with pytest.raises(RuleError, match="dealt twice"):
            self.settle("3c 3d 5h 5s 2c", "3c 4d 4h 6s 7c 9d", self.WAGERS)
        with pytest.raises(RuleError, match="not in this game's deck"):
            self.settle("3c 3d 5h 5s 2c", "Jk 4d 4h 6s 7c 9d", self.WAGERS)

    def test_a_bet_is_needed(self) -> None:
        with pytest.raises(RuleError, match="must bet"):
            self.settle("3c 3d 5h 5s 2c", "4c 4d 4h 6s 7c 9d", four_card.Wagers())
        with pytest.raises(RuleError, match="negative"):
            four_card.settle(
                parse_cards("3c 3d 5h 5s 2c"),
                parse_cards("4c 4d 4h 6s 7c 9d"),
                four_card.Wagers(ante_cents=-1),
                FOUR_CARD,
            )

    def test_the_simple_strategy(self) -> None:
        assert four_card.choose_play(parse_cards("Tc Td 2h 3s 4c")) == 3
        assert four_card.choose_play(parse_cards("3c 3d Kh 9s 5c")) == 1
        assert four_card.choose_play(parse_cards("2c 2d Kh 9s 5c")) == 0


class TestCrazy4:
    def settle(
        self, player: str, dealer: str, play_cents: int, bad_beat_cents: int = 0
    ) -> dict[str, tuple[str, int]]:
        wagers = crazy_4.Wagers(500, 500, play_cents, 100, bad_beat_cents)
        settled = crazy_4.settle(parse_cards(player), parse_cards(dealer), wagers, CRAZY_4)
        return outcomes(settled)

    def test_an_unqualified_dealer_pushes_the_ante_and_pays_play(self) -> None:
        found = self.settle("Kc Qd 8h 4s 2c", "Qc Jd 9h 5s 3c", 500)
        assert found["play"] == ("win", 500)
        assert found["ante"] == ("push", 0)
        assert found["super-bonus"] == ("push", 0)

    def test_the_super_bonus_compares_hands_also_against_an_unqualified_dealer(self) -> None:
        found = self.settle("Jc Td 8h 4s 2c", "Qc Jd 9h 5s 3c", 500)
        assert found["play"] == ("win", 500)
        assert found["super-bonus"] == ("lose", -500)

    def test_king_high_qualifies(self) -> None:
        found = self.settle("Ac Qd 8h 4s 2c", "Kc 7d 6h 3s 2d", 500)
        assert found["ante"] == ("win", 500)
        assert found["play"] == ("win", 500)

    def test_a_lost_straight_still_gets_its_super_bonus(self) -> None:
        found = self.settle("5c 6d 7h 8s 2c", "9c 9d 9h 4s 3c", 1500)
        assert found["ante"] == ("lose", -500)
        assert found["play"] == ("lose", -1500)
        assert found["super-bonus"] == ("win", 500)

    def test_the_flush_pays_three_to_two(self) -> None:
        assert self.settle("2c 6c 8c Jc 3d", "Kh 7d 6h 3s 2d", 500)["super-bonus"] == ("win", 750)

    def test_a_tie_pushes(self) -> None:
        found = self.settle("Kc Qd 8h 4s 2c", "Kd Qc 8s 4h 3c", 500)
        assert found["play"] == found["ante"] == found["super-bonus"] == ("push", 0)

    def test_folding_loses_ante_and_super_bonus(self) -> None:
        found = self.settle("Qc Qd 8h 4s 2c", "Kd Jc 8s 4h 3c", 0)
        assert found["ante"] == ("lose", -500)
        assert found["super-bonus"] == ("lose", -500)
        assert found["queens-up"] == ("win", 100)
        assert "play" not in found

    def test_three_times_needs_a_pair_of_aces(self) -> None:
        self.settle("Ac Ad 8h 4s 2c", "Kd Jc 8s 4h 3c", 1500)
        with pytest.raises(RuleError, match="must equal the ANTE"):
            self.settle("Kc Kd 8h 4s 2c", "Qd Jc 8s 4h 3c", 1000)

    def test_the_two_mandatory_bets_are_equal(self) -> None:
        with pytest.raises(RuleError, match="compulsory"):
            crazy_4.settle(
                parse_cards("Kc Kd 8h 4s 2c"),
                parse_cards("Qd Jc 8s 4h 3c"),
                crazy_4.Wagers(500, 400),
                CRAZY_4,
            )

    def test_straight_flush_or_higher_beaten(self) -> None:
        found = self.settle("9c 9d 9h 9s 2c", "5d 6d 7d 8d 3c", 500, 100)
        assert found["bad-beat"] == ("win", 100_000)

    def test_the_simple_strategy(self) -> None:
        assert crazy_4.choose_play(parse_cards("Ac Ad 8h 4s 2c")) == 3
        assert crazy_4.choose_play(parse_cards("Kc Qd 8h 4s 2c")) == 1
        assert crazy_4.choose_play(parse_cards("Kc Qd 8h 3s 2c")) == 0


class TestHighFive:
    def settle(self, player: str, dealer: str, play_cents: int) -> dict[str, tuple[str, int]]:
        wagers = high_five.Wagers(500, play_cents, 100)
        settled = high_five.settle(parse_cards(player), parse_cards(dealer), wagers, TRIPS)
        return outcomes(settled)

    def test_an_unqualified_dealer_pays_the_ante_and_pushes_play(self) -> None:
        found = self.settle("7c 7d 2h 3s 9c Td Kh", "5c 5d 2s 3h 8c 9d Ks", 500)
        assert found["ante"] == ("win", 500)
        assert found["play"] == ("push", 0)
        assert found["trips"] == ("lose", -100)

    def test_a_straight_wins_play_too(self) -> None:
        found = self.settle("7c 8d 9h Ts Jc 2d 2h", "5c 5d 2s 3h 8c 9d Ks", 500)
        assert found["play"] == ("win", 500)
        assert found["trips"] == ("win", 200)

    def test_a_pair_of_sixes_qualifies(self) -> None:
        found = self.settle("7c 7d 2h 3s 9c Td Kh", "6c 6d 2s 3h 8c 9d Ks", 500)
        assert found["ante"] == found["play"] == ("win", 500)
        lost = self.settle("4c 4d 2h 3s 9c Td Kh", "6c 6d 2s 3h 8c 9d Ks", 500)
        assert lost["ante"] == lost["play"] == ("lose", -500)

    def test_a_tie_pushes_ante_and_play(self) -> None:
        found = self.settle("7c 7d 2h 3s 9c Td Kh", "7h 7s 2s 3h 9d Tc Ks", 500)
        assert found["ante"] == found["play"] == ("push", 0)

    def test_trips_wins_on_a_folded_hand(self) -> None:
        found = self.settle("7c 7d 7h 3s 9c Td Kh", "6c 6d 2s 3h 8c 9d Ks", 0)
        assert found == {"ante": ("lose", -500), "trips": ("win", 100)}

    def test_the_joker_is_an_ace(self) -> None:
        found = self.settle("Jk Ad Ah 3s 3c Td Kh", "6c 6d 2s 4h 8c 9d Ks", 500)
        assert found["trips"] == ("win", 2000)

    def test_play_equals_the_ante(self) -> None:
        with pytest.raises(RuleError, match="equal the ANTE"):
            self.settle("7c 7d 7h 3s 9c Td Kh", "6c 6d 2s 3h 8c 9d Ks", 600)
        with pytest.raises(RuleError, match="ANTE"):
            high_five.settle(
                parse_cards("7c 7d 7h 3s 9c Td Kh"),
                parse_cards("6c 6d 2s 3h 8c 9d Ks"),
                high_five.Wagers(0),
                TRIPS,
            )

    def test_the_simple_strategy(self) -> None:
        assert high_five.choose_play(parse_cards("7c 7d 2h 3s 9c Td Kh")) == 1
        assert high_five.choose_play(parse_cards("7c 5d 2h 3s 9c Td Kh")) == 0


class TestILuvSuits:
    DEALER = "9c 4c 2c Ad Kd Qh Js"

    def settle(self, player: str, dealer: str, play_cents: int) -> dict[str, tuple[str, int]]:
        wagers = i_luv_suits.Wagers(500, play_cents, 100, 100)
        settled = i_luv_suits.settle(parse_cards(player), parse_cards(dealer), wagers, SUITS)
        return outcomes(settled)

    def test_the_documents_example(self) -> None:
        found = self.settle("Ac 7c 3c 2d 4d 5h 6s", "Ah Th 7h 2s 3s 4c 5d", 500)
        assert found["ante"] == found["play"] == ("lose", -500)

    def test_a_longer_flush_wins(self) -> None:
        found = self.settle("2h 3h 5h 8h Ac Kc Qs", self.DEALER, 500)
        assert found["ante"] == found["play"] == ("win", 500)
        assert found["flush-rush"] == ("win", 100)
        assert found["super-flush-rush"] == ("lose", -100)

    def test_a_copied_hand_pushes(self) -> None:
        found = self.settle("9d 4d 2d As Ks Qc Jh", "9c 4c 2c Ad Kd Qh Js", 500)
        assert found["ante"] == found["play"] == ("push", 0)

    def test_three_cards_nine_high_qualify(self) -> None:
        unqualified = self.settle("Td 4d 2d As Ks Qc Jh", "8c 4c 2c Ad Kd Qh Js", 500)
        assert unqualified["play"] == ("push", 0)
        assert unqualified["ante"] == ("win", 500)
        qualified = self.settle("8d 4d 2d As Ks Qc Jh", self.DEALER, 500)
        assert qualified["ante"] == ("lose", -500)

    def test_play_grows_with_the_flush(self) -> None:
        with pytest.raises(RuleError, match="equal the ANTE"):
            self.settle("2h 3h 5h 8h Ac Kc Qs", self.DEALER, 1000)
        self.settle("2h 3h 5h 8h Th Kc Qs", self.DEALER, 1000)
        with pytest.raises(RuleError, match="1 to 2 times"):
            self.settle("2h 3h 5h 8h Th Kc Qs", self.DEALER, 1500)
        self.settle("2h 3h 5h 8h Th Kh 6s", self.DEALER, 1500)

    def test_bonus_bets_stay_in_action_when_the_player_folds(self) -> None:
        found = self.settle("2h 3h 4h 8s Ts Kc 6s", self.DEALER, 0)
        assert found == {
            "ante": ("lose", -500),
            "flush-rush": ("lose", -100),
            "super-flush-rush": ("win", 700),
        }

    def test_the_game_begins_with_an_ante(self) -> None:
        with pytest.raises(RuleError, match="ANTE"):
            i_luv_suits.settle(
                parse_cards("2h 3h 4h 8s Ts Kc 6s"),
                parse_cards(self.DEALER),
                i_luv_suits.Wagers(0),
                SUITS,
            )

    def test_the_simple_strategy(self) -> None:
        assert i_luv_suits.choose_play(parse_cards("2h 3h 5h 8h Th Kh 6s")) == 3
        assert i_luv_suits.choose_play(parse_cards("9d 4d 2d As Ks Qc Jh")) == 1
        assert i_luv_suits.choose_play(parse_cards("8d 4d 2d As Ks Qc Jh")) == 0


class TestFaceUpPaiGow:
    DEALER = face_up_pai_gow.SetHand(parse_cards("Kc Kd 9h 5s 3c"), parse_cards("Qd Js"))
    PAI_GOW_DEALER = face_up_pai_gow.SetHand(parse_cards("Ac Jd 9h 5s 3c"), parse_cards("Qd Ts"))

    def settle(
        self, five: str, two: str, dealer: face_up_pai_gow.SetHand, ace_high_cents: int = 100
    ) -> dict[str, tuple[str, int]]:
        player = face_up_pai_gow.SetHand(parse_cards(five), parse_cards(two))
        wagers = face_up_pai_gow.Wagers(1000, 500, ace_high_cents)
        return outcomes(face_up_pai_gow.settle(player, dealer, wagers, PAI_GOW))

    def test_both_hands_higher_win_without_commission(self) -> None:
        found = self.settle("Ad As 8h 5d 2c", "Kh 7s", self.DEALER)
        assert found["main"] == ("win", 1000)
        assert found["ace-high"] == ("lose", -100)

    def test_one_hand_higher_pushes(self) -> None:
        assert self.settle("Ad As 8h 5d 2c", "Th 7s", self.DEALER)["main"] == ("push", 0)

    def test_copies_go_to_the_dealer(self) -> None:
        assert self.settle("Kh Ks 9d 5h 3d", "Qh Jd", self.DEALER)["main"] == ("lose", -1000)

    def test_everything_pushes_on_the_dealers_ace_high_pai_gow(self) -> None:
        found = self.settle("2d 2s 8h 7d 4c", "Kh 7s", self.PAI_GOW_DEALER)
        assert found["main"] == ("push", 0)
        assert found["ace-high"] == ("win", 800)

    def test_both_ace_high(self) -> None:
        found = self.settle("Ad Js 8h 6d 4c", "Kh 7s", self.PAI_GOW_DEALER)
        assert found["ace-high"] == ("win", 2000)

    def test_the_dealers_ace_high_with_the_joker(self) -> None:
        dealer = face_up_pai_gow.SetHand(parse_cards("Jk Jd 8c 5s 3c"), parse_cards("Kd 6s"))
        assert self.settle("2d 2s 8h 7d 4c", "Kh 7s", dealer)["ace-high"] == ("win", 1000)

    def test_three_pair_pushes_the_fortune_bonus(self) -> None:
        found = self.settle("Ad As 8h 8d 2c", "4h 4s", self.DEALER)
        assert found["fortune-bonus"] == ("push", 0)

    def test_a_foul_hand_loses_and_a_foul_dealer_sets_again(self) -> None:
        foul = self.settle("Kh 8h 5d 2c 4s", "Ad 7s", self.DEALER)
        assert foul["main"] == ("lose", -1000)
        upside_down = face_up_pai_gow.SetHand(parse_cards("9h 5s 3c Qd Js"), parse_cards("Kc Kd"))
        with pytest.raises(RuleError, match="set it again"):
            self.settle("Ad As 8h 5d 2c", "Kh 7s", upside_down)

    def test_envy_goes_to_every_other_lammer(self) -> None:
        hands = {
            1: parse_cards("9c 9d 9h 9s 2c 3d 4h"),
            2: parse_cards("5c 5d 5h 5s 2d 3h 4s"),
            3: parse_cards("Ac Kd Jh 8s 6c 2h 7d"),
            4: parse_cards("Ad Kc Jd 8h 6d 2s 7h"),
        }
        wagers = {1: 500, 2: 0, 3: 500, 4: 499}
        sheet = face_up_pai_gow.envy_sheet(PAI_GOW.fortune_bonus, hands, wagers)
        assert sheet == {1: 500, 3: 1000}

    def test_what_is_not_offered_is_refused(self) -> None:
        player = face_up_pai_gow.SetHand(parse_cards("Ad As 8h 5d 2c"), parse_cards("Kh 7s"))
        tables = face_up_pai_gow.Paytables(PAI_GOW.fortune_bonus)
        with pytest.raises(RuleError, match="does not offer"):
            face_up_pai_gow.settle(player, self.DEALER, face_up_pai_gow.Wagers(100, 0, 100), tables)
        with pytest.raises(RuleError, match="comes first"):
            face_up_pai_gow.settle(player, self.DEALER, face_up_pai_gow.Wagers(0), tables)

    def test_the_simple_setting_is_never_foul(self) -> None:
        generator = random.Random(3)
        for _ in range(40):
            chosen = face_up_pai_gow.choose_setting(tuple(generator.sample(range(53), 7)))
            assert not chosen.is_foul
        two_pair = face_up_pai_gow.choose_setting(parse_cards("Ac Ad 8h 8s 2c 3d 9h"))
        assert sorted(two_pair.two) == sorted(parse_cards("8h 8s"))


class TestCoverAll:
    HANDS = (
        "2c 3d 5h 9s Kc",
        "4c 4d 4h 9c Kd",
        "5c 6d 7h 8s 9d",
    )

    def test_only_the_highest_hand_pays(self) -> None:
        hands = [parse_cards(hand) for hand in self.HANDS]
        assert gain_cents(cover_all.settle(hands, 100)) == 1700
        assert gain_cents(cover_all.settle(hands[:2], 100)) == 900

    def test_less_than_three_of_a_kind_loses(self) -> None:
        hands = [parse_cards("2c 2d 5h 9s Kc"), parse_cards("4c 4d 3h 9c Kd")]
        assert gain_cents(cover_all.settle(hands, 100)) == -100

    def test_the_number_of_hands_is_limited(self) -> None:
        with pytest.raises(RuleError, match="2 to 8 hands"):
            cover_all.settle([parse_cards(self.HANDS[0])], 100)


def test_a_meter_pay_is_not_settled_on_the_felt() -> None:
    jackpot = load_paytable("four-card/progressive/Pays-1")
    with pytest.raises(RuleError, match="ledger"):
        pay_hand("progressive", 100, jackpot.hand("four-aces"))
    # 9 for 1: the wager was taken, eight wagers are gained.
    assert gain_cents(pay_hand("progressive", 100, jackpot.hand("three-of-a-kind"))) == 800
    assert "three-of-a-kind" in hands_made("four-card", parse_cards("3c 3d 3h 8s 2c"))
