"""The signing keys of simulated units: made from the seed, so that a run repeats exactly."""

from __future__ import annotations

import hashlib

from protocol.proof.seal import Sealer


def seeded_sealer(unit_id: str, seed: int | str) -> Sealer:
    return Sealer(unit_id, hashlib.sha256(f"{seed}/{unit_id}".encode()).digest())
