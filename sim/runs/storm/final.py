"""The end of a storm: heal everything, let it drain, and look once more at all of it.

It alone knows how long a healed floor may take. Nothing that people left half done may be stuck,
nothing recorded may be missing, and every light must tell the truth.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sim.runs.storm.checks.ledger_watch import LedgerWatch
from sim.runs.storm.checks.table_watch import REST_MS
from sim.runs.storm.faults.damage import let_go_on
from sim.runs.storm.faults.operators import resume
from sim.runs.storm.floor.clock import now_ms
from sim.runs.storm.floor.clones import Clone
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.table import StormTable

LAST_ROUND_MAX_S = 240.0
DRAIN_MAX_S = 60.0
FORK_MAX_S = 120.0
RESTORE_TRIES_MAX = 8
HAND_S = 0.4
PLAY_S = 1.5
DRY_S = 12.0  # felt that was wet must have been dry and empty for ten seconds


async def heal(floor: StormFloor) -> None:
    """Every fault is over; people put right what they can."""
    floor.loop.call_off()
    for table in floor.tables:
        _heal_table(table)
    for manager in floor.managers:
        manager.listeners.clear()
        manager.disk.cancel_cut()
        manager.disk.failing.clear()
        manager.process.answers_lost.clear()
        if manager.must_start_anew:
            manager.kill(silent=False)
        while not manager.running and not floor.record.violations:
            await asyncio.sleep(0.1)
            await manager.restart()
        await resume(manager)
    for table in floor.tables:
        while not (table.unit.alive or table.retired or floor.record.violations):
            await asyncio.sleep(0.1)
            await table.power_on()
    await asyncio.gather(*(_let_go_on(floor, table) for table in floor.tables))
    await _resolve_clones(floor)


async def _let_go_on(floor: StormFloor, table: StormTable) -> None:
    """A restored unit that still waits for its operator."""
    if table.journal.awaits_state and not (table.retired or floor.record.violations):
        await let_go_on(table, RESTORE_TRIES_MAX)
        if table.journal.awaits_state:
            sentence = f"a restored unit was never let go on: {_picture(table)}"
            floor.record.violate("a restored unit goes on where it was", table.name, sentence)


def _heal_table(table: StormTable) -> None:
    table.watch.listeners.clear()
    table.disk.cancel_cut()
    table.disk.read_only, table.disk.size_max_bytes = False, None
    broken = bool(table.disk.failing)
    table.disk.failing.clear()
    table.cable.plug()
    for connection in table.manager.network.connections(table.cable):
        connection.upward.release()
        connection.downward.release()
    controller = table.controller
    if broken or (controller and any(f.code == "journal" for f in controller.table.faults.all())):
        table.cut_power()


async def _resolve_clones(floor: StormFloor) -> None:
    for clone in floor.clones:
        if clone.resolved or not clone.had_power:
            continue  # a copy that never ran has said nothing that could give it away
        waited_s = 0.0
        while not _is_caught(clone) and waited_s < FORK_MAX_S and not floor.record.violations:
            await asyncio.sleep(1.0)
            waited_s += 1.0
        if not _is_caught(clone):
            floor.record.violate(
                "a copied disk is caught", clone.table.name, "two units speak as one"
            )
        await clone.resolve()


def _is_caught(clone: Clone) -> bool:
    return clone.caught or clone.is_let_go


async def check_all(floor: StormFloor) -> None:
    """After the faults have stopped everything comes to an end in bounded time."""
    hurt_until_ms = max(table.watch.hurt_until_ms for table in floor.tables)
    await asyncio.sleep(max(0, hurt_until_ms - now_ms()) / 1000)
    if not await floor.last_round(LAST_ROUND_MAX_S):
        for dealer in floor.dealers:
            if not dealer.finished:
                _violate(floor, dealer.table, _picture(dealer.table))
        return
    left_s = floor.loop.time()
    await _drain(floor)
    await _rest(floor.tables, REST_MS + 1000)
    for table in floor.tables:
        if not table.retired and not floor.record.violations:
            _check_table(floor, table)
    if not floor.record.violations:
        await _check_sensing(floor, left_s)
    if not floor.record.violations:
        await _drain(floor)
    for manager in floor.managers:
        _check_ledger(floor, manager.ledger)
        manager.compare_with_log()
        manager.audit()


async def _check_sensing(floor: StormFloor, left_s: float) -> None:
    """Whatever was broken or wet: on the empty, healed felt every chip shows again, and plays.

    The dealers have left at `left_s`, with all chips.
    """
    tables = [table for table in floor.tables if not table.retired]
    if any(table.watch.felt_in_doubt for table in tables):
        await asyncio.sleep(max(0.0, left_s + DRY_S - floor.loop.time()))
    for act in (StormTable.place, StormTable.remove):
        await asyncio.gather(*(_at_every_spot(table, act) for table in tables))
        await _rest(tables, REST_MS + 100)
        for table in tables:
            table.check_lights()
        if act is StormTable.place and not floor.record.violations:
            await asyncio.gather(*(_play_once(floor, table) for table in tables))


async def _play_once(floor: StormFloor, table: StormTable) -> None:
    """One more game: whatever the table went through, nothing keeps it from going on."""
    await table.press("START")
    await asyncio.sleep(PLAY_S)
    accepted = len(table.journal.round.accepted)
    if not table.journal.round.is_open or accepted < len(table.sensors):
        sentence = f"{accepted} of {len(table.sensors)} bets are taken: {_picture(table)}"
        floor.record.violate("a healed table plays", table.name, sentence)
    await table.press("END")
    await asyncio.sleep(PLAY_S)


async def _rest(tables: list[StormTable], for_ms: int) -> None:
    """Nobody touches them; then somebody looks."""
    for table in tables:
        table.watch.expect_look(for_ms)
    await asyncio.sleep(for_ms / 1000)


async def _at_every_spot(table: StormTable, act: Callable[[StormTable, str], None]) -> None:
    table.watch.felt_in_doubt = False
    for sensor in table.sensors:
        act(table, sensor)
        await asyncio.sleep(HAND_S)  # all at once would be no chips but a wave


async def _drain(floor: StormFloor) -> None:
    waited_s = 0.0
    while waited_s < DRAIN_MAX_S:
        if all(_is_drained(table) for table in floor.tables if not table.retired):
            return
        await asyncio.sleep(0.5)
        waited_s += 0.5
    for table in floor.tables:
        if not table.retired and not _is_drained(table):
            _violate(floor, table, _picture(table))


def _is_drained(table: StormTable) -> bool:
    journal = table.unit.journal
    return (
        table.panel.state() == "open"
        and journal is not None
        and journal.outbox.backlog == 0
        and table.manager.ledger.last_sequence(table.unit_id) == table.journal.last_sequence
    )


def _check_table(floor: StormFloor, table: StormTable) -> None:
    taken = table.manager.ledger.units[table.unit_id].digests
    recorded = [row.digest for row in table.journal.rows]
    if taken != recorded:
        sentence = f"the unit has {len(recorded)} records, the manager {len(taken)} of them"
        floor.record.violate("every event exactly once", table.name, sentence)
    if table.journal.round.is_open:
        sentence = f"round {table.journal.round.number} was never ended, but the table is open"
        floor.record.violate("no round lost", table.name, sentence)
    untold = table.manager.ledger.game_acts.untold(table.table_id)
    if untold:
        sentence = f"win {min(untold)} was taken back, and the table does not know"
        floor.record.violate("an order reaches its table", table.name, sentence)
    if table.unit.journal is not None:
        table.manager.tails.remembered(table.name, table.unit.journal.tail.told)
    table.check_lights()


def _check_ledger(floor: StormFloor, ledger: LedgerWatch) -> None:
    for claim in ledger.books.claims.values():
        retired = any(t.retired and t.table_id == claim.table_id for t in floor.tables)
        if claim.state in ("open", "owed", "backed out") and not retired:
            sentence = f"claim {claim.number} of {claim.table_id} is {claim.state} for ever"
            floor.record.violate("no win lost", ledger.name, sentence)


def _violate(floor: StormFloor, table: StormTable, sentence: str) -> None:
    floor.record.violate("everything drains in bounded time", table.name, sentence)


def _picture(table: StormTable) -> str:
    controller, journal = table.controller, table.unit.journal
    if controller is None or journal is None:
        return "without power"
    faults = "; ".join(fault.sentence for fault in controller.table.faults.all()) or "none"
    return (
        f"{controller.state()}, stage {table.panel.stage() or 'none'}, link"
        f" {'up' if controller.table.link_up else 'down'}, key {table.world.controls.key_position},"
        f" backlog {journal.outbox.backlog}, faults: {faults}, says: {controller.news.message[2]}"
    )
