"""`python -m manager adopt-journal`: from an operator's command to the serving manager's ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.adoption import main
from manager.app import Manager
from manager.identity.office import IdentityOffice
from protocol import events
from protocol.errors import ProtocolError
from protocol.messages import Hello, State
from protocol.rows import NO_COUNTERS
from tests.unit.manager.desk import Clock, PretendUnit, table_toml

UNIT, TABLE = "UF-touch-1", "touch-1"
OTHER_JOURNAL = b"another-journal!"


class Serving:
    """A manager with its identities, as `serve` puts them together, without its doors."""

    def __init__(self, data: Path) -> None:
        self.data, self.clock = data, Clock()
        self.manager = Manager(str(data / "ledger.sqlite"), self.clock)
        self.manager.open_table(table_toml(TABLE))
        self.office = IdentityOffice(self.manager, data, self.clock)

    def look(self) -> None:
        self.office._look()

    def alarms(self) -> list[str]:
        return [alarm.code for alarm in self.manager.book.alarms.newest(100)]

    def close(self) -> None:
        self.office.close()
        self.manager.store.close()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    serving = Serving(tmp_path)
    serving.manager.units.greet(PretendUnit(UNIT).hello())
    yield serving
    serving.close()


def command(serving: Serving, unit: str, *more: str) -> int:
    words = [unit, "--data", str(serving.data), "--operator", "Pat", "--reason", "broken card"]
    return main([*words, *more])


def hello(unit_id: str, version_max: int = 1, acked: int = 0) -> Hello:
    return Hello(unit_id, 0, version_max, OTHER_JOURNAL, 0, acked, b"", "t", (NO_COUNTERS,))


def is_welcome(serving: Serving, message: Hello) -> bool:
    try:
        serving.manager.units.greet(message)
    except ProtocolError:
        return False
    return True


def test_a_permit_reaches_the_manager_and_counts_once(serving: Serving) -> None:
    assert not is_welcome(serving, hello(UNIT))
    assert command(serving, UNIT) == 0
    assert not is_welcome(serving, hello(UNIT))  # not before the manager has looked
    serving.look()
    assert "NEW_JOURNAL_PERMITTED" in serving.alarms()
    assert not is_welcome(serving, hello(UNIT, acked=3))  # that one is not new
    assert not is_welcome(serving, hello(UNIT, version_max=0))  # that one could not go on
    assert is_welcome(serving, hello(UNIT))
    unit = serving.manager.units.get(UNIT)
    assert (unit.journal_id, unit.last_sequence) == (OTHER_JOURNAL, 0)
    (state,) = serving.manager.intake.greeted(unit, hello(UNIT))
    assert isinstance(state, State)
    serving.look()
    third = Hello(UNIT, 0, 1, b"a-third-journal!", 0, 0, b"", "t")
    assert not is_welcome(serving, third)


def test_another_unit_is_permitted_for_a_table_by_name(serving: Serving) -> None:
    assert command(serving, "UF-9") == 2
    assert command(serving, "UF-9", "--table", "nowhere") == 2
    assert command(serving, "UF-9", "--table", TABLE) == 0
    serving.look()
    assert serving.manager.units.table_for("UF-9") == TABLE  # and may be enrolled for it
    assert is_welcome(serving, hello("UF-9"))
    assert serving.manager.units.find(UNIT) is None
    assert serving.manager.book.tables.board_serial_of(TABLE) == "UF-9"
    serving.look()
    assert command(serving, "UF-9") == 0  # the list of tables has followed


def test_a_unit_with_a_table_is_not_sent_to_another(serving: Serving) -> None:
    serving.manager.open_table(table_toml("touch-2"))
    serving.look()
    assert command(serving, UNIT, "--table", "touch-2") == 2


def test_a_permit_needs_a_name_and_a_reason(serving: Serving, tmp_path: Path) -> None:
    words = [UNIT, "--data", str(serving.data)]
    assert main([*words, "--operator", " ", "--reason", "x"]) == 2
    assert main([*words, "--operator", "Pat", "--reason", " "]) == 2
    assert main([UNIT, "--data", str(tmp_path / "none"), "--operator", "P", "--reason", "x"]) == 2


def test_a_locked_unit_goes_on_with_a_new_journal(serving: Serving) -> None:
    """The card was copied and the original is beyond repair: a new journal ends the lock."""
    units = serving.manager.units
    with serving.manager.store.transaction():
        serving.manager.store.execute("UPDATE units SET lock_sentence = 'two of them'")
    assert not is_welcome(serving, hello(UNIT))
    command(serving, UNIT)
    serving.look()
    assert is_welcome(serving, hello(UNIT))
    assert not units.get(UNIT).locked


def test_a_unit_that_lost_its_table_is_answered_and_nothing_halts(serving: Serving) -> None:
    old = PretendUnit(UNIT)
    command(serving, "UF-9", "--table", TABLE)
    serving.look()
    assert is_welcome(serving, hello("UF-9"))
    (outcome,) = serving.manager.intake.take([(UNIT, old.make(events.RoundEnd(1)))])
    assert outcome.problem is not None
    assert outcome.acked_sequence == 0
