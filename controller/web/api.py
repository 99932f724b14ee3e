"""What the pages need of a table, and nothing more.

The pages read one view and press named buttons. They know no round, no money rules and no
hardware; whatever satisfies this protocol can be shown and pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from controller.table.answer import Answer

View = dict[str, Any]
Press = Callable[[str], Coroutine[Any, Any, Answer]]


class TableApi(Protocol):
    @property
    def view_version(self) -> int: ...

    def view(self) -> View: ...

    async def view_changed(self, after: int) -> int:
        """Returns the view's version as soon as it is greater than `after`."""
        ...

    async def press(self, button: str) -> Answer: ...
