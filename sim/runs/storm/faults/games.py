"""What two people at a manager do about a table's game or win while play goes on.

They wait for a moment in which it can be done, and then it must reach the table: in bounded time,
as long as the two can hear each other and nothing at the table stands in its way.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError
from sim.runs.storm.checks import game_acts, kinds
from sim.runs.storm.checks.claims import Claim
from sim.runs.storm.checks.game_acts import GameAct
from sim.runs.storm.checks.unit_view import Event
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.manager import StormManager
from sim.runs.storm.floor.table import StormTable

PEOPLE = {"operator": "Pat", "second": "Kim"}
VOID_REASONS = ("misdeal", "exposed-card", "dealer-error", "other")
WIN_REASONS = ("wrong-hand", "wrong-seat", "not-won", "malfunction")
NEWEST_SHARE = 0.8
OLDER_MAX = 5
MOMENT_PATIENCE_S = 60.0
LOOK_S = 0.25
# Nothing stands in its way for so long, and the table has not heard: then it never will.
REACHES_WITHIN_S = 4.0


async def voids_a_game(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    delay_s, reason = chance.uniform(0, 6), chance.choice(VOID_REASONS)
    if not await _moment(table, kinds.ROUND_START):
        return
    await asyncio.sleep(delay_s)
    number = table.journal.round.number
    act = GameAct(game_acts.VOID_ORDERED, table.table_id, number)
    asked = {"command": "void-game", "table": table.table_id, "round": str(number)}
    if _carry_out(table.manager, act, asked | {"reason": reason}):
        await _see_it_void(table, number)


async def reverses_a_win(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """The newest one of the table, mostly while its game is on; or an older one."""
    delay_s, reason = chance.uniform(0, 5), chance.choice(WIN_REASONS)
    newest, place = chance.random() < NEWEST_SHARE, chance.randrange(OLDER_MAX)
    if not await _moment(table, kinds.SETTLED):
        return
    await asyncio.sleep(delay_s)
    standing = [c for c in _claims(table) if c.state == "committed" and not c.is_reversed]
    if not standing:
        return
    claim = standing[-1] if newest else standing[-1 - place % len(standing)]
    act = GameAct(game_acts.REVERSAL, table.table_id, claim.round_number, claim.number)
    asked = {"command": "reverse-win", "win": str(claim.win_number), "reason": reason}
    recorded = table.journal.last_sequence
    if _carry_out(table.manager, act, asked):
        await _see_it_noted(table, claim.win_number, recorded)


async def backs_a_win_out(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """A claim that was logged and not booked yet: that does not last, so they are quick."""
    delay_s = chance.choice((0.0, 0.05, 0.4, 2.0)) * chance.random()
    reason = chance.choice(WIN_REASONS)
    if not await _moment(table, kinds.CLAIM):
        return
    await asyncio.sleep(delay_s)
    logged = [c for c in _claims(table) if c.state in ("open", "owed") and c.frozen]
    if not logged:
        return
    claim = logged[-1]
    act = GameAct(game_acts.BACKED_OUT, table.table_id, claim.round_number, claim.number)
    place = {"table": table.table_id, "claim": str(claim.number)}
    if _carry_out(table.manager, act, {"command": "back-out", "reason": reason} | place):
        await _see_it_cancelled(table, claim)


async def records_a_win_again(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """One that was taken back, of any game of the table."""
    delay_s, place = chance.uniform(0, 5), chance.randrange(OLDER_MAX)
    if not _taken_back(table) and not await _moment(table, kinds.REVERSED):
        return
    await asyncio.sleep(delay_s)
    wins = _taken_back(table)
    if wins:
        claim = wins[-1 - place % len(wins)]
        act = GameAct(game_acts.RECORDED_AGAIN, table.table_id, claim.round_number, claim.number)
        _carry_out(table.manager, act, {"command": "record-win", "win": str(claim.win_number)})


def _taken_back(table: StormTable) -> list[Claim]:
    return [c for c in _claims(table) if c.is_reversed and not c.is_recorded_again]


def _claims(table: StormTable) -> list[Claim]:
    """All claims of this table, oldest first."""
    books = table.manager.ledger.books
    return [claim for claim in books.claims.values() if claim.table_id == table.table_id]


# -- seen to reach the table -----------------------------------------------------------------------


async def _see_it_void(table: StormTable, number: int) -> None:
    """Until the game is over, by this or by its dealer."""

    def is_due() -> bool:
        model = table.journal.round
        return model.is_open and model.number == number

    def is_free() -> bool:
        model = table.journal.round
        in_its_way = model.claim is not None or model.standing_wins() or model.to_take_back()
        return table.manager.ledger.game_acts.is_ordered(table.table_id, number) and not in_its_way

    await _see(table, is_due, is_free, f"round {number} was ordered to be void, and goes on")


async def _see_it_noted(table: StormTable, win_number: int, recorded: int) -> None:
    """Until the table has noted it, or has gone on to its next game."""

    def is_due() -> bool:
        since = table.journal.rows[recorded:]
        ends = [(row.kind, row.body[2]) for row in since if row.kind == kinds.REVERSED]
        goes_on = any(row.kind == kinds.ROUND_START for row in since)
        return not goes_on and (kinds.REVERSED, win_number) not in ends

    def is_free() -> bool:
        return win_number in table.manager.ledger.game_acts.untold(table.table_id)

    await _see(table, is_due, is_free, f"win {win_number} was taken back, and nobody notes it")


async def _see_it_cancelled(table: StormTable, claim: Claim) -> None:
    def is_due() -> bool:
        known = table.journal.round.claim
        return known is not None and known.number == claim.number

    def is_free() -> bool:
        return claim.state == "backed out"

    await _see(table, is_due, is_free, f"claim {claim.number} was backed out, and stands there")


async def _see(
    table: StormTable, is_due: Callable[[], bool], is_free: Callable[[], bool], sentence: str
) -> None:
    free_s = 0.0
    while is_due() and not table.retired:
        free_s = free_s + LOOK_S if is_free() and table.is_in_touch() else 0.0
        if free_s > REACHES_WITHIN_S:
            table.record.violate("an order reaches its table", table.name, sentence)
            return
        await asyncio.sleep(LOOK_S)


async def _moment(table: StormTable, kind: int) -> bool:
    """The manager has taken in the table's next event of this kind; False when it comes not."""
    came = asyncio.Event()

    def heard(_manager: StormManager, unit_id: str, event: Event) -> None:
        if unit_id == table.unit_id and event.kind == kind:
            came.set()

    table.manager.listeners.append(heard)
    try:
        async with asyncio.timeout(MOMENT_PATIENCE_S):
            await came.wait()
    except TimeoutError:
        return False
    finally:
        if heard in table.manager.listeners:
            table.manager.listeners.remove(heard)
    return True


def _carry_out(manager: StormManager, act: GameAct, asked: dict[str, str]) -> bool:
    """False when it was refused, or when nobody can tell."""
    if not manager.running or manager.halted:
        return False
    acts = manager.ledger.game_acts
    acts.announce(act)
    try:
        manager.process.app.correct(asked | PEOPLE)
    except LedgerError:
        acts.give_up(act)
        return False
    except StorageFailed:
        return False
    return True
