"""What a floor is set up with before play: a ledger with linked tables, and units' certificates.

Every table is on one meter, because one hot meter is the hardest case. Nothing is served here.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from manager.app import Manager
from manager.data_folder import LEDGER_NAME
from manager.identity import certificates
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from manager.ledger.engines.moving import make_ledger
from manager.ledger.engines.places import database_of, is_database
from manager.ledger.errors import LedgerError
from manager.ledger_place import keep_database
from protocol.secrets import tls

METER = "main"
WAGER_CENTS = 100
SEATS = 7

_TABLE = """
[table]
id = "{table_id}"
name = "Table {number}"
workflow = "touch"
seats = {seats}
[board]
serial = "{unit_id}"
[jackpots.main]
label = "Main"
seed = "10000.00"
opening = "10000.00"
contribution_ppm = 250000
reserve_ppm = 50000
freeze_claims = false
fixed_pays_from = "tray"
[paytables.A]
paytable = "four-card/progressive/Pays-1"
wager_cents = {wager_cents}
levels = {{ top = "main" }}
folded_hands_qualify = true
[authority]
dealer_limit = "25.00"
executive_percent = 100
executive_from = "5000.00"
key = "EXECUTIVE"
[policy]
rounds_per_hour_max = 0
"""


class UnitFiles(NamedTuple):
    """One unit's name, its table and the files of its identity."""

    unit_id: str
    table_id: str
    certificate: str
    ca: str


def set_up(data: Path, table_count: int, database: str) -> list[UnitFiles]:
    """Opens the tables in a new ledger and issues a certificate for the unit of each."""
    data.mkdir(parents=True, exist_ok=True)
    if database:
        _make_where_none_is(database)
        keep_database(data, database)
    names = unit_names(table_count)
    manager = Manager(database or str(data / LEDGER_NAME), lambda: time.time_ns() // 1_000_000)
    try:
        if manager.store.tail().number:
            # Its units have played already, and wait for ever for receipts of what they send anew.
            raise LedgerError("A floor is measured on an empty ledger; this one has entries.")
        open_tables(manager, names)
    finally:
        manager.store.close()
    return _issue(data, names)


def _make_where_none_is(database: str) -> None:
    if not is_database(database):
        raise LedgerError("A database is named as postgresql://USER@HOST/NAME.")
    from manager.ledger.engines.postgres_lease import groups_in

    url, schema = database_of(database)
    if schema not in groups_in(url):
        make_ledger(database)


def unit_names(count: int) -> list[tuple[str, str]]:
    """The unit and the table of each place on the floor."""
    return [(f"UF-F{number}", f"floor-{number}") for number in range(1, count + 1)]


def open_tables(manager: Manager, names: list[tuple[str, str]]) -> None:
    with manager.store.commits.batch():
        for number, (unit_id, table_id) in enumerate(names, start=1):
            manager.open_table(
                _TABLE.format(
                    table_id=table_id,
                    number=number,
                    unit_id=unit_id,
                    seats=SEATS,
                    wager_cents=WAGER_CENTS,
                )
            )


def _issue(data: Path, names: list[tuple[str, str]]) -> list[UnitFiles]:
    folder = IdentityFolder(data)
    folder.ensure()
    ca, ca_key = folder.load_issuer()
    store = IdentityStore(str(folder.database), lambda: time.time_ns() // 1_000_000)
    registry, files = Registry(store), data / "units"
    files.mkdir()
    (files / "ca.pem").write_bytes(certificates.pem(ca))
    try:
        with store.transaction():
            for unit_id, _ in names:
                key = ec.generate_private_key(ec.SECP256R1())
                certificate = certificates.issue_unit(ca, ca_key, unit_id, key.public_key())
                pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
                path = files / f"{unit_id}.pem"
                path.touch(mode=0o600)
                path.write_bytes(pem + certificates.pem(certificate))
                fingerprint = tls.fingerprint(certificates.der(certificate))
                registry.add(fingerprint, unit_id)
                registry.note_use(fingerprint)  # as on a floor that has been played at before
    finally:
        store.close()
    return [
        UnitFiles(unit_id, table_id, str(files / f"{unit_id}.pem"), str(files / "ca.pem"))
        for unit_id, table_id in names
    ]
