"""The unit's two screens in QEMU: the panel at the first output, the display at the second.

Photographs are kept beside the test's other files. Nobody compares them byte for byte: it is looked
whether a page was drawn, and that the two are not the same.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.kit.booted_unit import Guest, UnitDisk
from tests.kit.places import TESTS

pytestmark = pytest.mark.deploy

CARD = ("-device", "virtio-gpu-pci,id=screens,max_outputs=2")
SECOND_OUTPUT = "video=Virtual-2:1280x800e"
COLOURS_MIN = 20
BLANK_BYTES_MAX = 10_000
SECONDS_MAX = 1500  # only for a browser that never ends
SHOW_PAGE = TESTS / "kit/show-page"
IN_USE = "ss -Htn state established '( dport = :8080 or dport = :8081 )' | wc -l"


def colours(photograph: Path) -> set[bytes]:
    """Of a PPM file; a screen that nobody draws on has one."""
    pixels = photograph.read_bytes().split(b"\n", 3)[3]
    return {pixels[at : at + 3] for at in range(0, len(pixels) - 2, 3 * 97)}


def both_pages_are_open(guest: Guest) -> bool:
    """Both browsers hear their table."""
    return int(guest.run(f"sleep 5; {IN_USE}")) >= 2


def test_panel_and_display_are_shown_at_their_own_outputs(opened: UnitDisk, tmp_path: Path) -> None:
    """Catches two pages on one output, a blank screen, and a browser that shows its own error."""
    with opened.booted(append=SECOND_OUTPUT, more=CARD) as guest:
        guest.view(state="open", link="up", seconds=900)
        assert any(both_pages_are_open(guest) for _ in range(120)), guest.run(
            "systemctl status 'underfelt-browser@*' underfelt-screens --no-pager -n 30 || true"
        )
        guest.run("sleep 20")
        panel = guest.monitor.photograph(0, tmp_path / "panel.ppm")
        display = guest.monitor.photograph(1, tmp_path / "display.ppm")
        assert len(colours(panel)) >= COLOURS_MIN
        assert len(colours(display)) >= COLOURS_MIN
        assert panel.read_bytes() != display.read_bytes()


def test_the_images_own_browser_shows_why_there_is_no_table(root: Path, tmp_path: Path) -> None:
    """Without a boot and without a card for screens, so that it takes seconds.

    Catches a Chromium that calls itself by another name than weston's rule has, and a page that is
    not drawn, for example because the browser's own policy forbids it.
    """
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    words = [*alone, str(SHOW_PAGE), str(root), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    named = (tmp_path / "chromium.log").read_text(errors="replace")
    assert 'set_app_id("chrome-127.0.0.1__panel-Default")' in named
    assert (tmp_path / "screen.png").stat().st_size > BLANK_BYTES_MAX
