"""`python -m manager adopt-journal`: an operator's request, carried out in the ledger at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.app import Manager
from manager.booking import ADOPT_JOURNAL
from manager.ledger.errors import LedgerError
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from protocol.wire.messages import Hello, State
from protocol.wire.rows import NO_COUNTERS
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.pretend_units import Clock, Desk, PretendUnit, table_toml
from tests.kit.serving_manager import serving as serving_process
from tests.kit.tampering import tamper

UNIT, TABLE = "UF-touch-1", "touch-1"
OTHER_JOURNAL = b"another-journal!"


class Serving:
    """A manager and what it does for an operator, as `serve` puts them together."""

    def __init__(self, data: Path) -> None:
        self.data, self.clock = data, Clock()
        self.manager = Manager(str(data / "ledger.sqlite"), self.clock)
        self.manager.open_table(table_toml(TABLE))

    def alarms(self) -> list[str]:
        return [alarm.code for alarm in self.manager.book.alarms.newest(100)]

    def close(self) -> None:
        self.manager.store.close()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    serving = Serving(tmp_path)
    serving.manager.units.greet(PretendUnit(UNIT).hello())
    yield serving
    serving.close()


def permit(serving: Serving, unit: str, table: str = "", **more: str) -> str:
    words = {"operator": "Pat", "reason": "broken disk"} | more
    request = {"command": ADOPT_JOURNAL, "unit": unit, "table": table, **words}
    return serving.manager.booking.book(request)


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
    assert "permitted to go on at table touch-1" in permit(serving, UNIT)
    assert "NEW_JOURNAL_PERMITTED" in serving.alarms()
    assert not is_welcome(serving, hello(UNIT, acked=3))  # that one is not new
    assert is_welcome(serving, hello(UNIT))
    unit = serving.manager.units.get(UNIT)
    assert (unit.journal_id, unit.last_sequence) == (OTHER_JOURNAL, 0)
    (state,) = serving.manager.intake.greeted(unit, hello(UNIT))
    assert isinstance(state, State)
    third = Hello(UNIT, 0, 1, b"a-third-journal!", 0, 0, b"", "t")
    assert not is_welcome(serving, third)


def test_another_unit_is_permitted_for_a_table_by_name(serving: Serving) -> None:
    for table, sentence in (("", "say which one it takes over"), ("nowhere", "no table nowhere")):
        with pytest.raises(LedgerError, match=sentence):
            permit(serving, "UF-9", table)
    permit(serving, "UF-9", TABLE)
    assert serving.manager.units.table_for("UF-9") == TABLE  # and may be enrolled for it
    assert is_welcome(serving, hello("UF-9"))
    assert serving.manager.units.find(UNIT) is None
    assert serving.manager.book.tables.board_serial_of(TABLE) == "UF-9"
    assert "touch-1" in permit(serving, "UF-9")  # it is that table's unit now


def test_a_unit_with_a_table_is_not_sent_to_another(serving: Serving) -> None:
    serving.manager.open_table(table_toml("touch-2"))
    with pytest.raises(LedgerError, match="serves table touch-1"):
        permit(serving, UNIT, "touch-2")


def test_a_permit_needs_a_name_and_a_reason(serving: Serving) -> None:
    sentences = {"operator": "needs the name of the operator", "reason": "A permit needs a reason"}
    for missing, sentence in sentences.items():
        with pytest.raises(LedgerError, match=sentence):
            permit(serving, UNIT, **{missing: " "})


def test_the_command_says_what_happened_whether_a_manager_serves_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a command that reports success for what the manager then refuses."""
    words = ["adopt-journal", "--data", str(tmp_path), "--operator", "Pat", "--reason", "x"]
    type_passwords(monkeypatch)
    assert main([*words, UNIT]) == 2
    assert "There is no ledger" in capsys.readouterr().err
    desk = Desk(str(tmp_path / "ledger.sqlite"))
    desk.open_table(TABLE)
    desk.store.close()
    people_of_a_folder(tmp_path, Pat="admin")
    type_passwords(monkeypatch, 5)
    said = [typed(capsys, [*words, UNIT]), typed(capsys, [*words, "UF-9"])]
    with serving_process(tmp_path):
        said += [typed(capsys, [*words, UNIT]), typed(capsys, [*words, "UF-9"])]
    assert [code for code, _ in said] == [0, 2, 0, 2]
    assert said[0] == said[2]
    assert said[1] == said[3]
    assert "say which one it takes over" in said[1][1]
    desk = Desk(str(tmp_path / "ledger.sqlite"))
    assert desk.alarm_codes().count("NEW_JOURNAL_PERMITTED") == 2
    desk.store.close()


def typed(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, str]:
    code, said = main(words), capsys.readouterr()
    return code, said.out + said.err


def test_a_locked_unit_goes_on_with_a_new_journal(serving: Serving) -> None:
    """The disk was copied and the original is beyond repair: a new journal ends the lock."""
    units = serving.manager.units
    with serving.manager.store.transaction():
        tamper(serving.manager.store, "UPDATE units SET lock_sentence = 'two of them'")
    assert not is_welcome(serving, hello(UNIT))
    permit(serving, UNIT)
    assert is_welcome(serving, hello(UNIT))
    assert not units.get(UNIT).locked


def test_a_unit_that_lost_its_table_is_answered_and_nothing_halts(serving: Serving) -> None:
    old = PretendUnit(UNIT)
    permit(serving, "UF-9", TABLE)
    assert is_welcome(serving, hello("UF-9"))
    (outcome,) = serving.manager.intake.take([(UNIT, old.make(events.RoundEnd(1)))])
    assert outcome.problem is not None
    assert outcome.acked_sequence == 0
