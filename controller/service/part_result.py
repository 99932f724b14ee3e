"""What a test says about one part of the hardware: in order or not, and a sentence for the tech."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hal.errors import BusFault, HardwareFault


@dataclass(frozen=True)
class PartResult:
    part: str
    passed: bool
    sentence: str


async def judge(part: str, test: Callable[[], Awaitable[str]], owner: str = "") -> PartResult:
    """A test returns what it found, or raises what is wrong with the part or its `owner`."""
    try:
        return PartResult(part, True, await test())
    except HardwareFault as fault:
        return PartResult(part, False, in_words(fault, owner))


def in_words(fault: HardwareFault, owner: str = "") -> str:
    """Which IC it is about, what is wrong, and where to look when it cannot be reached."""
    sentence = f"{owner}: {fault}" if owner else str(fault)
    is_mute = bool(owner) and isinstance(fault, BusFault)
    return f"{sentence} Look at its plug, cable and supply." if is_mute else sentence
