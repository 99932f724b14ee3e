"""`python -m controller restore`: a tech's way out of a damaged, missing or refused journal.

The damaged files are copied aside first and never touched again. Every record that its digest
proves is carried into a new journal, which waits for an operator's permit at the Game Manager and
then goes on where the table stood. It may be repeated after any interruption: what was set aside
and is not yet in place is read again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from controller.data_folder import journal_path, marker_path, restore_book_path
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.records import Salvaged
from controller.journal.recovery.opening import open_journal, write_marker
from controller.journal.recovery.salvage import END_MARK, Salvage, salvage
from controller.service.admission import ADMITTED, ServiceAdmission, ServiceRefused
from controller.service.log import FileBook, JournalBook, Use
from kit.clock import WallClock
from kit.files import sync_file, sync_folder
from protocol.wire.settings import TableSettings

SET_ASIDE: Final = "damaged"
IN_PLACE: Final = "restored"
FUNCTION: Final = "restore"
WITHOUT_PIN: Final = "admitted without a PIN: no tech could be read from the damaged journal"


@dataclass(frozen=True)
class Request:
    """Who asks, and for what."""

    tech: str = ""
    confirmed: bool = False
    replace_sound: bool = False  # also when the journal is in order, but the manager refuses it
    extra: Path | None = None  # the data folder of a unit that this one replaces


def restore(
    data: Path, unit_id: str, request: Request, ask_pin: Callable[[], str], wall_ms: WallClock
) -> list[str]:
    """Puts a new journal in place; returns what to tell the tech."""
    _refuse_wrong_folders(data, request.extra)
    is_admitted = _admitted_by_sound_journal(data, unit_id, request, ask_pin, wall_ms)
    # An attempt that was cut off has left its copies: the disk may have lost what they hold.
    folders = [data, *sorted(data.glob(f"{SET_ASIDE}-*"))]
    if request.extra is not None:
        folders.append(request.extra)
    found = [_salvage_from(folder) for folder in folders]
    book = FileBook(restore_book_path(data))
    _admit(found, request, ask_pin, ServiceAdmission(book, wall_ms), is_admitted)
    lines = list(_all_lines(found))
    try:
        # In this order a power cut at any point leaves the damaged files or their whole copy, and
        # the next try begins again. The rename at the end says that a copy has been used.
        aside = _set_aside(data)
        fresh = data / "journal.new"
        _make_journal(fresh, unit_id, lines, book.uses(), wall_ms)
        _put_in_place(data, fresh)
        book.remove()
        for folder in data.glob(f"{SET_ASIDE}-*"):
            folder.rename(folder.with_name(folder.name.replace(SET_ASIDE, IN_PLACE)))
    except OSError as error:
        raise ServiceRefused(
            f"The disk cannot be written: {error.strerror}. Nothing is lost: make room or copy the"
            " folder to another disk, and restore again."
        ) from error
    return _report(lines, aside.name.replace(SET_ASIDE, IN_PLACE), unit_id)


def _refuse_wrong_folders(data: Path, extra: Path | None) -> None:
    """A mistyped folder looks like one whose records are all lost; nothing may go on from that."""
    if not data.is_dir():
        raise ServiceRefused(f"There is no folder {data}.")
    if extra is not None and not journal_path(extra).is_file():
        raise ServiceRefused(f"There is no journal in {extra}.")


# ---- who may ----


def _admitted_by_sound_journal(
    data: Path, unit_id: str, request: Request, ask_pin: Callable[[], str], wall_ms: WallClock
) -> bool:
    """A journal that can be used counts the tries itself; False when it cannot say who may."""
    try:
        journal = open_journal(data, unit_id, wall_ms())
    except JournalFault as fault:
        if isinstance(fault.__cause__, apsw.BusyError):
            raise ServiceRefused("The journal is in use: stop the table first.") from fault
        return False
    try:
        if not request.replace_sound:
            raise ServiceRefused(
                "The journal is in order; there is nothing to restore. If the Game Manager refuses"
                " it, add --replace-sound."
            )
        settings = _settings_in(journal)
        # Nobody's PIN is known to it, so it cannot judge one; then `_admit` asks for --confirm.
        if settings is None or not settings.techs:
            return False
        ServiceAdmission(JournalBook(journal), wall_ms).admit(
            settings, FUNCTION, request.tech, ask_pin
        )
        return True
    finally:
        journal.close()


def _settings_in(journal: Journal) -> TableSettings | None:
    try:
        stored = journal.beside.settings()
    except JournalFault:
        return None  # a copy that is whole may still be found past SQLite
    return TableSettings.decode(stored.body) if stored else None


def _admit(
    found: Iterable[Salvage],
    request: Request,
    ask_pin: Callable[[], str],
    admission: ServiceAdmission,
    is_admitted: bool,
) -> None:
    """A PIN as for any service function, as long as the damaged journal still knows the techs."""
    encoded = next((each.settings for each in found if each.settings), b"")
    settings = TableSettings.decode(encoded) if encoded else None
    try:
        if is_admitted:
            admission.record(FUNCTION, request.tech, ADMITTED)
        elif settings is not None and settings.techs:
            admission.admit(settings, FUNCTION, request.tech, ask_pin)
        elif request.confirmed:
            admission.record(FUNCTION, request.tech, WITHOUT_PIN)
        else:
            raise ServiceRefused("No tech can be read from the journal: add --confirm to go on.")
    except OSError as error:
        # Also when the PIN was right: a disk that cannot count must not tell either.
        raise ServiceRefused(f"The disk cannot be written: {error.strerror}.") from error


# ---- what is left ----


def _salvage_from(folder: Path) -> Salvage:
    path = journal_path(folder)
    marker = marker_path(folder)
    try:
        journal_id = bytes.fromhex(marker.read_text(encoding="ascii"))
    except (OSError, ValueError):
        journal_id = b""  # the file itself may still say it
    return salvage(_bytes_of(path), _bytes_of(_log_of(path)), journal_id)


def _bytes_of(path: Path) -> bytes:
    """What can be read of a file on a medium that may fail; nothing when it is not there."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _all_lines(found: Iterable[Salvage]) -> Iterable[Salvaged]:
    """Each record once, also when an earlier attempt has carried it over already."""
    seen: set[tuple[bytes, int, bytes]] = set()
    for each in found:
        for line in each.lines():
            key = line.journal_id, line.sequence, line.digest
            if key not in seen:
                seen.add(key)
                yield line


# ---- files ----


def _set_aside(data: Path) -> Path:
    """A copy, durable before anything else is touched."""
    aside = data / f"{SET_ASIDE}-{_last_number(data) + 1}"
    aside.mkdir()
    for path in (journal_path(data), _log_of(journal_path(data)), marker_path(data)):
        if path.is_file():
            shutil.copy2(path, aside / path.name)
            sync_file(aside / path.name)
    sync_folder(aside)
    sync_folder(data)
    return aside


def _last_number(data: Path) -> int:
    """The highest that was given. Folders are deleted to make room, so counting would not do."""
    names = [path.name for name in (SET_ASIDE, IN_PLACE) for path in data.glob(f"{name}-*")]
    numbers = [name.rpartition("-")[2] for name in names]
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def _make_journal(
    path: Path, unit_id: str, lines: list[Salvaged], uses: list[Use], wall_ms: WallClock
) -> None:
    # Of an attempt that was cut off: half a journal must not be gone on with.
    for leftover in (path, _log_of(path)):
        leftover.unlink(missing_ok=True)
    journal = Journal.open(str(path), unit_id=unit_id, created_wall_ms=wall_ms())
    try:
        journal.beside.keep_salvage(lines)
        for use in uses:
            JournalBook(journal).write(use)
    finally:
        journal.close()


def _put_in_place(data: Path, fresh: Path) -> None:
    """The old log goes first: SQLite would take it for the new journal's own."""
    path = journal_path(data)
    journal = Journal.open(str(fresh), must_exist=True)
    journal_id = journal.journal_id
    journal.close()
    _log_of(path).unlink(missing_ok=True)
    sync_folder(data)
    if path.is_dir():
        path.rename(data / f"{SET_ASIDE}-directory")
    fresh.replace(path)
    _log_of(fresh).replace(_log_of(path))
    sync_folder(data)
    write_marker(marker_path(data), journal_id)


def _report(lines: list[Salvaged], aside: str, unit_id: str) -> list[str]:
    records = [line for line in lines if line.kind != END_MARK]
    proven = sum(line.follows for line in records)
    return [
        f"{proven} records of the damaged journal are proven and kept, its files are in {aside}.",
        "The Game Manager takes in those it has not seen, each once.",
        f"Now an operator permits it: python -m manager adopt-journal {unit_id} --data FOLDER"
        " --operator NAME --reason TEXT",
        "The table opens by itself when it is permitted.",
    ]
