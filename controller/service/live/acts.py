"""What a technician may do at a running table: lamps, tests, scan, calibration.

All but finding a seat needs service mode. It keeps the results until the next of their kind; who
may ask was decided before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from controller.core import lights
from controller.felt.calibration import SpotCalibration
from controller.felt.ic_watch import make_spots
from controller.service.admission import ServiceRefused
from controller.service.live import bus_scan
from controller.service.live.around import Around, ServicePlace, View, on_disk
from controller.service.live.calibrating import (
    GuidedCalibration,
    previous_path,
    save_calibration,
    undo_calibration,
)
from controller.service.live.mode import ServiceMode
from controller.service.part_result import PartResult
from controller.service.selftest import TEST_ROWS, run_selftest
from hal import aio
from hal.board.open import Board
from hal.devices.lamps import COLOURS

TEXT_SHOWN_MS = 6000
# Whoever watches must see that it was saved before the unit starts anew with it.
SAVED_SHOWN_MS = 1000
LIGHTS = {"white": lights.LAMP_WHITE, "amber": lights.LAMP_AMBER, "off": lights.OFF}
NO_FOLDER = "This unit keeps no files, so nothing can be saved."


class Acts:
    def __init__(self, place: ServicePlace, around: Around, mode: ServiceMode) -> None:
        self.mode = mode
        self._place = place
        self._around = around
        self._verdicts: list[PartResult] = []
        self._scan: list[bus_scan.Found] = []
        self._calibration: GuidedCalibration | None = None
        self._is_saved = False

    def view(self) -> View:
        """What was found so far."""
        return {
            "selftest": [
                {"part": each.part, "passed": each.passed, "sentence": each.sentence}
                for each in self._verdicts
            ],
            "calibration": self._calibration.view() if self._calibration else None,
            "can_undo": self._can_undo(),
            "lamps_dark": self._around.diary.lamps_dark(),
            "scan": bus_scan.as_rows(self._scan),
        }

    async def enter(self, tech: str) -> None:
        if not self._around.resumed.is_set():
            raise ServiceRefused("The table is starting. Try again in a moment.")
        await self.mode.enter(tech)

    def find(self, seat: int) -> None:
        if self._around.table_view()["round_open"]:
            raise ServiceRefused("A seat can be looked for between games.")
        self._require_seat(seat)
        self._around.lights.find(seat)

    def exercise(self, light: str, seat: int) -> None:
        """White or amber at one seat, or at all (0); "stop" gives the lamps back."""
        if light == "stop":
            self._around.lights.exercise({})
            return
        if light not in LIGHTS:
            raise ServiceRefused(f"There is no light {light}.")
        if seat:
            self._require_seat(seat)
        sensors = self._around.table.config.board.sensors
        self.mode.exercise(
            {each.id: LIGHTS[light] if seat in (0, each.seat) else lights.OFF for each in sensors}
        )

    async def lamp_seen(self, sensor: str, colour: str, is_lit: bool) -> None:
        """A person looked at a lamp that is exercised: no IC can tell whether it gives light."""
        self.mode.require()
        if sensor not in self._around.felt.spots or colour not in COLOURS:
            raise ServiceRefused(f"There is no lamp {sensor} {colour}.")
        self._around.diary.lamp_looked_at(sensor, colour, is_lit)
        result = "lit" if is_lit else "stays dark"
        await self.mode.record(f"lamp {sensor} {colour}", result)

    def begin_selftest(self) -> None:
        references = self._around.references
        if references.fault:
            raise ServiceRefused(references.fault)

        async def work(board: Board) -> None:
            self._verdicts = []
            spots = make_spots(board, references.calibrations)
            for sensor, spot in spots.items():
                # Where the empty felt is by now is known; nothing else of play is believed.
                spot.move_zero(self._around.felt.spots[sensor].zero)
                spot.classifier.doubt.trust_zero(True)
            raw = references.raw_by_sensor
            await run_selftest(board, raw, spots, self._verdicts.append)

        self.mode.begin_work("self-test", work)

    def begin_scan(self) -> None:
        async def work(board: Board) -> None:
            self._scan = await bus_scan.scan(board, self._around.table.config.board)

        self.mode.begin_work("bus scan", work)

    def begin_text_test(self) -> None:
        async def work(board: Board) -> None:
            assert board.text_display is not None
            await board.text_display.show(TEST_ROWS)
            await aio.sleep_ms(TEXT_SHOWN_MS)

        if self._around.board.text_display is None:
            raise ServiceRefused("This table has no text display.")
        self.mode.begin_work("text display test", work)

    def begin_calibration(self) -> None:
        if self._place.data is None:
            raise ServiceRefused(NO_FOLDER)
        seats: dict[int, list[str]] = {}
        for sensor in sorted(self._around.table.config.board.sensors, key=lambda s: s.seat):
            seats.setdefault(sensor.seat, []).append(sensor.id)
        guided = GuidedCalibration(seats, self._keep_calibration)

        async def work(board: Board) -> None:
            self._calibration, self._is_saved = guided, False
            try:
                await guided.run(board)
                await aio.sleep_ms(SAVED_SHOWN_MS)
            finally:
                if self._is_saved:
                    self._place.restart()
                else:
                    self._calibration = None

        self.mode.begin_work("calibration", work)

    def press_calibration(self, button: str) -> None:
        if self._calibration is None:
            raise ServiceRefused("No calibration is under way.")
        self._calibration.press(button)

    async def undo_calibration(self) -> None:
        """Brings the calibration before this one back; the table starts anew with it."""
        self.mode.require()
        if self._place.data is None:
            raise ServiceRefused(NO_FOLDER)
        data = self._place.data
        await on_disk(self._around.evidence_disk, partial(undo_calibration, data))
        await self._begin_health_anew()
        self._place.restart()

    async def _keep_calibration(
        self, references: Mapping[str, int], spots: Sequence[SpotCalibration]
    ) -> None:
        data, serial = self._place.data, self._around.table.config.board.serial
        assert data is not None
        await self._begin_health_anew()
        save = partial(save_calibration, data, serial, references, spots)
        await on_disk(self._around.evidence_disk, save)
        self._is_saved = True

    async def _begin_health_anew(self) -> None:
        """Days on the old scale must not be compared with days on the new one."""
        store, wall_ms = self._around.stores.health, self._around.wall_ms()
        await on_disk(self._around.evidence_disk, partial(store.calibrated, wall_ms))

    def _can_undo(self) -> bool:
        return self._place.data is not None and previous_path(self._place.data).is_file()

    def _require_seat(self, seat: int) -> None:
        if not 1 <= seat <= self._around.table.config.seat_count:
            raise ServiceRefused(f"This table has no seat {seat}.")
