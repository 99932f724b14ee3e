"""The names of the accounts, and which of them may never be overdrawn.

A posting's sign says where money went: what `players` pays in makes `players` negative and a meter
positive. House-funded and player-funded money lie in separate accounts of each meter, so the seed
that is still the house's can be told at any time (WAC 230-15-695).
"""

from __future__ import annotations

PLAYERS = "players"
HOUSE_SHARE = "house/share"  # the part of each wager that goes to no meter
HOUSE_SEED = "house/seed"  # negative: what the house has put into meters
HOUSE_SHORTFALL = "house/shortfall"  # negative: what the house added when a meter was too small
HOUSE_PRIZES = "house/prizes"  # negative: posted prizes of house jackpots that were won
HOUSE_ADJUSTMENTS = "house/adjustments"  # the other side of a correction after a malfunction


def tray(table_id: str) -> str:
    """The dealer's tray, which pays fixed pays and envy."""
    return f"tray/{table_id}"


def meter_house(meter_id: str) -> str:
    return f"meter/{meter_id}/house"


def meter_player(meter_id: str) -> str:
    return f"meter/{meter_id}/player"


def reserve(meter_id: str) -> str:
    return f"reserve/{meter_id}"


def parts(meter_id: str) -> tuple[str, str, str]:
    """Every account of one meter: shown player money, shown house money, reserve."""
    return meter_player(meter_id), meter_house(meter_id), reserve(meter_id)


def meter_of(account: str) -> str:
    """The meter to which an account belongs, "" for every other one."""
    kind, _, rest = account.partition("/")
    return rest.split("/")[0] if kind in ("meter", "reserve") else ""


def owed(table_id: str, claim_number: int) -> str:
    """A logged win that already left the meter but was not yet handed over at its table."""
    return f"owed/{table_id}/{claim_number}"


def is_owed(account: str) -> bool:
    return account.startswith("owed/")


def is_custody(account: str) -> bool:
    """Money held for players: it can be used up but never go below zero."""
    return account.startswith(("meter/", "reserve/", "owed/"))
