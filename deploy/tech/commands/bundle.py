"""`bundle FILE`: everything that a technician takes home, signed by the unit. Play goes on."""

from __future__ import annotations

from pathlib import Path

from deploy.tech.options import unit_parser, visiting
from deploy.tech.terminal import Terminal
from kit.command_line import CommandRefused


def main(arguments: list[str]) -> int:
    parser = unit_parser("bundle", __doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    path: Path = options.file
    if path.exists():
        raise CommandRefused(f"{path} is there already, and is not written over.")
    if not path.parent.is_dir():
        raise CommandRefused(f"{path.parent} is no folder.")
    terminal = Terminal()
    with visiting(options) as visit, terminal.progress("the unit makes the bundle"):
        content = visit.get_bytes("/bundle")
    path.write_bytes(content)
    terminal.line(f"{path}: {len(content)} bytes. `underfelt-tech open {path}` names the causes.")
    return 0
