"""The protocol's version numbers and the limits both ends must agree on.

The major number is agreed by the TLS layer (ALPN) before the first frame; Hello and Welcome
carry minor numbers only. This module knows the numbers, not how a connection is made.
"""

from __future__ import annotations

from typing import Final

from protocol.wire.errors import ErrorCode, ProtocolError

MAJOR: Final = 1
MINOR: Final = 0

# The oldest and newest minor version this build speaks: what Hello carries.
VERSION_MIN: Final = 0
VERSION_MAX: Final = MINOR

ALPN: Final = f"tbl/{MAJOR}"

# Events that may be sent beyond the last one acknowledged.
WINDOW: Final = 32

HEARTBEAT_MS: Final = 1_000
LINK_DOWN_MS: Final = 5_000


def agree(version_min: int, version_max: int) -> int:
    """The highest minor version that both the peer's range and ours contain."""
    version = min(version_max, VERSION_MAX)
    if version < max(version_min, VERSION_MIN):
        raise ProtocolError(
            ErrorCode.VERSION,
            f"The peer speaks protocol {MAJOR}.{version_min} to {MAJOR}.{version_max}, "
            f"this build {MAJOR}.{VERSION_MIN} to {MAJOR}.{VERSION_MAX}.",
        )
    return version
