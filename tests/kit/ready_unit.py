"""A unit that was enrolled and calibrated before: its data made on this machine, in seconds.

The first start itself is played once in QEMU (`first_start`). Whoever tests what comes after it
begins here, because an emulated machine takes minutes for what is no longer the question.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from controller.data_folder import references_path
from controller.felt.references import save_references
from deploy.installer.table_file import units_part
from sim.floor.floor import Floor
from sim.time.loop import run_virtual
from tests.kit.bench_disk import SECONDS_MAX, Invitation, books_disk, table_text
from tests.kit.booted_unit import UnitDisk, partition_at
from tests.kit.places import ROOT

SERIAL = "UF-0001"
SEED = 1  # of the felt that the simulated hardware in the guest has
UNIT_USER = 900  # as deploy/image/build has it
DATA_PARTITION = 7
NUMBER = re.compile(r"Its number is (\d{3}) (\d{3})")


def ready_unit(image: Path, bench: Path, folder: Path) -> UnitDisk:
    data = folder / "data"
    unit = data / "underfelt"
    unit.mkdir(parents=True, mode=0o700)
    for name in ("settings", "update"):
        (data / name).mkdir()
    table = folder / "table.toml"
    table.write_text(table_text(), "utf-8")
    (data / "settings/table.toml").write_bytes(units_part(table))

    def enrol(invitation: Invitation, enrol_port: int, books: Path) -> None:
        _enrol(table, unit, invitation, enrol_port, books)

    books, _ = books_disk(folder, meanwhile=enrol)
    _calibrate(unit)
    for path in [unit, *unit.rglob("*")]:
        os.chown(path, UNIT_USER, UNIT_USER)
    disk = replace(UnitDisk.flashed(image, folder), bench=bench, books=books)
    _lay(data, disk.disk)
    shutil.rmtree(data)
    return disk


def _enrol(table: Path, unit: Path, invitation: Invitation, port: int, books: Path) -> None:
    asking = ["--manager", f"127.0.0.1:{port}", "--ca-fingerprint", invitation.fingerprint]
    places = ["--config", str(table), "--data", str(unit), "--code", invitation.code]
    with subprocess.Popen(
        [sys.executable, "-m", "controller", "enrol", *asking, *places],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        told = NUMBER.search(process.stdout.readline())
        assert told
        words = ["approve", "--data", str(books), "--unit", SERIAL, "--match", told[1] + told[2]]
        subprocess.run([sys.executable, "-m", "manager", *words], cwd=ROOT, check=True)
        assert process.wait(SECONDS_MAX) == 0


def _calibrate(unit: Path) -> None:
    """By the same physics that the guest's hardware has, in virtual time."""

    async def play() -> None:
        floor = Floor(SEED)
        try:
            table = await floor.open_table("four-card-touch")
            told = table.unit.references
            spots = list(told.calibrations.values())
            save_references(references_path(unit), SERIAL, told.raw_by_sensor, spots)
        finally:
            await floor.close()

    run_virtual(play())


def _lay(data: Path, disk: Path) -> None:
    """A data partition with this content, in the place of the image's empty one."""
    start, length = partition_at(disk, DATA_PARTITION)
    made = disk.parent / "data.img"
    words = ["mke2fs", "-q", "-F", "-t", "ext4", "-L", "data", "-d", str(data), str(made)]
    subprocess.run([*words, f"{length >> 20}M"], check=True)
    with disk.open("r+b") as file:
        file.seek(start)
        file.write(made.read_bytes())
    made.unlink()
