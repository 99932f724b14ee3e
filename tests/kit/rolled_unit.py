"""A unit whose manager keeps an update for it, and the two people who ask for its roll-out.

The accounts are made and the file is brought on this machine, by the operator's own command: an
emulated one would compute for a minute. The roll-out itself is asked for in the guest, because a
manager plans only for units that it has met.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.bench_disk import asked, pack_books, serving, table_text, unpack_books
from tests.kit.booted_unit import Guest, UnitDisk
from tests.kit.first_start import OPERATOR
from tests.kit.people import PASSWORD, people_of_a_folder

TABLE = "four-card-touch"
PROGRESS = "/run/books/data/updates/rollout.json"
LOOK_EVERY_S = 2


@dataclass(frozen=True)
class Standing:
    """Where the manager sees the roll-out."""

    state: str
    step: int


def with_update(unit: UnitDisk, bundle: Path) -> str:
    """Its manager's books hold the bundle from now on; by which name."""
    assert unit.books is not None
    folder = unit.books.parent / "unpacked"
    unpack_books(unit.books, folder)
    data, table = folder / "data", unit.books.parent / "rolled.toml"
    people_of_a_folder(data, Ann="operator", Bob="executive")
    table.write_text(table_text(), "utf-8")
    with serving(data, table):
        brought = ["add-update", str(bundle), "--data", str(data), "--operator", "Ann"]
        digest = asked(*brought, typed=f"{PASSWORD}\n").split()[-1]
    pack_books(folder, unit.books)
    return digest


def roll_out(guest: Guest, digest: str) -> None:
    plan = f"--first {TABLE} --hold 1 --operator Ann --second Bob --data /run/books/data"
    typed = f"printf '%s\\n' '{PASSWORD}' '{PASSWORD}'"
    guest.run(f"{typed} | ({OPERATOR} roll-out {digest} {plan})")


def standing(guest: Guest) -> Standing:
    told: dict[str, Any] = json.loads(guest.run(f"cat {PROGRESS}"))
    return Standing(told["state"], told["tables"].get(TABLE, {}).get("step", 0))


def wait_for_state(guest: Guest, state: str, seconds: int) -> Standing:
    """By the guest's own clock; what it is in the end when it never becomes that."""
    count = seconds // LOOK_EVERY_S
    look = f'grep -q \'"state": "{state}"\' {PROGRESS}'
    # One command for all looks: each way into the guest costs an emulated machine a shell.
    guest.run(
        f"n=0; until {look} || [ $n -ge {count} ]; do n=$((n + 1)); sleep {LOOK_EVERY_S}; done",
        seconds=2 * seconds,
    )
    return standing(guest)
