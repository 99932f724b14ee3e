"""The plain shapes that the core passes around, named for the type checker only.

Nothing here exists at run time: MicroPython has no typing module, and the core's data are plain
tuples, lists and dictionaries so that they look the same on both interpreters.
"""

MYPY = False
if MYPY:
    from typing import Any

    Event = tuple[int, dict[int, Any]]  # kind and body
    Command = tuple[Any, ...]  # name and arguments
    Decision = tuple[list[Event], str]  # events and a refusal ("" when accepted)
    Pair = list[str]  # [sensor, hand]
    # [sensor, hand, amount_cents or None when not known, meter_id, source]
    AwardLine = list[Any]
    EnvyLine = list[Any]  # [sensor, amount_cents]
