"""A bundle of a unit whose table does not run: what its disk and its computer still tell.

`sudo underfelt bundle` asks the running table first, which knows more. Here nothing is live: no
readings, no scan, no self-test; the diary is the one that was last kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import apsw

from controller.config import UnitConfig
from controller.data_folder import black_box_path, health_path
from controller.evidence.black_box import TraceStore
from controller.evidence.decision_log import decided_file
from controller.evidence.health_store import HealthStore
from controller.evidence.machine import machine
from controller.journal.file import JournalFault
from controller.journal.recovery.opening import open_journal
from controller.link.identity import IdentityFault, UnitIdentity
from controller.service.admission import ServiceRefused
from controller.service.bundle.door import socket_path, take_bundle
from controller.service.bundle.redaction import plain_settings, plain_text
from controller.service.bundle.stored import (
    Files,
    as_json,
    health_rows,
    journal_files,
    trace_files,
)
from kit.clock import wall_ms
from kit.version import SOFTWARE
from protocol.bundle.archive import write_bundle
from protocol.proof.seal import Sealer
from protocol.wire.settings import TableSettings

STANDARD_OUTPUT = "-"


def save_bundle(config: UnitConfig, data: Path, kernel: bytes, path: Path) -> int:
    """`sudo underfelt bundle FILE`."""
    try:
        taken = take_bundle(socket_path(data), kernel)
    except OSError as error:
        raise ServiceRefused(f"The running table does not hand out a bundle: {error}.") from error
    bundle = bundle_of_files(config, data, kernel) if taken is None else taken
    if not bundle:
        raise ServiceRefused("The running table handed out nothing; its log says why.")
    try:
        if str(path) == STANDARD_OUTPUT:
            sys.stdout.buffer.write(bundle)
            sys.stdout.flush()
        else:
            path.write_bytes(bundle)
    except OSError as error:
        raise ServiceRefused(f"{path} cannot be written: {error.strerror}.") from error
    how = "the table runs" if taken is not None else "the table does not run: only what it kept"
    print(f"a bundle of {len(bundle)} bytes is written ({how})", file=sys.stderr)
    return 0


def bundle_of_files(config: UnitConfig, data: Path, kernel: bytes) -> bytes:
    files: dict[str, bytes] = {"board.json": as_json(asdict(config.board))}
    missing: dict[str, str] = {"live": "The table does not run: no readings, scan or self-test."}
    faults: list[dict[str, Any]] = []
    identity = UnitIdentity(data)
    files["unit.json"] = as_json(
        {
            "software": SOFTWARE,
            "serial": config.board.serial,
            "table": config.table_id,
            "certificates": identity.dates(),
            **machine(data),
        }
    )
    if kernel:
        files["kernel.log"] = plain_text(kernel.decode("utf-8", "replace")).encode()
    with _told(missing, "health"):
        files |= _with(HealthStore, health_path(data), _health_files)
    with _told(missing, "traces"):
        files |= _with(TraceStore, black_box_path(data), _round_files)
    try:
        files |= _journal_files(data, config.board.serial)
    except JournalFault as fault:
        missing["journal"] = str(fault)
        faults.append({"code": "journal", "part": "disk", "text": str(fault)})
    files["table.json"] = as_json({"faults": faults})
    head = {
        "unit": config.board.serial,
        "table": config.table_id,
        "name": config.name,
        "software": SOFTWARE,
        "wall_ms": wall_ms(),
        "asked_by": "somebody at the unit",
        "missing": missing,
    }
    return write_bundle(head, files, _sealer(identity, config.board.serial))


def _round_files(store: TraceStore) -> Files:
    return {**trace_files(store), "decisions.cbor": decided_file(*store.decided())}


def _health_files(store: HealthStore) -> Files:
    kept = [body for _, body in store.diaries()]
    newest, earlier = (kept[-1] if kept else "{}"), kept[:-1]
    return {
        "health.json": as_json(health_rows(store)),
        "diary.json": newest.encode(),
        "earlier.json": f"[{','.join(earlier)}]".encode(),
    }


def _journal_files(data: Path, unit_id: str) -> Files:
    journal = open_journal(data, unit_id, wall_ms())
    try:
        stored = journal.beside.settings()
        settings = plain_settings(TableSettings.decode(stored.body)) if stored else None
        return {**journal_files(journal), "settings.json": as_json(settings)}
    finally:
        journal.close()


def _with(store: Callable[[str], Any], path: Path, read: Callable[[Any], Files]) -> Files:
    if not path.is_file():
        raise ServiceRefused(f"{path.name} is not there: nothing was recorded yet.")
    opened = store(str(path))
    try:
        return read(opened)
    finally:
        opened.close()


@contextmanager
def _told(missing: dict[str, str], name: str) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, ServiceRefused) as error:
        missing[name] = str(error)


def _sealer(identity: UnitIdentity, unit_id: str) -> Sealer | None:
    try:
        return identity.sealer(unit_id)
    except IdentityFault:
        return None  # a unit that was never enrolled; the bundle says that nobody signed it
