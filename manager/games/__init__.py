"""Game packs: every paytable the approval documents print, as checked data.

``load_paytable`` and ``paytable_ids`` read the packs that ship; ``open_catalogue`` adds an
operator's own folders. Odds are in ``manager.odds``, money that moves is in the ledger.
"""

from manager.games.catalogue import Catalogue, UnknownPaytableError, open_catalogue
from manager.games.model import (
    ForOne,
    Hand,
    Level,
    Pay,
    Paytable,
    Percent,
    PrintedFigure,
    ToOne,
)

__all__ = [
    "Catalogue",
    "ForOne",
    "Hand",
    "Level",
    "Pay",
    "Paytable",
    "Percent",
    "PrintedFigure",
    "ToOne",
    "UnknownPaytableError",
    "load_paytable",
    "open_catalogue",
    "paytable_ids",
]


def load_paytable(paytable_id: str) -> Paytable:
    """The shipped paytable with this id or alias, case-insensitively."""
    return open_catalogue().load(paytable_id)


def paytable_ids() -> tuple[str, ...]:
    """The canonical id of every shipped paytable."""
    return open_catalogue().ids()
