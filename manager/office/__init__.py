"""What the cage and the operator look up: a gaming day, bank cover, advice on numbers."""

from manager.office.view import OfficeView

__all__ = ["OfficeView"]
