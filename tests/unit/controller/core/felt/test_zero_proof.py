"""After a start the felt has to prove its zero before anything that lies there is a bet.

Mutations these catch: no proof asked for, a chip on every seat believed without one, a shift of
less than a chip refused for ever, a memory that outvotes the felt, a memory that a fault empties,
and a held table that is let go by what a chip on lowered felt looks like.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from controller.core.felt import tuning
from controller.core.felt.reasons import CHIP, MOVED
from controller.core.felt.spot import ACCEPT, EMPTY, REFUSE, Calibration, Spot
from controller.core.felt.surface import Surface
from controller.core.felt.zero_proof import SURE, Anchor

REFERENCE = 700
CHIP_COUNTS = 60
READ_EVERY_MS = 10
SEATS = 7

Memory = tuple[float, list[tuple[str, float, float | None]]]


class Felt:
    """A table of spots that are read together; levels are in chips above the calibrated felt."""

    def __init__(self, levels: list[float], memory: Memory | None = None) -> None:
        self.levels = list(levels)
        self.surface = Surface()
        self.spots = [Spot(f"{seat}A", Calibration(CHIP_COUNTS, 1.0)) for seat in range(1, 8)]
        self.now_ms = 0
        for spot in self.spots:
            self.surface.add(spot)
        if memory is not None:
            self.surface.remember(*memory)

    def pass_ms(self, duration_ms: int) -> None:
        for _ in range(duration_ms // READ_EVERY_MS):
            self.now_ms += READ_EVERY_MS
            for spot, level in zip(self.spots, self.levels, strict=True):
                raw = REFERENCE - round(level * CHIP_COUNTS)
                spot.reading(raw, REFERENCE, level - spot.zero > 0.2, None, self.now_ms)
            self.surface.look(self.now_ms, True)

    def break_bus(self) -> None:
        for spot in self.spots:
            spot.fault("the bus is stuck", self.now_ms)

    def chips_kept(self) -> list[float | None]:
        memory = self.surface.memory()
        assert memory is not None
        return [level for _, _, level in memory[1]]

    def verdicts(self) -> list[int]:
        return [spot.verdict_at_lock(self.now_ms) for spot in self.spots]


def kept(shared: float = 0.0, chips: dict[int, float] | None = None) -> Memory:
    chips = chips or {}
    return shared, [(f"{seat}A", 0.0, chips.get(seat)) for seat in range(1, SEATS + 1)]


def after_start(levels: list[float], memory: Memory | None = None) -> Felt:
    felt = Felt(levels, memory)
    felt.pass_ms(3000)
    return felt


def test_chips_among_empty_spots_are_seen_within_half_a_second() -> None:
    felt = Felt([0.0, 1.0, 0.0, 1.1, 0.0, 0.0, 0.9])
    felt.pass_ms(500)
    assert felt.verdicts() == [EMPTY, ACCEPT, EMPTY, ACCEPT, EMPTY, EMPTY, ACCEPT]


@pytest.mark.parametrize("level", [0.7, 0.85, 1.0, 1.3])
def test_what_every_spot_reads_is_no_bet_on_any_of_them(level: float) -> None:
    felt = after_start([level] * SEATS, kept())
    assert felt.verdicts() == [REFUSE] * SEATS
    assert felt.surface.is_held
    assert {spot.reason for spot in felt.spots} == {MOVED}
    felt.pass_ms(120_000)
    assert felt.verdicts() == [REFUSE] * SEATS
    assert felt.surface.memory() is None, "what is not believed is not remembered"


def test_without_the_proof_they_would_all_be_bets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: this is what the proof is for."""
    monkeypatch.setattr(tuning, "ALIKE_COUNT_MIN", 100)
    assert after_start([0.85] * SEATS, kept()).verdicts() == [ACCEPT] * SEATS


def test_a_chip_on_every_seat_is_believed_when_they_lay_there_before() -> None:
    levels = [0.9, 1.0, 1.05, 1.1, 0.95, 1.0, 1.0]
    memory = kept(chips={seat: level + 0.03 for seat, level in enumerate(levels, start=1)})
    assert after_start(levels, memory).verdicts() == [ACCEPT] * SEATS


def test_a_chip_on_every_seat_is_believed_when_one_of_them_is_taken() -> None:
    felt = after_start([1.0] * SEATS)
    assert felt.verdicts() == [REFUSE] * SEATS
    felt.levels[3] = 0.0
    felt.pass_ms(1500)
    assert felt.verdicts() == [ACCEPT] * 3 + [EMPTY] + [ACCEPT] * 3


@pytest.mark.parametrize("moved", [-0.45, -0.2, 0.2, 0.45])
def test_less_than_a_chip_on_most_spots_is_the_felt_itself(moved: float) -> None:
    felt = after_start([moved, moved, 1.0 + moved, moved, moved, moved, moved], kept())
    assert felt.verdicts() == [EMPTY, EMPTY, ACCEPT, EMPTY, EMPTY, EMPTY, EMPTY]
    assert felt.spots[0].zero == pytest.approx(moved, abs=0.02)


def test_chips_that_stayed_have_moved_with_their_felt() -> None:
    memory = kept(chips={1: 1.0, 2: 0.9, 3: 1.1, 4: 1.0})
    felt = after_start([1.4, 1.3, 1.5, 1.4, 0.4, 0.4, 0.4], memory)
    assert felt.verdicts() == [ACCEPT] * 4 + [EMPTY] * 3


def test_felt_that_is_where_it_was_calibrated_needs_no_memory() -> None:
    """The evening was warm, the night was not."""
    felt = after_start([0.0] * SEATS, kept(shared=0.85))
    assert felt.verdicts() == [EMPTY] * SEATS
    assert abs(felt.spots[0].zero) < 0.05


def test_felt_that_fell_by_more_than_half_a_chip_stays_refused_whatever_is_put_there() -> None:
    felt = after_start([-0.9] * SEATS, kept())
    assert felt.verdicts() == [REFUSE] * SEATS
    # A chip on it reads as empty felt would: that is no proof of anything.
    felt.levels[2] = 0.1
    felt.pass_ms(3000)
    assert felt.verdicts() == [REFUSE] * SEATS


def test_one_empty_spot_proves_that_the_felt_did_not_rise() -> None:
    felt = after_start([1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    assert felt.verdicts() == [ACCEPT] * 3 + [EMPTY] + [ACCEPT] * 3


def test_chips_on_felt_that_fell_prove_nothing() -> None:
    felt = after_start([-0.95, -0.95, -0.95, 0.05, 0.05, -0.95, -0.95], kept())
    assert felt.verdicts() == [REFUSE] * SEATS


def test_one_moving_hand_delays_nobody_for_long() -> None:
    felt = Felt([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for step in range(160):
        felt.levels[6] = 1.5 + 0.4 * (step % 2)
        felt.pass_ms(READ_EVERY_MS)
    assert felt.verdicts()[:6] == [EMPTY, ACCEPT, EMPTY, EMPTY, EMPTY, EMPTY]


# -- what is remembered while nothing can be read ------------------------------------------------


def test_a_fault_takes_no_chip_from_the_memory() -> None:
    """Catches: "no chip anywhere" kept while the bus is stuck, and a full table held afterwards."""
    felt = after_start([0.0] * SEATS)
    felt.levels = [1.0] * SEATS
    felt.pass_ms(1000)
    lying = felt.surface.memory()
    felt.break_bus()
    assert felt.surface.memory() == lying
    again = after_start([1.0] * SEATS, lying)
    assert again.verdicts() == [ACCEPT] * SEATS


def test_a_chip_that_was_taken_is_forgotten_in_a_fault_and_after_it() -> None:
    felt = after_start([1.0] + [0.0] * (SEATS - 1))
    assert felt.chips_kept() == [1.0] + [None] * (SEATS - 1)
    felt.levels[0] = 0.0
    felt.pass_ms(1000)
    felt.break_bus()
    assert felt.chips_kept() == [None] * SEATS
    felt.pass_ms(1000)
    assert felt.chips_kept() == [None] * SEATS


def test_a_chip_that_went_during_the_fault_is_forgotten_as_soon_as_the_spot_reads_empty() -> None:
    felt = after_start([1.0] + [0.0] * (SEATS - 1))
    felt.break_bus()
    felt.levels[0] = 0.0
    felt.pass_ms(500)
    assert felt.chips_kept() == [None] * SEATS


def test_a_spot_that_is_not_read_at_all_passes_on_what_it_was_told() -> None:
    felt = Felt([0.0] * SEATS, kept(chips={7: 0.9}))
    silent = felt.spots.pop()
    felt.levels.pop()
    silent.fault("the IC does not answer", 0)
    felt.pass_ms(3000)
    assert felt.chips_kept() == [None] * (SEATS - 1) + [0.9]


def test_what_is_in_doubt_is_not_remembered_as_a_chip() -> None:
    felt = after_start([1.0] + [0.0] * (SEATS - 1))
    felt.spots[0].classifier.doubt.taint()
    felt.break_bus()
    assert felt.chips_kept() == [None] * SEATS


def resting_at(level: float) -> Spot:
    thing = SimpleNamespace(is_remembered=lambda: False, known_level=lambda: None)
    classifier = SimpleNamespace(kind=CHIP, thing=thing, rest_level=lambda _now_ms: level)
    return cast(Spot, SimpleNamespace(classifier=classifier))


def test_felt_moved_by_the_middle_of_what_its_spots_moved() -> None:
    """Catches: the zero drawn towards the lowest or highest of spots that moved alike."""
    step = tuning.ALIKE_CHIPS / 10
    spots = [resting_at(0.3 + place * step) for place in (6, 0, 3, 1, 5, 2, 4)]
    anchor = Anchor()
    assert anchor.look(spots, 0.0, 1_000) == pytest.approx(0.3 + 3 * step)
    assert anchor.state == SURE
