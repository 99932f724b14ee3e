"""Writes the golden frames anew: `python -m tests.golden.regenerate`.

Only for a new protocol version, or a new sample. A changed file of a released version means that
units in the field would no longer be understood; the difference belongs in the review.
"""

from __future__ import annotations

from pathlib import Path

from protocol.framing import frame
from tests.golden.samples import sample_messages

GOLDEN_PATH = Path(__file__).parent / "v1.0"
LINE_BYTES = 32


def hex_text(data: bytes) -> str:
    lines = [data[start : start + LINE_BYTES].hex() for start in range(0, len(data), LINE_BYTES)]
    return "\n".join(lines) + "\n"


def main() -> None:
    for name, message in sample_messages().items():
        path = GOLDEN_PATH / f"{name}.hex"
        text = hex_text(frame(message.encode()))
        if path.exists() and path.read_text() == text:
            continue
        print(f"{'changed' if path.exists() else 'new'}: {path.name}")
        path.write_text(text)


if __name__ == "__main__":
    main()
