"""Closes a gaming day: its books are proven, kept as an image, and the chain says which.

The proof runs beside a manager that serves and may take long; what the manager itself does is one
entry. What is closed can still be corrected: a correction is an entry of the day it is made on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kit.files import private_folder, write_private
from manager.audit import image as images
from manager.audit.audit import image_after
from manager.audit.image import Image
from manager.ledger.engines.relations import CLOSED_DAYS, TRANSACTIONS
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import Entry, Kind, Reference
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store

DAYS_FOLDER = "days"
CLOSE_DAY = "close-day"


def close_path(data: Path, day: str) -> Path:
    return data / DAYS_FOLDER / f"{day}.image"


def newest_image(data: Path, ledger: Ledger, below: int | None = None) -> Image | None:
    """Of the last closed day whose image is whole and is the one that the chain names."""
    days = sorted(ledger.find(CLOSED_DAYS, {}), key=lambda row: -row[1])
    for day, last_number, digest, _ in days:
        path = close_path(data, day)
        if (below is None or last_number <= below) and path.is_file():
            try:
                image = images.decoded(path.read_bytes())
            except LedgerError:
                continue
            if images.digest_of(image) == digest:
                return image
    return None


def make_image(data: Path, ledger: Ledger, day: str, last: int) -> Image:
    """Proves the books up to a day's last transaction and keeps them; durable when it returns."""
    image = image_after(ledger, last, newest_image(data, ledger, last))
    private_folder(data / DAYS_FOLDER)
    write_private(close_path(data, day), images.encoded(image))
    return image


def request_for(day: str, image: Image) -> dict[str, str]:
    """What the manager that writes is asked for."""
    digest = images.digest_of(image).hex()
    return {"command": CLOSE_DAY, "day": day, "last": str(image.number), "image": digest}


def note_closed(store: Store, request: Mapping[str, str]) -> str:
    """One entry; refuses a day that is closed, or that ends where a later one ended already."""
    try:
        day, last, digest = request["day"], int(request["last"]), bytes.fromhex(request["image"])
    except (KeyError, ValueError) as error:
        raise LedgerError(
            "Closing a day names the day, its last transaction and its image."
        ) from error
    with store.transaction():
        closed = store.find(CLOSED_DAYS, {})
        if any(row[0] >= day or row[1] > last for row in closed):
            raise LedgerError(f"Day {day} is closed already, or a later one is.")
        if store.get(TRANSACTIONS, last) is None:
            raise LedgerError(f"There is no transaction {last} to close a day with.")
        sentence = f"Day {day} is closed with transaction {last}."
        detail = {"day": day, "last": last, "image": digest.hex()}
        store.append(Entry(Kind.DAY_CLOSED, Reference(), sentence, (), detail=detail))
        store.put(CLOSED_DAYS, (day, last, digest, store.now_ms))
    return sentence
