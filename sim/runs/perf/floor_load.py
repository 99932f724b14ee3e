"""A floor of 500 tables over TLS, beside pgbench on the same disk and the same PostgreSQL.

pgbench does what a ledger without group commit would: 100 clients insert an event and add to one
hot row, each in a transaction of its own. Both sync to the same disk in the same run; the ratio
counts, not the rate.
"""

from __future__ import annotations

import importlib
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from manager.app import Manager
from manager.data_folder import LEDGER_NAME
from manager.link.group_commit import BATCH_MAX
from protocol.wire.messages import Event
from sim.runs.floor.clients import SENSORS
from sim.runs.floor.property import open_tables, unit_names
from sim.runs.floor.run import Wanted, run_floor
from sim.runs.perf.books import event_batches
from sim.runs.perf.figures import Figure, at_least, at_most

TABLES = 500
SECONDS = 30
STEADY_PER_S = 1000
PGBENCH_CLIENTS = 100
PGBENCH_SECONDS = 15
TIMES_OVER_TLS = 10
TIMES_IN_PROCESS = 20
IN_PROCESS_ROUNDS = 10
KEPT_TABLES, KEPT_ROUNDS = 50, 100
_SCHEMA = (
    "CREATE TABLE bench_events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " unit int NOT NULL, body bytea NOT NULL);"
    "CREATE TABLE bench_meter (id int PRIMARY KEY, amount bigint NOT NULL) WITH (fillfactor = 50);"
    "INSERT INTO bench_meter VALUES (1, 0);"
)
_INSERT = (
    "INSERT INTO bench_events (unit, body) VALUES (:client_id, decode(repeat('ab',60),'hex'));"
)
_HOT_ROW = f"BEGIN;\n{_INSERT}\nUPDATE bench_meter SET amount = amount + 1 WHERE id = 1;\nCOMMIT;\n"


def measure(tables: int = TABLES, seconds: int = SECONDS) -> list[Figure]:
    # Run from the project's folder: the server belongs to the tests.
    servers = importlib.import_module("tests.kit.postgres_server")
    if not servers.is_installed():
        return _floor(Wanted(tables, seconds), None)
    server = servers.PostgresServer(servers.DURABLE)
    try:
        hot, inserts = _pgbench(server, _HOT_ROW), _pgbench(server, _INSERT + "\n")
        beside = (
            f"pgbench, {PGBENCH_CLIENTS} clients: {hot:.0f} hot, {inserts:.0f} inserts a second"
        )
        with TemporaryDirectory() as folder:  # on the same disk as the server's
            file = str(Path(folder) / LEDGER_NAME)
            figures = [_in_process("sqlite", file, tables, hot, beside)]
        inside = _new_ledger(server, "#inside")
        figures.append(_in_process("postgresql", inside, tables, hot, beside))
        figures.append(_kept(_new_ledger(server, "#kept"), server))
        figures += _floor(Wanted(tables, seconds), hot, beside)
        url = _new_ledger(server)
        return figures + _floor(Wanted(tables, seconds, url), hot, beside)
    finally:
        server.remove()


def _floor(wanted: Wanted, hot_per_s: float | None, beside: str = "") -> list[Figure]:
    full = run_floor(wanted)
    engine, rate = full["engine"], full["wagers_per_second"]
    figures = [
        _rate(
            f"{engine}: durable wagers on one meter", rate, hot_per_s, f"{_shares(full)}; {beside}"
        ),
        _none(f"{engine}: acknowledged and lost", full["lost"]),
        _none(f"{engine}: doubled", full["doubled"]),
        at_most(f"{engine}: all back after kill -9", full["back_after_kill_s"], 10, "s"),
        at_most(f"{engine}: change shown at all tables, p99", full["shown_p99_ms"], 250, "ms"),
        at_most(f"{engine}: memory per unit", full["memory_per_unit_kb"], 100, "KB"),
    ]
    return figures + _receipts(wanted)


def _receipts(wanted: Wanted) -> list[Figure]:
    """How long a receipt takes at a steady pace, and who had the processors meanwhile."""
    place = wanted.database + "#steady" if wanted.database else ""
    if place:
        _make_ledger(place)
    steady = run_floor(wanted._replace(database=place, wagers_per_s=STEADY_PER_S, kills=False))
    engine, figures = steady["engine"], []
    for name, bound_ms in (("p50", 5), ("p99", 20)):
        value_ms, late_ms = steady[f"ack_{name}_ms"], steady[f"units_late_{name}_ms"]
        sync_ms = steady[f"sync_in_play_{name}_ms"]
        note = f"of it the disk's own sync {sync_ms:.2f} ms; the units were {late_ms:.2f} late"
        title = f"{engine}: receipt at {STEADY_PER_S} wagers/s, {name}"
        figures.append(
            at_most(title, value_ms, bound_ms + sync_ms, "ms", f"{note}; {_shares(steady)}")
        )
    return figures


def _shares(told: dict[str, Any]) -> str:
    """The CPU that each process used for a wager: together they cannot use more than there is."""
    used = [
        f"{name} {told[f'{name}_cpu_us_per_wager']:.0f}"
        for name in ("manager", "database", "units")
    ]
    return f"CPU-us a wager: {', '.join(used)}; others had {told['others_cpu_share']:.0%}"


def _in_process(engine: str, place: str, tables: int, hot_per_s: float, beside: str) -> Figure:
    """The books alone, with as many units: each batch is on the disk before the next begins."""
    with _opened(place, tables, IN_PROCESS_ROUNDS) as (manager, batches):
        begun_s = time.monotonic()
        for batch in batches:
            manager.intake.take(batch)
        took_s = time.monotonic() - begun_s
    name = f"{engine}: durable wagers on one meter, in process"
    rate = tables * IN_PROCESS_ROUNDS * len(SENSORS) / took_s
    return _rate(name, rate, hot_per_s, beside, TIMES_IN_PROCESS)


def _kept(place: str, server: Any) -> Figure:
    """What the database has grown by, with its indexes; its log is not counted."""
    with _opened(place, KEPT_TABLES, KEPT_ROUNDS) as (manager, batches):
        before = _database_bytes(server)
        for batch in batches:
            manager.intake.take(batch)
        grown = _database_bytes(server) - before
    kept = grown / (KEPT_TABLES * KEPT_ROUNDS * len(SENSORS))
    return Figure("postgresql: kept per wager", kept, "bytes", "rows and indexes, without its log")


@contextmanager
def _opened(
    place: str, tables: int, rounds: int
) -> Iterator[tuple[Manager, list[list[tuple[str, Event]]]]]:
    """A manager with its tables open, and the batches of events that are to be played."""
    manager = Manager(place, lambda: time.time_ns() // 1_000_000)
    try:
        names = unit_names(tables)
        open_tables(manager, names)
        yield manager, event_batches(manager, names, rounds, BATCH_MAX)
    finally:
        manager.store.close()


def _database_bytes(server: Any) -> int:
    import psycopg

    with psycopg.connect(server.url()) as line:
        found = line.execute("SELECT pg_database_size(current_database())").fetchone()
    assert found is not None
    return int(found[0])


def _rate(
    name: str, rate: float, hot_per_s: float | None, beside: str, times: int = TIMES_OVER_TLS
) -> Figure:
    if hot_per_s is None:
        return Figure(name, rate, "1/s", "PostgreSQL is not installed: no pgbench beside it")
    note = f"{rate / hot_per_s:.1f} times pgbench's hot row; {beside}"
    return at_least(name, rate, times * hot_per_s, "1/s", note)


def _none(name: str, count: int) -> Figure:
    return at_most(name, count, 0, "wagers")


def _pgbench(server: Any, script: str) -> float:
    """Transactions a second; the tables are made anew."""
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as line:
        line.execute("DROP TABLE IF EXISTS bench_events, bench_meter")
        line.execute(_SCHEMA)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "script.sql"
        path.write_text(script, encoding="ascii")
        done = subprocess.run(
            [
                *("pgbench", "-n", "-c", str(PGBENCH_CLIENTS), "-j", "2"),
                *("-T", str(PGBENCH_SECONDS), "-f", str(path), server.url()),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
    (line_with_rate,) = [line for line in done.stdout.splitlines() if line.startswith("tps = ")]
    return float(line_with_rate.split()[2])


def _new_ledger(server: Any, group: str = "") -> str:
    url: str = server.url() + group
    _make_ledger(url)
    return url


def _make_ledger(url: str) -> None:
    from manager.__main__ import main

    assert main(["make-ledger", url]) == 0
