"""A shuffler's messages: each against the CDDL, as strict as the link's, and within a frame."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.wire import profile, schema, shuffler
from protocol.wire.errors import ProtocolError
from protocol.wire.rows import NUMBER_MAX
from protocol.wire.serial_frames import PAYLOAD_MAX_BYTES

LARGEST = NUMBER_MAX
MESSAGES = {
    "shuffler-dealt": shuffler.Dealt(LARGEST, 13, "cover-all"),
    "shuffler-shown": shuffler.Shown(LARGEST, 12, ("As", "Ks", "Qs", "Js", "Ts", "9s", "8s", "Jk")),
}


@pytest.mark.parametrize("rule", MESSAGES)
def test_the_largest_message_follows_the_cddl_and_fits_a_frame(rule: str) -> None:
    encoded = MESSAGES[rule].encode()
    schema.check(rule, encoded)
    assert shuffler.decode(encoded) == MESSAGES[rule]
    assert len(encoded) <= PAYLOAD_MAX_BYTES


@pytest.mark.parametrize(
    "values",
    [
        {0: 3, 1: 1},
        {1: 1, 2: 3, 3: ""},
        {0: 1, 1: 0, 2: 3, 3: ""},
        {0: 1, 1: 1, 2: 0, 3: ""},
        {0: 1, 1: 1, 2: 14, 3: ""},
        {0: 1, 1: 1, 2: 3, 3: "poker"},
        {0: 1, 1: 1, 2: 3, 3: "", 4: 1},
        {0: 2, 1: 1, 2: 13, 3: ["As"]},
        {0: 2, 1: 1, 2: 3, 3: ["As", "As"]},
        {0: 2, 1: 1, 2: 3, 3: ["1s"]},
        {0: 2, 1: 1, 2: 3, 3: ["As"] * 9},
        {0: 2, 1: 1, 2: 3, 3: "As"},
    ],
)
def test_what_makes_no_sense_is_refused(values: dict[int, Any]) -> None:
    with pytest.raises(ProtocolError):
        shuffler.decode(profile.encode(values))
