"""Which kernel modules of an unpacked root want another that was left out of the image."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

WANTS = re.compile(rb"\0depends=([^\0]*)\0")


def lacking(modules: Path) -> dict[str, set[str]]:
    """By a driver's path below `kernel`: the names of those that it wants and that are not there.

    From the modules themselves: depmod's own list only names what it has found.
    """
    files = sorted(modules.rglob("*.ko.xz"))
    built_in = next(modules.rglob("modules.builtin")).read_text().split()
    present = {_name(Path(each).name) for each in [*map(str, files), *built_in]}
    found = {}
    for file in files:
        told = WANTS.search(lzma.decompress(file.read_bytes()))
        wanted = {_name(each) for each in told[1].decode().split(",") if each} if told else set()
        if wanted - present:
            found[str(file).partition("/kernel/")[2]] = wanted - present
    return found


def _name(file: str) -> str:
    return file.partition(".ko")[0].replace("-", "_")
