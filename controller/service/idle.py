"""Whether the table that runs on this unit is between two rounds.

The one who wants to restart it asks the table itself. No answer, or another table's, is a refusal
and never "between rounds".
"""

from __future__ import annotations

from controller.config import UnitConfig
from controller.service.admission import ServiceRefused
from controller.service.running_table import ask_table

BETWEEN_ROUNDS, IN_A_ROUND = 0, 1


def show_idle(config: UnitConfig) -> int:
    """0 between rounds, 1 in a round; what is not known is refused."""
    code = between_rounds(config)
    print("the table is between rounds" if code == BETWEEN_ROUNDS else "a round is being played")
    return code


def between_rounds(config: UnitConfig) -> int:
    answer = ask_table(config, "/round")
    if not isinstance(answer, dict) or answer.get("table") != config.table_id:
        raise ServiceRefused("What answers at the panel's address is not this table.")
    is_open = answer.get("round_open")
    if not isinstance(is_open, bool):
        raise ServiceRefused("The table does not say whether a round is being played.")
    return IN_A_ROUND if is_open else BETWEEN_ROUNDS
