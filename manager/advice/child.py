"""The adviser as a process of its own: a question on standard input, its answer on the output.

The manager's own process never computes odds: its thread belongs to the tables.
"""

from __future__ import annotations

import json
import os
import sys

from manager.advice.plain import answer
from manager.advice.question import Question

NICENESS = 10


def main() -> int:
    os.nice(NICENESS)
    json.dump(answer(Question.from_text(sys.stdin.read())), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
