"""`python -m manager audit`: proves a ledger, a copy of its file, or an export of it.

A file that somebody kept as evidence is not touched: it is copied, and the copy is read.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from manager.audit.audit import audit
from manager.audit.closing import newest_image
from manager.audit.witnesses import Witness
from manager.cli import export as export_cli
from manager.cli.witnesses import add_witness_options, witnesses_of
from manager.data_folder import LEDGER_NAME, add_data_option
from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.errors import LedgerError
from manager.ledger_reader import ledger_to_read

SQLITE_HEADER = b"SQLite format 3\0"
# What SQLite keeps beside a file that was copied while it was open.
COMPANIONS = ("", "-wal")


def main(arguments: Sequence[str]) -> int:
    """0 when all is sound, 1 when an entry is bad, 2 when there is nothing to prove."""
    options = _parser().parse_args(arguments)
    witnesses = witnesses_of(options)
    if options.file is None:
        return _audit_folder(options.data, witnesses, options.resume)
    if options.file.is_dir():
        return _audit_folder(options.file, witnesses, options.resume)
    if options.resume:
        raise LedgerError("An audit resumes only in a folder that has the images of its days.")
    try:
        with options.file.open("rb") as file:
            is_database = file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    except OSError as error:
        raise LedgerError(f"{options.file} cannot be read: {error.strerror}.") from error
    if is_database:
        return _audit_copy(options.file, witnesses)
    return export_cli.audit_file(options.file, witnesses)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager audit", description=__doc__)
    add_data_option(parser)
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help="a copy of the ledger, or an export"
    )
    parser.add_argument(
        "--resume", action="store_true", help="only what came since the last closed day"
    )
    add_witness_options(parser)
    return parser


def _audit_copy(file: Path, witnesses: Sequence[Witness]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for companion in COMPANIONS:
            beside = file.with_name(file.name + companion)
            if beside.is_file():
                shutil.copyfile(beside, Path(folder) / (LEDGER_NAME + companion))
        if (file.parent / ARCHIVE_FOLDER).is_dir():  # which nobody can write
            (Path(folder) / ARCHIVE_FOLDER).symlink_to((file.parent / ARCHIVE_FOLDER).resolve())
        return _audit_folder(Path(folder), witnesses)


def _audit_folder(data: Path, witnesses: Sequence[Witness], resume: bool = False) -> int:
    # A whole audit names the first entry that is missing; one that resumes does not look there.
    with ledger_to_read(data, names_gaps=resume) as store:
        image = newest_image(data, store) if resume else None
        if resume and image is None:
            raise LedgerError("No closed day has its image here: `close-day` makes one.")
        finding = audit(store, witnesses, image)
    print(finding.sentence)
    return 0 if finding.sound else 1
