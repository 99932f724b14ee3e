"""How every building step refuses: with a sentence that says what to do."""

from __future__ import annotations


class BuildRefused(Exception):  # noqa: N818
    """Nothing was built."""
