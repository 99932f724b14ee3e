"""What durability costs and how fast a unit is back: on the disk of this machine, and simulated.

The journal's commits are held against raw `fdatasync` of a file of the same folder, in turns within
the same run, because a disk is another disk a minute later. Power cuts run on the simulated disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from controller.journal.journal import Journal
from protocol.wire import events
from sim.runs.perf.figures import Figure, percentile

COMMITS = 1500
TURN = 50
BLOCK_BYTES = 4096
RESUMED_RECORDS = 5000
CUT_SEEDS = {"journal": 12, "ledger": 4}
# Run from the project's folder: the harnesses that cut the power belong to the tests.
CUTS = {
    "journal": (
        "import sys, time\n"
        "from tests.power_cut.journal_under_cuts import JournalUnderCuts\n"
        "begun, cuts = time.process_time(), 0\n"
        "for seed in range(int(sys.argv[1])):\n"
        "    run = JournalUnderCuts(seed, beside=True)\n"
        "    run.run()\n"
        "    cuts += run.cut_count\n"
        "print(cuts, cuts / (time.process_time() - begun))\n"
    ),
    "ledger": (
        "import logging, sys, time\n"
        "from tests.power_cut.ledger_under_cuts import LedgerUnderCuts\n"
        "logging.disable(logging.CRITICAL)\n"
        "begun, cuts, known = time.process_time(), 0, {}\n"
        "for seed in range(int(sys.argv[1])):\n"
        "    run = LedgerUnderCuts(seed, beside=True, known=known)\n"
        "    run.run()\n"
        "    cuts += run.cut_count\n"
        "print(cuts, cuts / (time.process_time() - begun))\n"
    ),
}


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        figures = _commits(Path(folder)) + _resume(Path(folder))
    journal = _power_cuts("journal", "power cuts tried")
    return [*figures, journal, _power_cuts("ledger", "power cuts tried on the ledger")]


def _commits(folder: Path) -> list[Figure]:
    """Journal and raw disk take turns, so that both meet the same disk."""
    journal = Journal.open(str(folder / "journal"))
    raw = os.open(folder / "raw", os.O_RDWR | os.O_CREAT)
    os.pwrite(raw, bytes(BLOCK_BYTES * TURN), 0)
    os.fsync(raw)
    ours: list[float] = []
    theirs: list[float] = []
    try:
        for turn in range(COMMITS // TURN):
            theirs += [_raw_write_ms(raw, number) for number in range(TURN)]
            ours += [_commit_ms(journal, turn * TURN + number) for number in range(TURN)]
    finally:
        os.close(raw)
        journal.close()
    figures: list[Figure] = []
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        ours_ms, raw_ms = percentile(ours, share), percentile(theirs, share)
        figures.append(_against_raw(f"journal commit, {name}", ours_ms, raw_ms))
        times = f"journal commit, times raw fdatasync, {name}"
        figures.append(Figure(times, ours_ms / raw_ms, "x"))
    return figures


def _raw_write_ms(file: int, number: int) -> float:
    begun_s = time.perf_counter()
    os.pwrite(file, b"\1" * BLOCK_BYTES, number * BLOCK_BYTES)
    os.fdatasync(file)
    return (time.perf_counter() - begun_s) * 1000


def _commit_ms(journal: Journal, number: int) -> float:
    body = events.RoundStart(number + 1, ("1A", "3A", "5A"), (), (), 300)
    begun_s = time.perf_counter()
    journal.append(body.KIND, body.to_body(), number, number)
    return (time.perf_counter() - begun_s) * 1000


def _against_raw(name: str, value_ms: float, raw_ms: float) -> Figure:
    beside = f"raw fdatasync of the same folder {raw_ms:.3f} ms; {value_ms / raw_ms:.2f} times"
    return Figure(name, value_ms, "ms", beside)


def _resume(folder: Path) -> list[Figure]:
    """A process starts on a journal with a round under way; the time until it stands there."""
    path = folder / "resume"
    _fill(path)
    code = (
        "import sys, time\n"
        "from sim.runs.perf.durability import resume_ms\n"
        "print(*resume_ms(sys.argv[1]))\n"
    )
    begun_s = time.perf_counter()
    took_ms, cpu_ms = map(float, _in_a_process(code, str(path)).split())
    whole_ms = (time.perf_counter() - begun_s) * 1000
    beside = (
        f"{RESUMED_RECORDS} records, {cpu_ms:.0f} ms of CPU; {whole_ms:.0f} ms with the start of"
        " the interpreter"
    )
    return [Figure("restart -> resumed round: open, check, replay", took_ms, "ms", beside)]


def _fill(path: Path) -> None:
    journal = Journal.open(str(path))
    rounds = RESUMED_RECORDS // 2
    for number in range(1, rounds + 1):
        start = events.RoundStart(number, ("1A", "3A"), (), (), 200)
        entries = [(start.KIND, start.to_body(), 0, 0)]
        if number < rounds:
            end = events.RoundEnd(number)
            entries.append((end.KIND, end.to_body(), 0, 0))
        for entry in entries:
            journal.append(*entry)
    journal.close()


def resume_ms(path: str) -> tuple[float, float]:
    """In the process that resumes: the journal opened, checked and replayed to the open round."""
    import asyncio

    from controller.keeper import RoundKeeper
    from hal.worker import InlineWorker

    begun_s, begun_cpu_s = time.perf_counter(), time.process_time()
    journal = Journal.open(path, must_exist=True)
    keeper = RoundKeeper(journal, InlineWorker("disk"), lambda: 0, lambda _answer, _spoken: None)
    asyncio.run(keeper.restore())
    took_ms = (time.perf_counter() - begun_s) * 1000
    cpu_ms = (time.process_time() - begun_cpu_s) * 1000
    assert keeper.state.round_open
    journal.close()
    return took_ms, cpu_ms


def _power_cuts(of: str, name: str) -> Figure:
    """Each cut leaves other bytes on the medium than every other cut of its seed."""
    count, rate = map(float, _in_a_process(CUTS[of], str(CUT_SEEDS[of])).split())
    beside = (
        f"{count:.0f} cuts of {CUT_SEEDS[of]} seeds, each recovered, compared with what was told"
    )
    return Figure(name, rate, "1/CPU-s", beside)


def _in_a_process(code: str, argument: str) -> str:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", code, argument]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()
