"""The protocol page's tables of bad input and limits say what the code and the tests say."""

from __future__ import annotations

import re

import pytest

from manager.link import admission, connection, frame_rate
from protocol.wire import profile, version
from protocol.wire.errors import ErrorCode
from tests.kit.places import DOCS, TESTS

PAGE = (DOCS / "protocol.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| (.+?) \| `([\w/]+\.py)::(\w+)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("what", "answer", "file", "test"), ROWS)
def test_every_class_of_input_names_a_test_and_a_code(
    what: str, answer: str, file: str, test: str
) -> None:
    assert f"def {test}(" in (TESTS / file).read_text(encoding="utf-8"), what
    for word in re.findall(r"\b[A-Z_]{4,}\b", answer):
        assert word in ErrorCode.__members__


def test_every_code_that_wrong_input_can_get_is_in_the_table() -> None:
    answers = " ".join(answer for _, answer, _, _ in ROWS)
    # COUNTERS tells of two ends that disagree, APPROVAL of a win that waits, BACKED_OUT of a claim
    # that people took back: no wrong input.
    missing = {code.name for code in ErrorCode if code.name not in answers}
    assert missing <= {"COUNTERS", "APPROVAL", "BACKED_OUT"}


def test_the_limits_are_those_of_the_code() -> None:
    limits = PAGE[PAGE.index("## Limits") : PAGE.index("## Bad input")]
    for value in (
        f"{profile.FRAME_MAX_BYTES} bytes",
        f"{version.LINK_DOWN_MS // 1000} s",
        f"{admission.HELLO_MAX_MS // 1000} s, whole",
        f"{version.WINDOW} (the window)",
        f"{frame_rate.BURST} at once, then {frame_rate.PER_S} a second",
        f"who they are | {admission.NEWCOMERS_MAX} |",
        f"connections | {admission.CONNECTIONS_MAX:,} |",
        f"{connection.QUEUE_MAX}, or",
    ):
        assert value in limits, value
