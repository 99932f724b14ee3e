"""What a roll-out's steps and reasons are called on pages, in alarms and in the chain."""

from __future__ import annotations

import json
from typing import Final

from kit import program_news
from manager.rollouts.plan import Plan
from manager.rollouts.progress import TableRow
from protocol.wire import program_steps
from protocol.wire.program_steps import Step, step_of

STEPS: Final = {
    Step.WAITS: "waits",
    Step.FETCHING: "is being fetched",
    Step.HANDED_OVER: "fetched, waits for a pause",
    Step.WRITING: "is being written",
    Step.INSTALLED: "installed, waits to restart",
    Step.TRIED: "started, has to prove itself",
    Step.KEPT: "kept",
    Step.ROLLED_BACK: "taken back",
    Step.REFUSED: "refused",
    Step.CANNOT: "cannot be updated this way",
}
REASONS: Final = {
    program_steps.GAME: "A game is being played.",
    program_steps.DISK: "The unit's disk does not take it now.",
    program_steps.TRANSFER: "What came over the link was not what was sent, three times.",
    program_steps.NO_IMAGE: "The unit was installed by hand; a technician updates it.",
    program_steps.NO_ROOM: "The unit's disk is too full for it.",
    program_news.RUNS_ALREADY: "It runs there already.",
    program_news.WAITS: "A game, events on their way, evidence or a technician keep it waiting.",
    program_news.NOT_TRUSTED: "It is not signed by somebody whom the unit trusts.",
    program_news.EXPIRED: "Its signature has expired, or the unit's clock is wrong.",
    program_news.DAMAGED: "It is damaged or not complete.",
    program_news.WRONG_BOARD: "It is for another kind of unit.",
    program_news.OLDER: "It is older than the program that runs.",
    program_news.NO_WAY_BACK: "It writes files that the program before cannot read.",
    program_news.FAILED_BEFORE: "It was tried at this unit before and did not prove itself.",
    program_news.NOT_IN_ORDER: "The unit is not in order; run its self-test.",
    program_news.NOT_WRITTEN: "It could not be written to the unit's other slot.",
}


def step_word(number: int) -> str:
    return STEPS[step_of(number)]


def reason_word(reason: str) -> str:
    """A code as a sentence. What a unit says of a failed proof is shown as it came."""
    return REASONS.get(reason, reason)


def outcome(table_id: str, unit_id: str, row: TableRow, plan: Plan | None) -> str:
    version = plan.version if plan else ""
    said = f"Unit {unit_id} at {table_id}, program {version}: {step_word(row.step)}."
    return f"{said} {reason_word(row.reason)}" if row.reason else said


def plan_in(detail: str, act: str) -> Plan | None:
    """The plan in the detail of a chain's entry; None for any other entry."""
    try:
        told = json.loads(detail)
        return Plan.parse(told["plan"]) if told.get("act") == act else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
