"""An opened cabinet: shown while it is open, or a stop that only a supervisor ends."""

from __future__ import annotations

from controller.inputs.cabinet import OPENED, STOPPED_CARD, STOPPED_KEY, TamperLatch
from controller.table.faults import FaultBoard


def latch(stops: bool, has_key: bool = False) -> tuple[TamperLatch, FaultBoard]:
    faults = FaultBoard(lambda event: None)
    made = TamperLatch(faults, has_key)
    made.use_policy(stops)
    return made, faults


def shown(faults: FaultBoard) -> list[tuple[str, bool]]:
    return [(fault.sentence, fault.stops_play) for fault in faults.all()]


def test_where_the_house_only_shows_it_is_shown_while_it_is_open() -> None:
    cabinet, faults = latch(stops=False)
    cabinet.changed(True)
    assert shown(faults) == [(OPENED, False)]
    assert not cabinet.awaits_release
    cabinet.changed(False)
    assert shown(faults) == []


def test_where_it_stops_it_stays_until_released_with_the_cabinet_closed() -> None:
    cabinet, faults = latch(stops=True)
    cabinet.changed(True)
    assert shown(faults) == [(STOPPED_CARD, True)]
    assert cabinet.why_not_released() == "Close the cabinet first, then release the table."
    cabinet.changed(False)
    assert shown(faults) == [(STOPPED_CARD, True)]
    assert cabinet.awaits_release
    assert cabinet.why_not_released() == ""
    cabinet.release()
    assert shown(faults) == []
    assert not cabinet.awaits_release


def test_a_stop_names_what_this_table_is_released_with() -> None:
    """Catches: a touch table, which has no key, that sends its dealer to look for one."""
    cabinet, faults = latch(stops=True, has_key=True)
    cabinet.changed(True)
    assert shown(faults) == [(STOPPED_KEY, True)]
    assert "key" not in STOPPED_CARD
    assert "card" not in STOPPED_KEY


def test_a_stop_survives_a_restart_and_a_shown_one_does_not() -> None:
    cabinet, faults = latch(stops=True)
    cabinet.restore(was_raised=True)
    cabinet.changed(False)
    assert shown(faults) == [(STOPPED_CARD, True)]
    cabinet, faults = latch(stops=False)
    cabinet.restore(was_raised=True)
    assert shown(faults) == []


def test_a_cabinet_closed_long_ago_does_not_stop_a_table_whose_policy_changes() -> None:
    cabinet, faults = latch(stops=False)
    cabinet.changed(True)
    cabinet.changed(False)
    cabinet.use_policy(stops=True)
    assert shown(faults) == []
    cabinet.use_policy(stops=False)
    cabinet.changed(True)
    cabinet.use_policy(stops=True)
    assert [stops for _, stops in shown(faults)] == [True]
