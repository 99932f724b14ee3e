"""`python -m sim replay FILE`: a bundle, or one round of a black box, through today's code."""

from __future__ import annotations

import sys
from pathlib import Path

from controller.evidence.round_trace import Trace, TraceFault
from controller.evidence.trace_replay import replay
from protocol.bundle.archive import BundleFault, read_bundle
from sim.runs.replay_bundle import replay_bundle
from sim.runs.replay_decisions import Line, ReplayFault

DIFFERS, REFUSED = 1, 2
# Two longer answers stand below each other.
BESIDE_MAX = 60
ZIP_BEGINS = b"PK"


def replay_file(path: Path) -> int:
    try:
        content = path.read_bytes()
        title, lines = _bundle(content) if content.startswith(ZIP_BEGINS) else _trace(content)
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}.", file=sys.stderr)
        return REFUSED
    except (TraceFault, ReplayFault) as fault:
        print(f"{path} cannot be replayed: {fault}.", file=sys.stderr)
        return REFUSED
    except BundleFault as fault:
        print(f"{path}: {fault}", file=sys.stderr)
        return REFUSED
    except (LookupError, TypeError, ValueError):
        print(f"{path} cannot be replayed: its parts do not fit each other.", file=sys.stderr)
        return REFUSED
    print(title)
    return _print(lines)


def _trace(content: bytes) -> tuple[str, list[Line]]:
    trace = Trace.decode(content)
    found = [Line(spot.sensor, spot.then, spot.now) for spot in replay(trace)]
    return f"round {trace.round_number} of table {trace.table_id}", found


def _bundle(content: bytes) -> tuple[str, list[Line]]:
    bundle = read_bundle(content)
    for doubt in bundle.doubts:
        print(f"not proven: {doubt}")
    head, replayed = bundle.head, replay_bundle(bundle)
    title = f"bundle of unit {head.get('unit')}, table {head.get('table')}"
    return f"{title}\n{replayed.note}".rstrip(), replayed.lines


def _print(lines: list[Line]) -> int:
    width = max(len(line.what) for line in lines)
    for line in lines:
        print(_shown(line, width))
    differ = sum(line.differs for line in lines)
    print(f"{len(lines) - differ} lines are the same, {differ} differ")
    return DIFFERS if differ else 0


def _shown(line: Line, width: int) -> str:
    mark = "   DIFFERS" if line.differs else ""
    if len(line.then) + len(line.now) <= BESIDE_MAX:
        return f"{line.what:>{width}}  then {line.then:<9} now {line.now:<9}{mark}"
    if not line.differs:
        return f"{line.what:>{width}}  then and now {line.then}"
    return f"{line.what:>{width}}  then {line.then}\n{'':>{width}}  now  {line.now}{mark}"
