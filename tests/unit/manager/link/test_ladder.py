"""A lost link: its alarm after 5 s, worse with each rung, one cause, and over when it is back."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kit.web.version_signal import VersionSignal
from manager.audit.audit import audit
from manager.ledger.alarm_causes import AlarmCauses, Severity
from manager.link import ladder
from manager.link.ladder import LinkLadder
from manager.setup.open_table import open_table
from sim.time.loop import run_virtual
from tests.kit.pretend_units import Desk, load_paytable, table_toml

NAMES = ["LINK_LOST", "LINK_LOST_60_S", "LINK_LOST_10_MIN", "LINK_LOST_30_MIN"]


class Floor:
    """One table whose link the test takes away; time is a number."""

    def __init__(self) -> None:
        self.desk = Desk()
        self.desk.open_table("touch-1")
        self.now_s = 1000.0
        self.line: Any = SimpleNamespace(heard_s=0.0)
        self.causes = AlarmCauses(self.desk.store, self.desk.manager.book.alarms)
        self.ladder = self.start()

    def start(self) -> LinkLadder:
        manager, changes = self.desk.manager, VersionSignal()
        return LinkLadder(
            manager.book, manager.units, lambda unit: self.line, changes, lambda: self.now_s
        )

    def pass_s(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.now_s += 1
            self.desk.clock.ms += 1000
            if self.line is not None:
                self.line.heard_s = self.now_s
            self.ladder.look()

    def codes(self) -> list[str]:
        alarms = self.desk.manager.book.alarms.newest(20)[::-1]
        return [each.code for each in alarms if each.code.startswith("LINK")]


@pytest.fixture
def floor() -> Floor:
    return Floor()


def test_each_rung_is_one_alarm_and_worse_than_the_one_before(floor: Floor) -> None:
    """Catches: a pulled cable that leaves no alarm, or a new one every second."""
    floor.pass_s(3)
    floor.line = None
    seen = []
    for seconds, count in ((4, 0), (1, 1), (54, 1), (1, 2), (539, 2), (1, 3), (1199, 3), (1, 4)):
        floor.pass_s(seconds)
        assert floor.codes() == NAMES[:count]
        seen += [floor.causes.all()[0].severity] if count else []
    assert list(dict.fromkeys(seen)) == list(Severity)
    floor.pass_s(4000)
    assert floor.codes() == NAMES
    (cause,) = floor.causes.all()
    assert (cause.key[0], cause.count) == ("LINK_LOST", 4)
    floor.line = SimpleNamespace(heard_s=0.0)
    floor.pass_s(2)
    assert floor.codes()[-1] == "LINK_BACK"
    (cause,) = floor.causes.all()
    assert cause.severity is Severity.NOTICE
    assert "is back after 96 minutes" in cause.last.sentence
    assert audit(floor.desk.store).sound


def test_it_looks_once_a_second_for_as_long_as_it_runs(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a link that is lost after the first look, and that nobody looks at again."""
    looked_s: list[float] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        monkeypatch.setattr(floor.ladder, "look", lambda: looked_s.append(loop.time() - began_s))
        running = asyncio.create_task(floor.ladder.run())
        await asyncio.sleep(3.5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run_virtual(scenario())
    assert looked_s == pytest.approx([1.0, 2.0, 3.0])


def test_a_link_that_is_back_at_once_is_no_alarm(floor: Floor) -> None:
    line, floor.line = floor.line, None
    floor.pass_s(4)
    floor.line = line
    floor.pass_s(10)
    assert floor.codes() == []


def test_silence_counts_from_the_last_frame(floor: Floor) -> None:
    floor.pass_s(2)
    for _ in range(5):  # the cable is out, and the connection is still held
        floor.now_s += 1
        floor.ladder.look()
    floor.line = None
    floor.ladder.look()
    assert floor.codes() == ["LINK_LOST"]


def test_a_restart_goes_on_from_the_rung_that_was_told(floor: Floor) -> None:
    """Catches: a ladder that begins anew, and pages the same rungs again, at every restart."""
    floor.line = None
    floor.pass_s(61)
    floor.ladder = floor.start()
    floor.pass_s(538)
    assert floor.codes() == NAMES[:2]
    floor.pass_s(2)
    assert floor.codes() == NAMES[:3]


def test_a_manager_that_was_off_for_a_while_counts_that_time_as_well(floor: Floor) -> None:
    """Catches: silence that begins anew, or never began, where the clock went back meanwhile."""
    floor.line = None
    floor.pass_s(61)
    floor.desk.clock.ms += 600_000
    floor.ladder = floor.start()
    floor.pass_s(1)
    assert floor.codes() == NAMES[:3]
    floor.desk.clock.ms -= 3_000_000
    floor.ladder = floor.start()
    floor.pass_s(1_100)
    assert floor.codes() == NAMES[:3], "ten minutes were told, and not more has passed since"
    floor.pass_s(200)
    assert floor.codes() == NAMES


def test_a_table_from_which_nobody_ever_called_is_not_missed(floor: Floor) -> None:
    floor.line = None
    floor.desk.manager.open_table(table_toml("touch-9"))
    floor.pass_s(6)
    assert [each.table_id for each in floor.desk.manager.book.alarms.newest(5)] == ["touch-1"]


def test_a_table_that_never_called_hides_none_behind_it() -> None:
    """Catches: the look that ends at the first table without a unit."""
    floor = Floor()
    silent = table_toml("first-0")  # opened, and its unit has never called
    open_table(floor.desk.manager.book, silent, lambda count: bytes(count), load_paytable)
    assert floor.desk.manager.book.tables.ids()[0] == "first-0"
    floor.line = None
    floor.pass_s(6)
    assert floor.codes() == ["LINK_LOST"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(59, "59 seconds"), (60, "a minute"), (119, "a minute"), (120, "2 minutes")],
)
def test_a_time_without_a_link_is_said_in_plain_words(seconds: int, words: str) -> None:
    assert ladder._words(seconds) == words


def test_the_return_is_never_told_as_shorter_than_the_loss_that_was(floor: Floor) -> None:
    """Catches: a link that is back after 0 seconds, where the clock of a restart was set back."""
    floor.line = None
    floor.pass_s(6)
    floor.ladder._lost["touch-1"].since_s = floor.now_s
    floor.line = SimpleNamespace(heard_s=floor.now_s)
    floor.ladder.look()
    alarm = floor.desk.manager.book.alarms.newest(1)[0]
    assert alarm.sentence.endswith("is back after 5 seconds.")
