"""How a paid amount came to be: every cent from the opening value to the award."""

from manager.explain.statement import Explanation, Line, MeterStory, explain

__all__ = ["Explanation", "Line", "MeterStory", "explain"]
