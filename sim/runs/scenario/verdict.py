"""How a scenario fails, in words: the line, what was wanted, what was there, and the whole table.

It alone knows what a failure looks like in print. Playing and comparing is the player's business.
"""

from __future__ import annotations

from sim.runs.scenario.language import Instruction


class Failure(Exception):  # noqa: N818 - it is the verdict, not a programming error
    """A scenario that did not go as written; `sentence` says why, `picture` shows the table."""

    def __init__(self, instruction: Instruction, sentence: str, picture: str = "") -> None:
        self.instruction = instruction
        self.sentence = sentence
        self.picture = picture
        where = f"line {instruction.line_number}: `{instruction.text}`"
        super().__init__("\n".join(part for part in (f"{where}: {sentence}", picture) if part))


class Mismatch(Failure):
    """An expectation that was not met."""

    def __init__(
        self, instruction: Instruction, expected: str, found: str, picture: str = ""
    ) -> None:
        self.expected = expected
        self.found = found
        super().__init__(instruction, f"expected {expected}, found {found}", picture)


class CannotDo(Failure):
    """An instruction that this table cannot follow: a spot, button or IC that it lacks."""


class ProductFailed(Failure):
    """The code under test raised what nobody handled, or left books that do not add up."""


def describe_error(error: BaseException) -> str:
    """`KeyError at controller/web/view.py:88: 'x'`, short enough for one line of a report."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = ""
    if trace is not None:
        parts = trace.tb_frame.f_code.co_filename.rsplit("/", 2)[-2:]
        where = f" at {'/'.join(parts)}:{trace.tb_lineno}"
    return f"{type(error).__name__}{where}: {error}"
