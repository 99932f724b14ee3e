"""The tech's restore procedure on real files: who may, what is kept, and any interruption."""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controller.data_folder import journal_path, marker_path, restore_book_path
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.recovery.opening import open_journal
from controller.service import admission
from controller.service import log as service_books
from controller.service import restore as procedure
from controller.service.admission import (
    LOCKOUT_MS,
    WRONG_PINS_MAX,
    ServiceAdmission,
    ServiceRefused,
)
from controller.service.log import JournalBook
from controller.service.restore import Request, restore
from protocol.secrets.tech_pin import hash_pin
from protocol.wire import events
from protocol.wire.settings import TableSettings, TechSetting
from tests.kit.message_samples import SETTINGS_IN_FULL

UNIT = "UF-0001"
PIN = "246813"
CONFIRMED = Request(confirmed=True)


def wall_ms() -> int:
    return 1_790_000_000_000


def settings_bytes() -> bytes:
    salt, hashed = hash_pin(PIN, lambda count: bytes(range(count)))
    return replace(SETTINGS_IN_FULL, techs=(TechSetting("Tech 3", salt, hashed),)).encode()


def filled(data: Path, with_settings: bool = False) -> tuple[bytes, list[int]]:
    """A journal with a few records, of which none is folded into the database yet."""
    journal = open_journal(data, UNIT, 0)
    if with_settings:
        journal.adopt_settings(settings_bytes(), 0, 0)
    for number in range(1, 6):
        body = events.RoundStart(number, ("1A",), ())
        journal.append(body.KIND, body.to_body(), 0, 0)
    sequences = [record.sequence for record in journal.records.after(0, 100)]
    journal_id = journal.journal_id
    journal._disk.connection.pragma("wal_autocheckpoint", 0)
    return journal_id, _copied_as_a_power_cut_would(journal, data, sequences)


def _copied_as_a_power_cut_would(journal: Journal, data: Path, sequences: list[int]) -> list[int]:
    path = journal_path(data)
    kept = {name: (data / name).read_bytes() for name in (path.name, f"{path.name}-wal")}
    journal.close()
    for name, content in kept.items():
        (data / name).write_bytes(content)
    return sequences


def smash(data: Path) -> None:
    path = journal_path(data)
    content = bytearray(path.read_bytes())
    content[:4096] = random.Random(1).randbytes(4096)
    path.write_bytes(content)
    log = path.with_name(f"{path.name}-wal")
    content = bytearray(log.read_bytes())
    content[40] ^= 1
    log.write_bytes(content)
    with pytest.raises(JournalFault):
        open_journal(data, UNIT, 0)


def carried(data: Path) -> list[int]:
    journal = open_journal(data, UNIT, 0)
    try:
        lines = journal.beside.salvage()
        assert all(line.follows for line in lines)
        return [line.sequence for line in lines]
    finally:
        journal.close()


def no_pin() -> str:
    raise AssertionError("no PIN can be checked here")


def test_everything_proven_is_carried_into_a_new_journal(tmp_path: Path) -> None:
    journal_id, sequences = filled(tmp_path)
    smash(tmp_path)
    damaged = journal_path(tmp_path).read_bytes()
    told = restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    assert "5 records" in told[0]
    assert carried(tmp_path) == sequences
    journal = open_journal(tmp_path, UNIT, 0)
    assert journal.journal_id != journal_id
    (admission,) = journal.records.after(0, 10)
    assert events.Service.from_body(admission.body).function == "restore"
    journal.close()
    assert (tmp_path / "restored-1" / journal_path(tmp_path).name).read_bytes() == damaged


def test_a_folder_that_was_deleted_to_make_room_takes_no_later_ones_number(tmp_path: Path) -> None:
    """Catches: the folders counted. A restore that had succeeded was then called a full card."""
    filled(tmp_path)
    (tmp_path / "restored-directory").mkdir()
    for deleted, left in (("", [1]), ("", [1, 2]), ("restored-1", [2, 3]), ("restored-2", [3, 4])):
        if deleted:
            shutil.rmtree(tmp_path / deleted)
        smash(tmp_path)
        lines = restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
        assert f"its files are in restored-{left[-1]}." in lines[0]
        assert sorted(path.name for path in tmp_path.glob("*-[0-9]")) == [
            f"restored-{number}" for number in left
        ]


def test_a_missing_journal_is_not_replaced_by_itself(tmp_path: Path) -> None:
    filled(tmp_path)
    journal_path(tmp_path).unlink()
    with pytest.raises(JournalFault, match="The journal is missing"):
        open_journal(tmp_path, UNIT, 0)
    restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    open_journal(tmp_path, UNIT, 0).close()


def test_an_emptied_journal_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    filled(tmp_path)
    journal_path(tmp_path).write_bytes(b"")
    journal_path(tmp_path).with_name("journal.sqlite-wal").unlink()
    with pytest.raises(JournalFault, match="The journal is empty"):
        open_journal(tmp_path, UNIT, 0)


def test_the_journal_of_another_unit_or_another_card_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(JournalFault, match="belongs to unit UF-0001"):
        open_journal(tmp_path, "UF-0002", 0)
    marker_path(tmp_path).write_text("00" * 16)
    with pytest.raises(JournalFault, match="not the one that this unit has kept"):
        open_journal(tmp_path, UNIT, 0)
    marker_path(tmp_path).write_text("something else")
    with pytest.raises(JournalFault, match="id cannot be read"):
        open_journal(tmp_path, UNIT, 0)


def test_a_journal_without_its_marker_gets_one(tmp_path: Path) -> None:
    """The power went between making the journal and remembering it."""
    journal_id, _ = filled(tmp_path)
    marker_path(tmp_path).unlink()
    open_journal(tmp_path, UNIT, 0).close()
    assert marker_path(tmp_path).read_text() == journal_id.hex()


def test_a_sound_journal_is_left_alone_unless_told_otherwise(tmp_path: Path) -> None:
    _, sequences = filled(tmp_path)
    with pytest.raises(ServiceRefused, match="The journal is in order") as refused:
        restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    open_journal(tmp_path, UNIT, 0).close()  # whoever still looks at the refusal holds no lock
    assert refused.value.args
    request = Request(confirmed=True, replace_sound=True)
    restore(tmp_path, UNIT, request, no_pin, wall_ms)
    assert carried(tmp_path) == sequences


def test_a_sound_journal_without_techs_is_replaced_only_when_it_is_confirmed(
    tmp_path: Path,
) -> None:
    """Catches: a sound journal that names no tech taken for one that has admitted somebody."""
    _, sequences = filled(tmp_path)
    with pytest.raises(ServiceRefused, match="--confirm"):
        restore(tmp_path, UNIT, Request(replace_sound=True), no_pin, wall_ms)
    journal = open_journal(tmp_path, UNIT, 0)
    assert [record.sequence for record in journal.records.after(0, 10)] == sequences
    journal.close()
    restore(tmp_path, UNIT, Request(confirmed=True, replace_sound=True), no_pin, wall_ms)
    assert uses_of(tmp_path) == [("", procedure.WITHOUT_PIN, wall_ms())]


def test_a_tech_is_asked_as_long_as_the_techs_can_be_read(tmp_path: Path) -> None:
    filled(tmp_path, with_settings=True)
    smash(tmp_path)
    with pytest.raises(ServiceRefused, match="Say who you are"):
        restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    tech = Request("Tech 3")
    with pytest.raises(ServiceRefused, match="do not belong together"):
        restore(tmp_path, UNIT, tech, lambda: "111111", wall_ms)
    with pytest.raises(JournalFault):  # nothing has changed
        open_journal(tmp_path, UNIT, 0)
    restore(tmp_path, UNIT, tech, lambda: PIN, wall_ms)
    open_journal(tmp_path, UNIT, 0).close()


@pytest.mark.parametrize("replace_sound", [False, True])
def test_the_journal_of_a_running_table_is_left_alone(tmp_path: Path, replace_sound: bool) -> None:
    """Catches: taking a locked journal for a damaged one. The running table would go on recording
    into a file that is no longer there, and forget all of it at its next start.
    """
    journal = open_journal(tmp_path, UNIT, 0)
    with pytest.raises(ServiceRefused, match="stop the table first"):
        restore(tmp_path, UNIT, replace(CONFIRMED, replace_sound=replace_sound), no_pin, wall_ms)
    body = events.RoundStart(1, ("1A",), ())
    journal.append(body.KIND, body.to_body(), 0, 0)
    journal.close()
    again = open_journal(tmp_path, UNIT, 0)
    assert again.last_sequence == 1
    again.close()


def wrong(data: Path, request: Request, now_ms: int) -> None:
    with pytest.raises(ServiceRefused, match="do not belong together"):
        restore(data, UNIT, request, lambda: "111111", lambda: now_ms)


def uses_of(data: Path) -> list[tuple[str, str, int]]:
    journal = open_journal(data, UNIT, 0)
    records = [r for r in journal.records.after(0, 100) if r.kind == events.SERVICE]
    journal.close()
    uses = [(events.Service.from_body(record.body), record.wall_ms) for record in records]
    return [(use.tech, use.result, at_ms) for use, at_ms in uses]


def test_wrong_pins_are_counted_beside_a_journal_that_cannot_be_used(tmp_path: Path) -> None:
    """Catches: tries that are not counted, or only until the command ends; a six-digit PIN would be
    found in days. Also a new journal that does not tell them: nobody would know that it was tried.
    """
    filled(tmp_path, with_settings=True)
    smash(tmp_path)
    now_ms, tech = wall_ms(), Request("Tech 3")
    wrong(tmp_path, Request("Tech 4"), now_ms)
    for _ in range(WRONG_PINS_MAX - 1):
        wrong(tmp_path, tech, now_ms)
    for _ in range(2):
        with pytest.raises(ServiceRefused, match=r"Too many wrong PINs\. Wait 900 s\."):
            restore(tmp_path, UNIT, tech, no_pin, lambda: now_ms)
    with pytest.raises(JournalFault):  # nothing has changed
        open_journal(tmp_path, UNIT, 0)
    later_ms = now_ms + LOCKOUT_MS
    restore(tmp_path, UNIT, tech, lambda: PIN, lambda: later_ms)
    assert uses_of(tmp_path) == [
        ("Tech 4", admission.UNKNOWN_TECH, now_ms),
        *[("Tech 3", admission.WRONG_PIN, now_ms)] * (WRONG_PINS_MAX - 1),
        ("Tech 3", admission.LOCKED_OUT, now_ms),
        ("Tech 3", admission.ADMITTED, later_ms),
    ]
    assert not restore_book_path(tmp_path).exists()


def test_a_card_that_cannot_count_tells_a_right_pin_no_better_than_a_wrong_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: writing wrong tries only; on a full card the other answer would be the right PIN."""
    filled(tmp_path, with_settings=True)
    smash(tmp_path)
    monkeypatch.setattr(service_books, "write_durably", _full)
    for pin in ("111111", PIN):
        with pytest.raises(ServiceRefused, match=r"cannot be written: No space left"):
            restore(tmp_path, UNIT, Request("Tech 3"), partial(str, pin), wall_ms)
    assert not list(tmp_path.glob("damaged-*"))


def _full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_card_that_has_lost_the_tries_can_still_be_mended(tmp_path: Path) -> None:
    """Catches: a lock-out for good, on the very card that has to be restored."""
    filled(tmp_path, with_settings=True)
    smash(tmp_path)
    restore_book_path(tmp_path).write_bytes(b"\xff\x00[1, 2]\n")
    restore(tmp_path, UNIT, Request("Tech 3"), lambda: PIN, wall_ms)
    assert uses_of(tmp_path) == [("Tech 3", admission.ADMITTED, wall_ms())]


def test_a_sound_journal_counts_the_tries_of_all_service_functions_together(
    tmp_path: Path,
) -> None:
    """Catches: a count of its own, which would give five more tries beside calibrate's."""
    filled(tmp_path, with_settings=True)
    request = Request("Tech 3", replace_sound=True)
    for _ in range(WRONG_PINS_MAX - 1):
        wrong(tmp_path, request, wall_ms())
    journal = open_journal(tmp_path, UNIT, 0)
    desk = ServiceAdmission(JournalBook(journal), wall_ms)
    with pytest.raises(ServiceRefused, match="do not belong together"):
        desk.admit(TableSettings.decode(settings_bytes()), "calibrate", "Tech 3", lambda: "1")
    journal.close()
    with pytest.raises(ServiceRefused, match="Too many wrong PINs"):
        restore(tmp_path, UNIT, request, no_pin, wall_ms)
    assert not restore_book_path(tmp_path).exists()
    restore(tmp_path, UNIT, request, lambda: PIN, lambda: wall_ms() + LOCKOUT_MS)
    assert uses_of(tmp_path) == [("Tech 3", admission.ADMITTED, wall_ms() + LOCKOUT_MS)]


def test_without_any_readable_tech_it_must_be_confirmed(tmp_path: Path) -> None:
    filled(tmp_path)
    smash(tmp_path)
    with pytest.raises(ServiceRefused, match="--confirm"):
        restore(tmp_path, UNIT, Request(), no_pin, wall_ms)


def test_the_records_of_a_unit_that_is_replaced(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    _, sequences = filled(old)
    open_journal(new, "UF-0009", 0).close()
    request = Request(confirmed=True, replace_sound=True, extra=old)
    restore(new, "UF-0009", request, no_pin, wall_ms)
    journal = open_journal(new, "UF-0009", 0)
    assert [line.sequence for line in journal.beside.salvage()] == sequences
    journal.close()


STEPS = ("_set_aside", "_make_journal", "_put_in_place", "sync_folder", "write_marker", "_report")


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_it_can_be_repeated_after_any_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, after: bool
) -> None:
    _, sequences = filled(tmp_path)
    smash(tmp_path)
    monkeypatch.setattr(procedure, name, _interrupted(getattr(procedure, name), after))
    with pytest.raises(KeyboardInterrupt):
        restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    monkeypatch.undo()
    restore_if_needed(tmp_path)
    lines = carried(tmp_path)
    # A second attempt may also carry what the first one recorded about itself.
    assert lines[: len(sequences)] == sequences or set(sequences) <= set(lines)


@pytest.mark.parametrize("name", STEPS[:-1])
def test_a_card_that_is_full_is_told_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    _, sequences = filled(tmp_path)
    smash(tmp_path)
    monkeypatch.setattr(procedure, name, _full)
    with pytest.raises(ServiceRefused, match=r"cannot be written: No space left.* Nothing is lost"):
        restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    monkeypatch.undo()
    restore_if_needed(tmp_path)
    assert set(sequences) <= set(carried(tmp_path))


def restore_if_needed(data: Path) -> None:
    """The attempt before may have come to its end after all."""
    try:
        open_journal(data, UNIT, 0).close()
    except JournalFault:
        restore(data, UNIT, CONFIRMED, no_pin, wall_ms)


def _interrupted(step: Callable[..., Any], after: bool) -> Callable[..., Any]:
    def cut(*values: Any) -> Any:
        if after:
            step(*values)
        raise KeyboardInterrupt

    return cut


def test_mutation_without_the_copy_an_interruption_would_lose_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sequences = filled(tmp_path)
    smash(tmp_path)

    def nothing_copied(data: Path) -> Path:
        aside = data / f"{procedure.SET_ASIDE}-{len(list(data.iterdir()))}"
        aside.mkdir()
        return aside

    monkeypatch.setattr(procedure, "_set_aside", nothing_copied)
    with monkeypatch.context() as power:
        cut = _interrupted(procedure.sync_folder, after=False)
        power.setattr(procedure, "sync_folder", cut)
        with pytest.raises(KeyboardInterrupt):
            restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    restore(tmp_path, UNIT, CONFIRMED, no_pin, wall_ms)
    assert not set(sequences) <= set(carried(tmp_path))


def test_what_is_set_aside_gets_a_number_that_was_never_given(tmp_path: Path) -> None:
    """Catches: the lowest number counted on, and a copy of evidence written over another."""
    assert procedure._last_number(tmp_path) == 0
    for name in (
        f"{procedure.SET_ASIDE}-2",
        f"{procedure.SET_ASIDE}-10",
        f"{procedure.IN_PLACE}-3",
        f"{procedure.SET_ASIDE}-old",
    ):
        (tmp_path / name).mkdir()
    assert procedure._last_number(tmp_path) == 10
