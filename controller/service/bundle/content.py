"""What a running table puts into a bundle, part by part.

A part that cannot be read is named with its reason, and the others are taken all the same: a unit
with a dead disk needs its bundle most. It reads and changes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import apsw

from controller.service.admission import ServiceRefused
from controller.service.bundle.kernel_log import kernel_log
from controller.service.bundle.redaction import plain_settings, plain_text
from controller.service.bundle.stored import Files, as_json, journal_files, trace_files
from controller.service.live.around import Around, ServicePlace, on_disk
from hal.errors import WorkerBusy
from kit.version import SOFTWARE
from protocol.bundle.archive import write_bundle

if TYPE_CHECKING:
    from controller.service.live.table import LiveTable

NO_KERNEL_LOG = (
    "The unit's service may not read the kernel's log; `sudo underfelt bundle FILE` adds it."
)
SPOT_COLUMNS = ("raw", "reference", "level", "presence", "kind", "thinks", "look")


class BundleMaker:
    """Makes bundles of one running table."""

    def __init__(self, place: ServicePlace, around: Around, table: LiveTable) -> None:
        self._place = place
        self._around = around
        self._table = table

    async def make(self, asked_by: str, kernel: bytes | None = None) -> bytes:
        """`kernel` is the kernel's log where whoever asks may read it."""
        around = self._around
        journal, traces = around.stores.journal, around.stores.traces
        reads: dict[str, Callable[[], Awaitable[Files]]] = {
            "unit": self._unit,
            "table": self._shown,
            "spots": self._spots,
            "earlier": self._earlier,
            "decisions": self._decisions,
            "journal": lambda: on_disk(around.disk, partial(journal_files, journal)),
            "traces": lambda: on_disk(around.evidence_disk, partial(trace_files, traces)),
            "kernel": partial(self._kernel, kernel),
        }
        files: dict[str, bytes] = {}
        missing: dict[str, str] = {}
        for name, read in reads.items():
            try:
                files |= await read()
            except ServiceRefused as refused:
                missing[name] = str(refused)
        config = around.table.config
        head = {
            "unit": config.board.serial,
            "table": config.table_id,
            "name": config.name,
            "software": SOFTWARE,
            "wall_ms": around.wall_ms(),
            "asked_by": asked_by,
            "missing": missing,
        }
        return write_bundle(head, files, around.sealer)

    # -- the parts ---------------------------------------------------------------------------

    async def _unit(self) -> Files:
        around = self._around
        lines = [
            {**line._asdict(), "text": plain_text(line.text)} for line in self._place.log.after(0)
        ]
        return {
            "unit.json": as_json(await self._table.unit_view()),
            "diary.json": as_json(around.diary.view()),
            "frames.json": as_json(around.link.history.frames()),
            "log.json": as_json(lines),
        }

    async def _shown(self) -> Files:
        table = self._around.table
        settings = table.settings
        return {
            "table.json": as_json(self._table.view()),
            "board.json": as_json(asdict(table.config.board)),
            "settings.json": as_json(plain_settings(settings) if settings else None),
        }

    async def _spots(self) -> Files:
        frame = self._table.frame()["s"]
        spots, sensors = self._around.felt.spots, self._around.table.config.board.sensors
        rows = [
            {
                "id": sensor.id,
                **dict(zip(SPOT_COLUMNS, row, strict=True)),
                "zero": round(spots[sensor.id].zero, 3),
                "reason": spots[sensor.id].reason,
            }
            for sensor, row in zip(sensors, frame, strict=True)
        ]
        return {"spots.json": as_json(rows), "health.json": as_json(await self._table.health())}

    async def _earlier(self) -> Files:
        try:
            return {"earlier.json": as_json(await self._around.diary.earlier())}
        except (apsw.Error, WorkerBusy) as error:
            raise ServiceRefused(f"The diary of earlier starts cannot be read: {error}.") from error

    async def _decisions(self) -> Files:
        return {"decisions.cbor": await self._around.decisions.file()}

    async def _kernel(self, given: bytes | None) -> Files:
        log = given
        if log is None:
            log = await on_disk(self._around.evidence_disk, partial(kernel_log, self._place.root))
        if log is None:
            raise ServiceRefused(NO_KERNEL_LOG)
        return {"kernel.log": plain_text(log.decode("utf-8", "replace")).encode()}
