"""Bundles that are asked for and programs that are offered: by heartbeats, each to its own unit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from manager.link.offered import FAULT_STATE, Offered
from protocol.wire.messages import BundlePart, Heartbeat
from protocol.wire.rows import BundleWish, ProgramOffer, ProgramReport

REPORT = ProgramReport(3, 2, 4096, "")
OFFER = ProgramOffer(3, 9000, bytes(32), "0.3.0")
WISH = BundleWish(5, 0, "Pat")


class Floor:
    """Stands for the bundles and the roll-outs, and for one unit's connection."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.sent: list[Any] = []
        self.bundle_wishes: tuple[BundleWish, ...] = ()
        self.offers: tuple[ProgramOffer, ...] = ()
        self.unit_id, self.table_id, self.is_quiet = "UF-1", "touch-1", True
        rollouts = SimpleNamespace(heard=self._heard, offers=lambda *unit: (unit, OFFER))
        bundles = SimpleNamespace(take=self._take, wishes=lambda unit_id: (unit_id, WISH))
        self.offered = Offered(cast(Any, bundles), cast(Any, rollouts))

    def _heard(self, *said: Any) -> list[str]:
        self.heard.append(said)
        return ["part 1", "part 2"]

    def _take(self, *said: Any) -> bool:
        self.heard.append(said)
        return len(self.heard) > 1

    def send(self, part: Any, rests_on: int) -> None:
        self.sent.append((part, rests_on))

    @property
    def connection(self) -> Any:
        return self


@pytest.fixture
def floor() -> Floor:
    return Floor()


def test_a_unit_hears_from_its_first_beat_on_what_is_wanted_and_offered(floor: Floor) -> None:
    floor.offered.greet(floor.connection)
    assert floor.bundle_wishes == ("UF-1", WISH)
    assert floor.offers == (("touch-1", "UF-1"), OFFER)


@pytest.mark.parametrize(
    ("beat", "said"),
    [
        (Heartbeat(1, "open"), (None, True)),
        (Heartbeat(1, "open", report=(REPORT,)), (REPORT, True)),
        (Heartbeat(1, FAULT_STATE, report=(REPORT,)), (REPORT, False)),
    ],
)
def test_what_a_unit_says_of_its_program_reaches_the_rollout(
    floor: Floor, beat: Heartbeat, said: tuple[Any, bool]
) -> None:
    """Catches: a program that broke a table, and a roll-out that goes on to the next one."""
    floor.offered.heard(floor.connection, beat)
    assert floor.heard == [("touch-1", "UF-1", *said)]
    assert floor.offers == (("touch-1", "UF-1"), OFFER)
    assert floor.sent == [("part 1", 0), ("part 2", 0)]


def test_a_unit_that_has_not_read_what_it_got_gets_no_more_parts(floor: Floor) -> None:
    floor.is_quiet = False
    floor.offered.heard(floor.connection, Heartbeat(1, "open"))
    assert floor.sent == []


def test_a_bundle_is_told_as_whole_when_it_is(floor: Floor) -> None:
    part = BundlePart(5, 0, 10, b"bytes")
    assert [floor.offered.take(floor.connection, part) for _ in range(2)] == [False, True]
    assert floor.heard == [("UF-1", part)] * 2
    assert floor.bundle_wishes == ("UF-1", WISH), "how much has come is in it"
