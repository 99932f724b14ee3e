"""The kernel's files of a simulated unit's computer: temperature, supply, disk wear, kernel log.

They lie in a folder of their own, as /sys, /proc and /dev do on a Raspberry Pi. The unit reads them
as it reads the real ones.
"""

from __future__ import annotations

from pathlib import Path

from controller.evidence.machine import LOAD, THERMAL, THROTTLED
from controller.service.bundle.kernel_log import KMSG

WEAR = "sys/block/mmcblk0/device/life_time"
SOUND_LOG = (
    "6,1,0,-;Booting Linux on physical CPU 0x0000000000\n"
    "6,312,1403211,-;mmc0: new ultra high speed SDR50 SDHC card at address aaaa\n"
    "6,401,5120011,-;EXT4-fs (mmcblk0p3): mounted filesystem with ordered data mode\n"
)


class MachineFiles:
    def __init__(self, root: Path) -> None:
        self.root = root
        self._log = SOUND_LOG
        self._since_start = 0
        self.set_supply(0)
        self.set_wear(1)
        self._write(THERMAL, "52310\n")
        self._write(LOAD, "0.31 0.28 0.22 1/143 911\n")
        self.log("")

    def set_supply(self, flags: int) -> None:
        """What the firmware says now; what once was stays in its upper half."""
        self._since_start |= flags
        self._write(THROTTLED, f"{self._since_start << 16 | flags:x}\n")

    def set_temperature(self, celsius: float) -> None:
        self._write(THERMAL, f"{round(celsius * 1000)}\n")

    def set_wear(self, tenths: int) -> None:
        """An eMMC's own steps: 1 is up to a tenth of its life, 10 is nearly all of it."""
        self._write(WEAR, f"0x{tenths:02x} 0x01\n")

    def log(self, line: str) -> None:
        self._log += line
        self._write(KMSG, self._log)

    def _write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
