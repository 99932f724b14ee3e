"""`traces`: the rounds in the black box; with `--round`, one of them judged anew, or copied out."""

from __future__ import annotations

from pathlib import Path

from deploy.tech.options import unit_parser, visiting
from deploy.tech.terminal import BAD, GOOD, Terminal
from deploy.tech.visit import Visit
from kit.command_line import CommandRefused, whole


def main(arguments: list[str]) -> int:
    parser = unit_parser("traces", __doc__)
    parser.add_argument("--round", type=whole(), metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE", help="for `underfelt-tech replay`")
    options = parser.parse_args(arguments)
    if options.out and options.round is None:
        raise CommandRefused("Say which round to copy: --round N --out FILE.")
    terminal = Terminal()
    with visiting(options) as visit:
        if options.round is None:
            rounds = visit.get("/traces")
            terminal.line(f"rounds: {', '.join(map(str, rounds)) or 'none yet'}")
            return 0
        return _one(visit, terminal, options.round, options.out)


def _one(visit: Visit, terminal: Terminal, round_number: int, out: Path | None) -> int:
    trace = visit.get(f"/traces/{round_number}")
    accepted, refused = (", ".join(trace[name]) or "none" for name in ("accepted", "refused"))
    terminal.line(f"round {round_number}: accepted {accepted}; refused {refused}")
    if not trace["complete"]:
        terminal.line("the 5 s after START are missing: the table lost its power or was stopped")
    for offset_ms, ic, reason in trace["failures"]:
        terminal.line(f"{offset_ms:>6} ms  {ic} could not be read: {reason}", BAD)
    differs = False
    for sensor, then, now in trace["replay"]["rows"]:
        is_same = then == now
        differs = differs or not is_same
        mark = "" if is_same else "   DIFFERS"
        terminal.line(f"{sensor:>4}  then {then:<9} now {now:<9}{mark}", GOOD if is_same else BAD)
    terminal.line(trace["replay"]["sentence"])
    if out:
        out.write_bytes(visit.get_bytes(f"/traces/{round_number}/file"))
        terminal.line(f"copied to {out}")
    return 1 if differs else 0
