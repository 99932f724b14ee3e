"""The technician's tool: find a unit, look into it, test it, and read what was taken home."""

from __future__ import annotations

import importlib
import sys
from typing import Final, NamedTuple

from kit.command_line import REFUSED, run_command, say, told
from kit.version import SOFTWARE

NAME: Final = "underfelt-tech"


class Command(NamedTuple):
    help: str
    # Imported only when it is called: `decode` must work where no screen library is installed.
    module: str


COMMANDS: Final = {
    "find": Command("units that announce themselves here, and a manager's tables", "find"),
    "watch": Command("state, sensors and log on one terminal screen", "watch"),
    "logs": Command("the unit's journal and log in words; -f goes on", "logs"),
    "health": Command("each spot over its days, worst first", "health"),
    "selftest": Command("every part tried, verdicts as they come", "selftest"),
    "calibrate": Command("learn the felt seat by seat, or undo it", "calibrate"),
    "traces": Command("rounds in the black box, judged anew or copied out", "traces"),
    "bundle": Command("everything that a technician takes home, signed by the unit", "bundle"),
    "replay": Command("a bundle or a trace through today's code, line by line", "replay"),
    "board": Command("board check FILE: a table's hardware before it is soldered", "board"),
    "open": Command("names the likely causes in a bundle, best first, with the evidence", "open"),
    "decode": Command("what frames, captures and traces say, from hex or a file", "decode"),
    "flash": Command("write a unit's image to a disk, and read it back", "flash"),
    "verify": Command("hold a unit's disk against published images, byte for byte", "verify"),
    "provision": Command("lay down on that disk which table it is, and how it enrols", "provision"),
}


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_usage())
        return 0 if arguments else REFUSED
    if arguments[0] == "--version":
        print(SOFTWARE)
        return 0
    command = COMMANDS.get(arguments[0])
    if command is None:
        say(f"{NAME}: there is no command {arguments[0]!r:.40}. {NAME} --help lists them.")
        return REFUSED
    name, rest = arguments[0], arguments[1:]

    def run() -> int:
        try:
            module = importlib.import_module(f"deploy.tech.commands.{command.module}")
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] in ("deploy", "kit", "protocol"):
                raise
            say(f"{NAME}: {name} needs the package {error.name}: pip install '.[tech]'")
            return REFUSED
        return int(module.main(rest))

    return told(run, name=f"{NAME} {name}")


def _usage() -> str:
    width = max(map(len, COMMANDS))
    rows = [f"  {name:<{width}}  {command.help}" for name, command in COMMANDS.items()]
    return "\n".join(
        [f"usage: {NAME} COMMAND ...", "", str(__doc__), "", *rows, "", f"{NAME} COMMAND --help"]
    )


def run() -> None:
    run_command(main)


if __name__ == "__main__":
    run()
