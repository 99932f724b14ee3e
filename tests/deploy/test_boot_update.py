"""A whole update in QEMU: stick, RAUC, the firmware's one try, the proof, and every way back.

One update is written by the image's own RAUC. A program that fails is laid onto the new slot from
outside, with the notes that the updater leaves before it asks for the try: to have each of them
written by an emulated machine would take it minutes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kit.program_news import DAMAGED, NOT_TRUSTED, NOT_WRITTEN, ROLLED_BACK, UPDATED
from tests.kit.booted_unit import (
    NORMAL,
    TRYBOOT,
    UnitDisk,
    replace_partition,
    stick_with,
    write_file,
)
from tests.kit.image_variants import CRASHES, HANGS, NEVER_READY, NO_GATE, Variants
from tests.kit.unit_image import update_keys
from tests.kit.updated_unit import NEWER, REFUSED, WRITING, Proven, results, slot, version

pytestmark = pytest.mark.deploy

OLDER = "0.0.1+20200101.000000"
BOOT_B, ROOT_B, DATA = 3, 6, 7
BACK = f"runs again instead of {NEWER}"
SETTLED = "underfelt-settle.service: Deactivated successfully"
CUT_COUNT = 5
SEED = 20261117


def about_to_be_tried(disk: UnitDisk, image: Path, program: Path) -> None:
    """As the updater leaves the disk when it asks the firmware for the other slot."""
    replace_partition(disk.disk, BOOT_B, image / "boot.vfat")
    replace_partition(disk.disk, ROOT_B, program)
    pending = {"slot": "B", "version": NEWER, "before": OLDER, "enrolled": True, "tried": True}
    write_file(disk.disk, DATA, "update/pending.json", json.dumps(pending))
    write_file(disk.disk, DATA, "update/bad-B", "\n")
    write_file(disk.disk, DATA, "update/next", "B\n")


def test_a_good_update_is_tried_proven_and_kept(proven_once: Proven) -> None:
    """Written by the image's own RAUC; the one boot that the firmware grants is enough for it."""
    assert proven_once.written.next_boot == TRYBOOT
    assert proven_once.written.default_slot == "A", "nothing is proven yet"
    assert (proven_once.slot, proven_once.version) == ("B", NEWER)
    assert proven_once.results == [UPDATED]
    assert proven_once.disk.default_slot() == "B"


def test_a_proven_update_outlives_a_power_cut(proven_once: Proven, tmp_path: Path) -> None:
    with proven_once.disk.copy_to(tmp_path).booted() as guest:
        guest.view(state="open", link="up", faults=[], seconds=600)
        assert (slot(guest), version(guest)) == ("B", NEWER)
        assert results(guest) == [UPDATED]


@pytest.mark.parametrize(
    "broken",
    [CRASHES, NEVER_READY, HANGS, None],
    ids=["crashes at start", "never ready", "hangs once it is ready", "does not boot"],
)
def test_a_program_that_fails_its_proof_is_taken_back(
    opened: UnitDisk,
    image: Path,
    variants: Variants,
    tmp_path: Path,
    broken: Mapping[str, str] | None,
) -> None:
    """Catches a proof that marks the slot good in any case, and a unit that stays down."""
    program = tmp_path / "garbage"
    if broken is None:
        program.write_bytes(Random(SEED).randbytes(1 << 20))
    else:
        program = variants.packed(f"broken-{id(broken)}", NEWER, broken)
    about_to_be_tried(opened, image, program)
    # A program that never runs needs no hardware, and the machine computes half as long.
    tried = opened if broken is HANGS else replace(opened, bench=None, books=None)
    with tried.booted(TRYBOOT) as guest:
        assert guest.wait_until_off() == NORMAL, "the firmware boots what has proven itself"
    assert opened.default_slot() == "A"
    with opened.booted() as guest:
        guest.wait_for(BACK)
        view = guest.view(state="open", link="up", seconds=600)
        assert slot(guest) == "A"
        assert version(guest) != NEWER
        assert results(guest) == [ROLLED_BACK]
        assert any(NEWER in each["text"] for each in view["faults"]), "it is said which version"
        assert guest.run("/usr/libexec/underfelt/boot-choice get-state B").strip() == "bad"


def test_without_the_gate_a_crashing_program_would_stay(
    opened: UnitDisk, image: Path, variants: Variants
) -> None:
    """Shows that the gate, and nothing else, is what takes such a program back."""
    about_to_be_tried(opened, image, variants.packed("ungated", NEWER, {**CRASHES, **NO_GATE}))
    with replace(opened, bench=None, books=None).booted(TRYBOOT) as guest:
        guest.wait_for(SETTLED)
    assert opened.default_slot() == "B"


def test_what_was_changed_cut_off_or_signed_by_another_is_refused(
    opened: UnitDisk, variants: Variants, bundle: Path, tmp_path: Path
) -> None:
    """By a booted image: here the kernel itself checks each block of a bundle as it is read."""
    whole = bundle.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    others = variants.bundle("others", NEWER, update_keys(tmp_path / "others"))
    files = {
        NOT_TRUSTED: others.read_bytes(),
        NOT_WRITTEN: bytes(flipped),
        DAMAGED: whole[: len(whole) // 2],
    }
    more: list[str] = []
    for code, content in files.items():
        file = tmp_path / "update.raucb"
        file.write_bytes(content)
        stick = stick_with(file, tmp_path / f"{code}.img", "BY-HAND")
        more += ["-drive", f"file={stick},format=raw,if=none,id={code},readonly=on"]
        more += ["-device", f"virtio-blk-pci,drive={code},serial={code}"]
    with opened.booted(more=tuple(more)) as guest:
        guest.view(state="open", link="up", seconds=600)
        for code in files:
            taken = f"/usr/libexec/underfelt/update stick /dev/disk/by-id/virtio-{code}"
            guest.run(f"{taken} || true", seconds=1800)
            news = json.loads(guest.run("cat /data/update/news.json"))
            assert news["code"] == code, guest.tail()
        view = guest.view(state="open", link="up")
        assert slot(guest) == "A"
        assert any(each["code"] == "update" for each in view["faults"]), view["faults"]
    assert opened.default_slot() == "A"


def test_an_update_in_mid_game_waits_for_its_end(
    opened: UnitDisk, bundle: Path, tmp_path: Path
) -> None:
    stick = stick_with(bundle, tmp_path / "stick.img")
    with opened.booted() as guest:
        guest.view(state="open", link="up", seconds=600)
        guest.world("place_chip", "3A")
        guest.run("sleep 3")
        guest.press("START")
        guest.view(state="locked")
    with replace(opened, stick=stick).booted() as guest:  # the game outlives a power cut
        guest.wait_for("waits: A game is being played.")
        guest.view(state="locked", seconds=600)
        assert not guest.said(WRITING)
        guest.press("END")
        guest.wait_for(WRITING, unless=REFUSED)


def test_a_power_cut_at_any_point_leaves_a_unit_that_opens(
    opened: UnitDisk, bundle: Path, tmp_path: Path
) -> None:
    """QEMU is killed while the slot is written, and while the new program proves itself."""
    chance = Random(SEED)
    stick = stick_with(bundle, tmp_path / "stick.img")
    for number in range(CUT_COUNT):
        folder = tmp_path / f"cut-{number}"
        folder.mkdir()
        disk = replace(opened.copy_to(folder), stick=stick)
        with disk.booted() as guest:
            guest.wait_for(WRITING, unless=REFUSED)
            if number % 2:
                how = guest.wait_until_off()
            else:
                guest.run(f"sleep {chance.uniform(0.1, 8):.2f}")
                how = NORMAL
        if number % 2:
            with disk.booted(how) as guest:
                guest.wait_for("Starting underfelt.service")
                guest.run(f"sleep {chance.uniform(0.1, 40):.2f}")
        with replace(disk, stick=None).booted() as guest:
            guest.view(state="open", link="up", seconds=600)
            assert slot(guest) == disk.default_slot()
