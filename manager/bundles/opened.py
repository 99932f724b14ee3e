"""A kept bundle, opened: whose it is, whether that is proven, and the likely causes in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from manager.bundles.shelf import Kept
from protocol.bundle.archive import Bundle, BundleFault, read_bundle
from protocol.bundle.causes import Cause, causes_of

UNKNOWN_KEY = "This manager never registered a key of that unit."


@dataclass(frozen=True)
class Opened:
    bundle: Bundle | None
    causes: Sequence[Cause] = ()
    problem: str = ""


def open_kept(kept: Kept, content: bytes, keys: Sequence[bytes]) -> Opened:
    """`keys` are those that this manager registered for the unit, the newest last."""
    try:
        bundle = read_bundle(content, _key_of(content, keys))
        causes = causes_of(bundle)
    except BundleFault as fault:
        return Opened(None, problem=str(fault))
    doubts = list(bundle.doubts)
    if not keys:
        doubts.append(UNKNOWN_KEY)
    if bundle.head.get("unit") != kept.unit_id:
        doubts.append(f"It came from unit {kept.unit_id}, but says that it is another's.")
    return Opened(replace(bundle, doubts=tuple(doubts)), causes)


def _key_of(content: bytes, keys: Sequence[bytes]) -> str:
    """Any key that the unit ever had proves it; a unit that is enrolled again has a new one."""
    said = read_bundle(content).public_key.lower()
    known = [key.hex() for key in keys]
    return said if said in known else (known[-1] if known else "")
