"""How a paid amount came to be: every cent from the opening value to the award."""

from manager.explain.plain import as_plain
from manager.explain.statement import Explanation, MeterStory, explain, explain_steps
from manager.explain.telling import Line

__all__ = ["Explanation", "Line", "MeterStory", "as_plain", "explain", "explain_steps"]
