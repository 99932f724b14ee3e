"""A case is kept or broken, and the report says which, in the order in which they were played."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from protocol.wire.errors import ProtocolError

CASE_MAX_S = 120.0

T = TypeVar("T")
Case = Callable[[T], Awaitable[None]]


class Broken(Exception):  # noqa: N818 - the word of the report
    """The peer did not do what the case asks for; the sentence says what it did."""


def expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise Broken(otherwise)


def title_of(case: Case[T]) -> str:
    """The first sentence of a case's docstring."""
    return " ".join((case.__doc__ or case.__name__).split()).split(". ")[0].rstrip(".")


@dataclass
class Report:
    say: Callable[[str], None]
    kept: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    async def play(self, cases: Sequence[Case[T]], peer: T) -> None:
        """Plays each case. A broken one is told and the next one is played all the same."""
        for case in cases:
            why = await _why_broken(case, peer)
            (self.broken if why else self.kept).append(case.__name__)
            self.say(f"BROKEN {title_of(case)}: {why}" if why else f"kept   {title_of(case)}")

    def conclude(self) -> int:
        """1 when a case was broken."""
        self.say(f"{len(self.kept)} cases kept, {len(self.broken)} broken")
        return 1 if self.broken else 0


async def _why_broken(case: Case[T], peer: T) -> str:
    try:
        async with asyncio.timeout(CASE_MAX_S):
            await case(peer)
    except (Broken, ProtocolError) as error:
        return str(error)
    except TimeoutError:
        return "it did not come to its end"
    except OSError as error:
        return f"the connection failed: {error or type(error).__name__}"
    return ""
