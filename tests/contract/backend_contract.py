"""What every backend must do, whoever made it: checks that take a rig and know no backend.

`test_backend_contract` runs them over the simulator's backend in virtual time; inside the guest the
same functions run over the shipped Raspberry Pi backend on a real kernel (`tests/kernel`). They act
on the world (chips, wires, cards, faults) and look through the backend. No test library is needed.
"""

from __future__ import annotations

from tests.contract import contract_bus, contract_devices
from tests.contract.contract_rig import CHECKS, Rig

__all__ = ["CHECKS", "Rig", "contract_bus", "contract_devices"]
