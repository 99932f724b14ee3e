"""`python -m manager export` writes the ledger to a file; `audit-export` proves such a file.

The proof needs nothing but the file: the chain, the zero sums, and every meter from genesis.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from manager.audit.audit import audit_transactions
from manager.audit.witnesses import Witness
from manager.cli.witnesses import add_witness_options, witnesses_of
from manager.data_folder import add_data_option
from manager.export.lines import ExportError, read_lines, write_lines
from manager.identity.folder import IdentityFolder
from manager.ledger_reader import ledger_to_read
from manager.money import text_from_microcents
from protocol.proof.tail import TailSigner


def export(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager export", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        with (
            ledger_to_read(options.data) as store,
            options.out.open("x", encoding="utf-8") as file,
        ):
            lines = write_lines(store, _signer(options.data))
            count = sum(1 for line in lines if file.write(line + "\n"))
    except FileExistsError:
        print(f"{options.out} exists already; an export never overwrites one.", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{options.out} cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    print(f"{count - 2} transactions written to {options.out}")
    return 0


def _signer(data: Path) -> TailSigner | None:
    folder = IdentityFolder(data)
    return folder.tail_signer() if folder.manager_key.is_file() else None


def audit_export(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager audit-export", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    add_witness_options(parser)
    options = parser.parse_args(arguments)
    return audit_file(options.file, witnesses_of(options))


def audit_file(path: Path, witnesses: Sequence[Witness]) -> int:
    try:
        genesis, transactions = read_lines(path.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}.", file=sys.stderr)
        return 2
    except UnicodeDecodeError:
        print(f"{path} is no export: it is not UTF-8 text.", file=sys.stderr)
        return 2
    except ExportError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    finding, balances = audit_transactions(genesis, transactions, witnesses)
    print(finding.sentence)
    for account, amount in sorted(balances.items()):
        if account.startswith(("meter/", "reserve/")):
            print(f"  {account:<32} {text_from_microcents(amount):>22}")
    return 0 if finding.sound else 1
