"""Runs a floor: the manager's process, the units' processes, and what both say afterwards.

It alone knows the order of a run: connect, play, kill the manager, come back, stop, audit. Every
figure is measured at the units or read from the ledger; the manager is not asked.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from kit.command_line import CommandRefused
from manager.audit.audit import audit
from manager.ledger.store.entries import Kind
from manager.ledger.store.ledger import Ledger
from manager.ledger_reader import ledger_to_read
from sim.runs.floor.clients import SENSORS, run_clients
from sim.runs.floor.processes import START_MAX_S, ManagerProcess, cpu_used, postmaster_of
from sim.runs.floor.property import UnitFiles, set_up
from sim.runs.floor.syncs import SyncProbe, syncs_ms
from sim.runs.perf.figures import percentile

SYNCS = 200
PROBES = 20
PROBE_PAUSE_S = 0.4
SHOWN_MAX_S = 30.0  # a table without a link counts as if it had been shown the change then
ANSWER_MAX_S = 300.0  # of the units, beyond the time that they play


class Wanted(NamedTuple):
    tables: int
    seconds: float
    database: str = ""
    wagers_per_s: float = 0.0  # 0: as fast as the receipts come
    processes: int = 2
    kills: bool = True


def run_floor(wanted: Wanted) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="floor-") as folder:
        data = Path(folder)
        units = set_up(data, wanted.tables, wanted.database)
        sync_ms = percentile(syncs_ms(data, SYNCS), 0.5)
        manager = ManagerProcess(data)
        try:
            with _clients(units, manager.port, wanted.processes) as clients:
                figures, acked = _played(wanted, data, manager, clients)
        finally:
            manager.stop()
        booked = _booked(data, acked)
    return {
        "tables": wanted.tables,
        "seconds": wanted.seconds,
        "engine": "postgresql" if wanted.database else "sqlite",
        **figures,
        **booked,
        "sync_p50_ms": round(sync_ms, 3),
    }


def _played(
    wanted: Wanted, data: Path, manager: ManagerProcess, clients: list[Connection]
) -> tuple[dict[str, Any], dict[str, int]]:
    _ask(clients, "ready")
    empty_kb, cpu_s = manager.memory_kb(), manager.cpu_s()
    begun_s = time.monotonic()
    _ask(clients, "connect")
    connected_s = max(_ask(clients, "drained")) - begun_s
    full_kb, connect_cpu_s = manager.memory_kb(), manager.cpu_s() - cpu_s
    with SyncProbe(data) as probe:
        played = _play(wanted, manager, clients)
    shown_ms = _shown_ms(clients)
    back_s = _killed(manager, clients) if wanted.kills else None
    reports = [each for part in _ask(clients, "report") for each in part]
    faults = sorted({fault for _, _, found in reports for fault in found})
    figures = {
        **played,
        # Of the disk itself meanwhile, beside the ledger's own syncs and whoever else writes.
        "sync_in_play_p50_ms": round(percentile(probe.took_ms, 0.5), 3),
        "sync_in_play_p99_ms": round(percentile(probe.took_ms, 0.99), 3),
        "connected_s": round(connected_s, 2),
        "connect_cpu_ms_per_unit": round(connect_cpu_s * 1000 / wanted.tables, 2),
        "shown_p50_ms": round(percentile(shown_ms, 0.5), 1),
        "shown_p99_ms": round(percentile(shown_ms, 0.99), 1),
        "back_after_kill_s": None if back_s is None else round(back_s, 2),
        "memory_per_unit_kb": round((full_kb - empty_kb) / wanted.tables, 1),
        "machine_load": round(os.getloadavg()[0], 1),  # with its own processes
        "faults": faults,
    }
    return figures, {table_id: rounds for table_id, rounds, _ in reports}


def _play(wanted: Wanted, manager: ManagerProcess, clients: list[Connection]) -> dict[str, Any]:
    pause_s = len(SENSORS) * wanted.tables / wanted.wagers_per_s if wanted.wagers_per_s else 0.0
    postmaster = postmaster_of(wanted.database)
    before, begun_s = cpu_used(manager, postmaster), time.monotonic()
    parts = _ask(clients, "play", begun_s + wanted.seconds, pause_s)
    took_s, cpu = time.monotonic() - begun_s, cpu_used(manager, postmaster).since(before)
    wagers = sum(part["rounds"] for part in parts) * len(SENSORS)
    latencies_ms = [each for part in parts for each in part["latencies_ms"]]
    line_ms = [each for part in parts for each in part["line_ms"]]
    late_ms = [each for part in parts for each in part["late_ms"]]
    units_s = sum(part["cpu_s"] for part in parts)
    ours_s = cpu.manager_s + cpu.database_s + units_s
    us_per_wager = 1e6 / max(1, wagers)
    return {
        "wagers_per_second": round(wagers / took_s, 1),
        "manager_cpu_us_per_wager": round(cpu.manager_s * us_per_wager, 1),
        "database_cpu_us_per_wager": round(cpu.database_s * us_per_wager, 1),
        "units_cpu_us_per_wager": round(units_s * us_per_wager, 1),
        # Of all processors together: the kernel's own work for the network is among the others'.
        "others_cpu_share": round((cpu.machine_s - ours_s) / (cpu.machine_s + cpu.idle_s), 2),
        "idle_cpu_share": round(cpu.idle_s / (cpu.machine_s + cpu.idle_s), 2),
        "ack_p50_ms": round(percentile(latencies_ms, 0.5), 2),
        "ack_p99_ms": round(percentile(latencies_ms, 0.99), 2),
        # The same from the unit's line and back to it: manager, disk, network, and a busy machine.
        "line_p50_ms": round(percentile(line_ms, 0.5), 2),
        "line_p99_ms": round(percentile(line_ms, 0.99), 2),
        "units_late_p50_ms": round(percentile(late_ms, 0.5), 2),  # of those, the units' own
        "units_late_p99_ms": round(percentile(late_ms, 0.99), 2),
    }


def _shown_ms(clients: list[Connection]) -> list[float]:
    """From a START at one table until each table shows the new amount; every table, every probe."""
    found: list[float] = []
    time.sleep(1)  # what play has left to show
    for _ in range(PROBES):
        before = {cents for part in _ask(clients, "shown") for cents, _ in part}
        (said_s,) = _ask(clients[:1], "start_one")
        late_s = said_s + SHOWN_MAX_S
        shown = [each for part in _until_moved(clients, before, late_s) for each in part]
        found += [((late_s if cents in before else at_s) - said_s) * 1000 for cents, at_s in shown]
        time.sleep(PROBE_PAUSE_S)
    return found


def _until_moved(clients: list[Connection], before: set[int], until_s: float) -> list[Any]:
    while True:
        parts = _ask(clients, "shown")
        has_moved = not any(cents in before for part in parts for cents, _ in part)
        if has_moved or time.monotonic() > until_s:
            return parts
        time.sleep(0.05)


def _killed(manager: ManagerProcess, clients: list[Connection]) -> float:
    """Seconds from a kill -9 until every unit is back with a receipt for all it said."""
    killed_s = time.monotonic()
    manager.kill()
    manager.start()
    _ask(clients, "play", time.monotonic() + 1.0, 0.0)
    back_s: float = max(_ask(clients, "drained"))
    return back_s - killed_s


def _ask(clients: list[Connection], name: str, *arguments: Any) -> list[Any]:
    for client in clients:
        client.send((name, *arguments))
    plays_s = arguments[0] - time.monotonic() if name == "play" else 0.0
    return [_answer(client, name, plays_s + ANSWER_MAX_S) for client in clients]


def _answer(client: Connection, name: str, limit_s: float) -> Any:
    """Waiting longer would tell nothing."""
    if not client.poll(limit_s):
        raise CommandRefused(f"The units have not finished {name!r} after {limit_s:.0f} s.")
    return client.recv()


def _booked(data: Path, acked: dict[str, int]) -> dict[str, Any]:
    with ledger_to_read(data) as ledger:
        wagers = _wagers_by_round(ledger)
        finding = audit(ledger)
    acked_rounds = {(table, each) for table, count in acked.items() for each in range(1, count + 1)}
    booked = sum(wagers.values())
    once = len(SENSORS)
    return {
        "wagers_acked": len(acked_rounds) * once,
        "wagers_booked": booked,
        "lost": sum(max(0, once - wagers[place]) for place in acked_rounds),
        "doubled": sum(max(0, count - once) for count in wagers.values()),
        "audit_sound": finding.sound,
        "audit": finding.sentence,
    }


def _wagers_by_round(ledger: Ledger) -> Counter[tuple[str, int]]:
    query = "SELECT table_id, round_number, sensor FROM transactions WHERE kind = ?"
    found: Counter[tuple[str, int]] = Counter()
    for table_id, number, sensors in ledger.each(query, (str(Kind.WAGER),)):
        found[table_id, number] += len(sensors.split())
    return found


@contextmanager
def _clients(units: list[UnitFiles], port: int, count: int) -> Iterator[list[Connection]]:
    """Processes that share the units; they end with this block."""
    context = multiprocessing.get_context("spawn")
    ends: list[Connection] = []
    processes: list[BaseProcess] = []
    share = -(-len(units) // count)
    # While they still read their code, Ctrl-C would end them in a traceback each.
    as_before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    for first in range(0, len(units), share):
        ours, theirs = context.Pipe()
        arguments = (theirs, units[first : first + share], first, port)
        processes.append(context.Process(target=run_clients, args=arguments, daemon=True))
        processes[-1].start()
        ends.append(ours)
    signal.signal(signal.SIGINT, as_before)
    try:
        yield ends
    finally:
        for end in ends:
            end.send(None)
        for process in processes:
            process.join(START_MAX_S)
            process.terminate()
