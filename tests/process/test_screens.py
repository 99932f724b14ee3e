"""Which output of the board gets which page: by the socket, never by what is plugged in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.kit.places import ROOT

SCRIPT = ROOT / "deploy/image/files/usr/libexec/underfelt/screens"
NOT_PLUGGED = 1


class Board:
    """The outputs as the kernel tells them."""

    def __init__(self, folder: Path, **outputs: str) -> None:
        self.cards, self.place = folder / "drm", folder / "place"
        self.place.mkdir()
        (self.cards / "card0").mkdir(parents=True)
        for name, status in outputs.items():
            output = self.cards / f"card0-{name.replace('_', '-')}"
            output.mkdir()
            (output / "status").write_text(f"{status}\n")

    def call(self, *words: str) -> int:
        settings = {"CARDS": str(self.cards), "XDG_RUNTIME_DIR": str(self.place)}
        return subprocess.run([str(SCRIPT), *words], env=os.environ | settings).returncode

    def config(self) -> dict[str, str]:
        """Output: the application that is shown there."""
        assert self.call("config") == 0
        text = (self.place / "weston.ini").read_text()
        parts = [part.splitlines() for part in text.split("[output]\n")[1:]]
        return {part[0].partition("name=")[2]: part[1].partition("app-ids=")[2] for part in parts}


PANEL, DISPLAY = "chrome-127.0.0.1__panel-Default", "chrome-127.0.0.1__display-Default"


def test_the_panel_is_at_the_first_output_and_the_display_at_the_second(tmp_path: Path) -> None:
    board = Board(tmp_path, HDMI_A_1="connected", HDMI_A_2="connected", Writeback_1="unknown")
    assert board.config() == {"HDMI-A-1": PANEL, "HDMI-A-2": DISPLAY}
    assert (board.call("has", "panel"), board.call("has", "display")) == (0, 0)


def test_a_pulled_cable_never_moves_the_dealers_panel_to_the_players(tmp_path: Path) -> None:
    """Catches a choice by what is plugged in: the display would show who may be paid."""
    board = Board(tmp_path, HDMI_A_1="disconnected", HDMI_A_2="connected")
    assert board.config() == {"HDMI-A-1": PANEL, "HDMI-A-2": DISPLAY}
    assert board.call("has", "panel") == NOT_PLUGGED
    assert board.call("has", "display") == 0


@pytest.mark.parametrize("second", [{}, {"HDMI_A_2": "disconnected"}])
def test_a_display_that_is_not_there_does_not_cover_the_panel(
    tmp_path: Path, second: dict[str, str]
) -> None:
    board = Board(tmp_path, HDMI_A_1="connected", **second)
    board.config()
    assert board.call("has", "panel") == 0
    assert board.call("has", "display") == NOT_PLUGGED
