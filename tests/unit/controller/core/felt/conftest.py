"""What asks for `ic` here runs on each sensing IC that a board may carry."""

from __future__ import annotations

from tests.kit.each_sensing_ic import ic, table_name

__all__ = ["ic", "table_name"]
