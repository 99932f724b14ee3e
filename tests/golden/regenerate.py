"""Writes the golden frames anew: `python -m tests.golden.regenerate`.

Only for a new protocol version, or a new sample. A changed file of a released version means that
units in the field would no longer be understood; the difference belongs in the review.
"""

from __future__ import annotations

from pathlib import Path

from protocol.framing import frame
from tests.golden.samples import samples_by_version

GOLDEN_PATH = Path(__file__).parent
LINE_BYTES = 32


def hex_text(data: bytes) -> str:
    lines = [data[start : start + LINE_BYTES].hex() for start in range(0, len(data), LINE_BYTES)]
    return "\n".join(lines) + "\n"


def main() -> None:
    for version, samples in samples_by_version().items():
        for name, message in samples.items():
            write(GOLDEN_PATH / version / f"{name}.hex", hex_text(frame(message.encode())))


def write(path: Path, text: str) -> None:
    if path.exists() and path.read_text() == text:
        return
    print(f"{'changed' if path.exists() else 'new'}: {path.parent.name}/{path.name}")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    main()
