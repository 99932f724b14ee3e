"""What the books cost: CPU and bytes per wager, an audit, a start and the operators' page.

In one process, on a memory disk, with rounds of seven wagers in batches of a hundred events. Beside
the CPU stands what this machine took for a fixed piece of Python in the same minute, because a
machine that others use is another machine each time.
"""

from __future__ import annotations

import asyncio
import gc
import secrets
import statistics
import tempfile
import time
from pathlib import Path

import apsw

from manager.app import Manager
from manager.audit.audit import audit
from manager.audit.closing import make_image, newest_image, note_closed, request_for
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines.places import reader_at
from manager.ledger.engines.relations import TRANSACTIONS
from manager.ledger.engines.sqlite_engine import IN_MEMORY
from manager.ledger.store.ledger import Ledger
from manager.serve import settle_memory
from manager.web.app import pages_of
from protocol.proof.chain import event_digest, first_digest
from protocol.wire import events
from protocol.wire.messages import Event, Hello, decode
from protocol.wire.version import VERSION_MAX, VERSION_MIN
from sim.runs.floor.clients import MEMORY_DISK, SENSORS
from sim.runs.floor.property import WAGER_CENTS, open_tables, unit_names
from sim.runs.perf.figures import Figure, at_least, at_most

TABLES = 50
LARGE_FLOOR = 500
ROUNDS = 60
BATCH = 100
BEGUN_MS = 1_700_000_000_000
ROUND_MS = 45_000
YARDSTICK_STEPS = 200_000


def measure() -> list[Figure]:
    place = MEMORY_DISK if MEMORY_DISK.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        return _measured(str(Path(folder) / LEDGER_NAME))


def _measured(path: str) -> list[Figure]:
    clock = [BEGUN_MS]
    manager = Manager(path, lambda: clock[0])
    names = unit_names(TABLES)
    open_tables(manager, names)
    batches, wagers = event_batches(manager, names, ROUNDS, BATCH), TABLES * ROUNDS * len(SENSORS)
    before = _file_bytes(path)
    as_usual = gc.get_threshold()
    settle_memory()  # as a serving manager does
    begun_s = time.process_time()
    for batch in batches:
        clock[0] += ROUND_MS * BATCH // (2 * TABLES)
        manager.intake.take(batch)
    took_us = (time.process_time() - begun_s) * 1e6 / wagers
    gc.unfreeze()
    gc.set_threshold(*as_usual)
    kept = (_file_bytes(path) - before) / wagers
    page_ms = asyncio.run(_page_ms(manager))
    manager.store.close()
    note = f"{_yardstick_ns():.0f} ns for a step of plain Python in the same minute"
    return [
        at_most("CPU per wager, batches of 100 events", took_us, 40, "us", note),
        at_most("kept per wager", kept, 120, "bytes", "the file, with its indexes"),
        _audit(path, wagers, note),
        *_resumed(path, note),
        *_start(path, wagers),
        at_most(f"the manager's page at {TABLES} tables, built", page_ms, 5, "ms", note),
        _large_page(),
    ]


class ChainedUnit:
    """Chains events as a unit does."""

    def __init__(self, unit_id: str) -> None:
        self.unit_id = unit_id
        self._sequence, journal_id = 0, secrets.token_bytes(16)
        self._digest = first_digest(journal_id)
        versions = (VERSION_MIN, VERSION_MAX)
        self.hello = Hello(unit_id, *versions, journal_id, 0, 0, b"", "perf", ())

    def make(self, body: events.EventBody, at_ms: int) -> tuple[str, Event]:
        self._sequence += 1
        said = (self._sequence, body.KIND, body.to_body(), at_ms - BEGUN_MS, at_ms)
        self._digest = event_digest(self._digest, *said)
        event = decode(Event(*said, self._digest).encode())  # as the link hands it over
        assert isinstance(event, Event)
        return self.unit_id, event


def event_batches(
    manager: Manager, names: list[tuple[str, str]], rounds: int, batch: int
) -> list[list[tuple[str, Event]]]:
    """Rounds of all these units, in batches as they might arrive."""
    units = [ChainedUnit(unit_id) for unit_id, _ in names]
    for unit in units:
        manager.units.greet(unit.hello)
    made = rounds_of(units, rounds)
    return [made[first : first + batch] for first in range(0, len(made), batch)]


def rounds_of(units: list[ChainedUnit], rounds: int) -> list[tuple[str, Event]]:
    """A START of each unit, an END of each, and so on."""
    made: list[tuple[str, Event]] = []
    wagered_cents = WAGER_CENTS * len(SENSORS)
    for number in range(1, rounds + 1):
        at_ms = BEGUN_MS + number * ROUND_MS
        start = events.RoundStart(number, SENSORS, (), (), wagered_cents)
        made += [unit.make(start, at_ms) for unit in units]
        made += [unit.make(events.RoundEnd(number), at_ms + ROUND_MS // 2) for unit in units]
    return made


def _audit(path: str, wagers: int, note: str) -> Figure:
    ledger = Ledger(reader_at(path))
    begun_s = time.process_time()
    finding = audit(ledger)
    took_s = time.process_time() - begun_s
    ledger.close()
    assert finding.sound, finding.sentence
    return at_least("audit", wagers / took_s, 150_000, "wagers/CPU-s", note)


def _resumed(path: str, note: str) -> list[Figure]:
    """A day is closed at the ledger's end, so that a resumed audit has nothing but its entry."""
    data = Path(path).parent
    manager = Manager(path, lambda: BEGUN_MS)
    begun_s = time.process_time()
    image = make_image(data, manager.store, "2023-11-14", manager.store.tail().number)
    closed_s = time.process_time() - begun_s
    note_closed(manager.store, request_for("2023-11-14", image))
    manager.store.close()
    ledger = Ledger(reader_at(path))
    begun_s = time.process_time()
    finding = audit(ledger, (), newest_image(data, ledger))
    took_s = time.process_time() - begun_s
    ledger.close()
    assert finding.sound, finding.sentence
    return [
        Figure("a day closed: its books proven and kept", closed_s, "CPU-s", note),
        Figure("audit resumed right after it", took_s * 1000, "CPU-ms", "rows of old are counted"),
    ]


def _start(path: str, wagers: int) -> list[Figure]:
    """With all of its rows, and once more with those of ten times as many wagers."""
    few_s = _opened_s(path)
    _multiply(path, 10)
    many_s = _opened_s(path)
    ratio = f"{many_s / few_s:.1f} times that with {wagers} wagers"
    return [
        at_most(f"a ledger with {wagers} wagers opened", few_s, 2, "CPU-s", "its end is read"),
        at_most(f"the same with {10 * wagers} wagers' rows", many_s, 2, "CPU-s", ratio),
    ]


def _opened_s(path: str) -> float:
    took_s = []
    for _ in range(5):
        begun_s = time.process_time()
        manager = Manager(path, lambda: BEGUN_MS)
        took_s.append(time.process_time() - begun_s)
        manager.store.close()
    return min(took_s)


def _multiply(path: str, times: int) -> None:
    """Copies of the rows below the first number: a start must not look at them."""
    connection = apsw.Connection(path)
    guards = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for (name,) in guards:
        connection.execute(f"DROP TRIGGER {name}")
    columns = ", ".join(TRANSACTIONS.columns[1:])
    with connection:
        for copy in range(1, times):
            less = copy * 10**9
            connection.execute(
                f"INSERT INTO transactions SELECT number - {less}, {columns} FROM transactions"
                " WHERE number > 0"
            )
            connection.execute(
                f"INSERT INTO postings SELECT transaction_number - {less}, position, account,"
                " amount_microcents FROM postings WHERE transaction_number > 0"
            )
    connection.close()


async def _page_ms(manager: Manager) -> float:
    pages, took_ms = pages_of(manager.view), []
    for _ in range(20):
        begun_s = time.process_time()
        await pages()
        took_ms.append((time.process_time() - begun_s) * 1000)
    return statistics.median(took_ms)


def _large_page() -> Figure:
    """What a page costs on the largest floor, however many read it."""
    manager = Manager(IN_MEMORY, lambda: BEGUN_MS)
    try:
        open_tables(manager, unit_names(LARGE_FLOOR))
        page_ms = asyncio.run(_page_ms(manager))
    finally:
        manager.store.close()
    note = "made twice a second, however many read it, in turns with the units"
    return Figure(f"the manager's page at {LARGE_FLOOR} tables, built", page_ms, "ms", note)


def _file_bytes(path: str) -> int:
    """The file and its log; the log is written into the file in the end."""
    reader = reader_at(path)
    ((pages,),) = reader.rows("SELECT page_count FROM pragma_page_count()")
    ((size,),) = reader.rows("SELECT page_size FROM pragma_page_size()")
    reader.close()
    return int(pages * size)


def _yardstick_ns() -> float:
    begun_s, rows = time.process_time(), {}
    for number in range(YARDSTICK_STEPS):
        rows[number % 1000, "a"] = (number, "x", b"y")
    return (time.process_time() - begun_s) * 1e9 / YARDSTICK_STEPS
