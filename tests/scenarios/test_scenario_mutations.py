"""A scenario suite that cannot fail proves nothing: each safety property is broken here on purpose.

Each mutation is small and plausible. The named scenarios must fail under it, and they all pass
without it (`test_scenarios`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.core.felt import spot
from controller.core.round import apply, claims, commands, entry, lock, payout
from controller.core.round.decide import decide, is_local
from controller.felt.ic_watch import IcWatch
from controller.inputs.cards import SwipedCards
from controller.inputs.presses import Presses
from controller.keeper import RoundKeeper, _refused_event
from controller.link.link import ManagerLink
from controller.table.answer import Answer
from hal import aio
from manager.intake.intake import Intake, Outcome
from manager.ledger import book
from manager.ledger.store.entries import EventSource
from protocol import numbers
from sim.runs.scenario.command import play_text
from sim.runs.scenario.verdict import Failure

FOLDER = Path(__file__).parent


def play(name: str) -> None:
    play_text((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


def must_fail(*names: str) -> None:
    for name in names:
        with pytest.raises(Failure):
            play(name)


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Callable[[object, str, Any], None]:
    def change(where: object, name: str, mutant: Any) -> None:
        assert hasattr(where, name), f"nothing is called {name} any more: mend this mutation"
        monkeypatch.setattr(where, name, mutant)

    return change


Mutate = Callable[[object, str, Any], None]

# What remains when the unit itself no longer looks at the card: confirm again, with a better one.
SECOND_OPINION = """
table four-card-touch
place 2
place 5
press START
press SEAT 5
press HAND four-aces
press CONFIRM
expect state confirm
swipe SUPERVISOR
expect refused
expect state claim
expect award 5 0.00
press CONFIRM
expect state confirm
swipe EXECUTIVE
expect state locked
expect award 5 10000.50
expect meter main 10000.10
press TICK 5
press TICK 2
press END
expect state open
"""


# --- durability -----------------------------------------------------------------------------


def test_lighting_before_journaling_is_noticed(mutate: Mutate) -> None:
    async def act_then_journal(
        self: RoundKeeper, rules: Any, command: tuple[Any, ...], spoken: str
    ) -> Answer:
        happened, refusal = decide(self.state, rules, command)
        for kind, body in happened:
            self._apply(kind, body, self._wall_ms())
        self._announce(Answer(True, ""), "")
        await aio.sleep_ms(50)
        durable = [event for event in happened if not is_local(event[0])]
        await self._make_durable(durable + ([_refused_event(spoken, refusal)] if refusal else []))
        return Answer(not refusal, refusal)

    mutate(RoundKeeper, "_decide_and_act", act_then_journal)
    must_fail("touch-power-cut-just-after-start", "touch-power-cut-just-after-confirm")


def test_a_round_that_is_not_resumed_is_noticed(mutate: Mutate) -> None:
    async def forget(self: RoundKeeper) -> None:
        return

    mutate(RoundKeeper, "restore", forget)
    must_fail("touch-power-cut-locked", "keypad-power-cut-hand-selected")


def test_a_unit_that_does_not_take_the_step_it_owes_after_a_restart_is_noticed(
    mutate: Mutate,
) -> None:
    mutate(claims, "_automatic_commit", lambda *_: [])
    must_fail("keypad-power-cut-key-turned-in-the-dark", "keypad-four-aces")


# --- exactly once ---------------------------------------------------------------------------


def test_events_sent_again_change_nothing(mutate: Mutate) -> None:
    """Not a mutant that must fail: the manager has to recognise what it has already taken in."""
    _mutate_to_resend(mutate)
    play("touch-link-cut-at-every-step")
    play("keypad-power-cut-at-every-step")


def test_a_manager_that_takes_an_event_twice_is_noticed(mutate: Mutate) -> None:
    _mutate_to_resend(mutate)

    def take_always(self: Intake, unit_id: str, event: Any) -> Outcome:
        unit = self._units.get(unit_id)
        origin = EventSource(
            unit_id, event.sequence, event.monotonic_ms, event.wall_ms, event.digest
        )
        outcome = self._apply(unit, origin, event)
        outcome.acked_sequence = event.sequence
        return outcome

    mutate(Intake, "_take_one", take_always)
    must_fail("touch-link-cut-at-every-step", "keypad-link-cut-at-every-step")


def _mutate_to_resend(mutate: Mutate) -> None:
    adopt = ManagerLink._adopt

    async def adopt_and_resend(self: ManagerLink, welcome: Any) -> None:
        await adopt(self, welcome)
        self._sent_sequence = 0

    mutate(ManagerLink, "_adopt", adopt_and_resend)


# --- the lock -------------------------------------------------------------------------------


def test_accepting_a_chip_in_transition_is_noticed(mutate: Mutate) -> None:
    def keep(self: spot.Spot, now_ms: int) -> int:
        return spot.ACCEPT if self.presence == spot.PRESENT else spot.EMPTY

    mutate(spot.Spot, "verdict_at_lock", keep)
    must_fail("touch-chip-50ms-before-start", "keypad-chip-50ms-before-coin-in")


def test_locking_on_an_old_reading_is_noticed(mutate: Mutate) -> None:
    async def trust_the_last_reading(self: IcWatch) -> None:
        return

    mutate(IcWatch, "look_now", trust_the_last_reading)
    must_fail("fault-lost-interrupt-at-start")


def test_a_late_chip_that_joins_the_bets_is_noticed(mutate: Mutate) -> None:
    late_change = apply.CHANGES[numbers.LATE_CHANGE]

    def join(state: Any, body: dict[int, Any]) -> None:
        late_change(state, body)
        if body[3] and body[2] not in state.accepted:
            state.accepted.append(body[2])

    mutate(apply, "CHANGES", {**apply.CHANGES, numbers.LATE_CHANGE: join})
    must_fail("touch-late-chip-added")


def test_a_start_without_a_link_is_noticed(mutate: Mutate) -> None:
    mutate(lock, "_why_not_started", lambda *_: "")
    must_fail(
        "touch-link-cut-open",
        "touch-start-twice",
        "keypad-coin-in-with-the-key-at-jph",
        "keypad-key-contacts-disagree",
    )


def test_taking_all_buttons_at_once_is_noticed(mutate: Mutate) -> None:
    async def alone(self: Presses, button: str, beside: object = (), act: object = None) -> Answer:
        return await self.pressed(button)

    mutate(Presses, "press", alone)
    must_fail("touch-all-buttons-at-once")


# --- sensing --------------------------------------------------------------------------------


def test_a_failed_read_that_counts_as_empty_is_noticed(mutate: Mutate) -> None:
    def as_empty(self: spot.Spot, reason: str, now_ms: int) -> bool:
        return self._become(spot.ABSENT, "", True, now_ms)

    mutate(spot.Spot, "fault", as_empty)
    must_fail("fault-sensing-ic-silent", "fault-sensing-ic-silent-in-a-game")


def test_learning_the_felt_anew_after_a_reset_is_noticed(mutate: Mutate) -> None:
    recover = IcWatch._bring_up

    async def learn(self: IcWatch) -> None:
        if self._started:
            await self._ic.recover()
            self._references = [reading.raw for reading in await self._ic.snapshot()]
        await recover(self)

    mutate(IcWatch, "_bring_up", learn)
    must_fail("fault-sensing-ic-reset-open", "fault-over-current")


# --- winning --------------------------------------------------------------------------------


def test_any_card_for_any_win_is_noticed(mutate: Mutate) -> None:
    """The manager judges for itself and refuses the wrong card all the same; nothing is paid."""
    mutate(claims, "authority_needed", lambda *_: numbers.ROLE_SUPERVISOR)
    must_fail("touch-wrong-card")
    play_text(SECOND_OPINION)


def test_a_hand_that_changes_after_confirm_is_noticed(mutate: Mutate) -> None:
    mutate(entry, "_why_not_now", lambda _state: "")
    must_fail("touch-hand-changed-after-confirm", "keypad-jpot-cannot-be-cancelled")


def test_an_end_with_an_unpaid_win_is_noticed(mutate: Mutate) -> None:
    mutate(lock, "_WHY_NOT_ENDED", {})
    must_fail("touch-end-with-a-hand-unconfirmed", "keypad-four-aces")


def test_a_meter_that_moves_before_the_key_is_back_is_noticed(mutate: Mutate) -> None:
    automatic = claims._automatic_commit

    def at_once(state: Any, rules: Any, claim: Any, _key: str, lines: Any, role: int) -> Any:
        return automatic(state, rules, claim, numbers.KEY_RUN, lines, role)

    mutate(claims, "_automatic_commit", at_once)
    must_fail("keypad-four-aces", "keypad-power-cut-jpot-pressed")


async def _believe_any_card(cards: SwipedCards, account: str) -> Answer:
    return await cards._intake.submit(commands.card(numbers.ROLE_EXECUTIVE, bytes(16)), "CARD")


def test_a_card_that_the_unit_judges_itself_is_noticed(mutate: Mutate) -> None:
    mutate(SwipedCards, "swiped", _believe_any_card)
    must_fail("touch-link-cut-hand-selected", "touch-wrong-card")


def test_a_price_that_was_never_asked_for_is_noticed(mutate: Mutate) -> None:
    """A card is taken before the amount is known.

    Three guards stand before that: the round's stage, and that only the manager judges a card, by
    a proof that covers the amount. So the first shows only where the others are gone.
    """
    mutate(SwipedCards, "swiped", _believe_any_card)
    mutate(claims.states, "STAGE_AUTHORISE", claims.states.STAGE_PRICING)
    with pytest.raises(Failure, match="line 16: `expect refused`"):
        play("touch-link-cut-hand-selected")


def test_paying_the_lowest_seat_first_is_noticed(mutate: Mutate) -> None:
    mutate(book, "pay_order", lambda sensor: (int(sensor[:-1]), sensor[-1]))
    must_fail("touch-jackpot-twice-in-one-round")


def test_a_dealer_who_needs_no_card_is_noticed(mutate: Mutate) -> None:
    mutate(payout, "required_role", lambda *_: numbers.ROLE_DEALER)
    must_fail("keypad-confirm-needs-the-key")
