"""The unit under the table: what it is made of, how it is put together, and how it lives.

`open_unit` is its door. It takes a `UnitPlace`, which says where the unit runs, and gives a `Unit`.
"""

from controller.unit.assembly import open_unit
from controller.unit.life import Unit
from controller.unit.parts import FeltOpener, LampPlayerOpener, UnitPlace

__all__ = ["FeltOpener", "LampPlayerOpener", "Unit", "UnitPlace", "open_unit"]
