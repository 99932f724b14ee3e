"""A ledger that was cut or chained anew proves itself, and is caught by whoever was told before.

The table's unit refuses its manager and says so; the seals in the ledger and the page that was
printed name the forgery, each alone. Mutations that were tried by hand, each caught here: the unit
remembers nothing, or nothing durably; it does not compare; an audit leaves the seals out; the era
excuses everything, or is not looked at.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hal import aio
from manager.__main__ import main
from manager.audit.audit import audit
from manager.explain.statement import explain
from manager.ledger.engines.moving import copy_ledger
from manager.ledger.engines.sqlite_engine import open_reader
from manager.ledger.errors import LedgerError
from manager.ledger.store.ledger import Ledger
from sim.floor.floor import Floor, FloorTable
from sim.floor.manager import LEDGER_FILE
from tests.kit.damaged_tables import claim, end_game, faults, on_a_floor, start_round
from tests.kit.forging import hide_the_seals, shift_a_cent

TWO = {"operator": "Pat", "second": "Kim", "note": "The disk broke."}
Scene = Callable[[Floor, FloorTable], Awaitable[None]]


async def play_round(table: FloorTable) -> None:
    await start_round(table, "3A")
    await end_game(table)
    table.remove("3A")
    await aio.sleep_ms(1000)


async def win_round(table: FloorTable) -> None:
    await start_round(table, "5A")
    await claim(table, 5, "four-aces")
    table.swipe("EXECUTIVE")
    await aio.sleep_ms(1500)
    await table.press("TICK 5")
    await end_game(table)
    table.remove("5A")
    await aio.sleep_ms(1000)


def backup(table: FloorTable, path: Path) -> Path:
    copy_ledger(table.manager.app.store.engine, str(path))
    return path


def tail_number(table: FloorTable) -> int:
    return table.manager.app.store.tail().number


async def serve_from(floor: Floor, table: FloorTable, file: Path) -> None:
    """The manager stops, another file takes its ledger's place, and it starts again."""
    _swap(floor, table, file)
    await aio.sleep_ms(8000)


def _swap(floor: Floor, table: FloorTable, file: Path) -> None:
    manager = table.manager
    floor._network.crash(silent=False)
    manager.kill()
    manager.disk.restore()
    for name in manager.disk.names():
        manager.disk.delete(name, sync_directory=True)
    manager.disk.write_file(LEDGER_FILE, file.read_bytes())
    manager.restart()
    floor._network.listen(floor._serve)


def sound(file: Path) -> tuple[bool, str]:
    ledger = Ledger(open_reader(str(file)))
    finding = audit(ledger)
    ledger.close()
    return finding.sound, finding.sentence


def test_a_ledger_that_was_cut_is_refused_at_the_table(tmp_path: Path) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await win_round(table)
        old = backup(table, tmp_path / "old.sqlite")
        before = tail_number(table)
        while tail_number(table) < before + 30:
            await play_round(table)
        assert sound(old)[0]  # it proves itself
        await serve_from(floor, table, old)
        assert table.state() == "fault", table.picture()
        assert "an older copy of the ledger is in use" in faults(table)["tail"]
        assert any(alarm.startswith("TAIL: ") for alarm in floor.alarms()), floor.alarms()

    on_a_floor(play)


def test_a_ledger_that_was_chained_anew_is_refused_at_the_table(tmp_path: Path) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await play_round(table)
        await play_round(table)
        forged = backup(table, tmp_path / "forged.sqlite")
        shift_a_cent(forged)
        await serve_from(floor, table, forged)
        assert table.state() == "fault", table.picture()
        assert "holds another transaction" in faults(table)["tail"]
        alarms = [alarm for alarm in floor.alarms() if alarm.startswith("UNIT: ")]
        assert len(alarms) == 1, floor.alarms()  # however often it calls again
        assert "holds another transaction" in alarms[0]

    on_a_floor(play)


def test_what_the_unit_was_told_outlives_a_power_cut(tmp_path: Path) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await play_round(table)
        await play_round(table)
        forged = backup(table, tmp_path / "forged.sqlite")
        shift_a_cent(forged)
        await table.unit.power_cut()
        await table.unit.power_on()
        await serve_from(floor, table, forged)
        assert "holds another transaction" in faults(table)["tail"]

    on_a_floor(play)


def test_seals_in_the_ledger_name_what_was_chained_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await play_round(table)
        await win_round(table)
        backup(table, tmp_path / "ledger.sqlite")

    on_a_floor(play)
    assert sound(tmp_path / "ledger.sqlite")[0]
    assert main(["verify-seals", "--data", str(tmp_path)]) == 0
    shift_a_cent(tmp_path / "ledger.sqlite")
    is_sound, sentence = sound(tmp_path / "ledger.sqlite")
    assert not is_sound
    assert "was told of another transaction" in sentence
    capsys.readouterr()
    assert main(["verify-seals", "--data", str(tmp_path)]) == 1
    assert "was told of another transaction" in capsys.readouterr().out
    hide_the_seals(tmp_path / "ledger.sqlite")
    assert sound(tmp_path / "ledger.sqlite") == (False, sentence)
    assert main(["verify-seals", "--data", str(tmp_path)]) == 1


@pytest.mark.parametrize("what", ["win page", "day report", "export", "events"])
def test_anything_that_left_the_house_names_either_forgery(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each witness alone, on the ledger's file and on an export of it."""
    old, kept, now = tmp_path / "old", tmp_path / "kept", tmp_path / "now"
    for folder in (old, kept, now):
        folder.mkdir()
    witness = tmp_path / "witness"

    async def play(floor: Floor, table: FloorTable) -> None:
        await play_round(table)
        backup(table, old / LEDGER_FILE)
        for _ in range(10):
            await play_round(table)
        await win_round(table)
        await win_round(table)
        backup(table, kept / LEDGER_FILE)
        backup(table, now / LEDGER_FILE)
        view = table.manager.app.view
        if what == "win page":
            page = view.win(1)
            assert page is not None
            witness.write_text(f"<p>The ledger: <code>{page['tail']}</code></p>")
        elif what == "day report":
            report = await view.reports.days.day()
            assert isinstance(report, dict)
            witness.write_text(str(report["tail"]))
        elif what == "export":
            assert main(["export", "--data", str(kept), "--out", str(witness)]) == 0
        else:
            unit = table.config.board.serial
            words = ["--data", str(kept), "--unit", unit, "--out", str(witness)]
            assert main(["export-events", *words]) == 0

    on_a_floor(play)
    shift_a_cent(now / LEDGER_FILE)
    heard = ["--witness", str(witness)]
    assert main(["audit", "--data", str(kept), *heard]) == 0
    for forged, sentence in ((old, "was told of transaction"), (now, "another transaction")):
        assert main(["audit", "--data", str(forged), *heard]) == 1
        assert sentence in capsys.readouterr().out
        export = forged / "export.jsonl"
        assert main(["export", "--data", str(forged), "--out", str(export)]) == 0
        assert main(["audit-export", str(export)]) == 0  # it proves itself
        capsys.readouterr()
        assert main(["audit-export", str(export), *heard]) == 1
        assert sentence in capsys.readouterr().out


def test_two_people_let_the_ledger_go_on_from_a_backup(tmp_path: Path) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await play_round(table)
        old = backup(table, tmp_path / "old.sqlite")
        for _ in range(12):
            await play_round(table)
        rounds = table.manager.app.book.rounds.latest(table.config.table_id)
        await serve_from(floor, table, old)
        assert table.state() == "fault"
        app = table.manager.app
        with pytest.raises(LedgerError, match="needs a second person"):
            app.correct({"command": "accept-restore", **TWO, "second": ""})
        with pytest.raises(LedgerError, match="needs a note"):
            app.correct({"command": "accept-restore", **TWO, "note": " "})
        assert "restore 1" in app.correct({"command": "accept-restore", **TWO})
        await aio.sleep_ms(8000)
        assert table.state() == "open", table.picture()
        again = app.book.rounds.latest(table.config.table_id)
        assert rounds is not None
        assert again is not None
        assert again.number == rounds.number  # every round that the backup lacked was sent again
        await play_round(table)
        assert floor.unsound_books() == ""
        assert "Pat and Kim let the ledger go on" in audit(app.store).sentence
        assert "COUNTERS" not in " ".join(floor.alarms())

    on_a_floor(play)


def test_a_win_that_the_backup_lacked_is_recorded_again(tmp_path: Path) -> None:
    """The swipe is lost with the ledger, so people stand for the win: the same amount as paid.

    Catches: a win priced on a meter that the later rounds, sent again, have moved.
    """

    async def play(floor: Floor, table: FloorTable) -> None:
        await play_round(table)
        old = backup(table, tmp_path / "old.sqlite")
        await win_round(table)
        paid = table.manager.app.book.wins.find(1)
        await play_round(table)
        await serve_from(floor, table, old)
        app = table.manager.app
        app.correct({"command": "accept-restore", **TWO})
        await aio.sleep_ms(8000)
        assert app.book.wins.find(1) is None
        assert any(alarm.startswith("CARD_REFUSED: ") for alarm in floor.alarms())
        forgotten = {"table": table.config.table_id, "round": "2", "hands": "5A=four-aces"}
        app.correct({"command": "forgotten-win", "reason": "malfunction", **forgotten, **TWO})
        again = app.book.wins.find(1)
        assert paid is not None
        assert again is not None
        assert [line.amount_cents for line in again.lines] == [
            line.amount_cents for line in paid.lines
        ]
        explained = explain(app.store, 1)
        assert explained is not None
        assert explained.agrees
        assert audit(app.store).sound

    on_a_floor(play)
