"""A ledger whose owner died is taken when its lease has run out; one whose owner lives is not."""

from __future__ import annotations

import pytest

from manager.cli.patience import opened_when_free
from manager.ledger.errors import LedgerInUse, StoreError

PATIENCE_S = 4.0


class Ledger:
    """Free from a moment on; time passes only while somebody waits."""

    def __init__(self, free_s: float) -> None:
        self.now_s, self._free_s = 0.0, free_s

    def open(self) -> str:
        if self.now_s < self._free_s:
            raise LedgerInUse("The ledger is in use.")
        return "open"

    def wait(self, for_s: float) -> None:
        assert for_s > 0, "a look without a pause would hammer the database"
        self.now_s += for_s


def opened(ledger: Ledger) -> str:
    return opened_when_free(ledger.open, PATIENCE_S, lambda: ledger.now_s, ledger.wait)


@pytest.mark.parametrize("free_s", [0.0, 3.0])
def test_a_ledger_is_opened_as_soon_as_it_is_free(free_s: float) -> None:
    ledger = Ledger(free_s)
    assert opened(ledger) == "open"
    assert ledger.now_s == pytest.approx(free_s, abs=0.2)


def test_an_owner_that_lives_keeps_it_and_nobody_waits_for_ever() -> None:
    ledger = Ledger(1e9)
    with pytest.raises(LedgerInUse):
        opened(ledger)
    assert ledger.now_s == pytest.approx(PATIENCE_S, abs=0.2)


def test_other_trouble_is_told_at_once() -> None:
    def damaged() -> str:
        raise StoreError("The ledger is damaged.")

    with pytest.raises(StoreError, match="damaged"):
        opened_when_free(damaged, PATIENCE_S, lambda: 0.0, lambda for_s: pytest.fail("it waited"))
