"""Service functions: a tech's PIN, counted tries, and a line in the journal for each use."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import pytest

from controller.journal.journal import Journal
from controller.service import admission
from controller.service.admission import (
    LOCKOUT_MS,
    WRONG_PINS_MAX,
    ServiceAdmission,
    ServiceRefused,
)
from controller.service.log import LOOK_BACK_MAX, JournalBook
from protocol.secrets.tech_pin import PinError, hash_pin, is_pin
from protocol.wire import events
from protocol.wire.settings import TableSettings
from sim.storage.disk import SimDisk
from sim.time.loop import run_virtual
from tests.kit.message_samples import SETTINGS
from tests.kit.tech_settings import PIN, WITH_TECH


class Unit:
    def __init__(self, settings: TableSettings | None) -> None:
        self.disk = SimDisk(1)
        self.now_ms = 1_700_000_000_000
        self.journal = Journal.open("j", vfs=self.disk.vfs_name, wal_bytes=65536)
        if settings:
            self.journal.adopt_settings(settings.encode(), 0, self.now_ms)
        self.settings = settings
        self.admission = ServiceAdmission(JournalBook(self.journal), lambda: self.now_ms)

    def admit(self, label: str = "Tech 3", pin: str = PIN) -> str:
        return self.admission.admit(self.settings, "calibrate", label, lambda: pin)

    def wrong(self, label: str = "Tech 3") -> None:
        with pytest.raises(ServiceRefused, match="do not belong together"):
            self.admit(label, "999999")

    def results(self) -> list[tuple[str, str]]:
        records = [r for r in self.journal.records.after(0, 100) if r.kind == events.SERVICE]
        bodies = [events.Service.from_body(record.body) for record in records]
        return [(body.tech, body.result) for body in bodies]


def play(settings: TableSettings | None, scene: Callable[[Unit], Awaitable[None]]) -> None:
    async def run() -> None:
        unit = Unit(settings)
        await scene(unit)
        unit.journal.close()
        unit.disk.close()

    run_virtual(run())


def test_a_tech_with_the_right_pin_is_admitted_and_journaled() -> None:
    async def scene(unit: Unit) -> None:
        assert unit.admit() == "Tech 3 is admitted to calibrate."
        unit.admission.record("calibrate", "Tech 3", "done")
        assert unit.results() == [("Tech 3", admission.ADMITTED), ("Tech 3", "done")]

    play(WITH_TECH, scene)


def test_a_unit_as_delivered_admits_anyone_and_says_so() -> None:
    async def scene(unit: Unit) -> None:
        assert "as delivered" in unit.admit("")
        assert unit.results() == [("", admission.AS_DELIVERED)]

    play(None, scene)


def test_a_table_without_techs_admits_nobody() -> None:
    async def scene(unit: Unit) -> None:
        with pytest.raises(ServiceRefused, match="No tech is entered"):
            unit.admit()

    play(SETTINGS, scene)


def test_no_name_a_wrong_name_and_a_wrong_pin_are_refused_alike() -> None:
    async def scene(unit: Unit) -> None:
        with pytest.raises(ServiceRefused, match="--tech"):
            unit.admit("")
        unit.wrong("Tech 4")
        unit.wrong("Tech 3")
        assert unit.results() == [
            ("Tech 4", admission.UNKNOWN_TECH),
            ("Tech 3", admission.WRONG_PIN),
        ]

    play(WITH_TECH, scene)


def test_too_many_wrong_pins_lock_everyone_out_for_a_while() -> None:
    async def scene(unit: Unit) -> None:
        for _ in range(WRONG_PINS_MAX):
            unit.wrong()
            unit.now_ms += 1000
        with pytest.raises(ServiceRefused, match="Too many wrong PINs"):
            unit.admit()
        assert unit.results()[-1] == ("Tech 3", admission.LOCKED_OUT)
        unit.now_ms -= 10 * LOCKOUT_MS  # setting the clock back does not help
        with pytest.raises(ServiceRefused, match="Wait 900 s"):
            unit.admit()
        unit.now_ms += 10 * LOCKOUT_MS + LOCKOUT_MS
        assert "admitted" in unit.admit()

    play(WITH_TECH, scene)


def test_asking_on_and_on_does_not_end_a_lock_out() -> None:
    """Catches: a line for every refusal, which pushes the wrong PINs out of what is looked at."""

    async def scene(unit: Unit) -> None:
        for _ in range(WRONG_PINS_MAX):
            unit.wrong()
        for _ in range(2 * LOOK_BACK_MAX):
            with pytest.raises(ServiceRefused, match="Too many wrong PINs"):
                unit.admit("Tech 3")
        assert [result for _, result in unit.results()].count(admission.LOCKED_OUT) == 1

    play(WITH_TECH, scene)


def test_a_name_of_any_length_is_refused_with_a_sentence() -> None:
    async def scene(unit: Unit) -> None:
        for _ in range(WRONG_PINS_MAX):
            unit.wrong("Tech 3" * 50)
        with pytest.raises(ServiceRefused, match="Too many wrong PINs"):
            unit.admit("Tech 3" * 50)

    play(WITH_TECH, scene)


def test_a_right_pin_clears_the_count() -> None:
    async def scene(unit: Unit) -> None:
        for _ in range(3):
            for _ in range(WRONG_PINS_MAX - 1):
                unit.wrong()
            unit.admit()

    play(WITH_TECH, scene)


@pytest.mark.parametrize("pin", ["", "12345", "x" * 65, "12345\n"])
def test_a_pin_that_is_too_short_too_long_or_unprintable_is_refused(pin: str) -> None:
    with pytest.raises(PinError):
        hash_pin(pin, os.urandom)


def test_a_pin_is_kept_as_a_salted_hash() -> None:
    salt, hashed = hash_pin(PIN, os.urandom)
    other_salt, other = hash_pin(PIN, os.urandom)
    assert hashed != other
    assert is_pin(PIN, salt, hashed)
    assert not is_pin("246814", salt, hashed)
    assert not is_pin(PIN, other_salt, hashed)
    assert PIN.encode() not in WITH_TECH.encode()
