"""A roll-out over a floor: ring by ring, halted by one failure, whatever happens on the way.

Mutations this catches: a next ring that does not wait, a failure that halts nothing, an offer to a
table outside of its ring, parts fetched in a game, a cut link that begins anew, a program that is
handed over though it is not the one that was offered, one person who starts it alone.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from hal import aio
from manager.ledger.errors import LedgerError
from manager.rollouts import rollouts as rollouts_module
from manager.rollouts.acts import GO_ON, REMOVE, STOP
from manager.rollouts.progress import State
from manager.rollouts.rollouts import ROLL_OUT
from protocol.wire import program_steps
from protocol.wire.program_steps import Step
from sim.time.loop import run_virtual
from tests.kit.damaged_tables import spare_unit
from tests.kit.rolled_floor import NEW_VERSION, RolledFloor, new_update, rolled_floor
from tests.kit.slotted_unit import OLD, Behaviour

GOOD = Behaviour()
HANGS = Behaviour(is_ready=False)
MINUTE_S = 60


def test_each_ring_begins_when_the_one_before_has_kept_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD, GOOD, None) as rolled:
            digest = rolled.bring(new_update())
            rolled.begin(digest, hold=2)
            await rolled.live(30)
            assert rolled.steps() == [Step.KEPT, None, None], "the others are not asked yet"
            assert rolled.units[0].running().program.version == NEW_VERSION  # type: ignore[union-attr]
            kept = rolled.progress.kept_since_ms
            await rolled.live(60)
            assert rolled.steps()[1] is None, "the ring has not held yet"
            assert rolled.progress.kept_since_ms == kept
            await rolled.live(60 + 30)
            assert rolled.steps() == [Step.KEPT, Step.KEPT, None]
            await rolled.live(150)
            # The last one was installed by hand: it says so, and nobody knows whether it would run.
            assert rolled.steps()[2] is Step.CANNOT
            assert rolled.reason(2) == program_steps.NO_IMAGE
            assert rolled.progress.state is State.HALTED
            rolled.correct(GO_ON)
            await rolled.until(State.DONE, 10)
            assert rolled.alarms("PROGRAM")[0].endswith("by roll-out: updated")
            with pytest.raises(LedgerError, match="No roll-out"):
                rolled.correct(STOP)

    run_virtual(main())


def test_a_program_that_does_not_prove_itself_halts_it_and_people_decide(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD, HANGS, GOOD) as rolled:
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.until(State.HALTED, 300)
            assert rolled.steps() == [Step.KEPT, Step.ROLLED_BACK, None]
            assert rolled.reason(1) == "the table's program never became ready"
            assert rolled.units[1].running().program.version == OLD.version  # type: ignore[union-attr]
            (alarm,) = rolled.alarms("ROLLOUT_HALTED")
            assert "never became ready" in alarm
            await rolled.live(5 * MINUTE_S)
            assert rolled.alarms("PROGRAM_BACK")
            assert rolled.steps()[2] is None, "nobody gets it while it is halted"
            with pytest.raises(LedgerError, match="second person"):
                rolled.correct(GO_ON, second="")
            with pytest.raises(LedgerError, match="two different people"):
                rolled.correct(GO_ON, second="ANN")
            rolled.correct(GO_ON)
            await rolled.until(State.DONE, 400)
            assert rolled.steps() == [Step.KEPT, Step.ROLLED_BACK, Step.KEPT]

    run_virtual(main())


def test_nothing_is_fetched_in_a_game_and_play_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            table = rolled.tables[0]
            table.place("3A")
            await aio.sleep_ms(2000)
            await table.press("START")
            assert table.state() == "locked"
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.live(20)
            assert rolled.steps() == [Step.WAITS]
            assert rolled.reason(0) == program_steps.GAME
            assert rolled.rollouts.places[rolled.id_of(0)] == 0
            await table.press("END")
            await table.press("END")
            await rolled.until(State.DONE, 300)
            assert table.wager_count() == 1

    run_virtual(main())


@pytest.mark.parametrize("how", ["cable", "unit", "manager"])
def test_what_has_come_is_kept_when_the_way_is_cut(tmp_path: Path, how: str) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            table = rolled.tables[0]
            content = new_update(2_000_000)  # nine heartbeats
            rolled.begin(rolled.bring(content), hold=1)
            await rolled.live(5)
            come = rolled.rollouts.places[rolled.id_of(0)]
            assert 0 < come < len(content)
            if how == "cable":
                table.cable.pull()
                await aio.sleep_ms(8000)
                table.cable.plug()
            elif how == "unit":
                await table.cut_power()
                await aio.sleep_ms(3000)
                await table.restore_power()
            else:
                await rolled.restart_manager()
            await rolled.live(6)
            assert rolled.rollouts.places[rolled.id_of(0)] >= come
            await rolled.until(State.DONE, 300)
            assert rolled.steps() == [Step.KEPT]

    run_virtual(main())


def test_a_part_that_was_changed_on_the_way_is_found_and_fetched_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            content = new_update()
            rolled.begin(rolled.bring(content), hold=1)
            await rolled.live(3)
            part = rolled.units[0].spool / "incoming.part"  # type: ignore[union-attr]
            spoilt = bytearray(part.read_bytes())
            assert 1000 < len(spoilt) < len(content)
            spoilt[1000] ^= 1
            part.write_bytes(bytes(spoilt))
            handed: list[bytes] = []
            unit = rolled.units[0]
            assert unit is not None
            for _ in range(40):
                await aio.sleep_ms(1000)
                handed += [each.read_bytes() for each in unit.spool.glob("ready/*.raucb")]
                if handed:
                    break
            assert handed[0] == content, "only what was offered is handed over"
            await rolled.until(State.DONE, 300)

    run_virtual(main())


def test_a_file_that_is_another_one_on_the_managers_disk_is_never_handed_over(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            digest = rolled.bring(new_update())
            rolled.begin(digest, hold=1)
            path = tmp_path / f"updates/{digest}.raucb"
            spoilt = bytearray(path.read_bytes())
            spoilt[5000] ^= 1
            path.write_bytes(bytes(spoilt))
            assert hashlib.sha256(bytes(spoilt)).hexdigest() != digest
            await rolled.until(State.HALTED, 120)
            assert rolled.steps() == [Step.REFUSED]
            assert rolled.reason(0) == program_steps.TRANSFER
            assert not rolled.units[0].is_asked  # type: ignore[union-attr]

    run_virtual(main())


def test_a_full_disk_at_the_unit_halts_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            controller = rolled.tables[0].unit.controller
            assert controller is not None
            assert controller.link.programs.spool is not None
            controller.link.programs.spool._free = lambda folder: 40_000_000
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.until(State.HALTED, 30)
            assert rolled.reason(0) == program_steps.NO_ROOM
            await aio.sleep_ms(1000)
            shown = [fault["text"] for fault in controller.pages.view()["faults"]]
            assert any("does not fit on this unit's disk" in text for text in shown)
            assert rolled.tables[0].state() == "open", "it does not stop play"

    run_virtual(main())


@pytest.mark.parametrize("code", ["not_trusted", "expired", "damaged"])
def test_what_the_updater_refuses_halts_it_with_the_reason(tmp_path: Path, code: str) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            rolled.units[0].bundle_fault = code  # type: ignore[union-attr]
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.until(State.HALTED, 60)
            assert rolled.steps() == [Step.REFUSED]
            assert rolled.reason(0) == code

    run_virtual(main())


def test_an_older_program_is_refused_by_the_unit(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path) as rolled:
            await rolled.add_table(GOOD, version="0.0.1+20250101.000000")
            await aio.sleep_ms(3000)
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.until(State.HALTED, 60)
            assert rolled.reason(0) == "older"

    run_virtual(main())


def test_one_person_alone_starts_nothing_and_stops_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD, GOOD) as rolled:
            digest = rolled.bring(new_update(2_000_000))
            words = {"first": rolled.id_of(0), "then": "1", "hold": "1", "bundle": digest}
            for second in ("", "Ann", "ANN ", "\u0410nn"):  # the last A is a Cyrillic one
                with pytest.raises(LedgerError):
                    rolled.correct(ROLL_OUT, second=second, **words)
            assert rolled.rollouts.progress is None
            rolled.begin(digest, hold=1)
            with pytest.raises(LedgerError, match="being rolled out"):
                rolled.correct(REMOVE, second="", bundle=digest)
            with pytest.raises(LedgerError, match="Another roll-out"):
                rolled.begin(digest)
            await rolled.live(4)
            assert rolled.steps() == [Step.FETCHING, None]
            rolled.correct(STOP, second="", reason="Not today.")
            await rolled.live(20)
            assert rolled.progress.state is State.STOPPED
            unit = rolled.units[0]
            assert unit is not None
            assert not (unit.spool / "incoming.part").exists(), "what had come is thrown away"
            assert unit.running().program.version == OLD.version
            rolled.correct(REMOVE, second="", bundle=digest)

    run_virtual(main())


def test_a_unit_that_is_lost_while_its_ring_holds_keeps_the_next_one_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD, GOOD) as rolled:
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.live(30)
            assert rolled.steps() == [Step.KEPT, None]
            rolled.tables[0].cable.pull()
            await rolled.live(5 * MINUTE_S)
            assert rolled.progress.ring == 0, "a unit that says nothing proves nothing"
            rolled.tables[0].cable.plug()
            await rolled.live(30)
            assert rolled.progress.ring == 0, "it has to hold anew"
            await rolled.until(State.DONE, 300)

    run_virtual(main())


async def _withdrawn_late(rolled: RolledFloor) -> None:
    unit = rolled.units[0]
    assert unit is not None
    unit.busy = ["A game is being played."] * 3
    (unit.spool / "stop").touch()
    await rolled.update(0)
    assert unit.running().program.version == OLD.version
    assert not unit.is_asked


def test_what_is_withdrawn_while_the_updater_waits_is_not_written(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.live(10, only=())
            assert rolled.steps() == [Step.HANDED_OVER]
            rolled.correct(STOP, second="")
            await _withdrawn_late(rolled)

    run_virtual(main())


def test_a_unit_that_is_replaced_meanwhile_gets_it_anew(tmp_path: Path) -> None:
    """The plan names tables: whoever takes one over is in it, and proves the program itself."""

    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            rolled.begin(rolled.bring(new_update()), hold=30)
            await rolled.live(30)
            assert rolled.steps() == [Step.KEPT]
            old = rolled.tables[0]
            await old.cut_power()
            rolled.correct(
                "replace-unit", second="", unit="UF-0009", table=rolled.id_of(0), reason="Dead."
            )
            spare = spare_unit(rolled.floor, old)
            await spare.open()
            await aio.sleep_ms(8000)
            row = rolled.progress.tables[rolled.id_of(0)]
            assert row.unit_id == "UF-0009"
            assert row.step == Step.CANNOT, "it was installed by hand, and says so"
            assert rolled.progress.state is State.HALTED

    run_virtual(main())


def test_a_restarted_manager_goes_on_only_with_what_the_chain_has(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD, GOOD) as rolled:
            rolled.begin(rolled.bring(new_update()), hold=2)
            await rolled.live(30)
            number = rolled.progress.number
            await rolled.restart_manager()
            assert rolled.progress.number == number
            assert rolled.steps() == [Step.KEPT, None]
            await rolled.until(State.DONE, 600)
            # Somebody who writes the file by hand starts nothing: no entry of the chain says it.
            file = tmp_path / "updates/rollout.json"
            file.write_text(file.read_text().replace(f'"number": {number}', '"number": 1'))
            await rolled.restart_manager()
            assert rolled.rollouts.progress is None
            file.write_text("{")
            await rolled.restart_manager()
            assert rolled.rollouts.progress is None

    run_virtual(main())


def test_only_a_few_units_fetch_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts_module, "FETCHING_MAX", 1)

    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD, GOOD) as rolled:
            words = {"bundle": rolled.bring(new_update(2_000_000)), "hold": "1"}
            rolled.correct(ROLL_OUT, first=f"{rolled.id_of(0)} {rolled.id_of(1)}", **words)
            await rolled.live(5)
            places = sorted(rolled.rollouts.places.values())
            assert places[0] == 0 < places[1], "the other one waits for its turn"
            await rolled.until(State.DONE, 300)
            assert rolled.steps() == [Step.KEPT, Step.KEPT]

    run_virtual(main())


def test_a_file_that_is_gone_from_the_managers_disk_halts_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD) as rolled:
            digest = rolled.bring(new_update(2_000_000))
            rolled.begin(digest, hold=1)
            await rolled.live(3)
            (tmp_path / f"updates/{digest}.raucb").unlink()
            await rolled.until(State.HALTED, 30)
            assert "cannot be read" in rolled.progress.why

    run_virtual(main())


def test_an_old_manager_and_a_unit_that_knows_nothing_of_it_are_not_hurt(tmp_path: Path) -> None:
    """A unit without an answer stays offered; people go on without it."""

    async def main() -> None:
        async with rolled_floor(tmp_path, GOOD, GOOD) as rolled:
            controller = rolled.tables[0].unit.controller
            assert controller is not None
            monkey = controller.link.programs
            monkey.offered = lambda offers: None  # type: ignore[method-assign]
            rolled.begin(rolled.bring(new_update()), hold=1)
            await rolled.live(30)
            assert rolled.steps() == [None, None]
            assert rolled.tables[0].state() == "open"
            rolled.correct(GO_ON)
            await rolled.until(State.DONE, 300)
            assert rolled.steps()[1] is Step.KEPT

    run_virtual(main())
