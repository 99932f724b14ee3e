"""Where a table lays a bundle that it fetched from its manager, for the updater that runs as root.

The two are different programs with different rights; only these names are between them.
"""

from __future__ import annotations

from typing import Final

FOLDER: Final = "rollout"  # in the table's data
READY: Final = "ready"  # below it: DIGEST.raucb, whole
STOP: Final = "stop"  # below it: the manager has withdrawn its offer
ENDING: Final = ".raucb"
BUNDLE_BYTES_MAX: Final = 1024 * 1024 * 1024
