"""Health over days: what is recorded, what survives a restart, and what the advice rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from controller.config import load_unit_config
from controller.core.felt.spot import ACCEPT, Spot
from controller.data_folder import health_path
from controller.evidence import health
from controller.evidence.health import HealthWatch, advice
from controller.evidence.health_store import DAY_MS, Day, HealthStore, Stretch
from controller.service import commands
from controller.service.commands import calibrate_unit, show_health
from hal import aio
from hal.ics.kinds import FDC1004, MPR121
from hal.worker import InlineWorker
from sim.felt.physics.table import PhysicalTable
from sim.floor.floor import Floor, simulated
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.time.loop import run_virtual
from tests.kit.places import table_path
from tests.kit.sensing_rig import Rig, on_rig

TEN_MINUTES_MS = 600_000
LISTENS, LISTENS_OF_STRETCH = 65, 600
LISTENED_MS = TEN_MINUTES_MS + 2_000


def trend(levels: list[float], noise: float = 0.02, drift: float = 0.0) -> list[Day]:
    return [Day(day, "1A", noise, drift, level) for day, level in enumerate(levels)]


@pytest.mark.parametrize(
    ("days", "word"),
    [
        (trend([1.0, 1.0, 1.0, 1.0]), ""),
        (trend([1.0, 0.985, 0.97, 0.955, 0.94]), "clean"),
        (trend([1.0, 0.97, 0.94, 0.91, 0.88]), "replace"),
        (trend([0.75]), "clean"),
        (trend([0.69]), "replace"),
        (trend([0.85, 0.9, 0.95, 1.0]), ""),
        (trend([1.0], noise=0.032), "clean"),
        (trend([1.0], drift=-0.4), "clean"),
        ([], ""),
        # one odd day, and days that only scatter
        (trend([0.95, 0.93, 0.67]), ""),
        (trend([0.95, 0.85, 0.9, 0.82, 0.93]), ""),
        # flat for long, then falling: the trend is that of the last two weeks
        (trend([1.0] * 40 + [1.0 - 0.01 * day for day in range(14)]), "clean"),
        ([Day(0, "1A", None, 0.0, None)], ""),
    ],
)
def test_advice_comes_before_a_spot_fails(days: list[Day], word: str) -> None:
    assert advice(days).startswith(word)
    assert bool(advice(days)) == bool(word)


def test_advice_says_what_is_read_now_and_never_what_cannot_be() -> None:
    days = trend([1.0, 0.9, 0.8, 0.7, 0.6])
    assert advice(days) == "replace: a chip reads 70% of what it did and loses 10.0% a day"


def test_a_day_with_few_bets_says_nothing_about_the_pad() -> None:
    assert advice([Day(0, "1A", 0.02, 0.0, 0.69, chip_count=4)]) == ""
    assert advice([Day(0, "1A", 0.02, 0.0, 0.69, chip_count=5)]) != ""


@pytest.mark.parametrize(("times", "word"), [(0.8, ""), (1.1, ""), (1.15, "clean"), (3.0, "clean")])
def test_noise_is_judged_by_what_was_calibrated(times: float, word: str) -> None:
    """Catches: a bound in parts of a chip, within which a quiet spot's noise may grow threefold."""
    days = [Day(0, "1A", 0.008 * times, 0.0, 1.0, noise_times=times)]
    assert advice(days).split(":")[0] == word


@pytest.mark.parametrize(
    ("empty_s", "disturbed_s", "word"),
    [
        (600, 600, "clean"),
        (40_000, 1_900, ""),
        (40_000, 2_100, "clean"),
        (600, 200, ""),
        (0, 0, ""),
    ],
)
def test_a_spot_that_is_disturbed_for_long_is_told(
    empty_s: int, disturbed_s: int, word: str
) -> None:
    days = [Day(0, "1A", 0.01, 0.0, 1.0, empty_s=empty_s, disturbed_s=disturbed_s)]
    assert advice(days).split(":")[0] == word


# -- noise on a physical felt ------------------------------------------------------------------


@dataclass
class Heard:
    advice: dict[str, str]
    missed: set[str]


def put_chip(sensor: str, table: PhysicalTable, now_s: float) -> None:
    table.put_by_hand(sensor, now_s, table.one_chip_ff())


def noisy(factor: float, ic: str, monkeypatch: pytest.MonkeyPatch, listens: int = LISTENS) -> Heard:
    """Noise grows after the calibration: what health says, and where a chip was not accepted."""

    async def scene(ready: Rig) -> None:
        for pad in ready.table.pads.values():
            pad.noise_ff *= factor
            pad.mains_ff *= factor
        ready.world.lay_felt(ready.table)
        store = HealthStore(":memory:")
        watch = HealthWatch(ready.spots, store, InlineWorker("disk"), aio.ticks_ms)
        task = aio.create_task(watch.run())
        await aio.sleep_ms(1000 * listens + 500)
        task.cancel()
        await aio.gather(task, return_exceptions=True)
        heard.advice = {sensor: advice(store.days(sensor)) for sensor in ready.spots}
        for _ in range(3):
            for sensor in ready.spots:
                ready.world.on_felt(partial(put_chip, sensor))
            await aio.sleep_ms(6_000)
            verdicts = await ready.verdicts()
            heard.missed |= {sensor for sensor in verdicts if verdicts[sensor] != ACCEPT}
            for sensor in ready.spots:
                ready.world.remove_chip(sensor)
            await aio.sleep_ms(3_000)

    monkeypatch.setattr(health, "SAVE_EVERY", listens)
    heard = Heard({}, set())
    on_rig(scene, seed=3, ic=ic)
    return heard


def test_sound_spots_are_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = noisy(1.0, MPR121, monkeypatch, LISTENS_OF_STRETCH)
    assert heard == Heard(dict.fromkeys(heard.advice, ""), set())


@pytest.mark.parametrize(("ic", "factor"), [(MPR121, 2.0), (FDC1004, 2.0), (MPR121, 4.0)])
def test_a_spot_that_refuses_chips_for_noise_is_to_be_cleaned(
    ic: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: "in order" where no chip is accepted, also because a disturbed spot is not heard."""
    heard = noisy(factor, ic, monkeypatch)
    assert heard.missed
    assert {heard.advice[sensor].split(":")[0] for sensor in heard.missed} == {"clean"}


def test_the_advice_comes_before_the_first_chip_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = noisy(1.5, MPR121, monkeypatch, LISTENS_OF_STRETCH)
    assert heard.missed == set()
    assert sum(bool(each) for each in heard.advice.values()) >= 3


# -- what is recorded --------------------------------------------------------------------------


def watched(tmp_path: Path, table_name: str, duration_ms: int) -> HealthStore:
    """A table with one bet, heard by its health watch."""

    async def run() -> None:
        floor = Floor(1)
        table = await floor.open_table(table_name)
        await table.unit.close()
        table.unit.stores.health = lambda: HealthStore(str(health_path(tmp_path)))
        await table.unit.power_on()
        await aio.sleep_ms(3_000)
        table.world.place_chip("2A")
        await aio.sleep_ms(2_000)
        await table.press("START")
        table.world.remove_chip("2A")
        await aio.sleep_ms(duration_ms)
        await floor.close()

    run_virtual(run())
    return HealthStore(str(health_path(tmp_path)))


@pytest.mark.parametrize(
    ("table_name", "duration_ms"),
    # It is kept every ten minutes and at the end. The FDC1004 is read every 4 ms, and minutes of
    # that take long to simulate.
    [("four-card-touch", 700_000), ("four-card-touch-fdc", 45_000)],
)
def test_resting_spots_and_locked_chips_are_recorded(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table_name: str,
    duration_ms: int,
) -> None:
    store = watched(tmp_path, table_name, duration_ms)
    (second,) = store.days("2A")
    (third,) = store.days("3A")
    store.close()
    assert second.chip_level is not None
    assert 0.7 < second.chip_level < 1.3
    assert second.chip_count == 1
    assert third.chip_level is None
    assert third.noise is not None
    assert third.noise < 0.05
    assert show_health(tmp_path) == 0
    assert "in order (1 days)" in capsys.readouterr().out


def test_the_margin_is_how_far_a_chip_stands_above_the_noise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = HealthStore(str(health_path(tmp_path)))
    heard = {"1A": (0.01, 0.9, 3), "2A": (0.02, None, 0), "3A": (None, 0.9, 3), "4A": (0.0, 0.9, 3)}
    store.keep(
        [
            Stretch(sensor, DAY_MS, noise, 0.0, level, count, 0.01, 600, 0)
            for sensor, (noise, level, count) in heard.items()
        ]
    )
    store.close()
    assert show_health(tmp_path) == 0
    bet, no_bet, unheard, still = capsys.readouterr().out.splitlines()
    assert "chip 90%, margin 90 times the noise;" in bet
    assert "no bets, margin 50 times the noise;" in no_bet, "of the chip that was calibrated"
    assert "margin" not in unheard
    assert "margin 900 times the noise;" in still


class Listener:
    """A health watch over one spot whose level and presence the test sets."""

    def __init__(self, begin_ms: int = DAY_MS) -> None:
        self.spot = Spot("1A")
        self.store = HealthStore(":memory:")
        self._begin_ms = begin_ms

    def new_watch(self) -> HealthWatch:
        disk = InlineWorker("disk")
        wall_ms: Callable[[], int] = lambda: self._begin_ms + int(aio.ticks_ms())  # noqa: E731
        return HealthWatch({"1A": self.spot}, self.store, disk, wall_ms)

    async def listen(self, levels: list[float], for_ms: int = LISTENED_MS) -> None:
        """A unit runs for so long, with these bets at its beginning, and is switched off."""
        watch = self.new_watch()
        task = aio.create_task(watch.run())
        for level in levels:
            self.spot.level = level
            watch.locked(["1A"])
        await aio.sleep_ms(for_ms)
        task.cancel()
        await aio.gather(task, return_exceptions=True)
        await watch.keep()


def test_a_restart_continues_the_days_figures() -> None:
    """Catches: a second program of the same day replacing what the first one had heard."""

    async def run() -> list[Day]:
        listener = Listener()
        await listener.listen([0.94] * 9)
        await listener.listen([])
        await listener.listen([0.90] * 3)
        return listener.store.days("1A")

    (day,) = run_virtual(run())
    assert day.chip_level == 0.94
    assert day.chip_count == 12


def test_what_was_heard_until_a_stop_is_kept() -> None:
    async def run() -> list[Day]:
        listener = Listener()
        await listener.listen([0.93] * 5, for_ms=30_000)
        return listener.store.days("1A")

    (day,) = run_virtual(run())
    assert (day.chip_level, day.chip_count) == (0.93, 5)


def test_a_chip_that_lay_off_centre_does_not_decide_the_day() -> None:
    async def run() -> list[Day]:
        listener = Listener()
        await listener.listen([0.97, 0.66, 0.98, 0.96, 0.97, 0.70, 0.95])
        await listener.listen([0.67])
        return listener.store.days("1A")

    (day,) = run_virtual(run())
    assert day.chip_level == 0.96
    assert advice([day]) == ""


def test_bets_before_and_after_midnight_belong_to_two_days() -> None:
    async def run() -> list[Day]:
        listener = Listener(begin_ms=2 * DAY_MS - 60_000)
        await listener.listen([0.9] * 5, for_ms=70_000)
        await listener.listen([0.8] * 5)
        return listener.store.days("1A")

    assert [(day.day, day.chip_level) for day in run_virtual(run())] == [(1, 0.9), (2, 0.8)]


# -- a new calibration -------------------------------------------------------------------------


def stretch(day: int, chip_level: float) -> Stretch:
    return Stretch("1A", day * DAY_MS, 0.01, 0.0, chip_level, 20, 0.01, 600, 0)


def worn(data: Path) -> None:
    """Ten days on which the chips of 1A read less and less."""
    store = HealthStore(str(health_path(data)))
    store.keep([stretch(day, 1.0 - 0.03 * day) for day in range(10)])
    assert advice(store.days("1A")).startswith("replace")
    store.close()


def calibrated(
    data: Path, monkeypatch: pytest.MonkeyPatch, chips_on: str, empty_only: bool = False
) -> int:
    """The tech's command, with a chip on each of these seats when chips are asked for."""

    async def run() -> int:
        config = simulated(load_unit_config(table_path("four-card-touch")))
        world = World(config.board)
        world.start()

        async def ask_tech(sentence: str) -> None:
            if "one chip" in sentence:
                for seat in chips_on:
                    world.place_chip(f"{seat}A")
            await aio.sleep_ms(500)

        monkeypatch.setattr(commands, "ask_tech", ask_tech)
        try:
            return await calibrate_unit(config, SimBackend(world), data, "", empty_only)
        finally:
            await world.close()

    return run_virtual(run())


@pytest.mark.parametrize("empty_only", [False, True])
def test_days_before_a_calibration_do_not_count(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    empty_only: bool,
) -> None:
    worn(tmp_path)
    assert calibrated(tmp_path, monkeypatch, "1234567", empty_only) == 0
    capsys.readouterr()
    assert show_health(tmp_path) == 0
    assert capsys.readouterr().out == "nothing has been recorded since the last calibration\n"
    store = HealthStore(str(health_path(tmp_path)))
    store.keep([stretch(10, 1.0)])
    assert [day.day for day in store.days("1A")] == [10]
    assert advice(store.days("1A")) == ""
    store.close()


def test_a_calibration_that_was_not_saved_leaves_the_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worn(tmp_path)
    assert calibrated(tmp_path, monkeypatch, "123567") == 1
    store = HealthStore(str(health_path(tmp_path)))
    assert len(store.days("1A")) == 10
    store.close()


def test_ninety_days_are_kept() -> None:
    store = HealthStore(":memory:")
    for day in range(100):
        store.keep([stretch(day, 1.0)])
    assert len(store.days("1A")) == 90
