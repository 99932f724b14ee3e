"""The manager's command line: `serve`, `audit`, and the commands about units' identities.

It reads arguments and turns refusals into sentences and exit codes; everything else is elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from kit.command_line import CommandRefused, run_command, told
from kit.config import ConfigError
from kit.version import SOFTWARE
from manager.cli import accounting, adoption, approval, audit, corrections, days, release, serving
from manager.cli import backup as backup_cli
from manager.cli import explain as explain_cli
from manager.cli import export as export_cli
from manager.cli import games as games_cli
from manager.cli import groups as groups_cli
from manager.cli import identity as identity_commands
from manager.cli import ledger as ledger_cli
from manager.cli import people as people_cli
from manager.cli import updates as updates_cli
from manager.identity.errors import IdentityError
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError
from manager.web.access import Entrance

LOCAL = "127.0.0.1"


# Tools with options of their own; what needs NumPy is loaded only when asked for.


def _odds(arguments: Sequence[str]) -> int:
    """exact odds of every paytable"""
    from manager.cli.odds import main as odds

    return odds(list(arguments))


def _check_pack(arguments: Sequence[str]) -> int:
    """what is wrong in an operator's own paytables, by line and column"""
    return games_cli.main(arguments)


def _advise(arguments: Sequence[str]) -> int:
    """what a table file's numbers mean, before it opens"""
    from manager.cli.advise import main as advise

    return advise(arguments)


def _explain(arguments: Sequence[str]) -> int:
    """how a win's amount came to be"""
    return explain_cli.main(arguments)


def _export(arguments: Sequence[str]) -> int:
    """write the ledger to a file that proves itself"""
    return export_cli.export(arguments)


def _audit(arguments: Sequence[str]) -> int:
    """prove the ledger, a copy or an export from its first entry"""
    return audit.main(arguments)


def _audit_export(arguments: Sequence[str]) -> int:
    """prove such a file, offline"""
    return export_cli.audit_export(arguments)


def _close_day(arguments: Sequence[str]) -> int:
    """prove a gaming day that is over, so that audits can resume from it"""
    return days.close_day(arguments)


def _archive(arguments: Sequence[str]) -> int:
    """move closed days out of the ledger into sealed files, which audits still read"""
    return days.archive(arguments)


def _train(arguments: Sequence[str]) -> int:
    """deal rounds and ask what each bet brings"""
    from manager.cli.train import main as train

    return train(arguments)


def _adopt_journal(arguments: Sequence[str]) -> int:
    """let a unit go on with a new journal, once"""
    return adoption.main(arguments)


def _replace_unit(arguments: Sequence[str]) -> int:
    """let another unit take a table over, with its game (two people in a game)"""
    return adoption.replace(arguments)


def _release_unit(arguments: Sequence[str]) -> int:
    """let a locked unit speak again (two people)"""
    return release.main(arguments)


def _updates(arguments: Sequence[str]) -> int:
    """the updates of units that are kept here"""
    return updates_cli.show(arguments)


def _add_update(arguments: Sequence[str]) -> int:
    """bring a signed update of units"""
    return updates_cli.add(arguments)


def _remove_update(arguments: Sequence[str]) -> int:
    """remove an update that is kept here"""
    return updates_cli.remove(arguments)


def _roll_out(arguments: Sequence[str]) -> int:
    """give an update to the units, ring by ring (two people)"""
    return updates_cli.roll_out(arguments)


def _go_on_roll_out(arguments: Sequence[str]) -> int:
    """go on after a failure, without the tables that failed (two people)"""
    return updates_cli.go_on(arguments)


def _stop_roll_out(arguments: Sequence[str]) -> int:
    """stop a roll-out for good"""
    return updates_cli.stop(arguments)


def _first_code(arguments: Sequence[str]) -> int:
    """the code by which the first admin comes in"""
    return people_cli.first_code(arguments)


def _person_code(arguments: Sequence[str]) -> int:
    """a one-time code for somebody, where no admin can give one"""
    return people_cli.person_code(arguments)


def _make_ledger(arguments: Sequence[str]) -> int:
    """make an empty ledger in a PostgreSQL database"""
    return ledger_cli.make(arguments)


def _move_ledger(arguments: Sequence[str]) -> int:
    """move the ledger into a database, or back into the folder"""
    return ledger_cli.move(arguments)


def _who_owns(arguments: Sequence[str]) -> int:
    """which manager owns each group of jackpots, and who stands by"""
    return groups_cli.who_owns(arguments)


def _move_group(arguments: Sequence[str]) -> int:
    """move a group to another manager on purpose, while it is played"""
    return groups_cli.move_group(arguments)


def _share_identities(arguments: Sequence[str]) -> int:
    """put the list of identities into the database, for several managers"""
    return groups_cli.share_identities(arguments)


def _accounting(arguments: Sequence[str]) -> int:
    """write the money of some gaming days in debit and credit (CSV or JSON lines)"""
    return accounting.main(arguments)


def _backup(arguments: Sequence[str]) -> int:
    """copy the manager's folder while it serves"""
    return backup_cli.take(arguments)


def _restore(arguments: Sequence[str]) -> int:
    """put a backup back as a new folder, and audit it"""
    return backup_cli.put_back(arguments)


TOOLS: dict[str, Callable[[Sequence[str]], int]] = {
    "odds": _odds,
    "check-pack": _check_pack,
    "advise": _advise,
    "explain": _explain,
    "export": _export,
    "accounting": _accounting,
    "backup": _backup,
    "restore": _restore,
    "audit": _audit,
    "audit-export": _audit_export,
    "close-day": _close_day,
    "archive": _archive,
    "train": _train,
    "adopt-journal": _adopt_journal,
    "replace-unit": _replace_unit,
    "release-unit": _release_unit,
    "updates": _updates,
    "add-update": _add_update,
    "remove-update": _remove_update,
    "roll-out": _roll_out,
    "go-on-roll-out": _go_on_roll_out,
    "stop-roll-out": _stop_roll_out,
    "first-code": _first_code,
    "person-code": _person_code,
    "make-ledger": _make_ledger,
    "move-ledger": _move_ledger,
    "who-owns": _who_owns,
    "move-group": _move_group,
    "share-identities": _share_identities,
}
TOOLS |= {name: approval.tool(name) for name in approval.COMMANDS}
TOOLS |= {name: corrections.tool(name) for name in corrections.COMMANDS}


def main(arguments: Sequence[str] | None = None, entrance: Entrance | None = None) -> int:
    """`entrance` is a practice floor's: who comes in there without signing in."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return told(lambda: _run(words, entrance), LedgerError, ConfigError, IdentityError)


def _run(words: Sequence[str], entrance: Entrance | None) -> int:
    try:
        return _carry_out(words, entrance)
    except StorageFailed as error:  # the disk or the database went away under the command
        raise LedgerError(f"The ledger cannot be read any more: {error}.") from error


def _carry_out(words: Sequence[str], entrance: Entrance | None) -> int:
    if words and words[0] in TOOLS:
        return TOOLS[words[0]](words[1:])
    parser, known = _parser()
    if words and not words[0].startswith("-") and words[0] not in known:
        near = get_close_matches(words[0], known)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise CommandRefused(f"There is no command {words[0]!r}; --help lists them.{hint}")
    options = parser.parse_args(words)
    options.entrance = entrance
    return int(options.run(options))


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser, and the commands that it knows."""
    parser = argparse.ArgumentParser(prog="python -m manager", description="The Game Manager.")
    parser.add_argument("--version", action="version", version=SOFTWARE)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serving.add_to(commands)
    for name, tool in TOOLS.items():
        commands.add_parser(name, help=tool.__doc__, add_help=False)
    identity_commands.add_to(commands)
    return parser, list(commands.choices)


if __name__ == "__main__":
    run_command(main)
