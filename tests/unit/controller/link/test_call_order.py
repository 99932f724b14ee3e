"""Which manager is called next: each gets its turn, and being sent on is believed with measure."""

from __future__ import annotations

import pytest

from controller.link.call_order import CallOrder
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual


class Calls:
    def __init__(self, *addresses: str) -> None:
        self.order = CallOrder(self._connect, addresses)

    async def _connect(self, address: str) -> FrameStream:
        assert self.order.called == address, "whoever asks during the call hears where it goes"
        raise ConnectionRefusedError(address)

    def next(self) -> str:
        """Whom the next call goes to."""
        with pytest.raises(ConnectionRefusedError) as refused:
            run_virtual(self.order.call())
        return str(refused.value)


def test_a_unit_needs_somebody_to_call() -> None:
    with pytest.raises(AssertionError):
        Calls()


def test_all_are_called_in_turn_before_the_unit_waits() -> None:
    """Catches: a pause between two managers, or a manager that never gets its turn."""
    calls = Calls("a", "b", "c")
    called, goes_on = [], []
    for _ in range(6):
        called.append(calls.next())
        goes_on.append(calls.order.failed())
    assert called == ["a", "b", "c", "a", "b", "c"]
    assert goes_on == [True, True, False, True, True, False]


def test_the_only_manager_is_called_again_after_a_pause() -> None:
    calls = Calls("a")
    assert calls.next() == "a"
    assert calls.order.failed() is False
    assert calls.next() == "a"


def test_whoever_welcomed_it_last_is_called_first_and_a_new_round_begins() -> None:
    calls = Calls("a", "b", "c")
    calls.next()
    calls.order.failed()
    assert calls.next() == "b"
    calls.order.welcomed()
    assert calls.next() == "b"
    # Without the count beginning anew, c would be the last one of the round.
    assert calls.order.failed() is True
    assert calls.next() == "c"
    assert calls.order.failed() is True
    assert calls.next() == "a"
    assert calls.order.failed() is False


def test_being_sent_somewhere_counts_for_one_call() -> None:
    calls = Calls("a", "b")
    calls.next()
    calls.order.send_on("b")
    assert calls.next() == "b"
    assert calls.next() == "a", "b did not welcome it"


def test_a_manager_that_it_was_sent_to_and_that_welcomed_it_is_called_first() -> None:
    calls = Calls("a", "b")
    calls.order.send_on("b")
    calls.next()
    calls.order.welcomed()
    assert calls.next() == "b"


def test_a_manager_that_nobody_listed_is_called_as_often_as_it_is_sent_there() -> None:
    calls = Calls("a", "b")
    calls.order.send_on("elsewhere")
    assert calls.next() == "elsewhere"
    calls.order.welcomed()
    assert calls.next() == "a"


def test_two_managers_that_send_a_unit_to_each_other_are_not_believed_for_long() -> None:
    """Catches: a unit that calls as fast as it can for ever."""
    calls = Calls("a", "b")
    assert [calls.order.send_on("b") for _ in range(4)] == [True, True, False, False]
    calls.next()
    calls.order.welcomed()
    assert calls.order.send_on("a") is True
