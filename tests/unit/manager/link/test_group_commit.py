"""Events that came together are written together, and a failed write is final."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from manager.ledger.engines.engine import StorageFailed
from manager.link.group_commit import BATCH_MAX, GroupCommit
from protocol.wire.errors import ProtocolError
from protocol.wire.version import WINDOW


class PretendIntake:
    """Takes events in; they are durable when `let_go` is called."""

    def __init__(self) -> None:
        self.taken: list[list[tuple[str, str]]] = []
        self.waiting: list[Callable[[], None]] = []
        self.trouble: Exception | None = None

    def take(self, batch: list[tuple[str, str]]) -> list[str]:
        if self.trouble:
            raise self.trouble
        self.taken.append(batch)
        return [f"{event} of {unit_id}" for unit_id, event in batch]

    def when_durable(self, then: Callable[[], None]) -> None:
        self.waiting.append(then)

    def let_go(self) -> None:
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            then()


class Case:
    def __init__(self) -> None:
        self.intake = PretendIntake()
        self.committed: list[tuple[str, str]] = []
        self.failures: list[str] = []
        self.group: Any = GroupCommit(
            self.intake,  # type: ignore[arg-type]
            self._committed,  # type: ignore[arg-type]
            self.failures.append,
        )

    def _committed(self, told: list[tuple[SimpleNamespace, str]]) -> None:
        self.committed += [(connection.unit_id, outcome) for connection, outcome in told]


def run(trial: Callable[[Case], Coroutine[Any, Any, None]]) -> Case:
    """No time passes in any of these: one that waits is too slow, and fails."""
    case = Case()
    asyncio.run(asyncio.wait_for(trial(case), 0.9))
    return case


def unit(name: str) -> SimpleNamespace:
    return SimpleNamespace(unit_id=name, uncommitted_count=0)


def test_events_that_are_there_together_share_a_write_and_are_told_when_it_is_durable() -> None:
    """Catches: a receipt for an event that a power cut can still lose."""

    async def trial(case: Case) -> None:
        one, two = unit("U1"), unit("U2")
        case.group.add(one, "a")
        case.group.add(two, "b")
        case.group.add(one, "c")
        assert (one.uncommitted_count, two.uncommitted_count) == (2, 1)
        assert case.intake.taken == []
        await case.group.all_written()
        assert case.intake.taken == [[("U1", "a"), ("U2", "b"), ("U1", "c")]]
        assert case.committed == []
        case.intake.let_go()
        assert case.committed == [("U1", "a of U1"), ("U2", "b of U2"), ("U1", "c of U1")]
        assert (one.uncommitted_count, two.uncommitted_count) == (0, 0)
        case.group.add(one, "d")
        await case.group.all_written()
        assert case.intake.taken[1:] == [[("U1", "d")]]
        assert case.failures == []

    run(trial)


def test_a_unit_may_have_only_so_many_events_waiting() -> None:
    """Catches: a unit that fills the manager's memory with events nobody has written."""

    async def trial(case: Case) -> None:
        connection = unit("U1")
        for number in range(WINDOW):
            case.group.add(connection, str(number))
        with pytest.raises(ProtocolError, match=f"More than {WINDOW} events"):
            case.group.add(connection, "one more")
        await case.group.all_written()
        assert sum(map(len, case.intake.taken)) == WINDOW
        case.intake.let_go()
        case.group.add(connection, "again")

    run(trial)


@pytest.mark.parametrize("count", [BATCH_MAX, BATCH_MAX + 1, 3 * BATCH_MAX])
def test_a_crowd_is_written_in_parts_and_nobody_is_left(count: int) -> None:
    """Catches: the last events of a busy moment that nobody writes before a shutdown."""

    async def trial(case: Case) -> None:
        for number in range(count):
            case.group.add(unit(str(number)), "e")
        await case.group.all_written()
        assert [int(name) for batch in case.intake.taken for name, _ in batch] == [*range(count)]
        assert max(map(len, case.intake.taken)) == BATCH_MAX

    run(trial)


def test_a_failed_write_is_told_once_and_nothing_is_taken_in_after_it() -> None:
    """Catches: events taken in after a lost one, so that a table's bets have a gap."""

    async def trial(case: Case) -> None:
        case.intake.trouble = StorageFailed("disk full")
        case.group.add(unit("U1"), "a")
        await case.group.all_written()
        case.intake.trouble = None
        case.group.add(unit("U1"), "b")
        await case.group.all_written()
        assert case.intake.taken == []
        assert case.intake.waiting == []
        assert case.failures == ["disk full"]

    run(trial)


def test_what_fails_for_another_reason_is_told_as_well_and_goes_on_to_be_reported() -> None:
    async def trial(case: Case) -> None:
        reported: list[Any] = []
        handler = lambda _, context: reported.append(context["exception"])  # noqa: E731
        asyncio.get_running_loop().set_exception_handler(handler)
        case.intake.trouble = KeyError("a mistake of ours")
        case.group.add(unit("U1"), "a")
        await case.group.all_written()
        assert [type(error) for error in reported] == [KeyError]
        assert case.failures == ["an event could not be taken in"]

    run(trial)
