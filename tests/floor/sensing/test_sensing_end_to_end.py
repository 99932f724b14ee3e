"""From the electrode to the verdict: the shipped driver and watch on registers and a physical felt.

Everything here runs on each sensing IC that a board may carry, unless the IC has no such thing.
A lost interrupt, an over-current stop, an electrode out of range, a failed automatic configuration
and an IC that resets itself: each is noticed within a second, and the bet that lies there is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controller.core import lights
from controller.core.felt import tuning
from controller.core.felt.reasons import NEAR_LIQUID
from controller.core.felt.spot import ABSENT, ACCEPT, EMPTY, FAULT, PRESENT, REFUSE, UNSURE
from controller.core.round import commands
from controller.core.round.decide import RoundState, apply, decide
from controller.core.round.rules import Rules
from hal.aio import sleep_ms, ticks_ms
from hal.ics.kinds import FDC1004, MPR121
from sim.hardware.ics.mpr121 import AUTOCONFIG_FAILED, AUTOCONFIG_IRQ, Mpr121
from sim.runs.sense.board import SENSE
from sim.time.loop import run_virtual
from tests.kit.sensing_rig import Rig, on_rig, rig

SECOND_MS = 1_000
# From the chip on the felt to the light; an FDC1004 measures each electrode once in 10 ms.
LIT_MS = {MPR121: 16, FDC1004: 30}


async def put_chip(ready: Rig, sensor: str) -> None:
    """By hand, and left alone for two seconds."""
    alone_s = ready.world.on_felt(
        lambda felt, now: felt.put_by_hand(sensor, now, felt.one_chip_ff())
    )
    await sleep_ms(int(alone_s * 1000) - ready.world.now_ns() // 1_000_000 + 2 * SECOND_MS)


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_chip_put_down_by_a_hand_is_lit_at_once_and_accepted_when_the_hand_has_left(
    seed, ic: str
) -> None:
    async def scene(ready: Rig) -> None:
        ready.world.on_felt(lambda felt, now: felt.put_by_hand("3A", now, felt.one_chip_ff()))
        assert await ready.seen_within("3A", PRESENT, SECOND_MS)
        assert await ready.verdict("3A") == REFUSE, "the hand is still there"
        await sleep_ms(4 * SECOND_MS)
        assert await ready.verdicts() == {
            "1A": EMPTY,
            "2A": EMPTY,
            "3A": ACCEPT,
            "4A": EMPTY,
            "5A": EMPTY,
        }

    on_rig(scene, seed, ic)


def test_a_dropped_chip_is_lit_at_once_and_accepted_in_time(ic: str) -> None:
    async def scene(ready: Rig) -> None:
        for _ in range(10):
            begin_ms = ticks_ms()
            ready.world.place_chip("2A")
            assert await ready.seen_within("2A", PRESENT, LIT_MS[ic])
            await sleep_ms(400 - (ticks_ms() - begin_ms))
            assert await ready.verdict("2A") == ACCEPT
            ready.world.remove_chip("2A")
            assert await ready.seen_within("2A", ABSENT, 40)
            await sleep_ms(700)
            assert await ready.verdict("2A") == EMPTY

    on_rig(scene, ic=ic)


def test_chips_that_lay_there_before_the_power_came_are_seen(ic: str) -> None:
    async def whole() -> None:
        async with rig(5, ic) as ready:
            for sensor in ("1A", "4A"):
                ready.world.place_chip(sensor)
            await sleep_ms(SECOND_MS)
            verdicts = await ready.verdicts()
            assert [s for s, verdict in verdicts.items() if verdict == ACCEPT] == ["1A", "4A"]

    run_virtual(whole())


def test_a_poll_reads_touch_bits_and_raw_data_in_one_conversation():
    """Asked for the bits by themselves first, resting felt would take half as many again."""

    async def scene(ready: Rig) -> None:
        await sleep_ms(2 * SECOND_MS)
        [bus] = ready.world.buses.values()
        before = bus.transfer_count
        await sleep_ms(10 * SECOND_MS)
        polls = 10 * SECOND_MS // tuning.QUIET_EVERY_MS
        transfers = 2  # the data, and whether the IC still runs as it was told to
        assert (polls - 1) * transfers <= bus.transfer_count - before <= polls * transfers

    on_rig(scene)


def test_a_lost_interrupt_strands_no_bet():
    async def scene(ready: Rig) -> None:
        ready.world.faults.lose_interrupt(SENSE)
        ready.world.place_chip("3A")
        assert await ready.seen_within("3A", PRESENT, SECOND_MS)
        await sleep_ms(SECOND_MS)
        assert await ready.verdict("3A") == ACCEPT
        assert ready.world.faults.struck["lost interrupt"] == 1

    on_rig(scene)


def over_current(ready: Rig) -> None:
    ready.world.faults.over_current(SENSE)


def ic_reset(ready: Rig) -> None:
    ready.world.faults.reset_ic(SENSE)


def short_silence(ready: Rig) -> None:
    ready.world.faults.nack(SENSE, count=6)


def converter_hangs(ready: Rig) -> None:
    ready.world.faults.hang_converter(SENSE)


@pytest.mark.parametrize(
    ("trouble", "ic"),
    [
        (over_current, MPR121),
        (ic_reset, MPR121),
        (short_silence, MPR121),
        (ic_reset, FDC1004),
        (short_silence, FDC1004),
        (converter_hangs, FDC1004),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_an_ic_in_trouble_is_noticed_within_a_second_and_loses_no_bet(
    trouble: Callable[[Rig], None], seed: int, ic: str
) -> None:
    async def scene(ready: Rig) -> None:
        await put_chip(ready, "2A")
        assert await ready.verdict("2A") == ACCEPT
        trouble(ready)
        assert await ready.seen_within("2A", FAULT, SECOND_MS)
        assert await ready.verdict("2A") == REFUSE, "a fault is no bet and no empty spot"
        assert await ready.verdict("4A") == REFUSE
        await sleep_ms(2 * SECOND_MS)
        verdicts = await ready.verdicts()
        assert verdicts["2A"] == ACCEPT
        assert verdicts["4A"] == EMPTY

    on_rig(scene, seed, ic)


@pytest.mark.parametrize("shorted", [False, True])
@pytest.mark.parametrize("sensor", ["4A", "5A"])
def test_an_electrode_out_of_range_is_a_fault_of_its_spot_alone(
    sensor: str, shorted: bool, ic: str
) -> None:
    """5A is the only electrode of its FDC1004, so there the whole IC is out of range."""

    async def scene(ready: Rig) -> None:
        await put_chip(ready, "2A")
        ready.world.faults.break_electrode(sensor, shorted)
        assert await ready.seen_within(sensor, FAULT, SECOND_MS)
        assert (await ready.verdict("2A"), await ready.verdict(sensor)) == (ACCEPT, REFUSE)
        ready.world.faults.mend_electrode(sensor)
        await sleep_ms(2 * SECOND_MS)
        assert await ready.verdict(sensor) == EMPTY

    on_rig(scene, ic=ic)


def test_a_failed_automatic_configuration_is_a_fault():
    """The driver never asks for one; an IC that does it by itself must not go unnoticed."""

    async def scene(ready: Rig) -> None:
        ic = ready.world.ics[SENSE]
        assert isinstance(ic, Mpr121)
        ic._fail(3, AUTOCONFIG_FAILED, AUTOCONFIG_IRQ)
        assert await ready.seen_within("4A", FAULT, SECOND_MS)
        assert await ready.verdict("4A") == REFUSE
        assert await ready.verdict("2A") == EMPTY

    on_rig(scene)


def test_a_failed_automatic_configuration_that_names_no_electrode_is_the_whole_ics():
    """Catches: looking at the electrodes' own bits only. A new start clears the flag."""

    async def scene(ready: Rig) -> None:
        ic = ready.world.ics[SENSE]
        assert isinstance(ic, Mpr121)
        ic._failures = AUTOCONFIG_FAILED
        assert await ready.seen_within("2A", FAULT, SECOND_MS)
        await sleep_ms(2 * SECOND_MS)
        assert await ready.verdict("2A") == EMPTY

    on_rig(scene)


def test_a_loose_pad_never_reads_as_no_bet(ic: str) -> None:
    async def scene(ready: Rig) -> None:
        ready.world.on_felt(lambda felt, _now: felt.loosen("3A"))
        await sleep_ms(SECOND_MS)
        for _ in range(5):
            assert await ready.verdict("3A") == REFUSE
            await sleep_ms(SECOND_MS)
        assert ready.spots["3A"].presence == FAULT

    on_rig(scene, ic=ic)


def test_a_spill_is_no_bets_and_wiping_it_leaves_no_ghost(ic: str) -> None:
    async def scene(ready: Rig) -> None:
        end_s = ready.world.on_felt(lambda felt, now: felt.spill(["2A", "3A", "4A"], now))
        for _ in range(12):
            await sleep_ms(500)
            assert ACCEPT not in (await ready.verdicts()).values()
        assert ready.surface.is_wet
        assert ready.spots["3A"].presence in (UNSURE, FAULT)
        assert ready.spots["5A"].classifier.doubt.near_liquid
        assert end_s < ready.world.now_ns() / 1e9
        ready.world.on_felt(lambda felt, now: felt.wipe(["2A", "3A", "4A"], now))
        for _ in range(40):
            await sleep_ms(250)
            assert ACCEPT not in (await ready.verdicts()).values()

    on_rig(scene, 3, ic)


def test_a_chip_beside_wet_felt_is_refused_and_says_why(ic: str) -> None:
    async def scene(ready: Rig) -> None:
        ready.world.on_felt(lambda felt, now: felt.spill(["2A", "3A", "4A"], now))
        await sleep_ms(6 * SECOND_MS)
        await put_chip(ready, "5A")
        assert await ready.verdict("5A") == REFUSE
        assert ready.spots["5A"].reason == NEAR_LIQUID

    on_rig(scene, 3, ic)


@pytest.mark.parametrize(
    ("ic", "ff", "over_s"),
    # The long one tells the IC several times; on an FDC1004, read every 4 ms, it would take long.
    [(MPR121, 50.0, 45), (FDC1004, 50.0, 45), (MPR121, 120.0, 240)],
)
def test_the_ic_is_told_when_the_empty_felt_has_drifted(ic: str, ff: float, over_s: int) -> None:
    """Else the touch bit stays up when a chip is taken, and nothing calls for the next one."""

    async def scene(ready: Rig) -> None:
        references = await ready.references()
        ready.world.on_felt(lambda felt, now: felt.warm(now, ff, over_s))
        await sleep_ms((over_s + 10) * SECOND_MS)
        assert set((await ready.verdicts()).values()) == {EMPTY}
        told = await ready.references()
        assert all(told[sensor] < reference for sensor, reference in references.items())
        for sensor in ("1A", "5A") * 2:
            ready.world.place_chip(sensor)
            assert await ready.seen_within(sensor, PRESENT, LIT_MS[ic])
            await sleep_ms(800)
            assert await ready.verdict(sensor) == ACCEPT
            ready.world.remove_chip(sensor)
            assert await ready.seen_within(sensor, ABSENT, 60)
            await sleep_ms(500)

    on_rig(scene, 6, ic)


def test_the_empty_felt_is_not_followed_in_a_round(ic: str) -> None:
    """Catches: baseline tracking during a round (ignore `may_learn` in Surface.look)."""

    async def scene(ready: Rig) -> None:
        ready.round_open = True
        ready.world.on_felt(lambda felt, now: felt.warm(now, ff=20.0, over_s=10.0))
        await sleep_ms(12 * SECOND_MS)
        assert all(spot.zero == 0 for spot in ready.spots.values())
        ready.round_open = False
        await sleep_ms(20 * SECOND_MS)
        assert all(spot.zero > 0.01 for spot in ready.spots.values())

    on_rig(scene, ic=ic)


@pytest.mark.parametrize("presence", [PRESENT, UNSURE])
def test_what_was_refused_blinks_for_as_long_as_it_lies_there(presence):
    state = RoundState()
    rules = Rules("touch", ["1A", "2A"], [], 0, 0)
    rules.link_up = rules.meters_fresh = True
    started, _ = decide(state, rules, commands.start([("1A", ACCEPT), ("2A", REFUSE)]))
    for event in started:
        apply(state, event)
    for age_ms in (0, 1_999, 60_000):
        assert lights.light_of("2A", presence, state, age_ms) == lights.REFUSED
    assert lights.light_of("2A", ABSENT, state, 60_000) == lights.OFF
