"""The health gate: a new program becomes the unit's own only when it has proven itself.

It must run without a crash, have read and checked the journal, show no fault that stops play, be
welcomed by the Game Manager, and pass its self-test: for a while, and within a few minutes.
"""

from __future__ import annotations

from typing import Final

from deploy.update.machine import Machine
from deploy.update.table import TableSilent

LOOKS_MAX: Final = 150  # two seconds apart: five minutes
STEADY_LOOKS: Final = 10


def why_unhealthy(machine: Machine, was_enrolled: bool) -> str:
    """ "" when the program that runs has proven itself, else what it lacks."""
    steady_looks, reason = 0, ""
    for _ in range(LOOKS_MAX):
        if machine.restart_count():
            return "the table's program ended by itself"
        reason = _lacks(machine, was_enrolled)
        steady_looks = 0 if reason else steady_looks + 1
        if steady_looks >= STEADY_LOOKS:
            return machine.self_test() if was_enrolled else ""
        machine.pause()
    return reason or "it did not stay as it should be"


def _lacks(machine: Machine, was_enrolled: bool) -> str:
    if not machine.is_ready():
        return "the table's program never became ready"
    try:
        answer = machine.program()
    except TableSilent as silent:
        return str(silent)
    if was_enrolled and not answer.enrolled:
        return "it does not know its own certificate any more"
    return answer.unproven
