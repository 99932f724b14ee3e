"""A unit with two slots, a firmware and a stick, as files: it can be killed before any step.

The choice of the slot is the shipped script, called as RAUC calls it. RAUC's own part is played in
the order that RAUC keeps: the slot is marked bad, written, and then named. A unit is killed as a
process is; what a disk loses of unsynced writes is not played here.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.update.bundle import Program
from deploy.update.machine import BundleRefused, Machine
from deploy.update.records import Records
from deploy.update.table import Answer, TableSilent
from deploy.update.updater import OTHER, Updater
from tests.kit.places import ROOT

SCRIPT = ROOT / "deploy/image/files/usr/libexec/underfelt/boot-choice"
SLOT_OF_PARTITION = {"2": "A", "3": "B"}
PIECES = 4
BOOTS_MAX = 8
KILLED = -9
FORMATS = {"journal": 1}
OLD = Program("0.1.0+20260101.000000", "underfelt-unit-test", FORMATS)
NEW = Program("0.2.0+20260601.000000", "underfelt-unit-test", FORMATS)
# Each of these the script calls by name: here it may die first.
TOOLS = ("dd", "mv", "rm", "sync")


class Killed(BaseException):
    """The power went."""


class Rebooted(BaseException):
    def __init__(self, try_other: bool) -> None:
        self.try_other = try_other


@dataclass
class Behaviour:
    """How a program runs once it is booted."""

    boots: bool = True
    is_ready: bool = True
    restarts: int = 0
    enrolled: bool = True
    unproven: str = ""
    failed: str = ""


@dataclass
class SlotImage:
    program: Program
    behaviour: Behaviour
    pieces: int = PIECES


@dataclass
class SlottedUnit:
    folder: Path
    stick: SlotImage | None = None
    bundle_fault: str = ""
    busy: list[str] = field(default_factory=list)  # said one after another, then nothing
    steps_left: int = 1_000_000

    def __post_init__(self) -> None:
        self.notes, self.select = self.folder / "data/update", self.folder / "select"
        self.bin, self.budget = self.folder / "bin", self.folder / "steps-left"
        for each in (self.notes, self.select, self.bin):
            each.mkdir(parents=True)
        self.autoboot = self.select / "autoboot.txt"
        self.autoboot.write_text(
            "[all]\ntryboot_a_b=1\nboot_partition=2\n[tryboot]\nboot_partition=3\n"
        )
        self.slots: dict[str, SlotImage | None] = {"A": SlotImage(OLD, Behaviour()), "B": None}
        self.booted = "A"
        for tool in TOOLS:
            (self.bin / tool).write_text(
                f"#!/bin/sh\nread n <{self.budget}\necho $((n - 1)) >{self.budget}\n"
                f'[ "$n" -gt 0 ] || kill -9 $PPID\nexec /bin/{tool} "$@"\n'
            )
            (self.bin / tool).chmod(0o755)

    # ---- what may be its last step ----

    def step(self) -> None:
        self.steps_left -= 1
        if self.steps_left < 0:
            raise Killed

    def choose(self, *words: str) -> str:
        """The shipped script; it is killed when the steps run out in it."""
        self.budget.write_text(f"{self.steps_left}\n")
        done = subprocess.run(
            [str(SCRIPT), *words],
            capture_output=True,
            text=True,
            env=os.environ
            | {
                "PATH": f"{self.bin}:/usr/bin:/bin",
                "SELECT": str(self.select),
                "NOTES": str(self.notes),
            },
        )
        self.steps_left = int(self.budget.read_text())
        if self.steps_left < 0:
            raise Killed
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    # ---- the firmware ----

    def named(self, section: str) -> str:
        text = self.autoboot.read_text()
        part = text.partition(f"[{section}]")[2].partition("[")[0]
        return SLOT_OF_PARTITION[part.partition("boot_partition=")[2].strip()]

    def image(self, slot: str) -> SlotImage | None:
        found = self.slots[slot]
        return found if found and found.pieces == PIECES and found.behaviour.boots else None

    def power_on(self) -> None:
        """Boots until the unit is at rest. A slot that does not boot ends at the watchdog."""
        section = "all"
        for _ in range(BOOTS_MAX):
            self.booted = self.named(section)
            image = self.image(self.booted)
            if image is None:
                assert section == "tryboot", f"the default slot {self.booted} does not boot"
                section = "all"
                continue
            try:
                self.run(image.program)
            except Rebooted as rebooted:
                section = "tryboot" if rebooted.try_other else "all"
                continue
            return
        raise AssertionError("it never came to rest")

    def run(self, program: Program) -> None:
        updater = self.updater(program)
        updater.settle()
        if self.stick is not None:
            updater.take(Path("stick"))

    def updater(self, program: Program) -> Updater:
        return Updater(SlottedMachine(self), CutRecords(self), program)

    def running(self) -> SlotImage:
        image = self.image(self.booted)
        assert image is not None
        return image


class CutRecords(Records):
    """Each of its files may be the last thing that is written, or the first that is not."""

    def __init__(self, unit: SlottedUnit) -> None:
        super().__init__(unit.notes, lambda: 1_800_000_000)
        for name in ("keep_pending", "settled", "tell", "tell_nothing"):
            setattr(self, name, self._around(unit, getattr(self, name)))

    @staticmethod
    def _around(unit: SlottedUnit, act: Callable[..., None]) -> Callable[..., None]:
        def do(*words: object) -> None:
            unit.step()
            act(*words)
            unit.step()

        return do


class SlottedMachine(Machine):
    def __init__(self, unit: SlottedUnit) -> None:
        self._unit = unit

    @property
    def _behaviour(self) -> Behaviour:
        return self._unit.running().behaviour

    def booted(self) -> str:
        return self._unit.booted

    def default(self) -> str:
        return self._unit.choose("get-default")

    def forget_other(self) -> None:
        self._unit.choose("set-primary", self.default())

    def mark_good(self) -> None:
        self._unit.choose("set-state", self._unit.booted, "good")

    def reboot(self, try_other: bool) -> None:
        self._unit.step()
        raise Rebooted(try_other)

    def describe(self, bundle: Path) -> Program:
        assert self._unit.stick is not None
        if self._unit.bundle_fault:
            raise BundleRefused(self._unit.bundle_fault, "as the test has it")
        return self._unit.stick.program

    def install(self, bundle: Path) -> None:
        unit, slot = self._unit, OTHER[self._unit.booted]
        assert unit.stick is not None
        unit.choose("set-state", slot, "bad")
        written = SlotImage(unit.stick.program, unit.stick.behaviour, 0)
        unit.slots[slot] = written
        for _ in range(PIECES):
            unit.step()
            written.pieces += 1
        unit.choose("set-primary", slot)

    def program(self) -> Answer:
        if not self._behaviour.is_ready:
            raise TableSilent("The table does not answer.")
        busy = self._unit.busy.pop(0) if self._unit.busy else ""
        return Answer(self._behaviour.enrolled, busy, self._behaviour.unproven)

    def self_test(self) -> str:
        return self._behaviour.failed

    def is_ready(self) -> bool:
        return self._behaviour.is_ready

    def restart_count(self) -> int:
        return self._behaviour.restarts

    def pause(self) -> None:
        """No time passes here: whoever asks too often has its own limit."""
