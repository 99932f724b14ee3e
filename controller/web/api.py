"""What the pages need of a table, and nothing more.

The pages read one view and press named buttons. They know no round, no money rules and no
hardware; whatever satisfies this protocol can be shown and pressed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from controller.table.answer import Answer

View = dict[str, Any]


class Press(Protocol):
    async def __call__(self, button: str, beside: Collection[str] = ()) -> Answer:
        """A button, and the others that fingers touched together with it."""
        ...


class TableApi(Protocol):
    @property
    def view_version(self) -> int: ...

    def view(self) -> View: ...

    async def view_changed(self, after: int) -> int:
        """Returns the view's version as soon as it is greater than `after`."""
        ...

    @property
    def press(self) -> Press: ...
