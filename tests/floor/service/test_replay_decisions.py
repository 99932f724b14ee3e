"""What was pressed, turned, swiped and answered, decided once more from the bundle alone.

Mutations this catches: a rule of START, of a win's entry or of its authority that decides otherwise
than it did, a button that means something else, evidence that a power cut or a full journal loses,
a card's ticket in the evidence, rows without an end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import cbor2
import pytest

from controller.core.round import claims, entry, lock
from controller.core.round.rules import Rules
from controller.core.round.state import RoundState
from controller.decided import WAITING_MAX, DecidedLog
from controller.evidence import black_box
from controller.evidence.black_box import TraceStore
from controller.evidence.decision_log import KEEP_EVERY_MS, decided_file
from hal import aio
from protocol.bundle.archive import Bundle, read_bundle, write_bundle
from sim.floor.floor import FloorTable
from sim.runs import replay_decisions
from sim.runs.replay import replay_file
from sim.runs.replay_bundle import replay_bundle
from sim.runs.replay_decisions import Line, ReplayFault
from sim.time.loop import run_virtual
from tests.kit.service_table import TECH, open_table, service_of

DECIDED = "decisions.cbor"
NO_STARTS = "Nobody starts a game today."

Evening = Callable[[FloorTable], Awaitable[None]]


async def win_by_card(table: FloorTable) -> None:
    """A win with a card, what is refused on the way, and a power cut in half an entry."""
    await table.press("START")  # no chip lies there
    await at_seats_2_and_5(table)
    await table.press("SEAT 6")  # without a bet
    table.swipe("UNKNOWN")
    await aio.sleep_ms(KEEP_EVERY_MS)
    await table.press("SEAT 5")  # its row is lost, and the seat is not
    await table.cut_power()
    await table.restore_power()
    await aio.sleep_ms(3000)
    await table.press("HAND four-aces")
    await table.press("END")  # a hand is entered
    await table.press("CONFIRM")
    await aio.sleep_ms(1000)
    table.swipe("EXECUTIVE")
    await aio.sleep_ms(2000)
    table.place("3A")  # late
    await aio.sleep_ms(1000)
    for seat in (5, 2):
        await table.press(f"TICK {seat}")
    table.remove("3A")
    await table.press("END")
    await table.press("REOPEN")
    await aio.sleep_ms(KEEP_EVERY_MS)


async def win_by_key(table: FloorTable) -> None:
    await at_seats_2_and_5(table)
    for act in ("HAND four-of-a-kind", "SEAT 5"):
        await table.press(act)
        await aio.sleep_ms(400)
    table.turn_key("JPH")
    await aio.sleep_ms(600)
    await table.press("JPOT")
    await aio.sleep_ms(1500)
    table.turn_key("RUN")
    await aio.sleep_ms(2000)


async def at_seats_2_and_5(table: FloorTable) -> None:
    table.place("2A")
    table.place("5A")
    await aio.sleep_ms(2000)
    await table.press("START")
    await aio.sleep_ms(500)


async def bundle_after(evening: Evening, name: str) -> Bundle:
    async with open_table(name) as (_, table):
        await evening(table)
        return read_bundle(await service_of(table).bundles.make(TECH))


@pytest.fixture(scope="module")
def by_card() -> Bundle:
    return run_virtual(bundle_after(win_by_card, "four-card-touch"))


@pytest.fixture(scope="module")
def by_key() -> Bundle:
    return run_virtual(bundle_after(win_by_key, "four-card-keypad"))


def told(bundle: Bundle) -> dict[str, Line]:
    """By what was done; of several the last."""
    lines = [line for line in replay_bundle(bundle).lines if ", after record " in line.what]
    return {line.what.partition(",")[0]: line for line in lines}


def differing(bundle: Bundle) -> dict[str, Line]:
    return {
        line.what.partition(",")[0]: line for line in replay_bundle(bundle).lines if line.differs
    }


def changed(bundle: Bundle, files: dict[str, bytes]) -> Bundle:
    return read_bundle(write_bundle(bundle.head, files, None))


def test_an_evening_is_decided_as_it_was(by_card: Bundle, by_key: Bundle) -> None:
    for bundle in (by_card, by_key):
        assert not differing(bundle)
        assert replay_bundle(bundle).note == ""
    card, key = told(by_card), told(by_key)
    assert card["SEAT 6"].now == "refused: Seat 6 has no accepted bet."
    assert card["HAND four-aces"].now == "taken: Hand 5A four-aces"
    assert card["AWARD"].now == "taken: Awarded"
    assert card["CARD"].now == "taken: Commit"
    assert card["COMMITTED"].now == "taken: Settled"
    assert card["LATE"].now.startswith("taken: LateChange")
    assert card["TICK 5"].now == "taken: Paid"
    assert card["REOPEN"].now == "taken: Reopened"
    assert key["KEY RUN"].now == "taken: Commit"


def test_a_changed_rule_of_start_is_a_line(
    by_card: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(state: RoundState, rules: Rules) -> str:
        return NO_STARTS

    monkeypatch.setattr(lock, "_why_not_started", never)
    found = differing(by_card)
    assert found.keys() == {"START"}
    assert found["START"].then == "taken: RoundStart 2A, 5A"
    assert found["START"].now == f"refused: {NO_STARTS}"


def test_a_changed_rule_of_the_entry_of_a_win_is_a_line(
    by_card: Bundle, by_key: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "_why_not_seat", lambda *_: "")
    assert differing(by_card).keys() == {"SEAT 6"}
    monkeypatch.undo()
    whole = entry._toggle
    monkeypatch.setattr(entry, "_toggle", lambda state, _, hand: whole(state, "2A", hand))
    assert differing(by_card)["HAND four-aces"].now == "taken: Hand 2A four-aces"
    assert "SEAT 5" in differing(by_key)


def test_a_changed_rule_of_authority_is_a_line(
    by_card: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        replay_decisions.decide.__globals__["_DECISIONS"], "CARD", lambda *_: ([], "No card.")
    )
    found = differing(by_card)
    assert found["CARD"].then == "taken: Commit"
    assert found["CARD"].now == "refused: No card."
    assert claims.card  # what was replaced


def test_a_button_that_means_something_else_is_a_line(
    by_card: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_decisions, "command_of", lambda button, *_: ("END",))
    assert "CONFIRM" in differing(by_card)
    monkeypatch.setattr(replay_decisions, "command_of", lambda *_: None)
    assert differing(by_card)["CONFIRM"].now == "no such button"


def test_the_command_shows_both_answers(
    by_card: Bundle,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "a.bundle.zip"
    path.write_bytes(write_bundle(by_card.head, by_card.files, None))
    assert replay_file(path) == 0
    monkeypatch.setattr(lock, "_why_not_started", lambda *_: NO_STARTS)
    assert replay_file(path) == 1
    assert f"refused: {NO_STARTS}   DIFFERS" in capsys.readouterr().out


# -- what a bundle may lack ----------------------------------------------------------------------


def test_an_older_bundle_is_compared_without_it(by_card: Bundle) -> None:
    files = {name: content for name, content in by_card.files.items() if name != DECIDED}
    replayed = replay_bundle(changed(by_card, files))
    assert replayed.lines
    assert "older software" in replayed.note


def test_rows_of_newer_software_are_named(by_card: Bundle) -> None:
    newer = cbor2.dumps({"version": 2, "rows": [b"?"], "rules": {}})
    assert replay_bundle(changed(by_card, {**by_card.files, DECIDED: newer})).note


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", cbor2.dumps([]), decided_file([b"\x01"], {}), decided_file([], {b"": b"\xff"})],
)
def test_damaged_rows_are_refused(by_card: Bundle, content: bytes) -> None:
    with pytest.raises(ReplayFault, match="pressed"):
        replay_bundle(changed(by_card, {**by_card.files, DECIDED: content}))


def test_what_is_older_than_the_known_round_is_counted(by_card: Bundle) -> None:
    records = cbor2.loads(by_card.files["records.cbor"])
    tail = cbor2.dumps([row for row in records if row[0] >= 4])
    replayed = replay_bundle(changed(by_card, {**by_card.files, "records.cbor": tail}))
    assert not any(line.differs for line in replayed.lines)
    assert "older" in replayed.note


def test_no_ticket_of_a_card_is_in_it(by_card: Bundle) -> None:
    rows = [cbor2.loads(row) for row in cbor2.loads(by_card.files[DECIDED])["rows"]]
    (card,) = [row for row in rows if row[7][0] == "CARD" and row[8]]
    assert set(card[7][2]) == {0}
    assert all(set(value) <= {0} for value in card[8][0][1].values() if type(value) is bytes)


# -- bounds and disks ----------------------------------------------------------------------------


def note_many(log: DecidedLog, count: int) -> None:
    rules = Rules("touch", ["1A"], [], 0, 0)
    for number in range(count):
        before = log.before(number, number, RoundState(), rules)
        log.note(before, ("END",), "END", [], "There is no game to end.")


def test_rows_have_an_end_in_memory_and_on_the_disk() -> None:
    log, store = DecidedLog(), TraceStore(":memory:")
    note_many(log, WAITING_MAX + 50)
    assert len(log.rows) == WAITING_MAX
    for _ in range(3):
        store.keep_decided(list(log.rows), log.rules)
    rows, rules = store.decided()
    assert rows == list(log.rows)[-black_box.DECIDED_KEPT :]
    assert len(rules) == 1
    for number in range(40):
        store.keep_decided([], {bytes([number]): b"x"})
    assert len(store.decided()[1]) == black_box.RULES_KEPT
    store.close()


def test_a_chip_that_concerns_no_game_is_not_noted() -> None:
    log = DecidedLog()
    before = log.before(0, 0, RoundState(), Rules("touch", ["1A"], [], 0, 0))
    log.note(before, ("LATE", "1A", True, 0), "", [], "")
    assert not log.rows


def test_a_disk_that_fails_keeps_them_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    async def evening() -> None:
        async with open_table() as (_, table):
            unit = table.unit.controller
            assert unit is not None
            await table.press("START")
            noted = len(unit.keeper.decided.rows)
            assert noted

            def fails(*_: object) -> None:
                raise apsw.IOError("the disk is gone")

            monkeypatch.setattr(TraceStore, "keep_decided", fails)
            monkeypatch.setattr(TraceStore, "decided", fails)
            await unit.evidence.decisions.keep()
            assert len(unit.keeper.decided.rows) == noted
            content = cbor2.loads(await unit.evidence.decisions.file())
            assert len(content["rows"]) == noted
            monkeypatch.undo()
            await unit.evidence.decisions.keep()
            assert not unit.keeper.decided.rows

    run_virtual(evening())
