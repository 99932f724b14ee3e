"""Things on the felt: what each adds to a pad, and when it may be taken for still."""

from __future__ import annotations

from math import inf

import pytest

from sim.felt.physics.motion import Unsteadiness
from sim.felt.physics.pad import SAMPLE_NS, Interference, PhysicalPad, Ramp, counts_of
from sim.felt.physics.ranges import Draw
from sim.felt.physics.table import PhysicalTable
from sim.felt.physics.things import FAR_MM, HumanHand, Liquid, Pose, Resting, Thing

PADS = ["1A", "2A", "3A", "4A", "5A"]
SECOND_NS = 1_000_000_000


def hand(*poses: Pose, contact_ff: float = 1000.0) -> HumanHand:
    return HumanHand(contact_ff, 4.0, 1.3, list(poses), Unsteadiness(Draw(1), 0.05, 0.01))


THINGS: dict[str, Thing] = {
    "chip": Resting(300.0, 1.0, settle_part=0.02, settle_s=0.05, lifted_s=5.0),
    "rocking chip": Resting(120.0, 1.0, rock_part=0.3, rock_s=0.1),
    "hand": hand(Pose(1.0, 0.5, 0.0), Pose(3.0, 0.4, FAR_MM)),
    "liquid": Liquid(500.0, 1.0, 0.1, 0.3, 0.5, 60.0, wiped_s=6.0, left_part=0.2),
    "flowing water": Liquid(500.0, 1.0, 0.1, 0.3, 0.5, 60.0, flow_ff=100.0, flow_s=1.0),
}


@pytest.mark.parametrize("name", THINGS)
def test_a_thing_that_calls_itself_calm_does_not_change(name: str) -> None:
    """The simulator skips samples on this promise. A calm second may dry or drift a little."""
    thing = THINGS[name]
    for step in range(0, 10_000, 7):
        t_s = step / 1000
        until_s = min(thing.calm_until(t_s), t_s + 2)
        now_ff = thing.added_ff(t_s)
        slack_ff = 10.0 if isinstance(thing, Liquid) else 0.5
        for part in (0.3, 0.7, 0.999):
            later_s = t_s + (until_s - t_s) * part
            assert abs(thing.added_ff(later_s) - now_ff) <= slack_ff


def test_a_chip_is_there_from_its_landing_until_it_is_lifted() -> None:
    chip = THINGS["chip"]
    assert chip.added_ff(0.999) == 0
    assert chip.added_ff(4.9) == pytest.approx(300, rel=0.001)
    assert chip.added_ff(5.1) == 0
    assert chip.calm_until(6) == inf


def test_a_hand_is_felt_before_it_touches_and_is_never_still() -> None:
    resting = hand(Pose(1.0, 0.5, 0.0), Pose(9.0, 0.5, FAR_MM))
    assert resting.added_ff(1.0) == 0
    assert 20 < resting.added_ff(1.35) < 900
    levels = [resting.added_ff(2 + t / 100) for t in range(300)]
    assert max(levels) - min(levels) > 30
    assert resting.calm_until(5.0) == 5.0
    assert resting.added_ff(9.6) == 0


def test_liquid_rises_slowly_dries_and_can_be_wiped() -> None:
    liquid = THINGS["liquid"]
    levels = [liquid.added_ff(t) for t in (1.0, 1.2, 1.6, 3.0, 5.9)]
    assert levels[0] == 0
    assert levels[1] < levels[2] < levels[3]
    assert liquid.added_ff(8.0) < 0.25 * liquid.added_ff(5.9)
    assert THINGS["flowing water"].added_ff(1.5) == -100


def test_more_capacitance_reads_lower_and_the_scale_has_ends() -> None:
    assert counts_of(3546.0) == 700
    assert counts_of(3546.0 + 330) < 645
    assert counts_of(1.0) == 1023
    assert counts_of(1e9) == 0


def test_a_pad_adds_everything_up_and_noise_belongs_to_the_sample() -> None:
    pad = PhysicalPad(3546.0, 1.0, 2.0, noise_key=5)
    assert pad.is_undisturbed
    quiet = pad.femtofarads(0)
    assert pad.femtofarads(SAMPLE_NS - 1) == quiet, "one sample, one value"
    assert pad.femtofarads(SAMPLE_NS) != quiet
    pad.things.append(Resting(300.0, -1.0))
    assert pad.femtofarads(0) == pytest.approx(quiet + 300)
    pad.ramps.append(Ramp(50.0, 10.0, 20.0))
    assert pad.femtofarads(15 * SECOND_NS) - pad.femtofarads(0) == pytest.approx(25, abs=16)
    pad.interferences.append(Interference(100.0, 40.0, 1.0, 2.0, key=9))
    noisy = [pad.femtofarads(SECOND_NS + n * SAMPLE_NS) for n in range(200)]
    assert max(noisy) - min(noisy) > 300
    pad.dead_counts = 0
    assert pad.counts(0) == 0


def test_what_a_pad_can_read_while_calm_stays_inside_its_bounds() -> None:
    table = PhysicalTable(PADS, 11)
    table.put_by_hand("2A", 1.0, table.one_chip_ff())
    table.drift(0.0, 100)
    for pad_id in ("1A", "2A"):
        pad = table.pads[pad_id]
        for at_ns in range(0, 8 * SECOND_NS, 10 * SAMPLE_NS):
            until_ns, lowest, highest = pad.calm(at_ns)
            for later_ns in range(at_ns, min(until_ns, at_ns + 20 * SAMPLE_NS), SAMPLE_NS):
                assert lowest - 1 <= pad.counts(later_ns) <= highest + 1


@pytest.mark.parametrize("ff", [-400.0, 400.0])
def test_a_drifting_pad_stays_inside_its_bounds_until_they_end(ff: float) -> None:
    """Mutation: bounds of the moment they were asked for, without what the drift adds to them."""
    pad = PhysicalPad(stray_ff=4000.0, sensitivity=1.0, noise_ff=1.0, noise_key=1)
    pad.ramps = [Ramp(ff, 5.0, 60.0), Ramp(-ff / 3, 0.0, 2.0)]
    for at_s in range(70):
        until_ns, least_ff, most_ff = pad.calm_ff(at_s * SECOND_NS)
        last_ns = min(until_ns, (at_s + 20) * SECOND_NS)
        assert last_ns - at_s * SECOND_NS >= SECOND_NS
        for later_ns in range(at_s * SECOND_NS, last_ns, 50 * SAMPLE_NS):
            assert least_ff <= pad.femtofarads(later_ns) <= most_ff


def test_a_table_is_its_seed() -> None:
    def traces(seed: int) -> list[int]:
        table = PhysicalTable(PADS, seed)
        table.put_by_hand("3A", 0.5, table.one_chip_ff())
        table.spill(["1A", "2A"], 1.0)
        return [pad.counts(n * 50_000_000) for pad in table.pads.values() for n in range(60)]

    assert traces(4) == traces(4)
    assert traces(4) != traces(5)
    assert PhysicalTable(PADS, 4).describe() == PhysicalTable(PADS, 4).describe()


def test_a_chip_is_a_clear_step_on_every_drawn_table() -> None:
    for seed in range(50):
        table = PhysicalTable(PADS, seed)
        pad = table.pads["3A"]
        before = pad.counts(SECOND_NS)
        table.drop("3A", 1.5, table.one_chip_ff())
        assert 20 <= before - pad.counts(3 * SECOND_NS) <= 120


def test_a_stack_counts_for_more_than_a_chip_and_less_than_its_chips() -> None:
    for seed in range(20):
        table = PhysicalTable(PADS, seed)
        assert 1.2 * table.chip_ff < table.stack_ff(5) < 3.5 * table.chip_ff


def test_lifting_takes_dead_things_and_leaves_liquid() -> None:
    table = PhysicalTable(PADS, 3)
    table.drop("1A", 0.0, 300.0)
    table.spill(["1A"], 0.0)
    table.lift("1A", 5.0)
    chip, liquid = table.pads["1A"].things
    assert chip.added_ff(6.0) == 0
    assert liquid.added_ff(60.0) != 0
