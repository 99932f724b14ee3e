"""Other programs for a unit's slot, made from its own image: newer, and broken in chosen ways.

A variant is the image's root with some files replaced, packed quickly. What only screens need is
left out of it: the tests that boot it have none, and each of its bytes is written by an emulated
machine.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.kit.unit_image import BUNDLE

ONLY_SCREENS_NEED = (
    *("libLLVM*", "libgallium*", "libz3*", "libx26*", "libcodec2*", "libav*", "libicu*"),
    *("libplacebo*", "libgtk-3*", "libSvtAv1*", "librsvg*", "libaom*", "libflite*", "libhwy*"),
    *("libvpx*", "libjxl*", "librav1e*", "libfftw*", "libopenmpt*", "libgfortran*", "libopus*"),
    *("lapack", "gconv", "libfreerdp*", "libdav1d*", "libgst*", "libharfbuzz*", "spa-0.2"),
)
NOT_NEEDED = (
    *("usr/lib/chromium", "usr/lib/firmware", "usr/lib/apt", "var/lib/dpkg"),
    *(f"usr/share/{name}" for name in ("fonts", "icons", "X11", "mime", "libwacom", "gtk-3.0")),
    *(f"usr/lib/modules/*/kernel/{name}" for name in ("sound", "drivers/scsi", "drivers/net/eth*")),
    *(f"usr/lib/x86_64-linux-gnu/{name}" for name in ONLY_SCREENS_NEED),
)
PROGRAM = "usr/lib/underfelt/program.json"
DROP_IN = "etc/systemd/system/underfelt.service.d/zz-broken.conf"
HEALTH = "opt/underfelt/current/deploy/update/health.py"
SETTLE = "etc/systemd/system/underfelt-settle.service.d/zz-broken.conf"

CRASHES = {DROP_IN: "[Service]\nExecStart=\nExecStart=/bin/false\n"}
NEVER_READY = {DROP_IN: "[Service]\nExecStart=\nExecStart=/bin/sleep infinity\n"}
# Ready, and then it stands still: the watchdog of the service has to notice.
HANGS = {DROP_IN: "[Service]\nExecStartPost=+/bin/sh -c 'kill -STOP $MAINPID'\n"}
# What would happen if a new program had not to prove itself.
NO_GATE = {
    SETTLE: "[Service]\nExecStart=\nExecStart=/usr/bin/rauc status mark-good booted\n",
}


class Variants:
    def __init__(self, root: Path, image: Path, keys: Path, folder: Path) -> None:
        self._root, self._image, self._keys, self._folder = root, image, keys, folder

    def packed(self, name: str, version: str, changed: Mapping[str, str]) -> Path:
        """The root of another program."""
        program = json.loads((self._root / PROGRAM).read_text()) | {"version": version}
        files = {PROGRAM: json.dumps(program)} | dict(changed)
        out, definitions = self._folder / f"{name}.squashfs", self._folder / f"{name}.files"
        definitions.write_text("".join(self._defined(name, *each) for each in files.items()))
        words = ["mksquashfs", str(self._root), str(out), "-noappend", "-no-progress", "-quiet"]
        words += ["-comp", "zstd", "-Xcompression-level", "1", "-pf", str(definitions)]
        left_out = [*NOT_NEEDED, *(path for path in files if (self._root / path).exists())]
        subprocess.run([*words, "-wildcards", "-e", *left_out], check=True, capture_output=True)
        return out

    def _defined(self, name: str, path: str, content: str) -> str:
        """mksquashfs's own words for a file that is not there, and for its folder."""
        kept = self._folder / f"{name}-{Path(path).name}"
        kept.write_text(content)
        folder = Path(path).parent
        made = "" if (self._root / folder).exists() else f"{folder} d 755 0 0\n"
        return f"{made}{path} f 644 0 0 cat {shlex.quote(str(kept))}\n"

    def bundle(
        self, name: str, version: str, signed_by: Path | None = None, root: Path | None = None
    ) -> Path:
        """A signed update, made as a publisher makes it; `root` is what it brings instead."""
        content = self._folder / f"{name}-image"
        content.mkdir()
        (root or self.packed(name, version, {})).rename(content / "root.squashfs")
        (content / "boot.vfat").write_bytes((self._image / "boot.vfat").read_bytes())
        described = (self._image / "update.conf").read_text().splitlines()
        lines = [f"version={version}" if row.startswith("version=") else row for row in described]
        (content / "update.conf").write_text("\n".join(lines) + "\n")
        keys, out = signed_by or self._keys, self._folder / f"{name}.raucb"
        signing = [str(keys / "update.pem"), str(keys / "update.key")]
        subprocess.run([str(BUNDLE), str(content), *signing, str(out)], check=True)
        return out
