"""The stock Debian kernel that `deploy/setup/kernel` unpacked: its image and its modules.

It alone knows the package's layout, the wrapping of the image and how modules name those they need.
It changes nothing in either: the guest runs what Debian ships.
"""

from __future__ import annotations

import lzma
import re
from pathlib import Path

XZ_MAGIC = b"\xfd7zXZ\x00"
ELF_MAGIC = b"\x7fELF"
DEPENDS = re.compile(rb"\x00depends=([^\x00]*)\x00")
MODULE_COUNT_MAX = 64


class KernelMissing(Exception):  # noqa: N818 - a sentence for the person who runs the test
    """There is no kernel to boot, and what to do about it."""


class StockKernel:
    def __init__(self, package: Path) -> None:
        images = sorted(package.glob("boot/vmlinuz-*"))
        if not images:
            raise KernelMissing(f"{package} holds no kernel; run deploy/setup/kernel first")
        self.image = images[-1]
        self.release = self.image.name.removeprefix("vmlinuz-")
        self._files = _module_files(package, self.release)
        self._builtin = _builtin_names(package, self.release)

    def bootable(self) -> bytes:
        """The bare kernel if it can be unwrapped, so that the guest need not do it, slowly."""
        wrapped = self.image.read_bytes()
        start = wrapped.find(XZ_MAGIC)
        while start >= 0:
            try:
                bare = lzma.LZMADecompressor().decompress(wrapped[start:])
            except lzma.LZMAError:
                bare = b""
            if bare.startswith(ELF_MAGIC):
                return bare
            start = wrapped.find(XZ_MAGIC, start + 1)
        return wrapped

    def modules(self, *names: str) -> dict[str, bytes]:
        """The modules and all they need, by name, in the order in which they can be loaded."""
        ordered: dict[str, bytes] = {}
        for name in names:
            self._collect(name.replace("-", "_"), ordered)
        return ordered

    def _collect(self, name: str, ordered: dict[str, bytes]) -> None:
        if name in ordered or name in self._builtin:
            return
        if name not in self._files:
            raise KernelMissing(f"the kernel {self.release} has no module {name}")
        if len(ordered) >= MODULE_COUNT_MAX:
            raise KernelMissing(f"the kernel {self.release} wants too many modules for {name}")
        data = _read_module(self._files[name])
        found = DEPENDS.search(data)
        for needed in found[1].decode().split(",") if found and found[1] else ():
            self._collect(needed.replace("-", "_"), ordered)
        ordered[name] = data


def _module_files(package: Path, release: str) -> dict[str, Path]:
    files = package.glob(f"**/modules/{release}/kernel/**/*.ko*")
    return {path.name.split(".ko")[0].replace("-", "_"): path for path in files}


def _builtin_names(package: Path, release: str) -> set[str]:
    names = set()
    for listing in package.glob(f"**/modules/{release}/modules.builtin"):
        for line in listing.read_text(encoding="utf-8").split():
            names.add(Path(line).name.split(".ko")[0].replace("-", "_"))
    return names


def _read_module(path: Path) -> bytes:
    data = path.read_bytes()
    return lzma.decompress(data) if data.startswith(XZ_MAGIC) else data
