"""Writes the golden frames, files and drawn evenings anew: `python -m tests.golden.regenerate`.

Only for a new protocol version, a new sample, or new rules of the core. A changed file of a
released version means that units in the field would no longer be understood; the difference
belongs in the review.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from protocol.wire.framing import frame
from tests.golden import readable, told
from tests.golden.files import DUMPS_PATH, WRITERS, dump
from tests.kit.message_samples import samples

FRAMES_PATH = Path(__file__).parent / "v1"
LINE_BYTES = 32


def hex_text(data: bytes) -> str:
    lines = [data[start : start + LINE_BYTES].hex() for start in range(0, len(data), LINE_BYTES)]
    return "\n".join(lines) + "\n"


def main() -> None:
    for name, message in samples().items():
        write(FRAMES_PATH / f"{name}.hex", hex_text(frame(message.encode())))
    for name, fill in WRITERS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/{name}.sqlite"
            fill(path)
            write(DUMPS_PATH / f"{name}.sql", dump(path))
    write(readable.PAGE, readable.page())
    for kind in told.KINDS:
        write(told.file_of(kind), told.page(kind))


def write(path: Path, text: str) -> None:
    if path.exists() and path.read_text() == text:
        return
    print(f"{'changed' if path.exists() else 'new'}: {path.parent.name}/{path.name}")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    main()
