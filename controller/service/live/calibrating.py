"""Calibration in a page, seat by seat: what to do now, what was found, and every step to take back.

It alone knows the order of the steps. What a measurement means is `controller.felt.calibration`'s.
Nothing is saved before all seats were gone through and the technician says so; what was in force
before is kept beside it and can be brought back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from controller.data_folder import references_path
from controller.felt.calibration import (
    BAD,
    EMPTY_STEP,
    MOVED_CHIP,
    MOVED_EMPTY,
    Measuring,
    Readings,
    SpotCalibration,
    judged,
)
from controller.felt.references import save_references
from controller.service.admission import ServiceRefused
from hal import aio
from hal.board.open import Board
from hal.errors import HardwareFault
from kit.files import write_durably

EMPTY, SEAT, REVIEW, DONE = "empty", "seat", "review", "done"
MEASURE, BACK, SKIP, SAVE = "measure", "back", "skip", "save"
BUTTONS: Final = {
    EMPTY: (MEASURE,),
    SEAT: (MEASURE, SKIP, BACK),
    REVIEW: (SAVE, BACK),
    DONE: (),
}
# The lamp beside the spot that is to be filled; dark again while it is measured.
SHOWN_LEVEL = 1200

Keep = Callable[[Mapping[str, int], Sequence[SpotCalibration]], Awaitable[None]]


class GuidedCalibration:
    """One calibration, from the empty felt to what is saved."""

    def __init__(self, sensors_by_seat: Mapping[int, Sequence[str]], keep: Keep) -> None:
        self._seats = list(sensors_by_seat)
        self._sensors = sensors_by_seat
        self._keep = keep
        self._pressed: aio.Mailbox[str] = aio.Mailbox(1)
        self._index = 0
        self._empty: Readings = {}
        self._is_measuring = False
        self._step = EMPTY
        self._results: dict[str, SpotCalibration] = {}
        self._skipped: set[int] = set()

    def press(self, button: str) -> None:
        if self._is_measuring or button not in BUTTONS[self._step]:
            raise ServiceRefused("That is not the next step of the calibration.")
        try:
            self._pressed.put_nowait(button)
        except aio.MailboxFull as error:
            raise ServiceRefused("The step before is still being taken.") from error

    async def run(self, board: Board) -> None:
        """On the lent board, until it was saved; whoever cancels it leaves everything as it was."""
        measuring = Measuring(board)
        while self._step != DONE:
            await self._show(board)
            button = await self._pressed.get()
            if button == BACK:
                self._go_back(measuring)
            elif button == SKIP:
                self._skip()
            elif button == SAVE:
                await self._save()
            elif self._step == EMPTY:
                measuring = await self._measure_empty(board)
            else:
                await self._measure_seat(board, measuring)

    def view(self) -> dict[str, Any]:
        seat = self._seats[self._index] if self._step == SEAT else 0
        return {
            "step": self._step,
            "seat": seat,
            "sentence": self._sentence(seat),
            "measuring": self._is_measuring,
            "buttons": [] if self._is_measuring else list(BUTTONS[self._step]),
            "results": {
                sensor: {"verdict": found.verdict, "sentence": found.sentence}
                for sensor, found in self._results.items()
            },
            "skipped": sorted(self._skipped),
        }

    def _sentence(self, seat: int) -> str:
        if self._is_measuring and self._step == EMPTY:
            return "Measuring. Keep hands and chips away from the felt."
        if self._is_measuring:
            return "Measuring. Keep your hands away, and leave the chips as they are."
        if self._step == EMPTY:
            return EMPTY_STEP
        if self._step == SEAT:
            return f"Put one chip on the middle of each spot of seat {seat}; then take hands away."
        if self._step == DONE:
            return "Saved. The table starts anew with it."
        bad = sorted(sensor for sensor, found in self._results.items() if found.verdict == BAD)
        if bad:
            return f"Mend {', '.join(bad)}, go back and measure again; nothing is saved like this."
        # The table starts on the felt as it lies then; chips would look like a changed felt.
        return "Every seat was measured or left out. Take the chips away, then save; or go back."

    # -- steps -------------------------------------------------------------------------------

    def _go_back(self, measuring: Measuring) -> None:
        """The step before is taken again, and what it found is forgotten."""
        if self._step == SEAT and self._index == 0:
            self._step = EMPTY
            return
        self._index = len(self._seats) - 1 if self._step == REVIEW else self._index - 1
        self._step = SEAT
        seat = self._seats[self._index]
        self._skipped.discard(seat)
        for sensor in self._sensors[seat]:
            if self._results.pop(sensor, None) is not None:
                measuring.forgive([sensor])

    def _skip(self) -> None:
        """Its empty felt counts; for a chip the usual figures of its IC do."""
        seat = self._seats[self._index]
        self._skipped.add(seat)
        for sensor in self._sensors[seat]:
            found = self._results.get(sensor)
            if found is not None and not found.trouble:
                del self._results[sensor]
        self._next()

    def _next(self) -> None:
        self._index += 1
        if self._index == len(self._seats):
            self._step = REVIEW

    async def _measure_empty(self, board: Board) -> Measuring:
        measuring = Measuring(board)
        self._index, self._results, self._skipped = 0, {}, set()
        self._is_measuring = True
        try:
            await measuring.start()
            self._empty = await measuring.listen(MOVED_EMPTY)
        finally:
            self._is_measuring = False
        self._results = {
            sensor: judged(sensor, {}, {}, trouble)
            for sensor, trouble in measuring.troubles.items()
        }
        self._step = SEAT
        return measuring

    async def _measure_seat(self, board: Board, measuring: Measuring) -> None:
        sensors = self._sensors[self._seats[self._index]]
        self._is_measuring = True
        try:
            await _light(board, ())
            chips = await measuring.listen(MOVED_CHIP, sensors)
        finally:
            self._is_measuring = False
        for sensor in sensors:
            trouble = measuring.troubles.get(sensor, "")
            self._results[sensor] = judged(sensor, self._empty, chips, trouble)
        self._next()

    async def _save(self) -> None:
        results = self._results
        if any(found.verdict == BAD for found in results.values()):
            return  # the sentence says which, and what to do
        usual = {sensor: round(sorted(raw)[len(raw) // 2]) for sensor, raw in self._empty.items()}
        references = usual | {sensor: found.reference for sensor, found in results.items()}
        await self._keep(references, list(results.values()))
        self._step = DONE

    async def _show(self, board: Board) -> None:
        sensors = self._sensors[self._seats[self._index]] if self._step == SEAT else ()
        await _light(board, sensors)


async def _light(board: Board, sensors: Sequence[str]) -> None:
    levels = {
        (place.id, "white"): SHOWN_LEVEL if place.id in sensors else 0 for place in board.sensors
    }
    try:
        await board.lamps.set(levels)
    except HardwareFault:
        return  # a dead lamp is the self-test's to tell; the sensors can be measured without


def previous_path(data: Path) -> Path:
    return data / "references.previous.json"


def save_calibration(
    data: Path, serial: str, references: Mapping[str, int], spots: Sequence[SpotCalibration]
) -> None:
    """In force from the next start on. What was in force before can be brought back."""
    path = references_path(data)
    if path.is_file():
        write_durably(previous_path(data), path.read_text(encoding="utf-8"))
    save_references(path, serial, references, spots)


def undo_calibration(data: Path) -> None:
    """Brings back what was in force before; a second time brings this one back again."""
    path, previous = references_path(data), previous_path(data)
    try:
        before, now = previous.read_text(encoding="utf-8"), path.read_text(encoding="utf-8")
        # First what the table needs: after a power cut in between, it has the older one twice.
        write_durably(path, before)
        write_durably(previous, now)
    except FileNotFoundError as error:
        raise ServiceRefused("There is no earlier calibration to bring back.") from error
    except OSError as error:
        raise ServiceRefused(
            f"The earlier calibration cannot be brought back: {error.strerror}."
        ) from error
