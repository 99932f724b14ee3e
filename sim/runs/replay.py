"""`python -m sim replay FILE`: a round of a unit's black box, judged anew by today's sensing."""

from __future__ import annotations

import sys
from pathlib import Path

from controller.evidence.round_trace import Trace, TraceFault
from controller.evidence.trace_replay import replay

DIFFERS, REFUSED = 1, 2


def replay_file(path: Path) -> int:
    try:
        trace = Trace.decode(path.read_bytes())
        found = replay(trace)
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}.", file=sys.stderr)
        return REFUSED
    except TraceFault as fault:
        print(f"{path} cannot be replayed: {fault}.", file=sys.stderr)
        return REFUSED
    except (LookupError, TypeError, ValueError):
        print(f"{path} cannot be replayed: its parts do not fit each other.", file=sys.stderr)
        return REFUSED
    print(f"round {trace.round_number} of table {trace.table_id}")
    for spot in found:
        same = "" if spot.then == spot.now else "   DIFFERS"
        print(f"{spot.sensor:>4}  then {spot.then:<9} now {spot.now:<9}{same}")
    return 0 if all(spot.then == spot.now for spot in found) else DIFFERS
