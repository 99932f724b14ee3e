"""What is kept of a claim, and which claims still wait for something."""

from __future__ import annotations

import pytest

from manager.ledger.claims import (
    LOGGED_BY_UNIT,
    OPERATOR_CLAIMS_FROM,
    ClaimRecord,
    Claims,
    ClaimState,
    Refusal,
)
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import BookingRefused
from manager.ledger.store.store import Store
from protocol.wire.rows import AwardLine, EnvyLine
from tests.kit.pretend_units import Clock

MAIN = AwardLine("5A", "four-aces", 800_000, "main", 1)
TRAY = AwardLine("2A", "flush", 5_000, "", 2)


@pytest.fixture
def claims() -> Claims:
    return Claims(Store(SqliteEngine(":memory:"), Clock()))


def saved(claims: Claims, number: int, state: ClaimState, **more: object) -> int:
    claims.save(ClaimRecord("T1", number, 1, state, **more))  # type: ignore[arg-type]
    return number


def test_a_claim_comes_back_as_it_was_saved(claims: Claims) -> None:
    """Catches: an award of which the books forget a part, so that it cannot be repeated."""
    claim = ClaimRecord(
        "T1",
        3,
        7,
        ClaimState.OWED,
        frozen=True,
        logged_by=LOGGED_BY_UNIT,
        log_number=40,
        role=2,
        lines=(MAIN, TRAY),
        envy=(EnvyLine("1A", 1_000),),
        shown=((800_000, 1_000_000), (0, 0)),
        awarded=True,
        settled=True,
        win_number=9,
        refusal=Refusal(4, "Not so.", 12),
    )
    claims.save(claim)
    assert claims.get("T1", 3) == claim
    assert claim.meter_ids == {"main"}, "a tray is no meter"
    assert claim.total_cents == 805_000
    plain = ClaimRecord("T1", 4, 7, ClaimState.COMMITTED, win_number=8, refusal=Refusal(4, "", 1))
    claims.save(plain)
    assert claims.find("T1", 4) == plain
    claims.save(ClaimRecord("T1", 5, 8, ClaimState.OPEN))
    assert claims.get("T1", 5).refusal is None
    assert claims.of_round("T1", 7) == [claim, plain]
    assert claims.of_round("T2", 7) == []
    assert claims.find("T2", 3) is None
    with pytest.raises(BookingRefused, match="T2 has made no claim 3"):
        claims.get("T2", 3)


def test_claims_that_people_enter_are_counted_apart_from_the_unit_s_own(claims: Claims) -> None:
    """Catches: a number that an operator's claim and a unit's have both."""
    assert (claims.last_number("T1"), claims.newest_number("T1")) == (0, 0)
    assert claims.next_operator_number("T1") == OPERATOR_CLAIMS_FROM + 1
    saved(claims, 5, ClaimState.COMMITTED)
    saved(claims, OPERATOR_CLAIMS_FROM + 1, ClaimState.COMMITTED)
    assert claims.last_number("T1") == 5
    assert claims.newest_number("T1") == OPERATOR_CLAIMS_FROM + 1
    assert claims.next_operator_number("T1") == OPERATOR_CLAIMS_FROM + 2


def test_claims_wait_for_their_unit_or_for_their_money(claims: Claims) -> None:
    """Catches: an award told twice, or one that a table waits for in vain after a reconnect."""
    quoted = saved(claims, 1, ClaimState.OPEN)
    heard = saved(claims, 2, ClaimState.OPEN, awarded=True)
    owed = saved(claims, 3, ClaimState.OWED, awarded=True)
    paid = saved(claims, 4, ClaimState.COMMITTED, awarded=True)
    saved(claims, 5, ClaimState.COMMITTED, awarded=True, settled=True)
    saved(claims, 6, ClaimState.CANCELLED)
    claims.save(ClaimRecord("T2", 1, 1, ClaimState.OPEN))
    assert [claim.number for claim in claims.unanswered("T1")] == [quoted, paid]
    waiting = [(claim.table_id, claim.number) for claim in claims.unsettled()]
    assert waiting == [("T1", quoted), ("T1", heard), ("T1", owed), ("T2", 1)]


def test_frozen_claims_leave_their_meter_in_the_order_of_their_log(claims: Claims) -> None:
    """Catches: a promise that is forgotten, or kept twice, when another win is paid first."""
    late = saved(claims, 1, ClaimState.OPEN, frozen=True, log_number=9, lines=(MAIN,))
    early = saved(claims, 2, ClaimState.OPEN, frozen=True, log_number=4, lines=(MAIN,))
    saved(claims, 3, ClaimState.OPEN, frozen=False, lines=(MAIN,))
    saved(claims, 4, ClaimState.OWED, frozen=True, log_number=3, lines=(MAIN,))
    saved(claims, 5, ClaimState.COMMITTED, frozen=True, log_number=2, lines=(MAIN,))
    saved(claims, 6, ClaimState.OPEN, frozen=True, log_number=5, lines=(TRAY,))
    assert [claim.number for claim in claims.frozen_unapplied(["main"])] == [early, late]
    assert claims.frozen_unapplied(["other"]) == []
