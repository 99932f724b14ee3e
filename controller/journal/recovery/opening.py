"""A journal that cannot be used, and how a new one goes on where it ended.

It alone decides what a unit does without a good journal: it stays closed and says why, and never
makes a new one by itself where there has been one. It also knows what of a damaged journal is
recorded anew once the manager has told where the table stands. Files are moved by `restore`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from controller.data_folder import journal_path, marker_path
from controller.journal.closed import ClosedJournal
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.records import Entry, JournalRecord, Salvaged
from controller.journal.recovery.salvage import END_MARK, follows
from kit.files import write_durably
from protocol.proof import chain, lineage
from protocol.proof.lineage import EarlierPlace
from protocol.wire import events, messages

log = logging.getLogger("controller.journal.recovery.opening")

CALL_SERVICE: Final = "Call service."

# The new journal seals its own chain, adopts its own settings and tells its own beginning.
NOT_RECORDED_ANEW: Final = (events.SEAL, events.SETTINGS, events.RESTORED)


class RecoveryFault(Exception):  # noqa: N818 - a sentence for the tech
    """What was salvaged does not belong to the table that the manager tells of."""


# ---- a unit without a journal ----


def opened_or_closed(open_journal: Callable[[], Journal]) -> Journal:
    """The journal, or what stands for it while the table stays closed."""
    try:
        return open_journal()
    except JournalFault as fault:
        log.critical("the table stays closed: %s", fault)
        return ClosedJournal(f"{fault} {CALL_SERVICE}")


def open_journal(data: Path, unit_id: str, created_wall_ms: int) -> Journal:
    """The unit's journal in its folder; a new one only where there has never been one."""
    path, marker = journal_path(data), marker_path(data)
    known = _read_marker(marker)
    # A new journal would begin at record 1 under a name the manager knows: to it, a cloned unit.
    if known and not path.exists():
        raise JournalFault("The journal is missing.")
    journal = Journal.open(
        str(path), created_wall_ms=created_wall_ms, unit_id=unit_id, must_exist=bool(known)
    )
    # Somebody put in another unit's disk, or an old copy of the file. Its bets are not this
    # table's.
    if known and known != journal.journal_id:
        journal.close()
        raise JournalFault("The journal is not the one that this unit has kept.")
    # Only now: a marker without its journal would close a unit that never had one.
    if not known:
        write_marker(marker, journal.journal_id)
    return journal


def write_marker(path: Path, journal_id: bytes) -> None:
    """Remembers, apart from the journal, which one it is.

    A disk on which this cannot be written cannot be trusted with bets either.
    """
    try:
        write_durably(path, journal_id.hex())
    except OSError as error:
        raise JournalFault(f"The journal's id cannot be kept: {error.strerror}.") from error


def _read_marker(path: Path) -> bytes:
    try:
        return bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return b""
    except (OSError, ValueError) as error:
        raise JournalFault(f"The journal's id cannot be read: {error}.") from error


# ---- going on with a new one ----


def go_on(
    journal: Journal,
    state: messages.State,
    told: Sequence[messages.Event],
    now: tuple[int, int],
) -> list[JournalRecord]:
    """Records where the table stands, once; the manager may tell it again."""
    if journal.records.last_sequence_of(events.RESTORED):
        return []
    if journal.records.last_sequence_of(events.ROUND_START):
        raise RecoveryFault("The Game Manager takes this unit's journal for a new one; it is not.")
    return journal.adopt_salvage(restored_entries(state, told, journal.beside.salvage(), now))


def restored_entries(
    state: messages.State,
    told: Sequence[messages.Event],
    salvaged: Sequence[Salvaged],
    now: tuple[int, int],
) -> list[Entry]:
    """All that a new journal must record to stand where the table stands, in order."""
    # Evidence first. A record that is in doubt must not be recorded anew as if it went on.
    diverged = _diverged(state, salvaged)
    apart = set(diverged)
    going_on = [line for line in salvaged if line not in apart]
    records, unreadable = _undelivered(state, going_on)
    restored = events.Restored(
        state.journal_id,
        state.last_sequence,
        state.round_number,
        state.claim_number,
        state.counters,
        len(records),
        unreadable,
    )
    entries = [Entry(events.RESTORED, restored.to_body(), *now)]
    # In the manager's words before our own: what it booked stands, whatever the disk still says.
    entries += [Entry(each.kind, each.body, each.monotonic_ms, each.wall_ms) for each in told]
    entries += [Entry(events.DIVERGED, _evidence(line).to_body(), *now) for line in diverged]
    return entries + [_recorded_anew(state, record) for record in records]


def _undelivered(state: messages.State, salvaged: Sequence[Salvaged]) -> tuple[list[Salvaged], int]:
    """The proven records that the manager has not taken in, and how many are known to be lost."""
    own = [line for line in salvaged if line.journal_id in (b"", state.journal_id)]
    _refuse_strangers(state, own)
    # Up to its last record the manager has everything, in better condition than the disk does.
    newer = [line for line in own if line.sequence > state.last_sequence]
    proven = [line for line in newer if line.kind != END_MARK and _is_proven(state, line)]
    # Counted from the highest number seen anywhere: what cannot be read was there all the same, and
    # the manager is told how many records are missing instead of being told nothing.
    lost = max([state.last_sequence, *(line.sequence for line in newer)]) - state.last_sequence
    taken = dict(state.earlier)
    older = [
        line
        for line in salvaged
        if line not in own and line.follows and line.sequence > taken.get(line.journal_id, 0)
    ]
    wanted = [line for line in older + proven if _is_wanted(line)]
    return wanted, lost - len(proven)


def _diverged(state: messages.State, salvaged: Sequence[Salvaged]) -> list[Salvaged]:
    """Proven records in whose places the manager may hold others: a copy of the disk went on first.

    The manager recognises by their digests those that it has after all.
    """
    own = [
        line
        for line in salvaged
        if line.journal_id == state.journal_id and line.kind != END_MARK and line.follows
    ]
    by_sequence = {line.sequence: line for line in own}
    shared = [mark for mark in state.marks if mark.sequence in by_sequence]
    equal = [mark for mark in shared if by_sequence[mark.sequence].digest == mark.digest]
    # From the last record that both have alike. Before it the two histories are one.
    common = max((mark.sequence for mark in equal), default=0)
    after = by_sequence.get(state.last_sequence + 1)
    parted = len(equal) < len(shared) or (after and not follows(after, state.last_digest))
    # Without a difference, what lies beyond the manager's last record goes on from it.
    last = max(by_sequence, default=0) if parted else state.last_sequence
    return [line for line in own if common < line.sequence <= last]


def _evidence(line: Salvaged) -> events.Diverged:
    place = line.journal_id, line.sequence, line.digest
    return events.Diverged(*place, line.kind, line.body, line.monotonic_ms, line.wall_ms)


def _refuse_strangers(state: messages.State, own: Sequence[Salvaged]) -> None:
    for line in own:
        # The one record that both must have alike. Another digest there means another history.
        same = line.sequence == state.last_sequence and line.digest != state.last_digest
        if same and line.follows:
            raise RecoveryFault(
                f"The damaged journal's record {line.sequence} is not the one that the Game "
                "Manager has: it is another unit's, or a copy went its own way."
            )
        is_next = line.sequence == state.last_sequence + 1 and line.kind != END_MARK
        if is_next and line.follows and not follows(line, state.last_digest):
            raise RecoveryFault(
                f"The damaged journal's record {line.sequence} does not follow what the Game "
                "Manager has."
            )


def _is_proven(state: messages.State, line: Salvaged) -> bool:
    # Its predecessor may be unreadable here while the manager holds it: its digest proves the next.
    is_next = line.sequence == state.last_sequence + 1
    return bool(line.follows) or (is_next and follows(line, state.last_digest))


def _is_wanted(line: Salvaged) -> bool:
    """What the manager told of is recorded from its own words, not from the damaged journal."""
    if line.kind in (END_MARK, *NOT_RECORDED_ANEW):
        return False
    return not lineage.is_known(chain.decode_body(line.body))


def _recorded_anew(state: messages.State, line: Salvaged) -> Entry:
    origin = EarlierPlace(line.journal_id or state.journal_id, line.sequence, line.digest)
    body = lineage.recorded_anew(chain.decode_body(line.body), origin, known=False)
    return Entry(line.kind, body, line.monotonic_ms, line.wall_ms)
