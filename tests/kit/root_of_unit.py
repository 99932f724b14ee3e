"""The root of a unit's image, entered without a boot: its own RAUC, D-Bus, Python and scripts.

Files stand for the partitions. What only a running system has is told by the test: the slot that
was booted, systemd, and the table's answers. To write a verity bundle takes the kernel's device
mapper, which not every machine has. So what is written here is in RAUC's plain format: the image's
refusal of that is lifted, and it is lent the `unsquashfs` that only plain bundles need.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from shutil import copyfile, rmtree, which
from typing import Any

AUTOBOOT = "[all]\ntryboot_a_b=1\nboot_partition={}\n[tryboot]\nboot_partition={}\n"
SLOT_BYTES = 4 << 20
SECONDS_MAX = 600
PARTS = {"boot0": "02", "boot1": "03", "root0": "05", "root1": "06"}
SYSTEMCTL = """#!/bin/sh
case "$*" in
*ActiveState*) cat /stub/active ;;
*NRestarts*) cat /stub/restarts ;;
*) echo "$*" >>/stub/asked ;;
esac
"""
UNDERFELT = """#!/bin/sh
case "$*" in
*--self-test*) cat /stub/failed; [ ! -s /stub/failed ] ;;
*) cat /stub/program ;;
esac
"""
ENTER = """set -eu
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev
mkdir -p /run/dbus /dev/disk/by-partuuid
mknod -m 666 /dev/null c 1 3
mknod -m 666 /dev/urandom c 1 9
mknod /dev/loop-control c 10 237
for n in 0 1 2 3 4 5 6 7; do mknod /dev/loop$n b 7 $n; done
while read -r name number; do
    ln -s /slots/$name /dev/disk/by-partuuid/554e4446-$number
done </stub/parts
mount --bind /stub/cmdline /proc/cmdline
mount --bind /stub/systemctl /usr/bin/systemctl
mount --bind /stub/underfelt /usr/bin/underfelt
dbus-daemon --system --fork
rauc --mount=/run/rauc service >/stub/rauc.log 2>&1 &
n=0
until rauc status >/dev/null 2>&1 || [ $n -ge 100 ]; do n=$((n + 1)); sleep 0.1; done
"""
RUN = "PYTHONPATH=/opt/underfelt/current /opt/underfelt/current/venv/bin/python -B -m deploy.update"


class RootOfUnit:
    def __init__(self, folder: Path, squashfs: Path) -> None:
        self.folder = folder
        subprocess.run(["unsquashfs", "-q", "-n", "-d", str(folder), str(squashfs)], check=True)
        config = self / "etc/rauc/system.conf"
        text = config.read_text()
        assert "bundle-formats=verity\n" in text, "an image takes no other format"
        config.write_text(text.replace("bundle-formats=verity\n", "bundle-formats=plain verity\n"))
        self._lend("unsquashfs")
        self.here: dict[str, Any] = json.loads(
            (self / "usr/lib/underfelt/program.json").read_text()
        )

    def _lend(self, program: str) -> None:
        """This machine's own program with its libraries, whatever Debian it is from."""
        place = which(program)
        assert place is not None
        listed = subprocess.run(["ldd", place], capture_output=True, text=True, check=True).stdout
        lent = self / "lent"
        lent.mkdir()
        for path in [place, *re.findall(r"/\S+", listed)]:
            copyfile(path, lent / Path(path).name)
            (lent / Path(path).name).chmod(0o755)
        loader = next(each.name for each in lent.glob("ld-*"))
        call = self / "usr/bin" / program
        words = f"/lent/{loader} --library-path /lent /lent/{program}"
        call.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        call.chmod(0o755)

    def __truediv__(self, path: str) -> Path:
        return self.folder / path

    def begin(self) -> None:
        """As a disk that was just flashed: slot A, nothing on slot B, no update so far."""
        for name in ("slots", "stub", "stick", "data/update"):
            rmtree(self / name, ignore_errors=True)
            (self / name).mkdir(parents=True)
        for name in PARTS:
            (self / "slots" / name).write_bytes(name.encode().ljust(SLOT_BYTES, b"\0"))
        (self / "boot/select/autoboot.txt").write_text(AUTOBOOT.format(2, 3))
        rows = [f"{name} {number}\n" for name, number in PARTS.items()]
        (self / "stub/parts").write_text("".join(rows))
        for name, text in (("systemctl", SYSTEMCTL), ("underfelt", UNDERFELT)):
            (self / "stub" / name).write_text(text)
            (self / "stub" / name).chmod(0o755)
        self.boots("A")

    def boots(self, slot: str, *, restarts: int = 0, failed: str = "", **answer: Any) -> None:
        """What the system says of itself from now on."""
        said = {"enrolled": True, "busy": "", "unproven": ""} | answer
        texts = {
            "cmdline": f"quiet rauc.slot={slot}\n",
            "active": "active\n",
            "restarts": f"{restarts}\n",
            "failed": failed,
            "program": json.dumps(said),
            "asked": "",
        }
        for name, text in texts.items():
            (self / "stub" / name).write_text(text)

    def update(self, *words: str) -> str:
        """What `underfelt update` says; the words are put behind it."""
        return self.run(f"{RUN} {' '.join(words)}")

    def run(self, command: str) -> str:
        script = f"{ENTER}\n{command}\n"
        done = subprocess.run(
            [
                *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
                *("chroot", str(self.folder), "/bin/sh", "-c", script),
            ],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        return done.stdout + done.stderr

    def asked(self) -> list[str]:
        """What systemd was asked for."""
        return (self / "stub/asked").read_text().splitlines()

    def default(self) -> str:
        text = (self / "boot/select/autoboot.txt").read_text()
        by_slot = {"A": AUTOBOOT.format(2, 3), "B": AUTOBOOT.format(3, 2)}
        return next(slot for slot, whole in by_slot.items() if whole == text)

    def news(self) -> str:
        file = self / "data/update/news.json"
        return str(json.loads(file.read_text())["code"]) if file.exists() else ""

    def changes(self) -> list[str]:
        file = self / "data/update/changes.json"
        return [each["result"] for each in json.loads(file.read_text())] if file.exists() else []

    def slots(self) -> dict[str, bytes]:
        return {name: (self / "slots" / name).read_bytes() for name in PARTS}
