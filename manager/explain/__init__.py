"""How a paid amount came to be: every cent from the opening value to the award."""

from manager.explain.plain import as_plain
from manager.explain.statement import Explanation, Line, MeterStory, explain

__all__ = ["Explanation", "Line", "MeterStory", "as_plain", "explain"]
