"""What a bundle tells of its unit: the likely causes of its trouble, best first.

Each rule knows one fault and reads nothing but the bundle. `RULES` is the list from which the fault
tree in docs/fault-tree.md is made.
"""

from protocol.bundle.causes.order import RULES, causes_of
from protocol.bundle.causes.rule import Cause, Rule

__all__ = ["RULES", "Cause", "Rule", "causes_of"]
