"""`python -m manager export` writes the ledger to a file; `audit-export` proves such a file.

The proof needs nothing but the file: the chain, the zero sums, and every meter from genesis.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from manager.clock import wall_clock_ms
from manager.export.lines import ExportError, read_lines, write_lines
from manager.ledger.audit import audit_transactions
from manager.ledger.database import open_database
from manager.ledger.store import Store
from manager.money import text_from_microcents

LEDGER_NAME = "ledger.sqlite"


def export(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager export", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the ledger or a copy")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    path = options.data / LEDGER_NAME
    if not path.is_file():
        print(f"There is no ledger in {options.data}.", file=sys.stderr)
        return 2
    store = Store(open_database(str(path)), wall_clock_ms, check_tail=False)
    try:
        with options.out.open("x", encoding="utf-8") as file:
            count = sum(1 for line in write_lines(store) if file.write(line + "\n"))
    except FileExistsError:
        print(f"{options.out} exists already; an export never overwrites one.", file=sys.stderr)
        return 2
    finally:
        store.close()
    print(f"{count - 2} transactions written to {options.out}")
    return 0


def audit_export(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager audit-export", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        genesis, transactions = read_lines(options.file.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError, ExportError) as error:
        print(error, file=sys.stderr)
        return 2
    finding, balances = audit_transactions(genesis, transactions)
    print(finding.sentence)
    for account, amount in sorted(balances.items()):
        if account.startswith(("meter/", "reserve/")):
            print(f"  {account:<32} {text_from_microcents(amount):>22}")
    return 0 if finding.sound else 1
