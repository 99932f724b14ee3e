"""From selected hands to a recorded win: confirm, J-POT, award, authority, receipt."""

from __future__ import annotations

import pytest

from controller.core.round import commands
from controller.core.round.decide import RoundState, apply, is_local
from controller.core.round.guide import Around, guide
from protocol import numbers

CARD = b"0123456789abcdef"


def confirmed(table, *hands: tuple[int, str]):
    table.start("2A", "5A", "7A")
    for seat, hand in hands:
        table.select(seat, hand)
    return table.accept(commands.confirm())


def jpot_claimed(table):
    table.start("2A", "5A")
    table.select(5, "four-aces")
    table.rules.key = "JPH"
    return table.accept(commands.jpot("JPH"))


def after_power_cut(table) -> RoundState:
    state = RoundState()
    for event in table.log:
        if not is_local(event[0]):
            apply(state, event)
    return state


def test_confirm_claims_the_hands_in_pay_order(touch):
    events = confirmed(touch, (2, "three-of-a-kind"), (7, "four-of-a-kind"), (5, "four-aces"))
    lines = [["7A", "four-of-a-kind"], ["5A", "four-aces"], ["2A", "three-of-a-kind"]]
    assert events == [(numbers.CLAIM, {1: 1, 2: 1, 3: lines, 4: False})]
    assert touch.state.phase() == "confirm"
    assert touch.state.stage() == "pricing"


def test_confirm_without_a_game_or_a_hand_is_refused(touch):
    assert "no game" in touch.refuse(commands.confirm())
    touch.start("5A")
    assert "No winning hand" in touch.refuse(commands.confirm())


def test_confirm_twice_is_refused(touch):
    confirmed(touch, (5, "four-aces"))
    assert "already confirmed" in touch.refuse(commands.confirm())


def test_a_card_authorises_a_priced_claim(touch):
    confirmed(touch, (5, "four-of-a-kind"))
    touch.award(80_000, role=1)
    assert touch.state.stage() == "authorise"
    assert touch.accept(commands.card(1, CARD)) == [
        (numbers.COMMIT, {1: 1, 2: 1, 3: numbers.METHOD_CARD, 4: CARD, 5: 1})
    ]
    assert touch.state.stage() == "recording"


def test_a_card_is_refused_before_anything_is_claimed(touch):
    assert "no win" in touch.refuse(commands.card(2, CARD))
    touch.start("5A")
    assert "no win" in touch.refuse(commands.card(2, CARD))
    touch.select(5, "four-aces")
    assert "Confirm the hands first" in touch.refuse(commands.card(2, CARD))


def test_a_card_is_refused_before_the_price_and_after_the_commit(touch):
    confirmed(touch, (5, "four-aces"))
    assert "not priced yet" in touch.refuse(commands.card(2, CARD))
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, CARD))
    assert "already authorised" in touch.refuse(commands.card(2, CARD))


def test_an_unknown_card_is_refused(touch):
    confirmed(touch, (5, "four-of-a-kind"))
    touch.award(80_000, role=1)
    assert "not known" in touch.refuse(commands.card(0, CARD))


def test_a_supervisor_card_is_refused_where_the_manager_wants_an_executive(touch):
    confirmed(touch, (5, "four-of-a-kind"))
    touch.award(80_000, role=2)
    assert "EXECUTIVE" in touch.refuse(commands.card(1, CARD))
    touch.accept(commands.card(2, CARD))


def test_a_supervisor_card_is_refused_where_the_unit_wants_an_executive(touch):
    """Catches: trusting the award's role alone (drop `max` in claims.authority_needed)."""
    confirmed(touch, (5, "four-aces"))
    touch.award(80_000, role=1)
    assert "EXECUTIVE" in touch.refuse(commands.card(1, CARD))


def test_an_amount_from_the_threshold_needs_an_executive(touch):
    confirmed(touch, (5, "four-of-a-kind"))
    touch.award(500_000, role=1)
    assert "EXECUTIVE" in touch.refuse(commands.card(1, CARD))


def test_small_fixed_pays_commit_by_themselves_when_priced(touch):
    confirmed(touch, (2, "three-of-a-kind"), (5, "three-of-a-kind"))
    events = touch.award(900, 900, role=0)
    assert [kind for kind, _body in events] == [numbers.AWARDED, numbers.COMMIT]
    assert events[1][1] == {1: 1, 2: 1, 3: numbers.METHOD_DEALER, 4: b"", 5: 0}


def test_small_fixed_pays_wait_for_a_card_when_the_manager_wants_one(touch):
    confirmed(touch, (2, "three-of-a-kind"))
    assert len(touch.award(900, role=1)) == 1
    assert touch.state.stage() == "authorise"


def test_fixed_pays_above_the_dealer_limit_wait_for_a_card(touch):
    """Catches: committing whatever the manager prices at role 0."""
    confirmed(touch, (2, "straight-flush"))
    assert len(touch.award(20_000, role=0)) == 1
    assert "SUPERVISOR" in guide(touch.state, touch.rules, Around([])).sentence
    touch.accept(commands.card(1, CARD))


def test_keypad_confirm_records_small_fixed_pays(keypad):
    events = confirmed(keypad, (2, "three-of-a-kind"))
    assert events[0][1][4] is False
    assert [kind for kind, _body in keypad.award(900, role=0)] == [numbers.AWARDED, numbers.COMMIT]


def test_keypad_confirm_sends_the_supervisor_to_the_key(keypad):
    keypad.start("2A", "5A")
    keypad.select(5, "four-aces")
    sentence = keypad.refuse(commands.confirm())
    assert sentence == "A supervisor must turn the key to JPH and press J-POT."


def test_jpot_freezes_the_claim_and_the_returning_key_commits_it(keypad):
    events = jpot_claimed(keypad)
    assert events == [(numbers.CLAIM, {1: 1, 2: 1, 3: [["5A", "four-aces"]], 4: True})]
    assert len(keypad.award(800_050, role=2, frozen=True)) == 1
    assert keypad.state.stage() == "return-key"
    assert keypad.accept(commands.key("JPH")) == []
    assert keypad.accept(commands.key("FAULT")) == []
    assert keypad.accept(commands.key("RUN")) == [
        (numbers.COMMIT, {1: 1, 2: 1, 3: numbers.METHOD_KEY, 4: b"", 5: 1})
    ]
    assert keypad.accept(commands.key("RUN")) == []


def test_a_key_that_returns_before_the_price_commits_when_it_comes(keypad):
    jpot_claimed(keypad)
    keypad.rules.key = "RUN"
    assert keypad.accept(commands.key("RUN")) == []
    events = keypad.award(800_050, role=2, frozen=True)
    assert [kind for kind, _body in events] == [numbers.AWARDED, numbers.COMMIT]


def test_jpot_is_refused_without_key_hand_or_seat(keypad):
    assert "no game" in keypad.refuse(commands.jpot("JPH"))
    keypad.start("2A", "5A")
    assert "No winning hand" in keypad.refuse(commands.jpot("JPH"))
    keypad.accept(commands.hand("four-aces"))
    assert "waits for its seat" in keypad.refuse(commands.jpot("JPH"))
    assert "waits for its seat" in keypad.refuse(commands.confirm())
    keypad.accept(commands.seat(5))
    assert "key to JPH first" in keypad.refuse(commands.jpot("RUN"))
    assert "Call service" in keypad.refuse(commands.jpot("FAULT"))
    keypad.accept(commands.jpot("JPH"))
    assert "already confirmed" in keypad.refuse(commands.jpot("JPH"))


def test_jpot_is_refused_on_a_touch_table(touch):
    touch.start("5A")
    touch.select(5, "four-aces")
    assert "CONFIRM" in touch.refuse(commands.jpot("JPH"))


def test_a_card_does_not_replace_the_key(keypad):
    jpot_claimed(keypad)
    keypad.award(800_050, role=2, frozen=True)
    assert "RUN" in keypad.refuse(commands.card(2, CARD))


def test_a_key_left_at_jph_through_a_power_cut_keeps_the_claim_waiting(keypad):
    jpot_claimed(keypad)
    keypad.award(800_050, role=2, frozen=True)
    keypad.state = after_power_cut(keypad)
    assert keypad.accept(commands.key("JPH")) == []
    assert keypad.state.stage() == "return-key"
    assert len(keypad.accept(commands.key("RUN"))) == 1


def test_a_key_turned_back_during_the_power_cut_commits_at_power_up(keypad):
    jpot_claimed(keypad)
    keypad.award(800_050, role=2, frozen=True)
    keypad.state = after_power_cut(keypad)
    keypad.rules.key = "RUN"
    assert len(keypad.accept(commands.resume())) == 1
    assert keypad.state.stage() == "recording"


def test_a_power_cut_between_award_and_dealer_commit_is_made_good(touch):
    confirmed(touch, (2, "three-of-a-kind"))
    touch.award(900, role=0)
    assert touch.log.pop()[0] == numbers.COMMIT
    touch.state = after_power_cut(touch)
    assert touch.state.stage() == "authorise"
    assert [kind for kind, _body in touch.accept(commands.resume())] == [numbers.COMMIT]
    assert touch.accept(commands.resume()) == []


def test_resume_never_authorises_what_needs_a_card(touch):
    assert touch.accept(commands.resume()) == []
    confirmed(touch, (5, "four-aces"))
    assert touch.accept(commands.resume()) == []
    touch.award(100_000, role=2)
    assert touch.accept(commands.resume()) == []


def test_cancel_returns_to_the_claim_with_the_hands_kept(touch):
    confirmed(touch, (5, "four-aces"))
    assert touch.accept(commands.cancel()) == [(numbers.CANCEL, {1: 1, 2: 1})]
    assert touch.state.phase() == "claim"
    assert touch.state.hands == [["5A", "four-aces"]]
    assert touch.accept(commands.confirm())[0][1][2] == 2, "a claim number is never used twice"


def test_cancel_works_after_the_price(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    touch.accept(commands.cancel())


def test_cancel_is_refused_without_a_confirmation(touch):
    assert "no game" in touch.refuse(commands.cancel())
    touch.start("5A")
    assert "Nothing is confirmed" in touch.refuse(commands.cancel())
    touch.select(5, "four-aces")
    assert "Nothing is confirmed" in touch.refuse(commands.cancel())


def test_cancel_is_refused_after_the_authorisation(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, CARD))
    assert "already authorised" in touch.refuse(commands.cancel())
    assert "already authorised" in touch.refuse(commands.confirm())


def test_a_jpot_claim_cannot_be_cancelled(keypad):
    jpot_claimed(keypad)
    assert "J-POT" in keypad.refuse(commands.cancel())


def test_a_repeated_award_changes_nothing(touch):
    confirmed(touch, (5, "four-aces"))
    assert len(touch.award(100_000, role=2)) == 1
    assert touch.award(100_000, role=2) == []


def test_a_new_quote_replaces_the_old_one(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    assert len(touch.award(90_000, role=2)) == 1
    assert touch.state.claim.award_lines[0][2] == 90_000


def test_an_award_after_the_commit_changes_nothing(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, CARD))
    assert touch.award(90_000, role=2) == []


def test_a_fixed_amount_cannot_be_changed(keypad):
    jpot_claimed(keypad)
    keypad.award(800_050, role=2, frozen=True)
    changed = commands.award(1, [["5A", "four-aces", 1, "main", 1]], [], 2, True)
    assert "changed the fixed amount" in keypad.refuse(changed)


def test_an_award_for_other_hands_is_refused(touch):
    confirmed(touch, (5, "four-aces"))
    other = commands.award(1, [["2A", "four-aces", 1, "main", 1]], [], 2, False)
    assert "other hands" in touch.refuse(other)
    assert "other hands" in touch.refuse(commands.award(1, [], [], 0, False))


def test_an_award_for_a_claim_that_never_was_is_refused(touch):
    confirmed(touch, (5, "four-aces"))
    assert "never made" in touch.refuse(commands.award(9, [], [], 1, False))
    assert "never made" in touch.refuse(commands.committed(9, 1, [], []))


def test_an_award_for_a_cancelled_claim_is_no_news(touch):
    confirmed(touch, (5, "four-aces"))
    touch.accept(commands.cancel())
    line = [["5A", "four-aces", 1, "main", 1]]
    assert touch.accept(commands.award(1, line, [], 1, False)) == []


def test_rows_from_the_wire_are_taken_as_they_come(touch):
    confirmed(touch, (5, "four-aces"))
    wire = commands.award(1, (("5A", "four-aces", 5, "main", 1),), (("2A", 10_000),), 2, False)
    touch.accept(wire)
    assert touch.state.claim.award_lines == [["5A", "four-aces", 5, "main", 1]]
    assert touch.state.claim.envy == [["2A", 10_000]]
    assert touch.accept(wire) == []


def test_the_receipt_settles_the_claim_and_the_round_goes_on(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, CARD))
    touch.settle(win_number=17)
    assert touch.state.phase() == "locked"
    assert touch.state.is_winner("5A")
    assert not touch.state.is_winner("2A")
    assert [win.win_number for win in touch.state.wins] == [17]
    touch.select(2, "three-of-a-kind")
    assert touch.accept(commands.confirm())[0][1][2] == 2


def test_a_repeated_receipt_changes_nothing(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, CARD))
    touch.settle()
    line = [["5A", "four-aces", 100_000, "main", 1]]
    assert touch.accept(commands.committed(1, 1, line, [])) == []


def test_a_receipt_that_nobody_authorised_is_refused(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    line = [["5A", "four-aces", 100_000, "main", 1]]
    assert "nobody authorised" in touch.refuse(commands.committed(1, 1, line, []))


def test_a_receipt_for_other_hands_is_refused(touch):
    confirmed(touch, (5, "four-aces"))
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, CARD))
    line = [["2A", "four-aces", 100_000, "main", 1]]
    assert "other hands" in touch.refuse(commands.committed(1, 1, line, []))


@pytest.mark.parametrize("link_up", [True, False])
def test_a_claim_is_made_and_authorised_with_or_without_a_link(touch, link_up):
    touch.start("2A", "5A", "7A")
    touch.rules.link_up = link_up
    touch.rules.meters_fresh = link_up
    touch.select(5, "four-aces")
    touch.accept(commands.confirm())
    assert touch.state.phase() == "confirm"


def test_an_authority_that_the_manager_refuses_is_taken_back_and_given_anew(touch):
    confirmed(touch, (5, "four-of-a-kind"))
    touch.award(80_000, role=1)
    touch.accept(commands.card(1, CARD))
    assert touch.accept(commands.authority_refused(1)) == [(numbers.CANCEL, {1: 1, 2: 1})]
    assert touch.state.phase() == "claim"
    assert touch.accept(commands.authority_refused(1)) == []
    touch.accept(commands.confirm())
    assert touch.state.claim.number == 2
    assert touch.accept(commands.authority_refused(1)) == []


def test_a_refused_authority_changes_nothing_before_a_card_or_after_j_pot(touch, keypad):
    confirmed(touch, (5, "four-of-a-kind"))
    touch.award(80_000, role=1)
    assert touch.accept(commands.authority_refused(1)) == []
    jpot_claimed(keypad)
    keypad.award(800_000, role=2, frozen=True)
    keypad.rules.key = "RUN"
    keypad.accept(commands.key("RUN"))
    assert keypad.accept(commands.authority_refused(1)) == []
    assert keypad.state.stage() == "recording"


# Catches: waiting for the price of a claim that nobody holds; such a round could not be ended.
def test_a_claim_that_the_manager_does_not_take_leaves_the_hands_selected(touch):
    confirmed(touch, (5, "four-of-a-kind"))
    assert touch.accept(commands.claim_refused(1)) == [(numbers.CANCEL, {1: 1, 2: 1})]
    assert touch.state.phase() == "claim"
    assert touch.accept(commands.claim_refused(1)) == []
    touch.accept(commands.confirm())
    assert touch.state.claim.number == 2


def test_a_j_pot_that_the_manager_does_not_take_was_never_logged(keypad):
    jpot_claimed(keypad)
    assert keypad.accept(commands.claim_refused(1)) == [(numbers.CANCEL, {1: 1, 2: 1})]
    assert keypad.state.phase() == "claim"


# Catches: a refusal that takes a priced win back; what J-POT logged under the key stands.
def test_a_claim_that_has_its_price_is_not_taken_back_by_a_refusal(touch, keypad):
    confirmed(touch, (5, "four-of-a-kind"))
    touch.award(80_000, role=1)
    assert touch.accept(commands.claim_refused(1)) == []
    jpot_claimed(keypad)
    keypad.award(800_000, role=2, frozen=True)
    assert keypad.accept(commands.claim_refused(1)) == []
