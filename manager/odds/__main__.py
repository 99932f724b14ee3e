"""``python -m manager.odds``: the odds command without the rest of the manager."""

from manager.odds.cli import main
from protocol.command_line import run_command

run_command(main)
