"""Which build this is: what both sides call themselves to each other, on pages and to `--version`.

An installer leaves the release's id in a one-line file beside the packages. Without that file this
is a checkout. A file that holds no id is said to be unknown: a table plays with it, but nobody
should take it for a build that was looked at.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

VERSION: Final = "0.2.0"
PRODUCT: Final = "underfelt"
ID_CHARS_MAX: Final = 48  # with the product's name it fits the wire's 64
RELEASE_FILE: Final = Path(__file__).resolve().parents[1] / "RELEASE"

_ID: Final = re.compile(rf"[0-9A-Za-z][0-9A-Za-z.+_-]{{0,{ID_CHARS_MAX - 1}}}")


def release_id(file: Path) -> str:
    """Such as 0.1.0-3f2a9c1b77de-py311, or 0.1.0-dev in a checkout."""
    try:
        text = file.read_text(encoding="ascii")
    except FileNotFoundError:
        return f"{VERSION}-dev"
    except (OSError, ValueError):
        return f"{VERSION}-unknown"
    line = text.removesuffix("\n")
    return line if _ID.fullmatch(line) else f"{VERSION}-unknown"


# Read once: a running process stays what it was when another release is put in its place.
RELEASE: Final = release_id(RELEASE_FILE)
SOFTWARE: Final = f"{PRODUCT} {RELEASE}"
