"""One running table as a technician's tools know it: what is to be seen of it, now and so far.

The service page and the laptop's tool are given this and nothing else of the unit. It reads and
changes nothing; what may be done is `acts`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from controller.evidence import machine
from controller.link.identity import UnitIdentity
from controller.service.bundle.content import BundleMaker
from controller.service.bundle.stored import health_rows
from controller.service.live import bus_scan, event_log
from controller.service.live.acts import Acts
from controller.service.live.around import Around, ServicePlace, View, on_disk
from controller.service.live.mode import ServiceMode
from controller.service.live.readings import LiveReadings
from controller.service.live.sign_in import SignIn
from controller.service.live.traces import read_trace, trace_view
from controller.service.program_log import lines
from hal import aio
from hal.errors import HardwareFault
from kit.version import SOFTWARE

T = TypeVar("T")


class LiveTable:
    def __init__(
        self,
        place: ServicePlace,
        around: Around,
        mode: ServiceMode,
        sign_in: SignIn,
        readings: LiveReadings,
    ) -> None:
        self.mode = mode
        self.acts = Acts(place, around, mode)
        self.bundles = BundleMaker(place, around, self)
        self.sign_in = sign_in
        self.log = place.log
        self._place = place
        self._around = around
        self._readings = readings
        self._began_wall_ms = around.wall_ms()

    @property
    def name(self) -> str:
        return self._around.table.config.name

    @property
    def serial(self) -> str:
        return self._around.table.config.board.serial

    # -- to see ------------------------------------------------------------------------------

    def frame(self) -> View:
        """The sensors right now; as often as somebody looks."""
        around = self._around
        looks = {sensor: around.lights.look(sensor) for sensor in around.felt.spots}
        return {"t": aio.ticks_ms(), "s": self._readings.frame(around.felt.spots, looks)}

    def view(self) -> View:
        around, board = self._around, self._around.board
        shown = around.table_view()
        kept = ("table", "name", "state", "guide", "link", "round", "round_open", "training")
        keypad = around.table.config.board.keypad
        return {
            **{name: shown[name] for name in (*kept, "faults", "software")},
            "mode": self.mode.view(),
            "exercised": around.lights.is_exercised,
            "trials": [
                [trial.number, trial.part, trial.text] for trial in around.table.service.trials
            ],
            "inputs": {
                "keys": list(keypad.keys) if keypad else [],
                "key": _read(board.keyswitch, lambda key: key.position),
                "cabinet": _read(board.tamper, lambda line: line.active),
                "card_reader": board.card_reader.plugged if board.card_reader else None,
                "text_display": board.text_display is not None,
            },
            **self.acts.view(),
            "counters": bus_scan.counters(board),
            "sensors": self._readings.scales(around.felt.spots),
        }

    async def unit_view(self) -> View:
        """What changes slowly: versions, link, certificates, clock, computer, disk."""
        around, link = self._around, self._around.link
        journal = around.stores.journal
        wall_ms, manager_ms = around.wall_ms(), link.manager_now_ms()
        certificates = await on_disk(around.evidence_disk, self._certificates)
        look = partial(machine.machine, self._place.data, self._place.root)
        computer = await on_disk(around.evidence_disk, look)
        return {
            "software": SOFTWARE,
            "serial": around.table.config.board.serial,
            "table": around.table.config.table_id,
            "up_s": (wall_ms - self._began_wall_ms) // 1000,
            "link_up": link.up,
            "link_address": link.order.called,
            "journal_records": journal.last_sequence,
            "acknowledged": journal.outbox.acked_sequence,
            "clock_offset_ms": None if manager_ms is None else wall_ms - manager_ms,
            "wall_ms": wall_ms,
            "certificates": certificates,
            "changes": await on_disk(around.evidence_disk, partial(lines, self._place.changes)),
            **computer,
        }

    async def health(self) -> list[View]:
        """Each spot's last days and what to do about it."""
        read = partial(health_rows, self._around.stores.health)
        return await on_disk(self._around.evidence_disk, read)

    async def events(self, after: int) -> list[View]:
        journal = self._around.stores.journal
        newest = journal.last_sequence
        read = partial(event_log.journal_lines, journal.records, after, newest)
        return await on_disk(self._around.disk, read)

    async def rounds(self) -> list[int]:
        """The rounds in the black box, newest first."""
        found = await on_disk(self._around.evidence_disk, self._around.stores.traces.rounds)
        return sorted(found, reverse=True)

    async def trace(self, round_number: int) -> View:
        read = partial(trace_view, self._around.stores.traces, round_number)
        return await on_disk(self._around.evidence_disk, read)

    async def trace_file(self, round_number: int) -> bytes:
        """For `sim replay`, which judges it anew somewhere else."""
        read = partial(read_trace, self._around.stores.traces, round_number)
        return (await on_disk(self._around.evidence_disk, read)).encode()

    # -- inside ------------------------------------------------------------------------------

    def _certificates(self) -> list[View]:
        if self._place.data is None:
            return []
        return UnitIdentity(self._place.data).dates()


def _read(part: T | None, look: Callable[[T], Any]) -> Any:
    """A line that cannot be read is a fault for everybody to see, and None here."""
    try:
        return None if part is None else look(part)
    except HardwareFault:
        return None
