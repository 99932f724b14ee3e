"""What operators do while play goes on: adjust a meter, set its limit, stop it and let it go on."""

from __future__ import annotations

import asyncio
import random

from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError
from sim.runs.storm import marks
from sim.runs.storm.checks import operator_acts
from sim.runs.storm.checks.awards import MICRO
from sim.runs.storm.checks.operator_acts import Act
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.manager import StormManager
from sim.runs.storm.floor.table import StormTable

PEOPLE = {"operator": "Pat", "second": "Kim"}
ADDING = (operator_acts.TOP_UP, operator_acts.MALFUNCTION)
TAKING = (operator_acts.GROSS_RECEIPTS, operator_acts.SEED_RECOVERY, operator_acts.MALFUNCTION)
AMOUNT_MAX_CENTS = 20_000
ROOM_MAX_CENTS = 300  # a few rounds
RESUME_TRIES_MAX = 60


async def adjusts(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    cents, adds = chance.randint(1, AMOUNT_MAX_CENTS), chance.random() < 0.5
    reason = chance.choice(ADDING if adds else TAKING)
    act = Act(operator_acts.ADJUSTMENT, _meter(table, chance), reason, cents if adds else -cents)
    way = "add" if adds else "take"
    asked = {"command": "adjust", "reason": reason, way: _money(cents)}
    if _carry_out(table.manager, act, asked):
        floor.record.marks.fire(marks.METER_ADJUSTED)


async def sets_a_limit(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """A little above what is shown, so that wagers meet it; or none at all."""
    meter = _meter(table, chance)
    shown = table.manager.ledger.books.meters[meter].total // MICRO
    cents = shown + chance.randint(1, ROOM_MAX_CENTS) if chance.random() < 0.8 else 0
    act = Act(operator_acts.LIMIT_SET, meter, cents=cents)
    _carry_out(table.manager, act, {"command": "set-limit", "limit": _money(cents)})


async def stops_play(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    act = Act(operator_acts.SUSPENDED, _meter(table, chance))
    if _carry_out(table.manager, act, {"command": "suspend", "reason": "malfunction"}):
        await asyncio.sleep(chance.uniform(0.5, 15))
        await resume(table.manager)


async def resume(manager: StormManager) -> None:
    """Every jackpot that was stopped goes on, as soon as the manager can write it down."""
    for _ in range(RESUME_TRIES_MAX):
        done = True
        for name in manager.ledger.books.meters:
            if manager.process.app.book.jackpots.standing(name).suspended:
                act = Act(operator_acts.RESUMED, name)
                done &= _carry_out(manager, act, {"command": "resume"})
        if done and manager.running:
            return
        await asyncio.sleep(1.0)


def _carry_out(manager: StormManager, act: Act, asked: dict[str, str]) -> bool:
    """False when it was refused, or when nobody can tell."""
    if not manager.running or manager.halted:
        return False
    manager.ledger.people_act(act)
    try:
        manager.process.app.correct(asked | PEOPLE | {"jackpot": act.meter})
    except LedgerError:
        manager.ledger.people_gave_up(act)
        return False
    except StorageFailed:
        return False
    return True


def _meter(table: StormTable, chance: random.Random) -> str:
    return chance.choice(sorted(table.manager.ledger.books.tables[table.table_id].meters))


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
