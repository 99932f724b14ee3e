"""A bundle of a simulated table: what is in it, what is not, and who may take it.

Mutations this catches: settings are put in as they are, the log is not redacted, a dead disk keeps
the rest from being taken, the socket is open to others, a bundle without a session.
"""

from __future__ import annotations

import asyncio
import logging
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from controller.config import parse_unit_config
from controller.data_folder import black_box_path
from controller.evidence.black_box import TraceStore
from controller.evidence.decision_log import decided_file
from controller.journal.recovery.opening import open_journal
from controller.service.bundle.door import serve_bundles, socket_path, take_bundle
from controller.service.bundle.from_files import bundle_of_files
from hal import aio
from protocol.bundle.archive import read_bundle
from protocol.proof.seal import Sealer
from sim.floor.floor import TABLES_FOLDER, FloorTable
from sim.hardware.card_reader import ACCOUNTS
from sim.time.loop import run_virtual
from tests.kit.service_table import TECH, open_table, service_of, unit_of

SECRETS = ("246813", "7e1b0c55d2a94f3e8a6601c3b7f0d914", "ead644a0c1f145377d23", "PRIVATE KEY")


async def _play(table: FloorTable) -> None:
    table.place("3A")
    await aio.sleep_ms(2000)
    await table.press("START")
    table.swipe("UNKNOWN")
    await aio.sleep_ms(6000)
    table.remove("3A")
    await aio.sleep_ms(1500)
    await table.press("END")
    await aio.sleep_ms(1500)


def test_a_bundle_holds_what_a_technician_needs_and_is_signed_by_the_unit() -> None:
    async def main() -> None:
        async with open_table() as (_, table):
            await _play(table)
            sealer = table.unit.sealer
            bundle = read_bundle(await service_of(table).bundles.make(TECH), _key(sealer))
            assert bundle.is_proven, bundle.doubts
            assert bundle.head["unit"] == "UF-0001"
            assert bundle.head["asked_by"] == TECH
            assert set(bundle.head["missing"]) == {"kernel"}
            wanted = {"unit", "diary", "earlier", "table", "board", "settings", "spots", "health"}
            wanted |= {"journal", "faults", "frames", "log"}
            assert wanted <= {name.removesuffix(".json") for name in bundle.files}
            assert "traces/1.trace" in bundle.files
            lines = [line["kind"] for line in bundle.part("journal")]
            assert "RoundStart" in lines
            assert "RoundEnd" in lines
            diary = bundle.part("diary")
            assert diary["spots"]["3A"]["at_start"][0][1] is True
            assert diary["swipes"] == {"read": 1, "unread": {}}
            assert diary["link"]["losses"] == 0
            assert bundle.part("frames")

    run_virtual(main())


def test_no_secret_is_anywhere_in_a_bundle() -> None:
    async def main() -> None:
        async with open_table() as (_, table):
            service = service_of(table)
            log = service.log
            with log.listening():
                # What a careless line of some later version might say.
                for account in ACCOUNTS.values():
                    logging.getLogger("controller").warning("card %s was swiped", account)
                await _play(table)
                content = await service.bundles.make(TECH, b"swiped 6012345000000017\n")
            settings = unit_of(table).table.settings
            assert settings is not None
            assert settings.techs
            hidden = [text.encode() for text in (*SECRETS, *ACCOUNTS.values())]
            hidden += [settings.card_salt, settings.card_salt.hex().encode()]
            for tech in settings.techs:
                hidden += [tech.salt, tech.pin_hash, tech.pin_hash.hex().encode()]
            with zipfile.ZipFile(BytesIO(content)) as archive:
                whole = b"\n".join(archive.read(name) for name in archive.namelist())
            assert b"was swiped" in whole
            assert [secret for secret in hidden if secret in whole] == []

    run_virtual(main())


def test_a_dead_disk_costs_its_own_parts_only() -> None:
    async def main() -> None:
        async with open_table() as (_, table):
            await _play(table)
            table.disk.failing.add("write")
            await table.press("START")
            await aio.sleep_ms(1000)
            table.disk.failing.add("read")
            bundle = read_bundle(await service_of(table).bundles.make(TECH))
            table.disk.failing.clear()
            assert "journal" in bundle.head["missing"]
            assert bundle.part("diary")
            assert bundle.part("table")["faults"]

    run_virtual(main())


def test_a_lamp_that_a_person_saw_dark_is_remembered_and_journaled() -> None:
    async def main() -> None:
        async with open_table() as (_, table):
            service = service_of(table)
            await service.acts.enter(TECH)
            await service.acts.lamp_seen("3A", "white", is_lit=False)
            assert [each[:2] for each in service.view()["lamps_dark"]] == [["3A", "white"]]
            await service.acts.lamp_seen("3A", "white", is_lit=True)
            assert service.view()["lamps_dark"] == []

    run_virtual(main())


def test_what_happened_before_a_restart_is_in_the_next_bundle() -> None:
    async def main() -> None:
        async with open_table() as (_, table):
            await _play(table)
            await table.unit.close()
            await table.restore_power()
            await aio.sleep_ms(3000)
            bundle = read_bundle(await service_of(table).bundles.make(TECH))
            (earlier,) = bundle.part("earlier")
            assert earlier["spots"]["3A"]["at_start"]
            assert bundle.part("diary")["began_wall_ms"] > earlier["began_wall_ms"]

    run_virtual(main())


# -- at the unit itself --------------------------------------------------------------------------


def test_the_units_own_user_takes_a_bundle_by_its_socket(tmp_path: Path) -> None:
    path = socket_path(tmp_path)
    asked: list[tuple[str, bytes | None]] = []

    async def make(asked_by: str, kernel: bytes | None) -> bytes:
        asked.append((asked_by, kernel))
        return b"a bundle"

    async def main() -> bytes | None:
        serving = asyncio.create_task(serve_bundles(path, make))
        while not path.exists():  # noqa: ASYNC110 - the socket's own file says so
            await asyncio.sleep(0)
        assert path.stat().st_mode & 0o077 == 0
        taken = await asyncio.to_thread(take_bundle, path, b"kernel lines")
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        return taken

    assert asyncio.run(main()) == b"a bundle"
    assert asked == [("somebody at the unit", b"kernel lines")]
    assert not path.exists()
    assert take_bundle(path, b"") is None


def test_a_unit_that_does_not_run_gives_what_it_kept(tmp_path: Path) -> None:
    text = (TABLES_FOLDER / "four-card-touch.toml").read_text()
    config = parse_unit_config(text)
    open_journal(tmp_path, config.board.serial, 1).close()
    bundle = read_bundle(bundle_of_files(config, tmp_path, b"mmc0: error -110\n"))
    assert bundle.part("board")["serial"] == "UF-0001"
    assert bundle.part("journal") == []
    assert b"mmc0" in bundle.files["kernel.log"]
    assert set(bundle.head["missing"]) == {"live", "health", "traces"}
    store = TraceStore(str(black_box_path(tmp_path)))
    store.keep_decided([b"a row"], {b"digest": b"rules"})
    store.close()
    kept = read_bundle(bundle_of_files(config, tmp_path, b"")).files["decisions.cbor"]
    assert kept == decided_file([b"a row"], {b"digest": b"rules"})
    other = replace(config, board=replace(config.board, serial="UF-0009"))
    refused = read_bundle(bundle_of_files(other, tmp_path, b""))
    assert "belongs to unit UF-0001" in refused.head["missing"]["journal"]
    assert refused.part("table")["faults"][0]["code"] == "journal"


def _key(sealer: Sealer) -> str:
    return sealer.public_key.hex()
