"""Updates by the image's own RAUC, scripts and Python, without a boot: taken, proven, refused.

The firmware's part is one line of the test: which slot is booted. `test_image.py` boots.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kit.program_news import (
    DAMAGED,
    EXPIRED,
    FAILED_BEFORE,
    NO_WAY_BACK,
    NOT_IN_ORDER,
    NOT_TRUSTED,
    OLDER,
    ROLLED_BACK,
    UPDATED,
    WRONG_BOARD,
)
from tests.kit.root_of_unit import RootOfUnit
from tests.kit.unit_image import update_keys

pytestmark = pytest.mark.deploy

NEWER = "9.0.0+20300101.000000"
OLDER_VERSION = "0.0.1+20200101.000000"
TRY = "reboot --reboot-argument=0 tryboot"
KERNEL, PROGRAM = Random(1).randbytes(100_000), Random(2).randbytes(300_000)
PLAIN, VERITY = "plain", "verity"
MakeBundle = Callable[..., Path]


@pytest.fixture(scope="module")
def unpacked(image: Path, tmp_path_factory: pytest.TempPathFactory) -> RootOfUnit:
    return RootOfUnit(tmp_path_factory.mktemp("unit") / "root", image / "root.squashfs")


@pytest.fixture
def unit(unpacked: RootOfUnit) -> RootOfUnit:
    unpacked.begin()
    return unpacked


@pytest.fixture
def bundle(unit: RootOfUnit, keys: Path, tmp_path: Path) -> MakeBundle:
    """Lays a bundle on the unit's stick: in the shipped format, or as one that is written here."""

    def make(signed_by: Path = keys, form: str = VERITY, **changed: Any) -> Path:
        formats = " ".join(f"{name}={number}" for name, number in unit.here["formats"].items())
        told = {"version": NEWER, "board": unit.here["board"], "formats": formats} | changed
        content, file = tmp_path / "content", unit / "stick/update.raucb"
        content.mkdir()
        (content / "boot.img").write_bytes(KERNEL)
        (content / "root.img").write_bytes(PROGRAM)
        (content / "manifest.raucm").write_text(
            f"[update]\ncompatible={told['board']}\nversion={told['version']}\n"
            f"build={told['formats']}\n\n[bundle]\nformat={form}\n\n"
            "[image.boot]\nfilename=boot.img\n\n[image.root]\nfilename=root.img\n"
        )
        certificate, key = signed_by / "update.pem", signed_by / "update.key"
        words = ["rauc", "bundle", f"--cert={certificate}", f"--key={key}"]
        subprocess.run([*words, str(content), str(file)], check=True, capture_output=True)
        return file

    return make


def test_a_good_update_is_written_tried_proven_and_stays(
    unit: RootOfUnit, bundle: MakeBundle
) -> None:
    bundle(form=PLAIN)
    before = unit.slots()
    said = unit.update("stick", "/stick")
    assert unit.asked() == [TRY], said
    after = unit.slots()
    assert after["boot1"].startswith(KERNEL)
    assert after["root1"].startswith(PROGRAM)
    assert (after["boot0"], after["root0"]) == (before["boot0"], before["root0"])
    assert unit.default() == "A", "nothing is proven yet"
    unit.boots("B")
    said = unit.update("settle")
    assert unit.default() == "B", said
    assert unit.changes() == [UPDATED]
    assert unit.news() == ""
    unit.boots("B")
    unit.update("settle")
    assert unit.asked() == []
    assert unit.changes() == [UPDATED]


@pytest.mark.parametrize(
    "behaviour",
    [{"restarts": 1}, {"failed": "lamps: dark"}],
    ids=["it crashes", "its self-test fails"],
)
def test_what_does_not_prove_itself_is_taken_back(
    unit: RootOfUnit, bundle: MakeBundle, behaviour: dict[str, Any]
) -> None:
    """Catches a proof that marks the slot good in any case."""
    bundle(form=PLAIN)
    unit.update("stick", "/stick")
    unit.boots("B", **behaviour)
    unit.update("settle")
    assert unit.asked() == ["reboot"], "the firmware boots the default then"
    assert unit.default() == "A"
    unit.boots("A")
    unit.update("settle")
    assert (unit.changes(), unit.news()) == ([ROLLED_BACK], ROLLED_BACK)
    unit.update("stick", "/stick")
    assert unit.news() == FAILED_BEFORE
    assert unit.asked() == []


def refused(unit: RootOfUnit, code: str) -> None:
    before = unit.slots()
    said = unit.update("stick", "/stick")
    assert unit.news() == code, said
    assert unit.slots() == before, "not a byte of any slot"
    assert unit.asked() == []
    assert unit.default() == "A"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"version": OLDER_VERSION}, OLDER),
        ({"board": "underfelt-unit-of-another-kind"}, WRONG_BOARD),
        ({"formats": "journal=99 wire=0"}, NO_WAY_BACK),
        ({"formats": ""}, DAMAGED),
    ],
)
def test_the_wrong_update_is_refused(
    unit: RootOfUnit, bundle: MakeBundle, changed: dict[str, str], code: str
) -> None:
    bundle(**changed)
    refused(unit, code)


def test_another_houses_key_is_refused(
    unit: RootOfUnit, bundle: MakeBundle, tmp_path: Path
) -> None:
    bundle(update_keys(tmp_path / "others"))
    refused(unit, NOT_TRUSTED)


def test_an_expired_certificate_is_refused(
    unit: RootOfUnit, bundle: MakeBundle, keys: Path, tmp_path: Path
) -> None:
    expired = tmp_path / "expired"
    expired.mkdir()
    for name in ("authority.pem", "authority.key"):
        (expired / name).write_bytes((keys / name).read_bytes())
    bundle(update_keys(expired, DAYS="-1"))
    refused(unit, EXPIRED)


@pytest.mark.parametrize(("form", "place"), [(PLAIN, 0.1), (PLAIN, 0.9), (VERITY, 0.998)])
def test_a_flipped_bit_is_refused(
    unit: RootOfUnit, bundle: MakeBundle, form: str, place: float
) -> None:
    """In a verity bundle's content it is found while it is written, which takes a booted image."""
    file = bundle(form=form)
    data = bytearray(file.read_bytes())
    data[int(len(data) * place)] ^= 1
    file.write_bytes(data)
    refused(unit, NOT_TRUSTED)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.999])
def test_a_truncated_file_is_refused(unit: RootOfUnit, bundle: MakeBundle, part: float) -> None:
    file = bundle()
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * part)])
    refused(unit, DAMAGED)


def test_a_table_that_is_not_in_order_is_not_updated(unit: RootOfUnit, bundle: MakeBundle) -> None:
    bundle()
    unit.boots("A", failed="sensor 3A: its lead is loose")
    refused(unit, NOT_IN_ORDER)


def test_a_power_cut_while_rauc_writes_leaves_the_old_program(
    unit: RootOfUnit, bundle: MakeBundle
) -> None:
    """RAUC itself is killed when it has begun, and the same stick is taken after the next start."""
    bundle(form=PLAIN)
    unit.run(
        "rauc install /stick/update.raucb >/dev/null 2>&1 & installing=$!\n"
        "until [ -e /data/update/bad-B ]; do :; done\n"
        "kill -9 %1 $installing"
    )
    assert unit.default() == "A"
    assert unit.slots()["root0"].startswith(b"root0")
    unit.boots("A")
    unit.update("settle")
    assert (unit.asked(), unit.changes()) == ([], [])
    unit.update("stick", "/stick")
    assert unit.asked() == [TRY]
    assert unit.slots()["root1"].startswith(PROGRAM)
