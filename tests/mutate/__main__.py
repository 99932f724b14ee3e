"""Draws changes evenly over the kinds, tries each, and prints who survived and the kill rate.

    make mutate COUNT=60 SEED=7          # a new seed draws other changes
    make mutate ONLY=1f0c93aa            # one change again, by the name in the report
    .venv/bin/python -m tests.mutate --module controller/keeper.py --count 20
    .venv/bin/python -m tests.mutate --module controller/keeper.py --list
    .venv/bin/python -m tests.mutate --few 5 --count 60      # where most go unnoticed; no fair draw

Survivors that nobody could ever see are listed in `equivalent.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import random
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from kit.command_line import CommandRefused, run_command, told, whole
from tests.kit.places import ROOT
from tests.mutate import equivalents, rooms
from tests.mutate.changes import Change, changes_of
from tests.mutate.reach import Reach, Reached
from tests.mutate.trial import Copy, Outcome, Verdict

KILL_RATE_MIN_PERCENT = 97
PLACE = ROOT / "build" / "mutate"
SEED_MAX = 10**6

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def main() -> int:
    options = _options()
    room_of = rooms.modules(ROOT)
    changes = [change for module in room_of for change in changes_of(ROOT, module)]
    wanted = _wanted(changes, options)
    if options.list:
        print("\n".join(f"{change.name} {change.sentence}" for change in wanted))
        return 0
    if options.row:
        print("\n\n".join(equivalents.row_for(change) for change in wanted))
        return 0
    equal = equivalents.reasons()
    tried = [change for change in wanted if change.key not in equal]
    skipped = len(wanted) - len(tried)
    copies = [Copy(ROOT, PLACE / f"tree-{number}") for number in range(1, options.jobs + 1)]
    reach = _measured(copies, options.fresh)
    if options.few is not None:
        tried = [change for change in tried if reach.test_count(change) <= options.few]
    if not options.only:
        tried = draw(tried, options.count, random.Random(options.seed))
        print(f"{len(tried)} of {len(changes)} changes in {len(room_of)} modules. Seed", end=" ")
        print(f"{options.seed}; {skipped} are known to be equivalent and not drawn.", flush=True)
    report = Report(room_of)

    def asked(change: Change, copy: Copy) -> tuple[Change, Verdict]:
        return change, copy.trial(change, reach.tests_for(change))

    def asked_whole_tables(change: Change, copy: Copy) -> tuple[Change, Verdict]:
        return change, copy.trial(change, [], rooms.WHOLE_TABLES[room_of[change.module]])

    try:
        for change, verdict in _together(tried, asked, copies):
            report.add(change, verdict)
        for change, verdict in _together(
            [] if options.without_tables else report.let_pass(), asked_whole_tables, copies
        ):
            report.correct(change, verdict)
        report.doubt(_flaky(copies[0], report))
    finally:
        for copy in copies:
            copy.close()
        report.print_figures()
    return 0 if report.percent() >= KILL_RATE_MIN_PERCENT else 1


def _together(
    questions: list[Question], ask: Callable[[Question, Copy], Answer], copies: list[Copy]
) -> Iterator[Answer]:
    """Each is asked in a copy that is free; the answers come in the order of the questions."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def asked(question: Question) -> Answer:
        copy = free.get()
        try:
            return ask(question, copy)
        finally:
            free.put(copy)

    pool = ThreadPoolExecutor(len(copies), thread_name_prefix="mutate")
    try:
        yield from pool.map(asked, questions)
    finally:
        pool.shutdown(cancel_futures=True)


def draw(changes: list[Change], count: int, chance: random.Random) -> list[Change]:
    """As many of each kind as there are, in turns, so that no kind crowds out the others."""
    by_kind: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        by_kind[change.kind].append(change)
    piles = [chance.sample(pile, len(pile)) for _, pile in sorted(by_kind.items())]
    drawn: list[Change] = []
    while len(drawn) < count and any(piles):
        drawn += [pile.pop() for pile in piles if pile]
    return drawn[:count]


def _wanted(changes: list[Change], options: argparse.Namespace) -> list[Change]:
    chosen = [change for change in changes if change.module.startswith(options.module)]
    if options.only:
        chosen = [change for change in chosen if change.name in options.only.split(",")]
    if not chosen:
        raise CommandRefused(f"There is no change {options.only or 'in ' + options.module}.")
    return chosen


def _measured(copies: list[Copy], fresh: bool) -> Reach:
    """Which tests run which function; what is not known yet is found out first."""
    file = PLACE / "reach.json"
    if fresh:
        file.unlink(missing_ok=True)
    reach = Reach(file)
    unmeasured = reach.unmeasured(ROOT, rooms.test_files(ROOT))
    if unmeasured:
        print(f"Measuring once what {len(unmeasured)} test files run. It is kept.", flush=True)
        reach.measure(
            ROOT,
            unmeasured,
            lambda parts: _together(parts, lambda files, copy: copy.record(files), copies),
        )
    return reach


def _flaky(copy: Copy, report: Report) -> set[str]:
    """Tests that noticed a change and fail without it as well: they have noticed nothing."""
    flaky: set[str] = set()
    left = sorted(test for test in report.noticed_by() if "::" in test)
    while left and (failed := copy.failing([Reached(test, 10.0, frozenset()) for test in left])):
        flaky.add(failed)
        left = [test for test in left if test != failed] if failed in left else []
    return flaky


class Report:
    def __init__(self, room_of: dict[str, str]) -> None:
        self._room_of = room_of
        self._verdicts: list[tuple[Change, Verdict]] = []

    def add(self, change: Change, verdict: Verdict) -> None:
        self._verdicts.append((change, verdict))
        self._print(len(self._verdicts), change, verdict)

    def let_pass(self) -> list[Change]:
        return [
            change for change, verdict in self._verdicts if verdict.outcome is not Outcome.KILLED
        ]

    def correct(self, change: Change, verdict: Verdict) -> None:
        """Whole tables have been asked as well."""
        if verdict.outcome is Outcome.KILLED:
            place = next(at for at, each in enumerate(self._verdicts) if each[0] is change)
            self._verdicts[place] = (change, verdict)
            self._print(place + 1, change, verdict)

    def _print(self, number: int, change: Change, verdict: Verdict) -> None:
        by = f"[{verdict.by}]" if verdict.by else ""
        print(
            f"{number:4} {verdict.outcome.value:9} {change.name} {change.sentence} {by}", flush=True
        )

    def noticed_by(self) -> set[str]:
        return {verdict.by for _, verdict in self._verdicts}

    def doubt(self, flaky: set[str]) -> None:
        """Takes out what only a flaky test noticed."""
        for test in sorted(flaky):
            print(f"{test} fails without a change as well; what it noticed is not counted.")
        self._verdicts = [each for each in self._verdicts if each[1].by not in flaky]

    def percent(self) -> float:
        return _percent(verdict for _, verdict in self._verdicts)

    def print_figures(self) -> None:
        survivors = [each for each in self._verdicts if each[1].outcome is not Outcome.KILLED]
        if survivors:
            print("\nSurvivors:")
        for change, verdict in survivors:
            print(
                f"  {change.sentence}\n    {verdict.outcome.value}: make mutate ONLY={change.name}"
            )
        print()
        for room in rooms.ROOMS:
            mine = [
                verdict
                for change, verdict in self._verdicts
                if self._room_of[change.module] == room
            ]
            if mine:
                print(f"  {_figure(mine):>24}  {room}")
        print(f"  {_figure([verdict for _, verdict in self._verdicts]):>24}  together", flush=True)


def _figure(verdicts: list[Verdict]) -> str:
    counts = Counter(verdict.outcome is Outcome.KILLED for verdict in verdicts)
    return f"{counts[True]} of {len(verdicts)} killed, {_percent(verdicts):.1f} %"


def _percent(verdicts: Iterable[Verdict]) -> float:
    killed = [verdict.outcome is Outcome.KILLED for verdict in verdicts]
    return 100 * sum(killed) / len(killed) if killed else 100.0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate")
    parser.add_argument("--count", type=whole(1), default=60, help="how many changes to try")
    parser.add_argument("--seed", type=whole(), default=None, help="which ones; drawn if not said")
    parser.add_argument("--only", default="", metavar="NAME,NAME", help="changes by their names")
    parser.add_argument("--module", default="", help="a file or folder instead of all")
    parser.add_argument(
        "--few", type=whole(), default=None, help="only functions that at most so many tests run"
    )
    parser.add_argument("--jobs", type=whole(1), default=1, help="how many are tried at a time")
    parser.add_argument(
        "--without-tables",
        action="store_true",
        help="ask no whole tables about what the others let pass: the rate is then a lower bound",
    )
    parser.add_argument("--list", action="store_true", help="print every change and try none")
    parser.add_argument("--row", action="store_true", help="print a row for equivalent.toml")
    parser.add_argument("--fresh", action="store_true", help="measure anew what the tests run")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(SEED_MAX)
    return options


if __name__ == "__main__":
    run_command(lambda: told(main, name="mutate"))
