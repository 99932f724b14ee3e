"""The service functions a tech types at the unit: calibrate, selftest.

Each admits the tech first, does its work on the board, and journals how it ended. The table must be
stopped for it: journal and board have one user at a time.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from controller.config import UnitConfig
from controller.core.felt.spot import Spot
from controller.core.felt.surface import Surface
from controller.data_folder import black_box_path, felt_path, health_path, references_path
from controller.evidence.black_box import TraceStore
from controller.evidence.health import advice
from controller.evidence.health_store import Day, HealthStore
from controller.evidence.round_trace import Trace, TraceFault
from controller.felt.calibration import BAD, calibrate, measure_empty
from controller.felt.felt_memory import FeltMemory, FeltStore
from controller.felt.ic_watch import make_spots
from controller.felt.references import load_calibrations, load_references, save_references
from controller.journal.recovery.opening import open_journal
from controller.service.admission import ServiceAdmission, ServiceRefused
from controller.service.log import JournalBook
from controller.service.part_result import PartResult
from controller.service.selftest import run_selftest
from hal.backend import Backend
from hal.board.open import Board
from hal.worker import InlineWorker
from kit.clock import wall_ms
from kit.command_line import asked_in_secret
from protocol.sensor_id import seat_order
from protocol.wire.settings import TableSettings

Work = Callable[[Board], Awaitable[int]]
Evidence = TypeVar("Evidence", FeltStore, HealthStore, TraceStore)


def ask_pin() -> str:
    """From the terminal without echo, or one line of standard input; never from the environment."""
    return asked_in_secret("PIN: ")


async def calibrate_unit(
    config: UnitConfig, backend: Backend, data: Path, tech: str, empty_only: bool = False
) -> int:
    path, serial = references_path(data), config.board.serial

    async def learn_empty(board: Board) -> int:
        empty = await measure_empty(board)
        _begin_health_anew(data)
        save_references(path, serial, empty)
        print(f"the empty felt is saved for board {serial}; chips were not measured")
        return 0

    async def learn(board: Board) -> int:
        spots = await calibrate(board, ask_tech)
        for spot in spots:
            print(f"{spot.verdict:<5} {spot.sensor}: {spot.sentence}")
        if any(spot.verdict == BAD for spot in spots):
            print("nothing was saved: mend the spots called bad and calibrate again")
            return 1
        references = {spot.sensor: spot.reference for spot in spots}
        _begin_health_anew(data)
        save_references(path, serial, references, spots)
        print(f"saved for board {serial}; take the chips away")
        return 0

    work = learn_empty if empty_only else learn
    return await _in_service("calibrate", config, backend, data, tech, work)


def _begin_health_anew(data: Path) -> None:
    """Days on the old scale must not be compared with days on the new one.

    Before the references are saved: a power cut between the two then costs a trend, and never
    leaves a wrong one. What cannot be marked must not keep a tech from calibrating.
    """
    path = health_path(data)
    if not path.is_file():
        return
    try:
        store = HealthStore(str(path))
        store.calibrated(wall_ms())
        store.close()
    except apsw.Error as error:
        print(f"{path} cannot be written ({error}): health will count older days too")


async def ask_tech(sentence: str) -> None:
    print(sentence)
    await asyncio.to_thread(input, "Press Enter when it is done. ")


def show_health(data: Path) -> int:
    """Each spot's last day and what to do about it."""
    with _evidence(HealthStore, health_path(data)) as store:
        sensors = sorted(store.sensors(), key=seat_order)
        if not sensors:
            print("nothing has been recorded since the last calibration")
        for sensor in sensors:
            days = store.days(sensor)
            advised = advice(days) or "in order"
            print(f"{sensor:>4}  {_figures(days[-1])}; {advised} ({len(days)} days)")
    return 0


def _figures(day: Day) -> str:
    noise = "noise not heard"
    if day.noise is not None and day.noise_times is not None:
        noise = f"noise {day.noise:.1%}, {day.noise_times:.1f} times the calibrated"
    chip = "no bets" if day.chip_level is None else f"chip {day.chip_level:.0%}"
    margin = "" if day.margin is None else f", margin {day.margin:.0f} times the noise"
    return f"{noise}, drift {day.drift:+.1%}, {chip}{margin}"


@contextmanager
def _evidence(store: Callable[[str], Evidence], path: Path) -> Iterator[Evidence]:
    """What the table keeps beside its journal; a look never makes a file that is not there."""
    if not path.is_file():
        raise ServiceRefused(f"{path} is not there: nothing was recorded yet, or --data is wrong.")
    opened = None
    try:
        opened = store(str(path))
        yield opened
    except apsw.Error as error:
        raise ServiceRefused(f"{path} cannot be read: {error}.") from error
    finally:
        if opened is not None:
            opened.close()


async def selftest_unit(config: UnitConfig, backend: Backend, data: Path, tech: str) -> int:
    async def test(board: Board) -> int:
        sensors = [sensor.id for sensor in config.board.sensors]
        references = load_references(references_path(data), config.board.serial, sensors)
        spots = await _spots_as_left(board, data, references)
        return print_verdicts(await run_selftest(board, references, spots))

    return await _in_service("selftest", config, backend, data, tech, test)


async def _spots_as_left(
    board: Board, data: Path, references: Mapping[str, int]
) -> dict[str, Spot]:
    """The spots as calibrated, with what the table last knew of its felt, as at a start of play."""
    spots = make_spots(board, load_calibrations(references_path(data), board.serial))
    surface = Surface()
    for spot in spots.values():
        surface.add(spot)
    if felt_path(data).is_file():
        try:
            with _evidence(FeltStore, felt_path(data)) as store:
                disk = InlineWorker("felt")
                await FeltMemory(store, disk, surface, references, spots, lambda: False).restore()
        except ServiceRefused as damage:
            # A tech with a damaged card needs the test most of all.
            print(f"{damage} The spots are tested as they were calibrated.")
    for spot in spots.values():
        # Felt that moved since is not followed as in play: the tech is told what it reads.
        spot.classifier.doubt.trust_zero(True)
    return spots


def show_traces(data: Path, round_number: int | None, out: Path | None) -> int:
    """Reads the black box beside a running table; it changes nothing and needs no PIN."""
    if out and round_number is None:
        raise ServiceRefused("Say which round to copy: --round N --out FILE.")
    with _evidence(TraceStore, black_box_path(data)) as store:
        if round_number is None:
            print("rounds:", ", ".join(map(str, store.rounds())) or "none yet")
            return 0
        trace = _trace_of(store, round_number)
    if trace is None:
        print(f"there is no trace of round {round_number}", file=sys.stderr)
        return 1
    print(f"round {round_number}: accepted {', '.join(trace.accepted) or 'none'}; ", end="")
    print(f"refused {', '.join(trace.refused) or 'none'}; {len(trace.samples)} readings")
    if not trace.is_complete:
        print("the 5 s after START are missing: the table lost its power or was stopped in them")
    if out:
        try:
            out.write_bytes(trace.encode())
        except OSError as error:
            raise ServiceRefused(f"{out} cannot be written: {error.strerror}.") from error
        print(f"copied to {out}")
    return 0


def _trace_of(store: TraceStore, round_number: int) -> Trace | None:
    try:
        return store.read(round_number)
    except TraceFault as fault:
        raise ServiceRefused(
            f"The trace of round {round_number} cannot be read: {fault}."
        ) from fault


async def _in_service(
    function: str, config: UnitConfig, backend: Backend, data: Path, tech: str, work: Work
) -> int:
    journal = open_journal(data, config.board.serial, wall_ms())
    try:
        admission = ServiceAdmission(JournalBook(journal), wall_ms)
        stored = journal.beside.settings()
        settings = TableSettings.decode(stored.body) if stored else None
        print(admission.admit(settings, function, tech, ask_pin))
        result = "failed"
        try:
            code = await _on_board(config, backend, work)
            result = "done" if code == 0 else "done: faults were found"
        finally:
            admission.record(function, tech, result)
        return code
    finally:
        journal.close()


async def _on_board(config: UnitConfig, backend: Backend, work: Work) -> int:
    board = Board.from_config(config.board, backend)
    try:
        return await work(board)
    finally:
        board.close()


def print_verdicts(verdicts: list[PartResult]) -> int:
    for verdict in verdicts:
        print(f"{'ok    ' if verdict.passed else 'FAULT '} {verdict.part}: {verdict.sentence}")
    faults = sum(not verdict.passed for verdict in verdicts)
    print(f"{len(verdicts) - faults} parts are in order, {faults} are not")
    return 1 if faults else 0
