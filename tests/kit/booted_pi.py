"""An arm64 image in QEMU's Raspberry Pi 3, with `deploy/image/boot-pi` as the firmware.

It has no second disk and no agent. What it is asked comes with the kernel's command line, as one
more service for its systemd; the answers are lines of its console.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.kit.booted_unit import LINES_SHOWN, copied
from tests.kit.own_time import OwnTime
from tests.kit.places import ROOT

BOOT_PI = ROOT / "deploy/image/boot-pi"
OWN_SECONDS_MAX = 1800
WORDS_MAX = 1700  # a kernel for arm64 takes 2048 bytes, with the image's own
ORDER = "After=underfelt-page.service underfelt-provision.service underfelt-settle.service"


def answers(image: Path, folder: Path, questions: Mapping[str, str]) -> dict[str, str]:
    """What a flashed disk says to these commands of a shell, once it is up; then it goes off."""
    disk, console = copied(image / "disk.img", folder / "disk.img"), folder / "console.log"
    console.touch()
    _run([str(BOOT_PI), str(disk), str(console)], _asking(questions))
    text = console.read_text(errors="replace")
    told = dict(re.findall(r"\]: asked-(\w+) ?(.*)", text))
    missing = [name for name in questions if name not in told]
    assert not missing, f"{missing}:\n" + "\n".join(text.splitlines()[-LINES_SHOWN:])
    return {name: said.strip() for name, said in told.items()}


def _asking(questions: Mapping[str, str]) -> str:
    """Words for the kernel. A `$` is doubled, because systemd has a use for it too."""
    rows = [f'ExecStart=-sh -c "echo asked-{name} $$({act})"' for name, act in questions.items()]
    service = ["[Unit]", ORDER, "[Service]", "Type=oneshot", *rows, "ExecStart=systemctl poweroff"]
    given = {
        "extra-unit.ask.service": "\n".join(service),
        "unit-dropin.multi-user.target": "[Unit]\nWants=ask.service",
    }
    words = " ".join(
        f"systemd.set_credential_binary=systemd.{name}:{base64.b64encode(text.encode()).decode()}"
        for name, text in given.items()
    )
    assert len(words) <= WORDS_MAX, len(words)
    return words


def _run(words: list[str], append: str) -> None:
    with subprocess.Popen(words, env=os.environ | {"APPEND": append}) as machine:
        own = OwnTime(machine.pid)
        while machine.poll() is None:
            if own.passed_s() > OWN_SECONDS_MAX:
                machine.kill()
            try:
                machine.wait(1)
            except subprocess.TimeoutExpired:
                continue
