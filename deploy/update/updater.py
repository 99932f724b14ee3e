"""The steps of an update, in an order that a power cut may end anywhere.

The firmware's default is the program that has proven itself, until another one has. A new program
is booted once, by a flag that the firmware forgets. Whoever does not come to its proof is gone with
the next boot, whatever the reason.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from deploy.update.bundle import Program, objection
from deploy.update.health import why_unhealthy
from deploy.update.machine import BundleRefused, Machine
from deploy.update.records import Records
from deploy.update.table import TableSilent
from kit.program_changes import STICK, Pending
from kit.program_news import (
    INSTALLED,
    NOT_IN_ORDER,
    PROVING,
    ROLLED_BACK,
    RUNS_ALREADY,
    STOPPED,
    TAKEN,
    UPDATED,
    WAITS,
    WRITING,
)

log = logging.getLogger("deploy.update")

WAIT_COUNT_MAX: Final = 4 * 60 * 60  # asked every two seconds: a whole shift
OTHER: Final = {"A": "B", "B": "A"}


@dataclass(frozen=True)
class Source:
    """Where a bundle came from. `digest` names it to the manager, and is trusted for nothing."""

    how: str = STICK
    digest: str = ""
    is_stopped: Callable[[], bool] = lambda: False


A_STICK: Final = Source()


class Updater:
    def __init__(self, machine: Machine, records: Records, here: Program) -> None:
        self._machine = machine
        self._records = records
        self._here = here
        self._source = A_STICK

    # ---- a bundle, from a stick or from the manager ----

    def take(self, bundle: Path, source: Source = A_STICK) -> None:
        """Installs it and boots it once, or says why not; nothing of the running slot changes."""
        if self._records.pending():
            log.info("another update is under way; this one is looked at after the next start")
            return
        self._source = source
        if source.digest:
            self._tell(TAKEN, "")
        else:
            self._records.tell_nothing()
        version = ""
        try:
            new = self._machine.describe(bundle)
            version = new.version
            if new == self._here:
                log.info("%s came by %s, and it runs already", version, source.how)
                if source.digest:
                    self._tell(RUNS_ALREADY, version)
                return
            self._take(bundle, new)
        except BundleRefused as refusal:
            log.error("the update %s is refused: %s (%s)", version, refusal.code, refusal)
            self._tell(refusal.code, version)

    def _take(self, bundle: Path, new: Program) -> None:
        code = objection(new, self._here, self._records.failed_before(new.version))
        if code:
            raise BundleRefused(code, f"{self._here.version} runs on {self._here.board}")
        enrolled = self._wait_for_a_pause(new.version)
        # What does not work before would be laid at the new program's door.
        fault = self._machine.self_test() if enrolled else ""
        if fault:
            raise BundleRefused(NOT_IN_ORDER, fault)
        self._tell(WRITING, new.version)
        log.info("writing %s to the other slot", new.version)
        self._machine.install(bundle)
        slot = OTHER[self._machine.booted()]
        pending = Pending(slot, new.version, self._here.version, enrolled)
        pending = replace(pending, how=self._source.how, digest=self._source.digest)
        self._records.keep_pending(pending)
        self._try_out(pending)

    def _wait_for_a_pause(self, version: str, code: str = WAITS) -> bool:
        """Until nothing would be lost by a change of the program; whether the unit is enrolled."""
        reason = ""
        for _ in range(WAIT_COUNT_MAX):
            if self._source.is_stopped():
                raise BundleRefused(STOPPED, "the manager has withdrawn it")
            try:
                answer = self._machine.program()
                if not answer.busy:
                    return answer.enrolled
                now = answer.busy
            except TableSilent as silent:
                now = str(silent)
            if now != reason:
                reason = now
                log.info("the update %s waits: %s", version, reason)
                self._tell(code, version)
            self._machine.pause()
        raise BundleRefused(NOT_IN_ORDER, f"there was no pause in a whole shift: {reason}")

    def _try_out(self, pending: Pending) -> None:
        # It is written, and the next start would try it: withdrawing it is too late from here on.
        self._source = Source(pending.how, pending.digest)
        self._wait_for_a_pause(pending.version, INSTALLED)
        # Before the boot: a program that takes the whole machine down is not tried a second time.
        self._records.keep_pending(replace(pending, tried=True))
        log.info("%s is booted once, and has to prove itself", pending.version)
        self._machine.reboot(try_other=True)

    # ---- after each start ----

    def settle(self) -> None:
        """Goes on with an update that is under way: proves it, ends it, or takes it back."""
        self._records.tell_nothing()
        pending, booted = self._records.pending(), self._machine.booted()
        default = self._machine.default()
        if pending is None:
            if booted != default:
                # Nobody asked for this boot, so nobody can say what it must be able to do.
                self._give_up("it was booted without an order")
            self._machine.forget_other()
            return
        if pending.slot == default:
            self._machine.forget_other()  # proven before the power went
            self._records.settled(pending, UPDATED)
        elif pending.slot == booted:
            self._prove(pending)
        elif pending.tried:
            self._take_back(pending)
        else:
            self._try_out(pending)

    def _prove(self, pending: Pending) -> None:
        self._records.tell(PROVING, pending.version, pending.digest)
        reason = why_unhealthy(self._machine, pending.enrolled)
        if reason:
            # The program before says so when it is back: this one's word is worth little.
            self._records.keep_pending(replace(pending, reason=reason))
            self._give_up(reason)
            return
        self._machine.mark_good()
        self._records.settled(pending, UPDATED)
        self._records.tell_nothing()
        log.info("%s has proven itself and is this unit's program now", pending.version)

    def _take_back(self, pending: Pending) -> None:
        """The new program has failed its proof, or crashed, hung or lost its power before."""
        reason = pending.reason or "it did not come to its proof"
        self._machine.forget_other()
        self._records.settled(pending, ROLLED_BACK, reason)
        log.error("%s runs again instead of %s: %s", pending.before, pending.version, reason)
        self._records.tell(ROLLED_BACK, pending.version, pending.digest)

    def _tell(self, code: str, version: str) -> None:
        self._records.tell(code, version, self._source.digest)

    def _give_up(self, reason: str) -> None:
        log.error("back to the program before: %s", reason)
        self._machine.forget_other()
        self._machine.reboot(try_other=False)
