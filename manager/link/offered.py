"""What heartbeats carry beside the books: bundles that are asked for, programs that are offered.

Neither needs a message of its own to begin, so that a unit of an earlier release passes over both.
"""

from __future__ import annotations

from typing import Final

from manager.bundles.requests import BundleRequests
from manager.link.connection import Connection
from manager.rollouts.rollouts import Rollouts
from protocol.wire.messages import BundlePart, Heartbeat

FAULT_STATE: Final = "fault"  # of a table that starts no game


class Offered:
    def __init__(self, bundles: BundleRequests, rollouts: Rollouts) -> None:
        self._bundles = bundles
        self._rollouts = rollouts

    def greet(self, connection: Connection) -> None:
        """What this unit is told from its first heartbeat on."""
        unit_id, table_id = connection.unit_id, connection.table_id
        connection.bundle_wishes = self._bundles.wishes(unit_id)
        connection.offers = self._rollouts.offers(table_id, unit_id)

    def heard(self, connection: Connection, beat: Heartbeat) -> None:
        """What a unit says of the program that it is offered, and what it gets of it."""
        unit_id, table_id = connection.unit_id, connection.table_id
        report = beat.report[0] if beat.report else None
        parts = self._rollouts.heard(table_id, unit_id, report, beat.state != FAULT_STATE)
        connection.offers = self._rollouts.offers(table_id, unit_id)
        if connection.is_quiet:  # what it did not read yet is not sent again behind it
            for part in parts:
                connection.send(part, rests_on=0)

    def take(self, connection: Connection, part: BundlePart) -> bool:
        """Some of a bundle; True when it is whole."""
        is_whole = self._bundles.take(connection.unit_id, part)
        connection.bundle_wishes = self._bundles.wishes(connection.unit_id)
        return is_whole
