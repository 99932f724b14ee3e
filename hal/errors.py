"""What can go wrong with hardware, as exceptions that callers catch by family.

`HardwareFault` and its children mean "the part could not answer": the caller shows a fault, never a
value. Every message is a whole sentence. What a person must change in a file is a `ConfigError` of
`kit.config`.
"""

from __future__ import annotations


class HardwareFault(Exception):  # noqa: N818 - the word the floor uses
    """A part of the table did not do what it must; the sentence says which and what."""


class BusFault(HardwareFault):
    """A bus conversation failed after all its retries; `errno` is None for short data."""

    def __init__(self, sentence: str, errno: int | None = None) -> None:
        super().__init__(sentence)
        self.errno = errno


class IcFault(HardwareFault):
    """An IC answers on its bus, but not as the IC it should be or as it was set up."""


class SensorFault(IcFault):
    """A sensing IC cannot say whether anything lies on its electrodes."""


class WorkerBusy(HardwareFault):
    """A worker was given more jobs than it may hold, or was closed."""
