"""A manager's folder, copied while it serves, and put back: all or nothing, and proven by digests.

The ledger and the list of identities are copied as of one moment each, by SQLite's own online
backup. Keys and settings are small files beside them. A manifest names every file with its digest
and the ledger's tail; it is written last, and a folder without it is no backup.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from kit.files import OWNER_ONLY, private_folder, sync_file, sync_folder, write_private
from kit.version import SOFTWARE
from manager.data_folder import LEDGER_NAME
from manager.identity.folder import IdentityFolder
from manager.ledger.engines.places import is_database, reader_at
from manager.ledger.engines.relations import TRANSACTIONS
from manager.ledger.errors import LedgerError
from manager.ledger.store.ledger import Ledger
from manager.ledger_place import existing_ledger

FORM = "underfelt backup 1"
MANIFEST = "manifest.json"
PART = ".part"  # a backup that is not whole yet
BUSY_MAX_MS = 10_000
_BLOCK = 1 << 20
# What SQLite, the lease and a serving manager keep beside their files, good for nobody else.
# Updates of units are hundreds of megabytes, and whoever signed them has them.
_NOT_OURS = ("-wal", "-shm", "-journal", "-lock", ".new", ".raucb", ".part")


@dataclass(frozen=True, slots=True)
class Taken:
    """What a backup holds: how many files, and where its ledger ends."""

    file_count: int
    tail_number: int
    tail_digest: str

    @property
    def sentence(self) -> str:
        return f"{self.file_count} files; the ledger ends at {self.tail_number} {self.tail_digest}"


def back_up(data: Path, target: Path, now_ms: int) -> Taken:
    """Copies a manager's folder, whether it serves or not; `target` must not be there yet."""
    place = existing_ledger(data)
    if is_database(place):
        raise LedgerError(
            "The ledger is in a database: back that up there (deploy/property/backup), and copy"
            f" {data} beside it."
        )
    part = target.with_name(target.name + PART)
    if target.exists():
        raise LedgerError(f"{target} exists already; a backup never overwrites one.")
    shutil.rmtree(part, ignore_errors=True)  # of a backup that was cut off
    private_folder(part)
    identity = IdentityFolder(data).database.relative_to(data)
    databases = {identity, Path(LEDGER_NAME)}
    files = list(_small_files(data, databases))
    # Identities first: a note that the ledger was told of later is told again, never lost.
    for name in (identity, Path(LEDGER_NAME)):
        if (data / name).is_file():
            private_folder((part / name).parent)
            _copy_database(data / name, part / name)
    if list(_small_files(data, databases)) != files:  # a day that was archived meanwhile, perhaps
        shutil.rmtree(part, ignore_errors=True)
        raise LedgerError(f"The files of {data} changed meanwhile: back it up again.")
    for name in files:
        private_folder((part / name).parent)
        _copy(data / name, part / name)
    taken = _write_manifest(part, now_ms)
    part.rename(target)
    sync_folder(target.parent)
    return taken


def restore(backup: Path, data: Path) -> Taken:
    """Puts a backup back as a new folder; refuses one of which any file is not as it was."""
    manifest = _read_manifest(backup)
    if data.exists() and any(data.iterdir()):
        raise LedgerError(f"{data} is not empty; a backup is put back into a new folder.")
    for name, digest in manifest["files"].items():
        if not (backup / name).is_file() or _digest(backup / name) != digest:
            raise LedgerError(f"{backup / name} is missing or not as it was backed up.")
    part = data.with_name(data.name + PART)
    shutil.rmtree(part, ignore_errors=True)
    private_folder(part)
    for name in manifest["files"]:
        private_folder((part / name).parent)
        _copy(backup / name, part / name)
    if data.exists():
        data.rmdir()
    for folder in (path for path in part.rglob("*") if path.is_dir()):
        sync_folder(folder)
    sync_folder(part)
    part.rename(data)
    sync_folder(data.parent)
    taken = Taken(len(manifest["files"]), *manifest["tail"])
    if _tail_of(data / LEDGER_NAME) != (taken.tail_number, taken.tail_digest):
        raise LedgerError(f"The ledger in {data} does not end where its backup says.")
    return taken


# -- inside ------------------------------------------------------------------------------------


def _copy_database(source: Path, target: Path) -> None:
    """As of one moment, while somebody writes it."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    try:
        reader = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        reader.set_busy_timeout(BUSY_MAX_MS)
        writer = apsw.Connection(str(target))
        try:
            with writer.backup("main", reader, "main") as copying:
                while not copying.done:
                    copying.step()
            # One file, with nothing beside it that could be forgotten.
            writer.pragma("journal_mode", "delete")
        finally:
            writer.close()
            reader.close()
    except apsw.Error as error:
        raise LedgerError(f"{source} cannot be copied: {error}.") from error
    sync_file(target)


def _small_files(data: Path, databases: set[Path]) -> Iterator[Path]:
    for path in sorted(data.rglob("*")):
        name = path.relative_to(data)
        is_plain = path.is_file() and not path.is_symlink()
        if is_plain and name not in databases and not name.name.endswith(_NOT_OURS):
            yield name


def _copy(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    shutil.copyfile(source, target)
    sync_file(target)


def _write_manifest(folder: Path, now_ms: int) -> Taken:
    files = {
        str(path.relative_to(folder)): _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    tail = _tail_of(folder / LEDGER_NAME)
    manifest = {
        "form": FORM,
        "software": SOFTWARE,
        "made_ms": now_ms,
        "tail": list(tail),
        "files": files,
    }
    for path in (each for each in folder.rglob("*") if each.is_dir()):
        sync_folder(path)
    write_private(folder / MANIFEST, json.dumps(manifest, indent=1).encode())
    return Taken(len(files), *tail)


def _read_manifest(backup: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((backup / MANIFEST).read_text("utf-8"))
        names = [Path(name) for name in manifest["files"]]
        is_fit = manifest["form"] == FORM and LEDGER_NAME in manifest["files"]
        number, digest = manifest["tail"]
        is_fit = is_fit and type(number) is int and type(digest) is str
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(f"{backup} is no backup, or not a whole one.") from error
    # A name may not lead out of the folder, whoever wrote the manifest.
    if not is_fit or any(name.is_absolute() or ".." in name.parts for name in names):
        raise LedgerError(f"{backup} is no backup, or not a whole one.")
    found: dict[str, Any] = manifest
    return found


def _tail_of(path: Path) -> tuple[int, str]:
    ledger = Ledger(reader_at(str(path)))
    try:
        damage = ledger.damage()
        if damage:
            raise LedgerError(f"{path} is damaged: {damage}.")
        newest = ledger.find(TRANSACTIONS, {}, newest=1)
    finally:
        ledger.close()
    return (newest[0][0], newest[0][TRANSACTIONS.place("digest")].hex()) if newest else (0, "")


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
