"""The numbers of events and messages as the protocol's documents give them: the checkers' copy."""

from __future__ import annotations

BOOT = 1
ROUND_START = 2
LATE_CHANGE = 3
HAND = 4
CLAIM = 5
AWARDED = 6
CANCEL = 7
COMMIT = 8
SETTLED = 9
ROUND_END = 10
FAULT = 11
SETTINGS = 12
REFUSED = 13
PAID = 17
REVERSED = 18
REOPENED = 19
VOIDED = 20
TAKEN_BACK = 21

WELCOME_MESSAGE = 2
EVENT_MESSAGE = 4
ACK_MESSAGE = 5
AWARD_MESSAGE = 6
COMMITTED_MESSAGE = 7
METERS_MESSAGE = 8
ERROR_MESSAGE = 10
