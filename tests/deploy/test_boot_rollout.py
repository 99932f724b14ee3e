"""A roll-out to a booted image: the manager offers a bundle over the link, and the unit takes it.

The bundle has the image's own kernel and no program: so an emulated machine fetches a twentieth of
it. That such a program is taken back is the point: the manager has to hear it from the unit that
came back. A program that proves itself comes from a stick in `test_boot_update.py`; from there on
the updater does the same.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kit.program_news import ROLLED_BACK
from manager.rollouts.progress import State
from protocol.wire.program_steps import Step
from tests.kit.booted_unit import NORMAL, TRYBOOT, UnitDisk
from tests.kit.image_variants import Variants
from tests.kit.rolled_unit import Standing, roll_out, wait_for_state, with_update
from tests.kit.updated_unit import NEWER, REFUSED, TRIED, WRITING, results, slot

pytestmark = pytest.mark.deploy

SEED = 20261118
NO_PROGRAM_BYTES = 1 << 20
HEARD_S = 120


def test_a_rolled_out_program_is_fetched_written_and_its_end_is_told(
    opened: UnitDisk, variants: Variants, tmp_path: Path
) -> None:
    """Catches a path unit that never fires, a spool that root cannot take from, and a manager that
    waits for ever for a unit that went back."""
    program = tmp_path / "no-program"
    program.write_bytes(Random(SEED).randbytes(NO_PROGRAM_BYTES))
    digest = with_update(opened, variants.bundle("rolled", NEWER, root=program))
    with opened.booted() as guest:
        guest.view(state="open", link="up", faults=[], seconds=600)
        roll_out(guest, digest)
        guest.tell_cost("open, and the manager offers")
        guest.wait_for(WRITING, unless=REFUSED)
        guest.tell_cost("fetched, and RAUC begins")
        guest.wait_for(TRIED, unless=REFUSED)
        assert guest.wait_until_off() == TRYBOOT
    assert opened.default_slot() == "A", "nothing is proven yet"
    with replace(opened, bench=None, books=None).booted(TRYBOOT) as guest:
        assert guest.wait_until_off() == NORMAL
    with opened.booted() as guest:
        guest.view(state="open", link="up", seconds=600)
        assert slot(guest) == "A"
        assert results(guest) == [ROLLED_BACK]
        assert wait_for_state(guest, State.HALTED, HEARD_S) == Standing(
            State.HALTED, Step.ROLLED_BACK
        )
